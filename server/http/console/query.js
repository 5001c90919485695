// One query: its figures, its plan, why it writes nothing, and what can be done with it.

import { get, run } from "./api.js";
import { bytes, count, duration, el, errorText, rate, refresh, repeat, stateBadge, table } from "./dom.js";
import { drawPlan } from "./plan.js";

const POLL = 2000;

export async function showQuery(body, { name, session, signal, say }) {
  const [figures, actions, rest] = [el("div"), el("p", { class: "actions" }), el("div")];
  const plan = el("div");
  body.append(figures, actions, rest, plan);
  let shown = null;
  const update = async () => {
    try {
      const query = await get(`/v1/queries/${encodeURIComponent(name)}`, signal);
      refresh(figures, listFigures(query));
      refresh(actions, session.submits ? listActions(query, update, say) : [], showRows(query));
      refresh(rest, listReasons(query), listInputs(query));
      if (shown !== JSON.stringify([query.plan, query.definition])) {
        shown = JSON.stringify([query.plan, query.definition]);
        plan.replaceChildren(
          el("h2", {}, "Bounds"), listBounds(query.plan),
          el("h2", {}, "Plan"), query.plan ? drawPlan(query.plan, signal) : el("p", {}, "Not known yet."),
          el("h2", {}, "SQL"), el("pre", { tabindex: 0 }, query.definition),
        );
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.problem?.status === 404) location.hash = "#/queries";
      else say(error.message);
    }
  };
  await repeat(POLL, signal, update);
}

function listFigures(query) {
  const status = query.status ?? {};
  const time = (text) => (text ? text.replace("T", " ").replace(/(\.\d+)?(Z|\+00:00)$/, "") : "–");
  const figures = [
    ["State", stateBadge(query.state)], ["Last error", errorText(query.code, query.message) || "none"],
    ["Since", time(query.since)], ["Restarts", count(query.restarts)], ["Micro-batches", count(status.batch)],
    ["Rows in", rate(status.input_rate)], ["Rows out", `${rate(status.output_rate)}, ${count(status.out)} in all`],
    ["Watermark", time(status.watermark)], ["Newest event time", time(status.newest)],
    ["Behind event time", duration(status.lag_seconds)],
    ["State", `${count(status.state_rows)} rows, ${bytes(status.state_bytes)}`], ["Author", query.author],
  ];
  return el("dl", { class: "figures" }, figures.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))));
}

function listActions(query, update, say) {
  const act = async (verb, done) => {
    try {
      await run(`${verb} QUERY ${query.name_text}`);
      say(`${query.name} is ${done}.`);
    } catch (error) {
      say(error.message);
    }
    await update();
  };
  const paused = query.state === "PAUSED";
  const [verb, word, done] = paused ? ["RESUME", "Resume", "resumed"] : ["PAUSE", "Pause", "paused"];
  return [
    el("button", { type: "button", "data-focus": "pause", click: () => act(verb, done) }, word),
    el("button", { type: "button", "data-focus": "drop", class: "danger", click: () => confirmDrop(query, act) }, "Drop"),
  ];
}

function confirmDrop(query, act) {
  const dialog = el(
    "dialog", { "aria-labelledby": "drop-title", close: () => dialog.remove() },
    el("h2", { id: "drop-title" }, `Drop ${query.name}?`),
    el("p", {}, `The query ends for good. ${tellLeft(query)}`),
    el("form", { method: "dialog", class: "actions" },
      el("button", { value: "no" }, "Keep it"),
      el("button", { value: "yes", class: "danger", click: () => act("DROP", "dropped") }, "Drop it")),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function tellLeft(query) {
  if (query.name.endsWith(" (new)")) return "The change is given up, and what is in force stays.";
  return query.relation ? `${query.relation} is dropped with its rows.` : "What it has written stays.";
}

function listInputs(query) {
  const status = query.status ?? {};
  const numbers = (names) => names.map((name) => [name, "number"]);
  const inputs = (status.inputs ?? []).map((each) => [
    each.name, count(each.in), count(each.used), count(each.filtered), count(each.late), count(each.rejected),
  ]);
  const tables = (status.tables ?? []).map((each) => [
    each.name, count(each.puts), count(each.updates), count(each.deletes), count(each.rejected), count(each.retries),
  ]);
  return [
    inputs.length > 0 && el("h2", {}, "Inputs"),
    inputs.length > 0 && table("Inputs", ["Input", ...numbers(["In", "Used", "Filtered", "Late", "Rejected"])], inputs),
    tables.length > 0 && el("h2", {}, "Tables"),
    tables.length > 0 && table("Tables", ["Table", ...numbers(["Puts", "Updates", "Deletes", "Rejected", "Retries"])], tables),
  ].filter(Boolean);
}

function listReasons(query) {
  const items = (query.status?.reasons ?? []).map((reason) => {
    const numbers = Object.entries(reason.numbers ?? {}).map(([name, value]) => `${name} ${value}`).join(", ");
    return el("li", {}, reason.text, numbers && el("span", { class: "quiet" }, ` (${numbers})`));
  });
  const none = el("p", {}, "Nothing is known that holds back its rows.");
  return [el("h2", {}, "Why"), items.length ? el("ul", {}, items) : none];
}

/** What each operator keeps at most. */
function listBounds(plan) {
  const rows = (plan?.nodes ?? []).filter((node) => node.bound).map((node) => [node.label, node.bound]);
  return rows.length ? table("Bounds", ["Operator", "Keeps at most"], rows) : el("p", {}, "It keeps no state.");
}

function showRows(query) {
  if (!query.relation) return [];
  const href = `#/tables/${encodeURIComponent(query.relation)}`;
  return [el("a", { href, "data-focus": "rows" }, `Rows of ${query.relation}`)];
}
