// The graph of relations and queries, laid out by dagre: from the sources on the left to the results on the right.

import { Graph, layout } from "./dagre.js";
import { count, duration, el, rate, svg } from "./dom.js";

const [WIDTH, PAD, LINE] = [224, 12, 19];
const pen = document.createElement("canvas").getContext("2d");

/** `pipeline`: nodes and edges as the server tells them. Narrow windows get it from top to bottom. */
export function drawPipeline({ nodes, edges }, isNarrow) {
  const boxes = new Map(nodes.map((node) => [node.id, { node, lines: listLines(node) }]));
  const graph = new Graph();
  graph.setGraph({ rankdir: isNarrow ? "TB" : "LR", nodesep: 20, ranksep: 48, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [id, { lines }] of boxes) graph.setNode(id, { width: WIDTH, height: 2 * PAD + LINE * lines.length });
  for (const [from, to] of edges) graph.setEdge(from, to);
  layout(graph);
  const { width, height } = graph.graph();
  const picture = svg(
    "svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Pipeline" },
    svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
      svg("path", { class: "arrow", d: "M0 0 L8 4 L0 8 Z" }))),
    graph.edges().map((edge) => svg("path", { class: "edge", d: curve(graph.edge(edge).points), "marker-end": "url(#arrow)" })),
    [...boxes].map(([id, box]) => drawBox(box, graph.node(id), edges, boxes)),
  );
  return el("div", { class: "scroll pipeline", role: "region", tabindex: 0, "aria-label": "Graph of the pipeline", "data-focus": "pipeline" },
    picture);
}

/** What a box says, line by line: texts with their classes. */
function listLines(node) {
  const kind = [node.kind, node.connector].filter(Boolean).join(" · ");
  const lines = [[[node.name, "name"]], [[kind, "quiet"]]];
  if (node.state === null) return lines;
  lines[1].push([node.state.toLowerCase(), `state ${node.state.toLowerCase()}`]);
  lines.push([[`${rate(node.input_rate)} in`, ""], [`${rate(node.output_rate)} out`, ""]]);
  lines.push([[`${duration(node.lag_seconds)} behind`, ""]]);
  lines.push([[`${count(node.late)} late`, node.late ? "warning" : "quiet"],
    [`${count(node.rejected)} rejected`, node.rejected ? "bad" : "quiet"]]);
  return lines;
}

function drawBox({ node, lines }, { x, y, width, height }, edges, boxes) {
  const [left, top] = [x - width / 2, y - height / 2];
  const page = node.query === null ? `#/tables/${encodeURIComponent(node.id)}` : `#/queries/${encodeURIComponent(node.query)}`;
  const write = ([text, kind], part, parts, row) => {
    const shown = fit(text, width - 2 * PAD, parts.length, kind);
    const place = part ? { x: left + width - PAD, "text-anchor": "end" } : { x: left + PAD };
    return svg("text", { class: kind, ...place, y: top + PAD + LINE * row + 14 }, shown, shown !== text && svg("title", {}, text));
  };
  // The blanks keep texts apart for who hears them.
  const texts = lines.map((parts, row) => parts.map((each, part) => [write(each, part, parts, row), " "])).flat(2);
  return svg(
    "a", { href: page, class: `node ${node.kind}`, "aria-description": describe(node, edges, boxes), "data-focus": `node ${node.id}` },
    svg("rect", { x: left, y: top, width, height, rx: 6 }), texts,
  );
}

/** Where the rows of a box come from and go to, for who does not see the lines. */
function describe(node, edges, boxes) {
  const names = (ids) => ids.map((id) => boxes.get(id).node.name).join(", ");
  const inputs = names(edges.filter(([, to]) => to === node.id).map(([from]) => from));
  const outputs = names(edges.filter(([from]) => from === node.id).map(([, to]) => to));
  return [inputs && `reads ${inputs}`, outputs && `feeds ${outputs}`].filter(Boolean).join("; ") || null;
}

/** A text that ends in … where it is too long for its place. */
function fit(text, width, parts, kind) {
  pen.font = kind === "name" ? "650 15px system-ui, sans-serif" : "13px system-ui, sans-serif";
  const most = width / parts;
  let shown = text;
  while (pen.measureText(shown).width > most && shown.length > 1) shown = `${shown.slice(0, -2).trimEnd()}…`;
  return shown;
}

/** A line through points, with round corners. */
function curve(points) {
  const [first, ...rest] = points;
  const last = rest.pop();
  const bends = rest.map((point, at) => {
    const next = rest[at + 1];
    const end = next ? { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 } : last;
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y} ${bends.length ? bends.join(" ") : `L${last.x} ${last.y}`}`;
}
