// Tables: which there are, and the rows of one as they change.

import { get } from "./api.js";
import { drawChart } from "./chart.js";
import { cell, el, refresh, table } from "./dom.js";

const LIMIT = 200;
const MOST = 20000;
const CHART_LIMIT = 2000;
const QUIET = 1000; // milliseconds between two reads of a table that changes

export async function showTables(body, { signal }) {
  const { relations } = await get("/v1/relations", signal);
  const rows = relations.map((relation) => {
    const link = el("a", { href: `#/tables/${encodeURIComponent(relation.name)}` }, relation.shown);
    const columns = (relation.columns ?? []).map((column) => `${column.name} ${column.type}`).join(", ");
    return [link, relation.kind.toLowerCase(), columns, relation.author];
  });
  const empty = el("p", {}, "Nothing has been declared. ", el("a", { href: "#/editor" }, "Write a CREATE TABLE."));
  body.append(rows.length ? table("Tables", ["Name", "Kind", "Columns", "Author"], rows) : empty);
}

export async function showTable(body, { name, signal, say }) {
  const path = `/v1/tables/${encodeURIComponent(name)}`;
  const order = el("select", { id: "order" });
  const live = el("span", { class: "quiet" });
  const [chart, rows, more] = [el("div"), el("div"), el("p", { class: "actions" })];
  body.append(el("p", { class: "actions" }, el("label", { for: "order" }, "Order"), order, live), chart, rows, more);

  let after = [];
  let limit = LIMIT;
  const read = async () => {
    try {
      const columns = JSON.parse(order.value || "[]").map((column) => ["order", column]);
      const asked = new URLSearchParams([["limit", limit], ...columns, ...after.map((value) => ["after", value])]);
      const found = await get(`${path}?${asked}`, signal);
      if (!order.options.length) {
        listOrders(order, found);
        if (order.value) return await read();
      }
      const names = found.columns.map((column) => column.name);
      const numbers = new Set(found.columns.filter((column) => isNumber(column.type)).map((column) => column.name));
      const heads = names.map((each) => (numbers.has(each) ? [each, "number"] : each));
      const show = (row) => found.columns.map((column) => cell(showTime(row[column.name], column.type)));
      refresh(rows, table(`Rows of ${name}`, heads, found.rows.map(show)));
      const pages = pageButtons(found, after, (place) => { after = place; read(); });
      const isCut = !found.next && found.rows.length === limit && limit < MOST;
      const grow = () => { limit = Math.min(MOST, 2 * limit); read(); };
      refresh(more, pages, isCut && el("button", { type: "button", "data-focus": "more", click: grow }, "More rows"));
      if (isWindowed(found)) await drawWindows(chart, path, found, signal);
      say("");
    } catch (error) {
      if (!signal.aborted) say(error.message);
    }
  };
  order.addEventListener("change", () => { after = []; limit = LIMIT; read(); });
  await read();
  follow(`${path}/changes`, live, read, signal);
}

function listOrders(select, found) {
  const option = (columns, text) => {
    const made = el("option", { value: columns.length ? JSON.stringify(columns) : "" }, text);
    select.append(made);
    return made;
  };
  option([], found.key.length ? "primary key" : "none");
  if (isWindowed(found)) {
    // Not by the key, whose first column may be another one: the windows of one of its values would fill the page.
    const rest = found.key.filter((column) => column !== "window_start");
    option(["-window_start", ...rest], "newest windows").selected = true;
  }
  if (found.key.length) option(found.key.map((column) => `-${column}`), "primary key, descending");
  for (const { name } of found.columns) {
    option([name], `${name}, ascending`);
    option([`-${name}`], `${name}, descending`);
  }
}

function pageButtons(found, after, go) {
  return [
    after.length > 0 && el("button", { type: "button", "data-focus": "first", click: () => go([]) }, "First rows"),
    found.next && el("button", { type: "button", "data-focus": "next", click: () => go(found.next) }, "Next rows"),
  ].filter(Boolean);
}

/** Times without the zeros at their end. */
const showTime = (value, type) => (value && type.startsWith("timestamp") ? value.replace("T", " ").replace(/\.0+(?=Z?$)/, "") : value);
const isNumber = (type) => /^(smallint|integer|bigint|real|double|numeric)/.test(type);
const isWindowed = (found) => ["window_start", "window_end"].every((name) => found.columns.some((column) => column.name === name));

/** The newest windows as lines: one for each value of the other columns of the key. */
async function drawWindows(place, path, found, signal) {
  const { rows } = await get(`${path}?order=-window_start&limit=${CHART_LIMIT}`, signal);
  const series = found.key.filter((column) => !column.startsWith("window_"));
  const values = found.columns.filter((column) => isNumber(column.type) && !series.includes(column.name)).map((column) => column.name);
  if (!values.length || !rows.length) return;
  const chosen = place.querySelector("select")?.value ?? values[0];
  const select = el("select", { id: "value", "data-focus": "value", change: () => drawWindows(place, path, found, signal) },
    values.map((value) => el("option", { value, selected: value === chosen }, value)));
  const points = rows.map((row) => ({
    x: Date.parse(row.window_start), end: Date.parse(row.window_end), y: row[chosen] === null ? null : Number(row[chosen]),
    name: series.map((column) => String(row[column])).join(", ") || chosen,
  }));
  refresh(place, el("p", { class: "actions" }, el("label", { for: "value" }, "Chart of"), select), drawChart(chosen, points, Math.max(place.clientWidth, 280)));
}

/** Reads again when something has changed, at most once a second. */
function follow(path, live, read, signal) {
  let timer = null;
  let changes = 0;
  const soon = () => {
    timer ??= setTimeout(async () => {
      timer = null;
      if (!document.hidden) await read();
    }, QUIET);
  };
  const events = new EventSource(path);
  events.addEventListener("ready", () => { live.textContent = "live"; });
  events.addEventListener("gap", () => { live.textContent = "live"; soon(); });
  events.addEventListener("change", (event) => {
    changes += 1;
    live.textContent = `live: ${changes} changes, micro-batch ${JSON.parse(event.data).batch}`;
    soon();
  });
  events.addEventListener("error", () => { live.textContent = "not live"; });
  document.addEventListener("visibilitychange", soon, { signal });
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    events.close();
  });
}
