// Which rows of a table are asked for: their order, their filters and their time, as parameters of the server.

const RESERVED = ["limit", "after", "order", "format"]; // parameters that are no columns
export const START = "window_start";

export class TableChoice {
  constructor(text = "") {
    this.order = null; // columns, with - before one that descends; null for the usual order
    this.filters = []; // pairs of a column, with > or < behind it for a bound, and a value
    for (const [name, value] of new URLSearchParams(text)) {
      if (name === "order") this.order = [...(this.order ?? []), value];
      else if (!RESERVED.includes(name)) this.filters.push([name, value]);
    }
  }

  /** The parameters of a request, with others behind them. */
  parameters(order = this.order ?? [], ...more) {
    return new URLSearchParams([...order.map((column) => ["order", column]), ...this.filters, ...more]);
  }

  /** The filters that are no bound of the time of windows. */
  get others() {
    return this.filters.filter(([column]) => column !== `${START}>` && column !== `${START}<`);
  }

  /** The bound of the time on one side, `>` or `<`, null without one. */
  bound(side) {
    return this.filters.find(([column]) => column === START + side)?.[1] ?? null;
  }

  /** Sets the time. Null leaves a side open. */
  setTime(from, to) {
    const sides = [[`${START}>`, from], [`${START}<`, to]];
    this.filters = [...this.others, ...sides.filter(([, value]) => value !== null)];
  }

  remove(filter) {
    this.filters = this.filters.filter((each) => each !== filter);
  }
}

/** Columns that can be filtered by. */
export const filterable = (columns) => columns.map(({ name }) => name).filter((name) => !RESERVED.includes(name));

/** A filter as people read it. */
export function filterText([column, value]) {
  const sign = { ">": "≥", "<": "≤" }[column.at(-1)];
  return sign ? `${column.slice(0, -1)} ${sign} ${value}` : `${column} = ${value}`;
}

export const isNumber = (type) => /^(smallint|integer|bigint|real|double|numeric)/.test(type);
export const isWindowed = (found) => [START, "window_end"].every((name) => found.columns.some((column) => column.name === name));

/** The orders that a table offers, each with its columns and its words. The first one is the usual one. */
export function listOrders(found) {
  const orders = found.columns.flatMap(({ name }) => [[[name], `${name}, ascending`], [[`-${name}`], `${name}, descending`]]);
  if (found.key.length) {
    orders.unshift([found.key, "primary key"], [found.key.map((column) => `-${column}`), "primary key, descending"]);
  } else orders.unshift([[], "as they come"]);
  // Not by the key, whose first column may be another one: the windows of one of its values would fill the page.
  const rest = found.key.filter((column) => column !== START);
  if (isWindowed(found)) orders.unshift([[`-${START}`, ...rest], "newest windows"]);
  return orders;
}
