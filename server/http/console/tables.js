// Which tables there are.

import { get } from "./api.js";
import { el, table } from "./dom.js";

export async function showTables(body, { signal }) {
  const { relations } = await get("/v1/relations", signal);
  const rows = relations.map((relation) => {
    const link = el("a", { href: `#/tables/${encodeURIComponent(relation.name)}` }, relation.shown);
    const columns = (relation.columns ?? []).map((column) => `${column.name} ${column.type}`).join(", ");
    return [link, relation.kind.toLowerCase(), columns, relation.author];
  });
  const empty = el("p", {}, "Nothing has been declared. ", el("a", { href: "#/editor" }, "Write a CREATE TABLE."));
  body.append(rows.length ? table("Tables", ["Name", "Kind", "Columns", "Author"], rows) : empty);
}
