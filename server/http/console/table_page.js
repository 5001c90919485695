// The rows of one table as they change: their order, filters, time, pages, chart and file.

import { get, request } from "./api.js";
import { drawChart } from "./chart.js";
import { cell, count, el, refresh, table } from "./dom.js";
import { follow } from "./following.js";
import { START, TableChoice, filterText, filterable, isNumber, isWindowed, listOrders } from "./table_choice.js";

const LIMIT = 200;
const CHART_LIMIT = 5000;
const QUICK = 250; // milliseconds: a slower count is not repeated with each change
const SPANS = [["all", "all"], ["3600", "last hour"], ["86400", "last 24 hours"], ["604800", "last 7 days"]];

export async function showTable(body, { name, search, session, signal, say }) {
  const path = `/v1/tables/${encodeURIComponent(name)}`;
  const choice = new TableChoice(search);
  const places = {
    controls: el("div"), chips: el("ul", { class: "chips" }), problem: el("p", { class: "error", role: "alert" }),
    value: el("div"), chart: el("div"), pages: el("p", { class: "actions" }), rows: el("div"), live: el("span", { class: "quiet" }),
  };
  const [relation, query] = await findRelation(name, signal);
  body.append(showLinks(query, places.live), places.controls, places.chips, places.problem, places.value, places.chart,
    places.pages, places.rows, ...showDefinition(relation));
  let first;
  try {
    first = await get(`${path}?limit=0`, signal);
  } catch (error) {
    if (error.problem?.status !== 404 || relation === null) throw error;
    places.rows.replaceChildren(el("p", {}, "The server keeps no rows of it. Queries that read it have theirs."));
    return;
  }
  const view = new TableView(path, first, choice, places, { name, session, signal, say });
  view.showControls();
  await view.read();
  follow(`${path}/changes`, places.live, () => view.read({ isLive: true }), signal);
}

/** What is shown of a table, and how it is asked for. */
class TableView {
  constructor(path, first, choice, places, page) {
    Object.assign(this, { path, first, choice, places, page });
    this.orders = listOrders(first);
    this.before = []; // pages before this one: their after, and their number of rows
    this.after = [];
    this.turn = 0;
    this.counted = { count: null, took: 0 };
  }

  get order() {
    return this.choice.order ?? this.orders[0][0];
  }

  /** Reads the rows, their number and the chart, and shows them. */
  async read({ isLive = false } = {}) {
    const turn = this.turn += 1;
    const { signal, say } = this.page;
    const isCounted = isLive && this.counted.took > QUICK;
    try {
      const asked = this.choice.parameters(this.order, ["limit", LIMIT], ...this.after.map((value) => ["after", value]));
      const [found, counted] = await Promise.all([get(`${this.path}?${asked}`, signal), isCounted ? this.counted : this.countRows()]);
      if (turn !== this.turn) return;
      this.counted = counted;
      this.places.problem.textContent = "";
      this.showRows(found);
      if (isWindowed(found)) await this.showChart();
      say("");
    } catch (error) {
      if (signal.aborted || turn !== this.turn) return;
      if (error.problem?.status === 400) this.places.problem.textContent = error.message;
      else say(error.message);
    }
  }

  /** Begins with the first page of another choice, which the address keeps. */
  change() {
    [this.before, this.after] = [[], []];
    const text = String(this.choice.parameters());
    history.replaceState(null, "", `#/tables/${encodeURIComponent(this.page.name)}${text && `?${text}`}`);
    this.showControls();
    return this.read();
  }

  /** How many rows there are, null where that takes the server too long. */
  async countRows() {
    const begins = performance.now();
    const headers = { Prefer: "count=exact" };
    try {
      const asked = this.choice.parameters([], ["limit", 0]);
      const found = await request("GET", `${this.path}?${asked}`, { signal: this.page.signal, headers });
      return { count: found.count, took: performance.now() - begins };
    } catch (error) {
      if (![503, 504].includes(error.problem?.status)) throw error;
      return { count: null, took: Infinity };
    }
  }

