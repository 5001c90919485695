// The SQL page: write, check, lay out, run, look at the answers, and come back to what was run before.

import { check, findWords, format, get, run } from "./api.js";
import { showAnswer, showProblem } from "./answers.js";
import { el, errorText, refresh } from "./dom.js";
import { openEditor } from "./editor.js";
import { KEPT, RAN, clearHistory, noteRun, readHistory } from "./history.js";
import { askName, findSaved, listKept } from "./saved.js";

const PAUSE = 300;

/** `name`: of a statement that is kept on the server, or null. */
export async function showSql(body, { name, session, signal, say }) {
  const host = el("div", { id: "sql", class: "editor" });
  const findings = el("ul", { id: "findings", class: "findings", "aria-label": "What is wrong", "aria-live": "polite" });
  const answers = el("div", { id: "answers", "aria-live": "polite" });
  const past = el("div", { id: "history", hidden: true });
  const kept = el("div", { id: "saved", hidden: true });
  const runs = el("button", { type: "button", class: "primary", click: () => send() }, "Run");
  const stops = el("button", { type: "button", hidden: true, click: () => running.abort() }, "Stop");
  const lays = el("button", { type: "button", click: () => layOut() }, "Format");
  const lists = el("button", { type: "button", "aria-expanded": "false", "aria-controls": "history", click: () => toggle(lists, past, () => listHistory(past, take)) }, "History");
  const keeps = el("button", { type: "button", click: () => askName(editor.text(), name, say) }, "Save …");
  const opens = el("button", { type: "button", "aria-expanded": "false", "aria-controls": "saved", click: () => toggle(opens, kept, () => listKept(kept, session, say)) }, "Saved");
  const told = session.submits ? "Ctrl+Enter runs the selection, or the statement at the cursor."
    : `Ctrl+Enter runs. ${session.role} may read; only submitters may change something.`;
  const actions = el("p", { class: "actions" }, runs, stops, lays, lists, keeps, opens);
  body.append(host, findings, actions, el("p", { class: "quiet" }, told), past, kept, answers);

  let [waiting, asking, running, found] = [null, new AbortController(), new AbortController(), []];
  const editor = openEditor(host, {
    text: (name === null ? sessionStorage.getItem(KEPT) : await findSaved(name, say)) ?? "", words: await findWords(), run: () => send(),
    changed: () => {
      sessionStorage.setItem(KEPT, editor.text());
      clearTimeout(waiting);
      waiting = setTimeout(look, PAUSE);
    },
  });
  signal.addEventListener("abort", () => {
    clearTimeout(waiting);
    for (const each of [asking, running]) each.abort();
    editor.close();
  });
  const readCatalog = async () => {
    const { relations } = await get("/v1/relations", signal);
    editor.setRelations(Object.fromEntries(relations.map((each) => [each.name, each.columns ?? []])));
  };

  const show = (list) => {
    found = list.map((each) => ({ ...each, ...(each.line === null ? { start: 0, end: 0 } : offsets(editor.text(), each)) }));
    editor.mark(found, apply);
    findings.replaceChildren(...found.map((each) => el("li", { class: each.severity }, errorText(each.code, each.message), " ",
      each.line && el("button", { type: "button", class: "place", click: () => editor.select(each) }, `line ${each.line}, column ${each.column}`),
      each.hint && el("span", { class: "hint" }, `hint: ${each.hint} `,
        each.paste && el("button", { type: "button", class: "place", click: () => apply(each) }, `Write ${each.paste.sql}`)))));
  };
  const apply = (finding) => editor.replace(offsets(editor.text(), finding.paste), finding.paste.sql);
  const settle = () => {
    clearTimeout(waiting);
    asking.abort();
    show([]);
  };
  const look = async () => {
    asking.abort();
    if (editor.text() === sessionStorage.getItem(RAN)) return settle();
    asking = new AbortController();
    const asked = editor.text();
    const list = asked.trim() ? await check(asked, asking.signal).catch((error) => error) : [];
    if (signal.aborted || editor.text() !== asked || list.name === "AbortError") return;
    if (list instanceof Error) findings.replaceChildren(el("li", {}, list.message));
    else show(list);
  };

  const send = async () => {
    if (runs.ariaDisabled === "true") return;
    const { text, start, what } = editor.chosen();
    const whole = editor.text();
    if (!text.trim()) return;
    runs.ariaDisabled = "true"; // it keeps the focus
    stops.hidden = false;
    running = new AbortController();
    const began = performance.now();
    refresh(answers, el("p", { class: "quiet" }, what === "all" ? "running …" : `running ${what} …`));
    const tell = () => el("p", { class: "quiet took" }, `${what === "all" ? "" : `${what}, `}${Math.round(performance.now() - began).toLocaleString("en")} ms`);
    try {
      const given = await run(text, running.signal);
      refresh(answers, given.map(showAnswer), tell());
      noteRun(text, session.role);
      // Its relations are there now. A check would find that they exist already.
      if (what === "all") sessionStorage.setItem(RAN, whole);
      if (editor.text() === whole && what === "all") settle();
    } catch (error) {
      if (error.problem) {
        const lines = whole.slice(0, start);
        const jump = (problem) => editor.select(placeOf(whole, text, lines.length, problem));
        refresh(answers, showProblem(error.problem, jump), tell());
        noteRun(text, session.role);
      } else if (error.name === "AbortError") refresh(answers, el("p", { class: "quiet" }, "stopped"));
      else throw error;
    } finally {
      runs.ariaDisabled = "false";
      stops.hidden = true;
    }
    await readCatalog();
  };
  const layOut = async () => {
    const asked = editor.text();
    try {
      const { sql, findings: list } = await format(asked);
      if (editor.text() !== asked) return;
      if (sql === null) show(list);
      else if (sql.trimEnd() !== asked) editor.setText(sql.trimEnd());
      editor.focus();
    } catch (error) {
      say(error.message);
    }
  };
  const toggle = (button, panel, list) => {
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) list();
  };
  const take = (text) => {
    editor.setText(text);
    toggle(lists, past);
    editor.focus();
  };

  await readCatalog();
  await look();
}

function listHistory(place, take) {
  const kept = readHistory();
  const items = kept.map((each) => el("li", {},
    el("button", { type: "button", class: "past", title: each.text, click: () => take(each.text) },
      el("code", {}, each.text.trim().replace(/\s+/g, " ").slice(0, 160))),
    el("span", { class: "quiet" }, ` ${each.at.slice(0, 16).replace("T", " ")} ${each.role}`)));
  const clear = el("button", { type: "button", click: () => { clearHistory(); listHistory(place, take); } }, "Clear the history");
  place.replaceChildren(el("h2", {}, "History"), kept.length ? el("ul", { class: "history" }, items) : el("p", {}, "Nothing was run from here."), kept.length ? clear : "");
}

/** The place of a problem in the whole text, of which a part was sent. */
function placeOf(whole, part, start, problem) {
  const place = offsets(part, { ...problem, end_line: problem.line, end_column: problem.column });
  return { start: start + place.start, end: start + place.end };
}

/** Lines and columns, which count characters from 1, as places in a text of UTF-16. */
function offsets(text, finding) {
  const lines = text.split("\n");
  const offset = (line, column) => {
    const before = lines.slice(0, line - 1).reduce((total, each) => total + each.length + 1, 0);
    return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
  };
  const start = Math.min(offset(finding.line, finding.column), text.length);
  return { start, end: Math.min(Math.max(offset(finding.end_line, finding.end_column), start), text.length) };
}
