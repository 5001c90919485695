// Elements, and values as people read them.

/** An element. Attributes that are functions listen, `true` is set without a value, `false` and null are left out. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Puts new children into an element. The focus stays where it was, by `data-focus`. */
export function refresh(element, ...children) {
  const focus = element.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== false));
  if (focus) element.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
}

/**
 * A table that scrolls by itself where it is wider than the window. `columns`: texts or elements, or
 * [text, "number", attributes of the heading].
 */
export function table(label, columns, rows) {
  const heads = columns.map((column) => [column].flat());
  const head = heads.map(([text, kind, rest]) => el("th", { scope: "col", class: kind, ...rest }, text));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell, at) => el("td", { class: heads[at][1] }, cell))));
  return el(
    "div",
    { class: "scroll", role: "region", tabindex: 0, "aria-label": label, "data-focus": `table ${label}` },
    el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)),
  );
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const count = (value) => (value === null || value === undefined ? "–" : whole.format(value));
export const rate = (value) => (value === null || value === undefined ? "–" : `${short.format(value)}/s`);

export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = value < 1 ? 0 : Math.min(Math.floor(Math.log(value) / Math.log(1024)), units.length - 1);
  return `${short.format(value / 1024 ** power)} ${units[power]}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 120) return `${short.format(seconds)} s`;
  if (seconds < 7200) return `${short.format(seconds / 60)} min`;
  return seconds < 172800 ? `${short.format(seconds / 3600)} h` : `${short.format(seconds / 86400)} d`;
}

/** A value of a row as text. */
export function cell(value) {
  if (value === null || value === undefined) return el("span", { class: "null" }, "NULL");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The state of a query: its word, and a colour. */
export const stateBadge = (state) => el("span", { class: `state ${state.toLowerCase()}` }, state.toLowerCase());

/** An error with a link to the page of its code. */
export function errorText(code, message) {
  if (!code && !message) return "";
  const link = code && el("a", { href: `/errors/${encodeURIComponent(code)}`, "data-focus": `code ${code}` }, code);
  return el("span", { class: "error" }, link, link && message ? ": " : null, message ?? "");
}

/** Calls a function now and every so many milliseconds, while the page is seen, until the signal. */
export function repeat(milliseconds, signal, call) {
  let timer = null;
  const step = async () => {
    if (!document.hidden) await call();
    if (!signal.aborted) timer = setTimeout(step, milliseconds);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  return step();
}
