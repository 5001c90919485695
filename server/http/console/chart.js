// Lines over time, drawn by uPlot. A line has a gap where a window is missing: nothing is known of that time.

import { el } from "./dom.js";
import uPlot from "./uplot.js";

const HEIGHT = 280;
const MOST = 8;
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
const plots = new WeakMap();

/**
 * Draws rows into an element, or redraws them there.
 *
 * `rows`: objects by column. `columns`: the names { time, end, value, series }. `end`: where the window of a row ends, left
 * out for rows without windows. `series`: the columns whose values name a line. `zoom(from, to)`, in milliseconds, is
 * called when a stretch of time is drawn over; without it the chart itself shows that stretch. `signal` ends the chart.
 */
export function drawChart(rows, columns, place, { zoom = null, signal = null } = {}) {
  const { lines, rest, data } = alignLines(rows, columns);
  if (!lines.length) {
    removePlot(place);
    place.replaceChildren(el("p", {}, "Nothing to draw yet."));
    return;
  }
  const key = JSON.stringify([columns, lines]);
  const old = plots.get(place);
  if (old?.key === key) {
    old.plot.setData(data);
    old.describe();
    return;
  }
  removePlot(place);
  const figure = el("figure", { class: "chart" });
  place.replaceChildren(figure);
  const plot = makePlot(figure, lines, data, zoom);
  const describe = () => figure.querySelector(".plot").setAttribute("aria-label", describePlot(plot, columns, lines));
  const legend = el("ul", { class: "legend" }, lines.map((name, at) => el("li", {}, legendButton(plot, name, at))));
  figure.append(el("figcaption", {}, legend, rest > 0 && el("p", { class: "quiet" }, `${rest} more lines are not drawn.`)));
  const observer = new ResizeObserver(() => plot.setSize({ width: widthOf(figure), height: HEIGHT }));
  observer.observe(figure);
  plots.set(place, { key, plot, describe, observer });
  describe();
  figure.plot = plot;
  signal?.addEventListener("abort", () => removePlot(place));
}

function removePlot(place) {
  const old = plots.get(place);
  old?.observer.disconnect();
  old?.plot.destroy();
  plots.delete(place);
}

/** Lines with the largest sums, and their values at all times: undefined where a line goes on, null where it has a gap. */
function alignLines(rows, { time, end = null, value, series = [] }) {
  const points = new Map();
  for (const row of rows) {
    const x = Date.parse(row[time]) / 1000;
    if (!Number.isFinite(x)) continue;
    const name = series.map((column) => String(row[column])).join(", ") || value;
    const y = row[value] === null || !Number.isFinite(Number(row[value])) ? null : Number(row[value]);
    if (!points.has(name)) points.set(name, []);
    points.get(name).push({ x, end: end === null ? Infinity : Date.parse(row[end]) / 1000, y });
  }
  for (const each of points.values()) each.sort((a, b) => a.x - b.x);
  const step = end === null ? Infinity : findStep([...points.values()]);
  const sum = (name) => points.get(name).reduce((total, { y }) => total + Math.abs(y ?? 0), 0);
  const drawn = [...points.keys()].filter((name) => points.get(name).some(({ y }) => y !== null));
  const lines = drawn.sort((a, b) => sum(b) - sum(a)).slice(0, MOST).sort();
  const gaps = new Map(lines.map((name) => [name, findGaps(points.get(name), step)]));
  const ends = lines.flatMap((name) => gaps.get(name).map(([from]) => from));
  const times = [...new Set([...lines.flatMap((name) => points.get(name).map(({ x }) => x)), ...ends])].sort((a, b) => a - b);
  const data = lines.map((name) => fillTimes(times, points.get(name), gaps.get(name)));
  return { lines, rest: drawn.length - lines.length, data: [times, ...data] };
}

