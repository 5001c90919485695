// Lines over time, drawn as SVG.

import { el, svg } from "./dom.js";

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [260, 56, 12, 12, 28];
const MOST = 8;

/**
 * `points`: { x, end: milliseconds, y: number or null, name: the line }. `width`: in pixels.
 * A line has a gap where no window follows on the one before: nothing is known of the time between.
 */
export function drawChart(label, points, width) {
  const lines = new Map();
  for (const point of points.filter((each) => Number.isFinite(each.y))) {
    lines.set(point.name, [...(lines.get(point.name) ?? []), point]);
  }
  const shown = [...lines].slice(0, MOST).map(([name, each]) => [name, each.sort((a, b) => a.x - b.x)]);
  const all = shown.flatMap(([, each]) => each);
  if (!all.length) return el("p", {}, "Nothing to draw yet.");
  const x = scale(all.map((point) => point.x), LEFT, width - RIGHT);
  const y = scale([0, ...all.map((point) => point.y)], HEIGHT - BOTTOM, TOP);
  const newest = new Date(Math.max(...all.map((point) => point.x))).toISOString().slice(0, 16).replace("T", " ");
  const picture = svg(
    "svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${label} by window, up to ${newest}` },
    y.ticks.map((tick) => [
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y.at(tick), y2: y.at(tick) }),
      svg("text", { x: LEFT - 6, y: y.at(tick) + 4, "text-anchor": "end" }, short.format(tick)),
    ]).flat(),
    [x.low, x.high].map((time, end) => svg(
      "text", { x: x.at(time), y: HEIGHT - 8, "text-anchor": end ? "end" : "start" },
      new Date(time).toISOString().slice(0, 16).replace("T", " "),
    )),
    shown.flatMap(([, each], number) => findStretches(each).map((stretch) => svg(
      "polyline", { class: `line c${number}`, points: path(stretch, x, y) },
    ))),
    shown.flatMap(([, each], number) => each.map((point) => svg(
      "circle", { class: `dot c${number}`, cx: x.at(point.x), cy: y.at(point.y), r: 2.5 },
    ))),
  );
  const legend = el("ul", { class: "legend" }, shown.map(([name], number) => el("li", { class: `c${number}` }, name)));
  const rest = lines.size > MOST && el("p", { class: "quiet" }, `${lines.size - MOST} more lines are not drawn.`);
  return el("figure", { class: "chart" }, picture, el("figcaption", {}, legend, rest));
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/** Points whose windows touch each other or overlap. */
function findStretches(points) {
  const stretches = [];
  for (const point of points) {
    const last = stretches.at(-1);
    if (last && point.x <= last.at(-1).end) last.push(point);
    else stretches.push([point]);
  }
  return stretches;
}

const path = (points, x, y) => points.map((point) => `${x.at(point.x)},${y.at(point.y)}`).join(" ");

function scale(values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low || 1;
  const step = 10 ** Math.floor(Math.log10(span)) / (span / 10 ** Math.floor(Math.log10(span)) < 3 ? 2 : 1);
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(tick);
  return { low, high, ticks: ticks.slice(0, 12), at: (value) => Math.round((from + ((value - low) / span) * (to - from)) * 10) / 10 };
}
