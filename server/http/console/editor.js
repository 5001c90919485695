// The editor: errors are underlined as they are typed, Ctrl+Enter runs, answers stand below.

import { check, run } from "./api.js";
import { cell, el, errorText, table } from "./dom.js";

const KEPT = "penstock-editor";
const RAN = "penstock-ran";
const PAUSE = 250;

export async function showEditor(body, { session, signal }) {
  const text = el("textarea", {
    id: "sql", rows: 14, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "soft",
    "aria-describedby": "findings",
  });
  const mirror = el("div", { class: "mirror", "aria-hidden": "true" });
  const findings = el("ul", { id: "findings", class: "findings", "aria-live": "polite" });
  const answers = el("div", { "aria-live": "polite" });
  const button = el("button", { type: "submit", class: "primary", disabled: !session.submits }, "Run");
  const hint = session.submits ? "Ctrl+Enter runs" : `${session.role} may not submit statements`;
  const send = async (event) => {
    event?.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    const sent = text.value;
    try {
      answers.replaceChildren(...(await run(sent)).flatMap(showAnswer));
      // Its relations are there now. A check would find that they exist already.
      sessionStorage.setItem(RAN, sent);
      if (text.value === sent) settle();
    } catch (error) {
      if (error.problem) answers.replaceChildren(...showProblem(error.problem, text));
      else throw error;
    } finally {
      button.disabled = false;
    }
  };
  const keys = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  const form = el(
    "form", { submit: send }, el("label", { for: "sql" }, "SQL"), el("div", { class: "editor" }, mirror, text), findings,
    el("p", { class: "actions" }, button, el("span", { class: "quiet" }, hint)),
  );
  body.append(form, answers);
  text.value = sessionStorage.getItem(KEPT) ?? "";
  text.addEventListener("keydown", keys);
  text.addEventListener("scroll", () => mirror.scrollTo(text.scrollLeft, text.scrollTop));

  let waiting = null;
  let asking = new AbortController();
  const settle = () => {
    clearTimeout(waiting);
    asking.abort();
    showFindings([], text, mirror, findings);
  };
  const look = async () => {
    asking.abort();
    if (text.value === sessionStorage.getItem(RAN)) return settle();
    asking = new AbortController();
    const asked = text.value;
    const found = asked.trim() ? await check(asked, asking.signal).catch((error) => error) : [];
    if (signal.aborted || text.value !== asked || found.name === "AbortError") return;
    if (found instanceof Error) findings.replaceChildren(el("li", {}, found.message));
    else showFindings(found, text, mirror, findings);
  };
  const type = () => {
    sessionStorage.setItem(KEPT, text.value);
    underline(text, mirror, []);
    clearTimeout(waiting);
    waiting = setTimeout(look, PAUSE);
  };
  text.addEventListener("input", type);
  signal.addEventListener("abort", () => {
    clearTimeout(waiting);
    asking.abort();
  });
  await look();
}

function showFindings(found, text, mirror, list) {
  const places = found.filter((each) => each.line !== null).map((each) => ({ ...each, ...offsets(text.value, each) }));
  underline(text, mirror, places);
  text.setAttribute("aria-invalid", String(found.some((each) => each.severity === "error")));
  list.replaceChildren(...found.map((each) => {
    const place = places.find((other) => other.line === each.line && other.column === each.column);
    const jump = place && el("button", { type: "button", class: "place", click: () => select(text, place) },
      `line ${each.line}, column ${each.column}`);
    return el("li", { class: each.severity }, errorText(each.code, each.message), " ", jump ?? "", showHint(each.hint));
  }));
}

const showHint = (hint) => (hint ? el("span", { class: "hint" }, `hint: ${hint}`) : null);

function select(text, place) {
  text.focus();
  text.setSelectionRange(place.start, place.end);
}

/** The text behind the text, with marks where something is wrong. */
function underline(text, mirror, places) {
  const parts = [];
  let at = 0;
  for (const { start, end, severity } of [...places].sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    parts.push(text.value.slice(at, start), el("mark", { class: severity }, text.value.slice(start, end) || " "));
    at = Math.max(end, start);
  }
  mirror.replaceChildren(...parts, `${text.value.slice(at)}\n`);
  mirror.scrollTo(text.scrollLeft, text.scrollTop);
}

/** Lines and columns, which count characters from 1, as places in a text of UTF-16. */
function offsets(text, finding) {
  const lines = text.split("\n");
  const offset = (line, column) => {
    const before = lines.slice(0, line - 1).reduce((total, each) => total + each.length + 1, 0);
    return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
  };
  const start = offset(finding.line, finding.column);
  return { start, end: Math.max(offset(finding.end_line, finding.end_column), start) };
}

function showAnswer(answer) {
  const notices = answer.notices.map((notice) => el("p", { class: "warning" }, `warning: ${notice}`));
  const started = answer.queries.map((name) => el("a", { href: `#/queries/${encodeURIComponent(name)}` }, name));
  const rows = answer.rows.map((row) => row.map(cell));
  return [
    el("p", { class: "answer" }, el("strong", {}, answer.tag), started.length ? " starts " : "", ...started),
    ...notices,
    answer.columns.length ? table(`Answer of ${answer.tag}`, answer.columns, rows) : null,
  ].filter(Boolean);
}

function showProblem(problem, text) {
  const errors = problem.errors ?? [problem];
  return [...(problem.answers ?? []).flatMap(showAnswer), ...errors.map((error) => {
    const place = error.line && { ...offsets(text.value, { ...error, end_line: error.line, end_column: error.column }) };
    const jump = place && el("button", { type: "button", class: "place", click: () => select(text, place) },
      `line ${error.line}, column ${error.column}`);
    const detail = error.detail ? el("span", { class: "hint" }, error.detail) : null;
    return el("p", { role: "alert" }, errorText(error.code, error.message), " ", jump || "", detail ?? "", showHint(error.hint) ?? "");
  })];
}