/** The time from one window to the next one where all are of one length, and infinity elsewhere. */
function findStep(lines) {
  const all = lines.flat();
  const length = all.length ? all[0].end - all[0].x : 0;
  if (all.some((point) => point.end - point.x !== length)) return Infinity;
  const starts = [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
  return Math.min(length, ...starts.slice(1).map((x, at) => x - starts[at]));
}

/** The times between points whose windows do not follow on each other: from where a window is missing to the next one. */
function findGaps(points, step) {
  const pairs = points.slice(1).map((next, at) => [Math.min(points[at].end, points[at].x + step), next.x]);
  return pairs.filter(([from, to]) => from < to);
}

/** The value of a line at each time. */
function fillTimes(times, points, gaps) {
  const values = new Map(points.map(({ x, y }) => [x, y]));
  let gap = 0;
  return times.map((x) => {
    if (values.has(x)) return values.get(x);
    while (gap < gaps.length && gaps[gap][1] <= x) gap += 1;
    return gap < gaps.length && gaps[gap][0] <= x ? null : undefined;
  });
}

function makePlot(figure, lines, data, zoom) {
  const root = el("div", { class: "plot", tabindex: 0, role: "group", "data-focus": "chart" });
  const tip = el("div", { class: "tip", hidden: true, "aria-live": "polite" });
  figure.append(root);
  const color = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name);
  const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line") } };
  const plot = new uPlot({
    width: widthOf(figure), height: HEIGHT, legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    cursor: { y: false, drag: { x: true, y: false, setScale: zoom === null } },
    scales: { y: { range: { min: { pad: 0.1, soft: 0, mode: 1 }, max: { pad: 0.1, soft: 0, mode: 1 } } } },
    axes: [{ ...axis, space: 84, values: (_, ticks, at, space, step) => timeLabels(ticks, step) }, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => short.format(tick)) }],
    series: [{}, ...lines.map((label, at) => ({
      label, stroke: color(`--c${at}`), width: 2, spanGaps: false,
      points: { show: true, size: 5, fill: color(`--c${at}`), width: 0 },
    }))],
    hooks: {
      setCursor: [(drawn) => showTip(drawn, tip)],
      setSelect: [(drawn) => {
        if (zoom === null || drawn.select.width < 4) return;
        const { left, width } = drawn.select;
        zoom(...[left, left + width].map((pixel) => drawn.posToVal(pixel, "x") * 1000));
      }],
    },
  }, data, root);
  plot.over.append(tip);
  root.addEventListener("keydown", (event) => moveCursor(event, plot));
  root.addEventListener("blur", () => hideCursor(plot));
  return plot;
}

const widthOf = (figure) => Math.max(figure.clientWidth, 240);
const hideCursor = (plot) => plot.setCursor({ left: -10, top: -10 });
const isValue = (value) => value !== null && value !== undefined;

/** The values of one time, beside the cursor. */
function showTip(plot, tip) {
  const { idx, left } = plot.cursor;
  const shown = idx === null || idx === undefined || left < 0 ? [] : plot.series.slice(1).map((line, at) => [line, at])
    .filter(([line, at]) => line.show && isValue(plot.data[at + 1][idx]));
  tip.hidden = !shown.length;
  if (!shown.length) return;
  tip.replaceChildren(el("strong", {}, timeText(plot.data[0][idx])), el("ul", {}, shown.map(([line, at]) => el(
    "li", { class: `c${at}` }, el("span", {}, `${line.label}: ${number.format(plot.data[at + 1][idx])}`),
  ))));
  const isRight = left > plot.over.clientWidth / 2;
  tip.style.left = isRight ? "auto" : `${left + 12}px`;
  tip.style.right = isRight ? `${plot.over.clientWidth - left + 12}px` : "auto";
}

/** The arrow keys go from one time with a value to the next one. */
function moveCursor(event, plot) {
  const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  if (event.key === "Escape") hideCursor(plot);
  if (!(event.key in steps)) return;
  event.preventDefault();
  const places = plot.data[0].map((_, at) => at).filter((at) => plot.data.slice(1).some((line) => isValue(line[at])));
  const now = plot.cursor.left < 0 ? -1 : places.indexOf(plot.cursor.idx);
  const start = now < 0 && event.key === "ArrowLeft" ? places.length : now;
  const next = places[Math.min(Math.max(start + steps[event.key], 0), places.length - 1)];
  plot.setCursor({ left: plot.valToPos(plot.data[0][next], "x"), top: 10 });
}

function legendButton(plot, name, at) {
  const toggle = () => {
    const isShown = !plot.series[at + 1].show;
    plot.setSeries(at + 1, { show: isShown });
    button.setAttribute("aria-pressed", String(isShown));
  };
  const button = el("button", { type: "button", class: `c${at}`, "aria-pressed": "true", click: toggle },
    el("span", {}, name));
  return button;
}

/** A time in UTC as people read it. */
function timeText(seconds) {
  const text = new Date(seconds * 1000).toISOString().replace("T", " ").replace(/(\.000)?Z$/, "");
  return text.endsWith(":00") ? text.slice(0, -3) : text;
}

/** The times below the chart, with the date where another one begins. `step`: seconds between two of them. */
function timeLabels(ticks, step) {
  const texts = ticks.map((tick) => new Date(tick * 1000).toISOString());
  return texts.map((text, at) => {
    const day = text.slice(0, 10);
    if (step >= 86400) return day;
    const time = text.slice(11, step < 1 ? 23 : step < 60 ? 19 : 16);
    return at > 0 && texts[at - 1].startsWith(day) ? time : `${time}\n${day}`;
  });
}

function describePlot(plot, { value, end = null }, lines) {
  const times = plot.data[0];
  const names = lines.length > 1 ? ` of ${lines.join(", ")}` : "";
  return `${value}${names} by ${end === null ? "time" : "window"}, from ${timeText(times[0])} to ${timeText(times.at(-1))} UTC. `
    + "Arrow keys show the values.";
}
