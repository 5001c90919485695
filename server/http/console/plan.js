// A plan as a graph: operators as boxes from the inputs down to the output, with lines between them.

import { el, svg } from "./dom.js";

export function drawPlan(plan, signal) {
  const lines = svg("svg", { "aria-hidden": "true" });
  const boxes = new Map();
  const readers = new Map();
  for (const [from, to] of plan.edges) readers.set(from, [...(readers.get(from) ?? []), labelOf(plan, to)]);
  const layers = findLayers(plan).map((nodes) => el("ul", {}, nodes.map((node) => {
    const to = readers.get(node.id);
    const box = el(
      "li", { class: "operator" }, el("strong", {}, node.label),
      node.detail && el("span", { class: "detail" }, node.detail),
      node.bound && el("span", { class: "bound" }, node.bound),
      to && el("span", { class: "hidden" }, `feeds ${to.join(", ")}`),
    );
    boxes.set(node.id, box);
    return box;
  })));
  const graph = el("div", { class: "plan" }, lines, layers);
  const draw = () => drawLines(graph, lines, boxes, plan.edges);
  const observer = new ResizeObserver(draw);
  observer.observe(graph);
  signal.addEventListener("abort", () => observer.disconnect());
  return graph;
}

const labelOf = (plan, id) => plan.nodes.find((node) => node.id === id)?.label ?? id;

/** Operators by their distance from the inputs. */
function findLayers(plan) {
  const depths = new Map(plan.nodes.map((node) => [node.id, 0]));
  for (let round = 0; round < plan.nodes.length; round += 1) {
    for (const [from, to] of plan.edges) depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(from) ?? 0) + 1));
    if (plan.edges.every(([from, to]) => depths.get(to) > depths.get(from))) break;
  }
  const layers = [];
  for (const node of plan.nodes) (layers[depths.get(node.id)] ??= []).push(node);
  return layers.filter(Boolean);
}

function drawLines(graph, lines, boxes, edges) {
  const area = graph.getBoundingClientRect();
  lines.replaceChildren(...edges.filter((edge) => edge.every((id) => boxes.has(id))).map(([from, to]) => {
    const [above, below] = [boxes.get(from).getBoundingClientRect(), boxes.get(to).getBoundingClientRect()];
    const [x1, y1] = [above.x + above.width / 2 - area.x, above.bottom - area.y];
    const [x2, y2] = [below.x + below.width / 2 - area.x, below.y - area.y];
    const middle = (y1 + y2) / 2;
    return svg("path", { d: `M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` });
  }));
}
