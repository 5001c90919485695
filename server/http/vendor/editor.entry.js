// What the console takes of CodeMirror. `make editor` bundles it.

export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap, acceptCompletion, completionStatus, startCompletion } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { keywordCompletionSource, schemaCompletionSource, sql, SQLDialect } from "@codemirror/lang-sql";
export { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
export { linter, setDiagnostics, forceLinting } from "@codemirror/lint";
export { Compartment, EditorState, Prec } from "@codemirror/state";
export { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
export { tags } from "@lezer/highlight";
