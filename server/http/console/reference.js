// The routes of the server, as it describes them.

import { get } from "./api.js";
import { el, table } from "./dom.js";

const main = document.getElementById("main");
try {
  const schema = await get("/openapi.json");
  main.append(el("p", {}, schema.info.description, " ", el("a", { href: "/openapi.json" }, "OpenAPI")));
  for (const [path, methods] of Object.entries(schema.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      main.append(el("h2", {}, el("code", {}, `${method.toUpperCase()} ${path}`)), el("p", {}, route.description ?? route.summary));
      const parameters = (route.parameters ?? []).map((each) => [each.name, each.in, each.description ?? ""]);
      if (parameters.length) main.append(table(`Parameters of ${method.toUpperCase()} ${path}`, ["Parameter", "In", "Meaning"], parameters));
    }
  }
} catch (error) {
  const told = error.problem?.status === 401 ? el("a", { href: "/" }, "Log in to see the routes.") : error.message;
  main.append(el("p", { role: "alert" }, told));
}
