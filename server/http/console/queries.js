// All queries with their figures; and what became of the rows that were not used.

import { get } from "./api.js";
import { bytes, cell, count, duration, el, errorText, rate, refresh, repeat, stateBadge, table } from "./dom.js";

const POLL = 2000;
const FIGURES = [
  "Query", "State", ["In", "number"], ["Out", "number"], ["Behind event time", "number"], ["State rows", "number"],
  ["State bytes", "number"], ["Late", "number"], ["Rejected", "number"], "Last error",
];

const sum = (query, field) => (query.status?.inputs ?? []).reduce((total, input) => total + (input[field] ?? 0), 0);
const link = (name) => el("a", { href: `#/queries/${encodeURIComponent(name)}`, "data-focus": `query ${name}` }, name);

export async function showQueries(body, { signal, say }) {
  const place = el("div");
  body.append(place);
  await repeat(POLL, signal, async () => {
    try {
      const { queries } = await get("/v1/queries", signal);
      say("");
      const rows = queries.map((query) => {
        const status = query.status ?? {};
        return [
          link(query.name), stateBadge(query.state), rate(status.input_rate), rate(status.output_rate),
          duration(status.lag_seconds), count(status.state_rows), bytes(status.state_bytes),
          count(sum(query, "late")), count(sum(query, "rejected")), errorText(query.code, query.message),
        ];
      });
      const empty = el("p", {}, "No query runs. ", el("a", { href: "#/editor" }, "Write one."));
      refresh(place, rows.length ? table("Queries", FIGURES, rows) : empty);
    } catch (error) {
      if (!signal.aborted) say(error.message);
    }
  });
}

export async function showRejected(body, { signal }) {
  body.append(
    el("p", {}, "A late row is behind the watermark: it is counted and left out. A rejected row is malformed, or its "
      + "event time is impossible, or a database refuses it. It is kept with its reason."),
  );
  const { queries } = await get("/v1/queries", signal);
  const inputs = queries.flatMap((query) => (query.status?.inputs ?? []).map((input) => [query, input]));
  const rows = inputs.map(([query, input]) => [
    link(query.name), input.name, count(input.in), count(input.late), count(input.rejected), count(input.filtered),
    count(input.used),
  ]);
  const columns = ["In", "Late", "Rejected", "Filtered", "Used"].map((name) => [name, "number"]);
  body.append(table("Rows of inputs", ["Query", "Input", ...columns], rows));
  const written = (query) => (query.status?.tables ?? []).reduce((total, each) => total + (each.rejected ?? 0), 0);
  for (const query of queries.filter((each) => sum(each, "rejected") + written(each) > 0)) {
    const inputs = sum(query, "rejected") > 0 && el("p", {}, `${count(sum(query, "rejected"))} rows of its inputs are `
      + `kept with their reasons as JSON in the state folder of the server, in a folder that ends in ${query.name}_rejected.`);
    body.append(el("h2", {}, `Rejected by ${query.name}`), inputs || "");
    if (written(query) > 0) body.append(await rejectedRows(query, signal));
  }
}

async function rejectedRows(query, signal) {
  try {
    const found = await get(`/v1/tables/${encodeURIComponent(`${query.name}_rejected`)}?limit=100`, signal);
    const names = found.columns.map((column) => column.name);
    return table(`Rejected by ${query.name}`, names, found.rows.map((row) => names.map((name) => cell(row[name]))));
  } catch (error) {
    if (error.problem?.status !== 404) throw error;
    return el("p", {}, `Rows that its table refused are kept in the table ${query.name}_rejected, which is not readable here.`);
  }
}