  showRows(found) {
    const { columns } = found;
    const heads = columns.map((column) => this.showHead(column));
    const show = (row) => columns.map((column) => cell(showTime(row[column.name], column.type)));
    refresh(this.places.rows, table(`Rows of ${this.page.name}`, heads, found.rows.map(show)));
    const skipped = this.before.reduce((total, { rows }) => total + rows, 0);
    const range = found.rows.length ? `Rows ${count(skipped + 1)}–${count(skipped + found.rows.length)}` : "No rows";
    const all = this.counted.count === null ? "" : ` of ${count(this.counted.count)}`;
    const go = (before, after) => () => { [this.before, this.after] = [before, after]; this.read(); };
    // A button that does nothing at the moment keeps the focus.
    const button = (focus, text, act) => el(
      "button", { type: "button", "data-focus": focus, "aria-disabled": !act && "true", click: act || null }, text,
    );
    const here = { after: this.after, rows: found.rows.length };
    refresh(
      this.places.pages, el("span", { id: "range" }, range + (found.rows.length ? all : "")),
      button("first", "First", this.before.length > 0 && go([], [])),
      button("previous", "Previous", this.before.length > 0 && go(this.before.slice(0, -1), this.before.at(-1)?.after)),
      button("next", "Next", found.next && go([...this.before, here], found.next)), this.showFile(),
    );
  }

  /** A heading that orders by its column: up, then down, then as usual. */
  showHead({ name, type }) {
    const [now] = this.order;
    const sort = now === name ? "ascending" : now === `-${name}` ? "descending" : null;
    const next = { ascending: [`-${name}`], descending: null }[sort];
    const act = () => { this.choice.order = next === undefined ? [name] : next; this.change(); };
    const button = el("button", { type: "button", class: "head", "data-focus": `head ${name}`, click: act }, name);
    return [button, isNumber(type) ? "number" : null, { "aria-sort": sort }];
  }

  showFile() {
    const most = this.page.session.answer_rows;
    const href = `${this.path}?${this.choice.parameters(this.order, ["format", "csv"], ["limit", most])}`;
    const part = this.counted.count > most ? ` (the first ${count(most)} rows)` : "";
    return el("a", { href, download: `${this.page.name}.csv`, "data-focus": "csv" }, `Download CSV${part}`);
  }

  showControls() {
    const orders = this.orders.map(([columns, text]) => el(
      "option", { value: JSON.stringify(columns), selected: JSON.stringify(columns) === JSON.stringify(this.order) }, text,
    ));
    const setOrder = ({ target }) => {
      const columns = JSON.parse(target.value);
      this.choice.order = target.selectedIndex === 0 ? null : columns;
      this.change();
    };
    const order = field("Order", el("select", { id: "order", "data-focus": "order", change: setOrder }, orders));
    refresh(this.places.controls, el("div", { class: "controls" }, order, isWindowed(this.first) && this.timeFields()),
      this.filterForm());
    const remove = (filter) => () => { this.choice.remove(filter); this.change(); };
    refresh(this.places.chips, this.choice.others.map((filter) => el("li", {}, filterText(filter), " ", el(
      "button", { type: "button", "aria-label": `Remove the filter ${filterText(filter)}`, click: remove(filter) }, "×",
    ))));
  }

  timeFields() {
    const side = (id, label, sign) => field(label, el("input", {
      id, type: "datetime-local", step: 1, value: (this.choice.bound(sign) ?? "").replace(/(\.\d+)?Z$/, ""),
      change: () => this.setTime(...["from", "to"].map((each) => document.getElementById(each).value)),
    }));
    const span = el("select", { id: "span", "data-focus": "span", change: ({ target }) => this.setSpan(target.value) },
      el("option", { value: "", selected: true, disabled: true }, "choose"),
      SPANS.map(([seconds, text]) => el("option", { value: seconds }, text)));
    return [field("Time", span), side("from", "From (UTC)", ">"), side("to", "To (UTC)", "<")];
  }

