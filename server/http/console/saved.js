// Statements that users keep on the server. Each has an address: #/sql/<name>.

import { forget, listSaved, readSaved, save } from "./api.js";
import { el } from "./dom.js";

/** The text that is kept under a name; null if there is none. */
export async function findSaved(name, say) {
  try {
    return (await readSaved(name)).text;
  } catch (error) {
    say(error.message);
    return null;
  }
}

/** Asks for a name, and keeps a text under it. */
export function askName(text, name, say) {
  const input = el("input", { id: "save-name", value: name ?? "", required: true, maxlength: 100, autocomplete: "off" });
  const error = el("p", { class: "error", role: "alert" });
  const keep = async (event) => {
    event.preventDefault();
    try {
      await save(input.value.trim(), text);
      dialog.close();
      const address = `#/sql/${encodeURIComponent(input.value.trim())}`;
      if (location.hash === address) say(`${input.value.trim()} is saved.`);
      else location.hash = address;
    } catch (problem) {
      error.textContent = problem.message;
    }
  };
  const dialog = el("dialog", { "aria-labelledby": "save-title", close: () => dialog.remove() },
    el("h2", { id: "save-title" }, "Save on the server"),
    el("form", { submit: keep }, el("label", { for: "save-name" }, "Name"), input, error,
      el("p", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Save"),
        el("button", { type: "button", click: () => dialog.close() }, "Cancel"))));
  document.body.append(dialog);
  dialog.showModal();
}

/** Lists the kept statements of all, and lets a user delete what is theirs. */
export async function listKept(place, session, say) {
  const remove = async (name) => {
    try {
      await forget(name);
    } catch (error) {
      say(error.message);
    }
    await listKept(place, session, say);
  };
  const items = (await listSaved()).map((each) => el("li", {},
    el("a", { href: `#/sql/${encodeURIComponent(each.name)}` }, each.name),
    el("span", { class: "quiet" }, ` ${each.owner}, ${each.changed.slice(0, 16).replace("T", " ")} `),
    (each.owner === session.role || session.owns)
      && el("button", { type: "button", class: "place", "aria-label": `Delete ${each.name}`, click: () => remove(each.name) }, "Delete")));
  place.replaceChildren(el("h2", {}, "Saved"), items.length ? el("ul", {}, items) : el("p", {}, "Nobody has saved a statement."));
}
