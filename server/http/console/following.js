// Changes of a table as they happen.

const QUIET = 1000; // milliseconds between two reads of a table that changes

/** Reads again when something has changed, at most once a second, until the signal. */
export function follow(path, live, read, signal) {
  let timer = null;
  let changes = 0;
  const soon = () => {
    timer ??= setTimeout(async () => {
      timer = null;
      if (!document.hidden) await read();
    }, QUIET);
  };
  const events = new EventSource(path);
  events.addEventListener("ready", () => { live.textContent = "live"; });
  events.addEventListener("gap", () => { live.textContent = "live"; soon(); });
  events.addEventListener("change", (event) => {
    changes += 1;
    live.textContent = `live: ${changes} changes, micro-batch ${JSON.parse(event.data).batch}`;
    soon();
  });
  events.addEventListener("error", () => { live.textContent = "not live"; });
  document.addEventListener("visibilitychange", soon, { signal });
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    events.close();
  });
}
