// The text of an SQL page: colours, completion, and marks under what is wrong. CodeMirror does the work.
//
// It lies in a shadow root. There CodeMirror adds its styles without a style element, which the server's
// Content-Security-Policy refuses.

import {
  autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, Compartment, completionKeymap, defaultKeymap,
  drawSelection, EditorState, EditorView, ensureSyntaxTree, HighlightStyle, history, historyKeymap, keymap, lineNumbers,
  lintKeymap, placeholder, Prec, setDiagnostics, sql, SQLDialect, syntaxHighlighting, tags,
} from "./codemirror.js";
import { el, errorText } from "./dom.js";

const PARSE_MILLISECONDS = 200;
const RELATION_FOLLOWS = /\b(from|join|into|table|view|stream|update|describe)\s+$/i;

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--c0)", fontWeight: "550" },
  { tag: [tags.typeName, tags.atom, tags.bool, tags.null], color: "var(--c5)" },
  { tag: tags.standard(tags.name), color: "var(--c3)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--c2)" },
  { tag: tags.number, color: "var(--c1)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--raised)", color: "var(--text)", fontSize: ".875rem" },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "2px" },
  ".cm-content": { caretColor: "var(--text)", padding: ".6rem 0", minHeight: "11rem" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', lineHeight: "1.5", maxHeight: "60vh" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--back)", color: "var(--quiet)", borderRight: "1px solid var(--line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--good) 30%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--quiet)", maxWidth: "min(34rem, 92vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontStyle: "normal", color: "inherit", opacity: ".8" },
  ".cm-diagnosticAction": { background: "var(--accent)", color: "var(--on-accent)", borderRadius: ".3rem" },
  ".cm-diagnostic a": { color: "var(--link)" },
  ".cm-diagnostic .hint": { display: "block", color: "var(--quiet)" },
  ".cm-placeholder": { color: "var(--quiet)" },
});

/**
 * An editor in an element. `words`: of the language. `changed`: is called after each change by the user.
 * `run`: is called for Ctrl+Enter.
 */
export function openEditor(host, { text, words, changed, run }) {
  const root = host.attachShadow({ mode: "open" });
  const dialect = defineDialect(words);
  const language = new Compartment();
  const keys = [
    { key: "Mod-Enter", run: () => { run(); return true; } },
    ...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap,
  ];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), autocompletion({ icons: false }),
        EditorView.lineWrapping, syntaxHighlighting(colours), look,
        Prec.highest(keymap.of(keys)), language.of(makeLanguage(dialect, words, {})),
        placeholder("SELECT … FROM …"),
        EditorView.contentAttributes.of({ "aria-label": "SQL", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(); }),
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next }, selection: { anchor: 0 } }),
    focus: () => view.focus(),
    select({ start, end }) {
      view.dispatch({ selection: { anchor: start, head: end }, scrollIntoView: true });
      view.focus();
    },
    replace({ start, end }, insert) {
      view.dispatch({ changes: { from: start, to: end, insert }, selection: { anchor: start + insert.length } });
      view.focus();
    },
    setRelations: (relations) => view.dispatch({ effects: language.reconfigure(makeLanguage(dialect, words, relations)) }),
    mark: (findings, apply) => view.dispatch(setDiagnostics(view.state, findings.map((each) => describe(each, apply)))),
    chosen: () => findChosen(view.state),
    close: () => view.destroy(),
  };
}

function defineDialect(words) {
  const join = (list) => list.join(" ").toLowerCase();
  return SQLDialect.define({
    keywords: join(words.keywords), types: join(words.types), builtin: join(words.functions.map((each) => each.name)),
    doubleDollarQuotedStrings: true, identifierQuotes: "`\"", operatorChars: "*+-%<>!=&|~^/:", caseInsensitiveIdentifiers: true,
  });
}

/** `relations`: names with [{ name, type }]. */
function makeLanguage(dialect, words, relations) {
  const column = (each) => ({ label: each.name, detail: each.type, type: "property" });
  const schema = Object.fromEntries(Object.entries(relations).map(([name, columns]) => [name, columns.map(column)]));
  const functions = words.functions.map((each) => ({
    label: each.name, type: "function", detail: each.signatures[0], info: each.doc, boost: -1,
    apply: each.is_bare ? each.name : (view, _, from, to) => view.dispatch({
      changes: { from, to, insert: `${each.name}()` }, selection: { anchor: from + each.name.length + 1 },
    }),
  }));
  const named = Object.values(relations).flat();
  const columns = [...new Map(named.map((each) => [each.name, column(each)])).values()];
  const complete = (context) => {
    const word = context.matchBefore(/\w+/);
    const before = word && context.state.sliceDoc(Math.max(0, word.from - 1), word.from);
    if (!word || before === "." || before === "'") return null;
    const behind = context.state.sliceDoc(Math.max(0, word.from - 40), word.from);
    if (RELATION_FOLLOWS.test(behind)) return null; // the source of relations lists them
    return { from: word.from, options: [...columns, ...functions], validFor: /^\w*$/ };
  };
  return [
    sql({ dialect, schema, upperCaseKeywords: true }),
    dialect.language.data.of({ autocomplete: complete }),
  ];
}

/** A finding with its place, as CodeMirror underlines it and tells it on hover. */
function describe(finding, apply) {
  const actions = finding.paste ? [{ name: `Write ${finding.paste.sql}`, apply: () => apply(finding) }] : [];
  return {
    from: finding.start, to: Math.max(finding.end, finding.start), severity: finding.severity === "error" ? "error" : "warning",
    message: finding.message, actions,
    renderMessage: () => el("span", {}, errorText(finding.code, finding.message),
      finding.hint && el("span", { class: "hint" }, `hint: ${finding.hint}`)),
  };
}

/** What is to be run, with its place: the selection, or the statement at the cursor. */
function findChosen(state) {
  const { from, to, head } = state.selection.main;
  if (from !== to) return { text: state.sliceDoc(from, to), start: from, what: "the selection" };
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MILLISECONDS);
  const statements = tree?.topNode.getChildren("Statement") ?? [];
  const all = { text: state.doc.toString(), start: 0, what: "all" };
  if (statements.length < 2) return all;
  const before = statements.filter((each) => each.from <= head);
  const found = before.at(-1) ?? statements[0];
  return { text: state.sliceDoc(found.from, found.to), start: found.from, what: "the statement at the cursor" };
}
