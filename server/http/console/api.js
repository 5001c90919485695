// Requests to the server that this page came from.

let csrf = null;

/** What the server answers instead of what it was asked for. */
export class Problem extends Error {
  constructor(problem) {
    super(problem.message ?? `the server answers ${problem.status}`);
    this.problem = problem;
  }
}

/** The JSON that a request is answered with. Throws a Problem, or an AbortError. */
export async function request(method, path, { body, signal, headers: more = {} } = {}) {
  const headers = { Accept: "application/json", ...more };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (csrf !== null && method !== "GET") headers["X-CSRF-Token"] = csrf;
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body), redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ status: 0, message: "the server does not answer" });
  }
  if (response.ok) return response.status === 204 ? null : response.json();
  const problem = await response.json().catch(() => ({ status: response.status }));
  if (response.status === 401 && path !== "/v1/session") dispatchEvent(new Event("penstock-login"));
  throw new Problem(problem);
}

export const get = (path, signal) => request("GET", path, { signal });

/** Who is logged in, null if nobody. */
export async function findSession() {
  try {
    return keep(await get("/v1/session"));
  } catch (error) {
    if (error.problem?.status === 401) return null;
    throw error;
  }
}

export const logIn = async (token) => keep(await request("POST", "/v1/session", { body: { token } }));

export async function logOut() {
  await request("DELETE", "/v1/session");
  csrf = null;
}

function keep(session) {
  csrf = session.csrf;
  return session;
}

/** The answers of a script. */
export const run = async (sql, signal) => (await request("POST", "/v1/statements", { body: { sql }, signal })).answers;

/** What is wrong with a script. */
export const check = async (sql, signal) => (await request("POST", "/v1/check", { body: { sql }, signal })).findings;

/** The script in the canonical layout, or what keeps it from being laid out: { sql, findings }. */
export const format = (sql) => request("POST", "/v1/format", { body: { sql } });

/** A statement that a user keeps on the server: { name, text, owner, changed }. */
export const readSaved = (name) => get(`/v1/saved/${encodeURIComponent(name)}`);

/** The statements that users keep on the server, without their texts. */
export const listSaved = async (signal) => (await get("/v1/saved", signal)).saved;

export const save = (name, sql) => request("PUT", `/v1/saved/${encodeURIComponent(name)}`, { body: { sql } });

export const forget = (name) => request("DELETE", `/v1/saved/${encodeURIComponent(name)}`);

let words = null;

/** The keywords, types and functions of Penstock's SQL. */
export async function findWords() {
  words ??= await get("/v1/words");
  return words;
}
