// The home page: relations and queries as a graph, each with its figures.

import { get } from "./api.js";
import { el, errorText, refresh, repeat, stateBadge } from "./dom.js";
import { drawPipeline } from "./pipeline.js";

const POLL = 2000;
const NARROW = 640;

export async function showHome(body, { signal, say }) {
  const [summary, errors, graph] = [el("p", { class: "actions" }), el("div"), el("div")];
  body.append(summary, errors, graph);
  let shown = "";
  await repeat(POLL, signal, async () => {
    try {
      const pipeline = await get("/v1/pipeline", signal);
      say("");
      const isNarrow = body.clientWidth < NARROW;
      const now = JSON.stringify([isNarrow, pipeline]);
      if (now === shown) return;
      shown = now;
      refresh(summary, countStates(pipeline.nodes));
      refresh(errors, listErrors(pipeline.nodes));
      const empty = el("p", {}, "Nothing has been declared. ", el("a", { href: "#/editor" }, "Write a CREATE STREAM."));
      refresh(graph, pipeline.nodes.length ? drawPipeline(pipeline, isNarrow) : empty);
    } catch (error) {
      if (!signal.aborted) say(error.message);
    }
  });
}

/** How many queries are in each state. */
function countStates(nodes) {
  const states = new Map();
  for (const { state } of nodes) if (state) states.set(state, (states.get(state) ?? 0) + 1);
  const badges = [...states].map(([state, number]) => el("span", {}, `${number} `, stateBadge(state)));
  return [...badges, el("a", { href: "#/queries", "data-focus": "queries" }, "All figures of the queries")];
}

function listErrors(nodes) {
  const failed = nodes.filter((node) => node.code);
  const items = failed.map((node) => el(
    "li", {}, el("a", { href: `#/queries/${encodeURIComponent(node.query)}`, "data-focus": `error ${node.id}` }, node.name),
    " ", stateBadge(node.state), " ", errorText(node.code, node.message),
  ));
  return items.length ? [el("h2", {}, "Errors"), el("ul", {}, items)] : [];
}