  setTime(from, to) {
    this.choice.setTime(...[from, to].map((text) => (text ? `${text}Z` : null)));
    return this.change();
  }

  /** The windows of so many seconds up to the newest one. */
  async setSpan(seconds) {
    if (seconds === "all") return this.setTime("", "");
    const { rows: [newest] } = await get(`${this.path}?order=-${START}&limit=1`, this.page.signal);
    if (!newest) return this.setTime("", "");
    const from = new Date(Date.parse(newest[START]) - Number(seconds) * 1000);
    return this.setTime(from.toISOString().replace(/(\.000)?Z$/, ""), "");
  }

  filterForm() {
    const columns = el("select", { id: "filter-column" }, filterable(this.first.columns).map((each) => el("option", { value: each }, each)));
    const signs = [["", "="], [">", "≥"], ["<", "≤"]].map(([value, text]) => el("option", { value }, text));
    const sign = el("select", { id: "filter-sign" }, signs);
    const value = el("input", { id: "filter-value", autocomplete: "off" });
    const add = (event) => {
      event.preventDefault();
      this.choice.filters.push([columns.value + sign.value, value.value]);
      this.change();
    };
    return el("form", { class: "controls", submit: add }, field("Filter", columns), field("Comparison", sign), field("Value", value),
      el("button", { type: "submit" }, "Add filter"));
  }

  /** The newest windows as lines: one for each value of the other columns of the key. */
  async showChart() {
    const { columns, key } = this.first;
    const series = key.filter((column) => !column.startsWith("window_"));
    const values = columns.filter(({ name, type }) => isNumber(type) && !series.includes(name)).map(({ name }) => name);
    if (!values.length) return;
    const limit = Math.min(CHART_LIMIT, this.page.session.answer_rows);
    const { signal } = this.page;
    const { rows } = await get(`${this.path}?${this.choice.parameters([`-${START}`], ["limit", limit])}`, signal);
    const value = this.places.value.querySelector("select")?.value ?? values[0];
    const select = el("select", { id: "value", "data-focus": "value", change: () => this.showChart() },
      values.map((each) => el("option", { value: each, selected: each === value }, each)));
    const cut = rows.length === limit && el("span", { class: "quiet" }, `The newest ${count(limit)} rows are drawn.`);
    refresh(this.places.value, el("p", { class: "actions" }, el("label", { for: "value" }, "Chart of"), select, cut));
    const zoom = (from, to) => this.setTime(...[from, to].map((each) => new Date(Math.round(each / 1000) * 1000).toISOString().slice(0, 19)));
    drawChart(rows, { time: START, end: "window_end", value, series }, this.places.chart, { zoom, signal });
  }
}

const field = (label, control) => el("div", { class: "field" }, el("label", { for: control.id }, label), control);

/** Times without the zeros at their end. */
const showTime = (value, type) => (value && type.startsWith("timestamp") ? value.replace("T", " ").replace(/\.0+(?=Z?$)/, "") : value);

/** The relation of that name and the query that fills it, null for what is not there. */
async function findRelation(name, signal) {
  const [{ relations }, { nodes }] = await Promise.all([get("/v1/relations", signal), get("/v1/pipeline", signal)]);
  const folded = name.toLowerCase();
  return [relations.find((each) => each.name === folded) ?? null, nodes.find((each) => each.id === folded)?.query ?? null];
}

function showLinks(query, live) {
  const link = query !== null && el("a", { href: `#/queries/${encodeURIComponent(query)}` }, `Query ${query}`);
  return el("p", { class: "actions" }, link, live);
}

const showDefinition = (relation) => (relation ? [el("h2", {}, "SQL"), el("pre", { tabindex: 0 }, relation.definition)] : []);
