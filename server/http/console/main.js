// The page: who is logged in, and which part is shown.

import { findSession, logIn, logOut } from "./api.js";
import { el } from "./dom.js";
import { clearKept } from "./history.js";
import { showHome } from "./home.js";
import { showQueries, showRejected } from "./queries.js";
import { showQuery } from "./query.js";
import { showSql } from "./sql.js";
import { showTable } from "./table_page.js";
import { showTables } from "./tables.js";

const main = document.getElementById("main");
const notice = document.getElementById("notice");
const pages = [
  [/^#\/$/, "Pipeline", showHome],
  [/^#\/queries$/, "Queries", showQueries],
  [/^#\/queries\/([^?]+)$/, "Query", showQuery],
  [/^#\/(?:sql|editor)$/, "SQL", showSql],
  [/^#\/sql\/(.+)$/, "SQL", showSql],
  [/^#\/tables$/, "Tables", showTables],
  [/^#\/tables\/([^?]+)(?:\?(.*))?$/, "Table", showTable],
  [/^#\/rejected$/, "Late and rejected rows", showRejected],
];

let session = null;
let leaving = new AbortController();

/** Shows the part that the address names, and ends the one before. */
async function navigate() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  notice.textContent = "";
  for (const each of document.querySelectorAll("header nav, header .who")) each.hidden = session === null;
  if (session === null) return showLogin();
  const address = location.hash.startsWith("#/") ? location.hash : "#/";
  const [pattern, title, show] = pages.find(([each]) => each.test(address)) ?? pages[0];
  const [, written = null, search = ""] = address.match(pattern) ?? [];
  const name = written === null ? null : decode(written);
  const heading = el("h1", { tabindex: -1 }, name === null ? title : `${title} ${name}`);
  document.title = `${heading.textContent} · Penstock`;
  document.getElementById("role").textContent = session.role;
  for (const link of document.querySelectorAll("nav a")) {
    const isHere = link.hash === "#/" ? pattern === pages[0][0] : link.hash !== "" && address.startsWith(link.hash);
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const body = el("div");
  main.replaceChildren(heading, body);
  heading.focus({ preventScroll: true });
  try {
    await show(body, { name, search, session, signal, say });
  } catch (error) {
    if (!signal.aborted) say(error.message);
  }
}

/** A name as it is, of its form in an address. What somebody has typed may be no such form. */
function decode(written) {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

/** Tells something that is no part of the page. */
function say(text) {
  if (notice.textContent !== text) notice.textContent = text;
}

function showLogin() {
  document.title = "Log in · Penstock";
  const token = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
  const error = el("p", { class: "error", role: "alert" });
  const enter = async (event) => {
    event.preventDefault();
    try {
      session = await logIn(token.value);
      navigate();
    } catch (problem) {
      error.textContent = problem.message;
      token.select();
    }
  };
  const form = el("form", { submit: enter }, el("label", { for: "token" }, "Token"), token);
  form.append(el("button", { type: "submit", class: "primary" }, "Log in"), error);
  const mine = el("p", { class: "quiet" },
    "The operator's token is in the file ", el("code", {}, "secrets/token"), " of the server's state folder, which is ",
    el("code", {}, "penstock-state"), " unless ", el("code", {}, "--state"), " names another one.");
  const others = el("p", { class: "quiet" },
    "The operator makes tokens for others: ", el("code", {}, "penstock token create --user NAME --role reader"));
  main.replaceChildren(el("h1", {}, "Log in"), form, mine, others);
  token.focus();
}

addEventListener("hashchange", () => {
  if (location.hash !== "#main") navigate();
});
addEventListener("penstock-login", () => {
  if (session === null) return;
  session = null;
  navigate();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.getElementById("logout").addEventListener("click", async () => {
  try {
    await logOut();
  } catch (error) {
    if (error.problem?.status !== 401) { // the cookie is valid still
      say(`You are logged in still: ${error.message}`);
      return;
    }
  }
  clearKept();
  session = null;
  navigate();
});

try {
  session = await findSession();
  navigate();
} catch (error) {
  say(error.message);
}
