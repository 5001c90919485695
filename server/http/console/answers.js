// Answers of statements: rows as a table, as CSV and as a chart; and why a statement was refused.

import { drawChart } from "./chart.js";
import { count, el, errorText, refresh, svg, table } from "./dom.js";

const SHOWN = 500;
const BARS = 30;
const [TIME, LINE] = ["the time\0", "the line\0"]; // no column of an answer has such a name

const isNumber = (type) => /^(smallint|integer|bigint|real|double|numeric|decimal)/.test(type);
const isTime = (type) => /^(timestamp|date$)/.test(type);

/** One answer as elements. `seconds`: how long all took. */
export function showAnswer(answer) {
  const started = answer.queries.map((name) => el("a", { href: `#/queries/${encodeURIComponent(name)}` }, name));
  return el("section", { class: "result" },
    el("p", { class: "answer" }, el("strong", {}, answer.tag), started.length ? " starts " : "", started),
    answer.notices.map((notice) => el("p", { class: "warning" }, `note: ${notice}`)),
    answer.columns.length ? showRows(answer) : null);
}

function showRows(answer) {
  if (answer.columns.length === 1 && /plan/i.test(answer.columns[0])) {
    return el("pre", { tabindex: 0 }, answer.rows.map(([line]) => line).join("\n"));
  }
  const types = answer.columns.map((_, place) => answer.types[place] ?? "text");
  const heads = answer.columns.map((name, place) => (isNumber(types[place]) ? [name, "number"] : name));
  const place = el("div");
  const show = (most) => {
    const rows = answer.rows.slice(0, most).map((row) => row.map((value, at) => showValue(value, types[at])));
    const rest = answer.rows.length - rows.length;
    refresh(place, table(`Answer of ${answer.tag}`, heads, rows), rest > 0 && el("p", { class: "actions" },
      el("button", { type: "button", click: () => show(answer.rows.length) }, `${count(rest)} more rows`)));
  };
  show(SHOWN);
  const download = el("button", { type: "button", click: () => save(answer) }, "Download CSV");
  return [place, el("p", { class: "actions" }, download,
    el("span", { class: "quiet" }, `${count(answer.rows.length)} ${answer.rows.length === 1 ? "row" : "rows"}`)), showChart(answer, types)];
}

/** A value as people read it. NULL is told apart from a text. */
export function showValue(value, type) {
  if (value === null) return el("span", { class: "null" }, "NULL");
  if (type === "boolean") return value === "t" ? "true" : "false";
  if (type.startsWith("timestamp")) return value.replace(/\+00$/, "Z");
  return value;
}

/** RFC 4180 with a header. NULL is empty, and an empty text has quotes. */
export function writeCsv(answer) {
  const write = (value) => (value === null ? "" : value === "" || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return [answer.columns, ...answer.rows].map((row) => `${row.map(write).join(",")}\r\n`).join("");
}

function save(answer) {
  const url = URL.createObjectURL(new Blob([writeCsv(answer)], { type: "text/csv" }));
  el("a", { href: url, download: "answer.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A chart of the first number over the first time, or over the first text. Null if there is none of them. */
function showChart(answer, types) {
  const differs = (at) => new Set(answer.rows.map((row) => row[at])).size > 1;
  const time = types.findIndex((type, at) => isTime(type) && differs(at));
  const text = types.findIndex((type) => /^(text|character)/.test(type));
  const values = types.map((_, at) => at).filter((at) => isNumber(types[at]));
  if (!values.length || (time < 0 && text < 0) || answer.rows.length < 2) return null;
  const place = el("div", { class: "picture" });
  const draw = (value) => {
    if (time < 0) return place.replaceChildren(drawBars(answer.columns[value], answer.rows.map((row) => [String(row[text]), toNumber(row[value])])));
    const rows = answer.rows.map((row) => ({ [TIME]: toIso(row[time]), [LINE]: text < 0 ? null : row[text], [answer.columns[value]]: row[value] }));
    return drawChart(rows, { time: TIME, value: answer.columns[value], series: text < 0 ? [] : [LINE] }, place);
  };
  const select = el("select", { "aria-label": "Chart of", change: () => draw(Number(select.value)) },
    values.map((at) => el("option", { value: at }, answer.columns[at])));
  requestAnimationFrame(() => draw(values[0])); // its width is known when it stands in the page
  return el("details", { open: true }, el("summary", {}, "Chart"), values.length > 1 ? el("p", { class: "actions" }, select) : null, place);
}

const toNumber = (value) => (value === null ? null : Number(value));
const toIso = (time) => (time ?? "").replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00").replace(/^(\d{4}-\d\d-\d\dT[\d:.]+)$/, "$1Z");

/** Bars from zero, with their names and numbers. */
function drawBars(label, rows) {
  const shown = rows.filter(([, value]) => Number.isFinite(value)).slice(0, BARS);
  if (!shown.length) return el("p", {}, "Nothing to draw.");
  const [low, high] = [Math.min(0, ...shown.map(([, value]) => value)), Math.max(0, ...shown.map(([, value]) => value))];
  const scale = (value) => ((value - low) / (high - low || 1)) * 100;
  const bars = shown.map(([name, value]) => el("li", {}, el("span", { class: "name" }, name),
    svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { x: scale(Math.min(0, value)), y: 0, width: Math.abs(scale(value) - scale(0)), height: 10 })),
    el("span", { class: "number" }, String(value))));
  const rest = rows.length > BARS && el("p", { class: "quiet" }, `${rows.length - BARS} more are not drawn.`);
  return el("figure", { class: "bars" }, el("figcaption", {}, label), el("ul", {}, bars), rest);
}

/** Why a script was refused, behind the answers before. `jump`: shows the place of an error in the text. */
export function showProblem(problem, jump) {
  const errors = problem.errors ?? [problem];
  return [...(problem.answers ?? []).map(showAnswer), ...errors.map((error) => el("p", { role: "alert" },
    errorText(error.code, error.message), " ",
    error.line && el("button", { type: "button", class: "place", click: () => jump(error) }, `line ${error.line}, column ${error.column}`),
    error.detail && el("span", { class: "hint" }, error.detail), error.hint && el("span", { class: "hint" }, `hint: ${error.hint}`)))];
}
