// The statements that were run from this browser, the newest first. Each server has a list of its own.

const KEY = "penstock-history";
const MOST = 100;
const LONGEST = 20_000;

/** [{ text, at, role }]. */
export function readHistory() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each?.text === "string") : [];
  } catch {
    return [];
  }
}

export function noteRun(text, role) {
  if (!text.trim() || text.length > LONGEST) return;
  const rest = readHistory().filter((each) => each.text !== text || each.role !== role);
  const kept = [{ text, role, at: new Date().toISOString() }, ...rest].slice(0, MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    localStorage.removeItem(KEY); // no room is left
  }
}

export const clearHistory = () => localStorage.removeItem(KEY);

/** The text of the editor, and the one that was run last. They last as long as the tab. */
export const [KEPT, RAN] = ["penstock-editor", "penstock-ran"];

/** Forgets the SQL of a user who logs out. */
export function clearKept() {
  clearHistory();
  for (const key of [KEPT, RAN]) sessionStorage.removeItem(key);
}
