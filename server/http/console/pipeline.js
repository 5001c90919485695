// The graph of relations and queries, laid out by dagre: from the sources on the left to the results on the right.

import { Graph, layout } from "./dagre.js";
import { count, duration, el, rate, svg } from "./dom.js";

const [WIDTH, PAD, LINE, SPACE] = [208, 12, 19, 20];
const pen = document.createElement("canvas").getContext("2d");

/** `pipeline`: nodes and edges as the server tells them. Narrow windows get a column, in which each box names its inputs. */
export function drawPipeline({ nodes, edges }, isNarrow) {
  const boxes = new Map(nodes.map((node) => [node.id, { node, lines: listLines(node) }]));
  if (isNarrow) {
    for (const { node, lines } of boxes.values()) {
      const inputs = nameInputs(node, edges, boxes);
      if (inputs) lines.push([[`from ${inputs}`, "quiet"]]);
    }
  }
  // Numbers, for dagre keeps its nodes in plain objects, where a name such as constructor is there already.
  const ids = new Map([...boxes.keys()].map((name, at) => [name, `n${at}`]));
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: SPACE, ranksep: 44, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [name, { lines }] of boxes) graph.setNode(ids.get(name), { width: WIDTH, height: 2 * PAD + LINE * lines.length });
  for (const [from, to] of edges) graph.setEdge(ids.get(from), ids.get(to));
  layout(graph);
  if (isNarrow) stack(graph);
  const { width, height } = graph.graph();
  const picture = svg(
    "svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Pipeline" },
    svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
      svg("path", { class: "arrow", d: "M0 0 L8 4 L0 8 Z" }))),
    isNarrow ? [] : graph.edges().map((edge) => svg("path", { class: "edge", d: curve(graph, edge), "marker-end": "url(#arrow)" })),
    [...boxes].map(([name, box]) => drawBox(box, graph.node(ids.get(name)), edges, boxes)),
  );
  return el("div", { class: "scroll pipeline", role: "region", tabindex: 0, "aria-label": "Graph of the pipeline", "data-focus": "pipeline" },
    picture);
}

/** Puts the boxes below each other, from the sources on. */
function stack(graph) {
  let top = 4;
  const places = graph.nodes().map((id) => graph.node(id)).sort((a, b) => a.x - b.x || a.y - b.y);
  for (const place of places) {
    Object.assign(place, { x: 4 + WIDTH / 2, y: top + place.height / 2 });
    top += place.height + SPACE;
  }
  Object.assign(graph.graph(), { width: WIDTH + 8, height: top - SPACE + 4 });
}

/** What a box says, line by line: texts with their classes. */
function listLines(node) {
  const kind = [node.kind, node.connector].filter(Boolean).join(" · ");
  const lines = [[[node.name, "name"]], [[kind, "quiet"]]];
  if (node.state === null) return lines;
  lines[1].push([node.state.toLowerCase(), `state ${node.state.toLowerCase()}`]);
  lines.push([[`${rate(node.input_rate)} in`, ""], [`${rate(node.output_rate)} out`, ""]]);
  if (node.lag_seconds !== null) lines.push([[`${duration(node.lag_seconds)} behind`, ""]]);
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
  const inputs = nameInputs(node, edges, boxes);
  const outputs = edges.filter(([from]) => from === node.id).map(([, to]) => boxes.get(to).node.name).join(", ");
  return [inputs && `reads ${inputs}`, outputs && `feeds ${outputs}`].filter(Boolean).join("; ") || null;
}

const nameInputs = (node, edges, boxes) => (
  edges.filter(([, to]) => to === node.id).map(([from]) => boxes.get(from).node.name).join(", "));

/** A text that ends in … where it is too long for its place. */
function fit(text, width, parts, kind) {
  pen.font = kind === "name" ? "650 15px system-ui, sans-serif" : "13px system-ui, sans-serif";
  const most = width / parts;
  let shown = text;
  while (pen.measureText(shown).width > most && shown.length > 1) shown = `${shown.slice(0, -2).trimEnd()}…`;
  return shown;
}

/** A line from the right side of a box to the left side of another one, round the boxes between them. */
function curve(graph, edge) {
  const [from, to] = [graph.node(edge.v), graph.node(edge.w)];
  const between = graph.edge(edge).points.slice(1, -1);
  const points = [{ x: from.x + WIDTH / 2, y: from.y }, ...(between.length > 1 ? between : []), { x: to.x - WIDTH / 2, y: to.y }];
  const bends = points.slice(1).map(({ x, y }, at) => {
    const middle = (points[at].x + x) / 2;
    return `C${middle} ${points[at].y} ${middle} ${y} ${x} ${y}`;
  });
  return `M${points[0].x} ${points[0].y} ${bends.join(" ")}`;
}
