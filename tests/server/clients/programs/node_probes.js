// What node-postgres does with the server that PGHOST and the other variables of libpq name: node_probes.js PART.
const pg = require("pg");
const Cursor = require("pg-cursor");
const QueryStream = require("pg-query-stream");

const RUN = "SELECT line FROM penstock.run($1)";
const tls = process.env.PGSSLMODE === "require" ? { rejectUnauthorized: false } : false;

function report(name, value) {
  console.log(JSON.stringify([name, value === undefined ? null : value]));
}

async function connect(options = {}) {
  const client = new pg.Client({ ssl: tls, ...options });
  await client.connect();
  return client;
}

async function rows(client, text, values) {
  return (await client.query({ text, values, rowMode: "array" })).rows;
}

async function fault(client, text, values) {
  try {
    await client.query(text, values);
  } catch (error) {
    return [error.code, error.message, error.detail, error.hint, error.position].map((each) => each ?? null);
  }
  return ["no error"];
}

async function probeQueries() {
  const client = await connect();
  const found = await client.query("SHOW STREAMS");
  report("rows", found.rows);
  report("columns", [found.command, found.rowCount, found.fields.map((field) => [field.name, field.dataTypeID])]);
  const made = await client.query("CREATE STREAM a");
  report("no rows", [made.command, made.rowCount, made.rows]);
  report("plan", await rows(client, "EXPLAIN PLAN SELECT 1"));
  report("run", await rows(client, "SELECT line FROM penstock.run('EXPLAIN PLAN x')"));
  report("run with a parameter", await rows(client, RUN, ["EXPLAIN PLAN x"]));
  report("no parameters", await rows(client, "SHOW STREAMS", []));
  report("extended", (await client.query({ text: "SHOW STREAMS", rowMode: "array", queryMode: "extended" })).rows);
  report("binary", (await client.query({ text: "SHOW STREAMS", values: [], binary: true, rowMode: "array" })).rows);
  report("parameter", (await fault(client, "CREATE STREAM a AS SELECT STREAM $1 FROM clicks", ["x"])).slice(0, 2));
  for (let at = 0; at < 3; at++) {
    report("prepared", (await client.query({ name: "s", text: "SHOW STREAMS", rowMode: "array" })).rows);
    const values = ["EXPLAIN PLAN x"];
    report("run, prepared", (await client.query({ name: "r", text: RUN, values, rowMode: "array" })).rows);
  }
  const several = await client.query("CREATE STREAM b; SHOW STREAMS; SHOW QUERIES");
  report("several", several.map((each) => [each.command, each.rows.length]));
  report("error", await fault(client, "  CREATE STREAM bad"));
  report("error, prepared", await fault(client, { name: "bad", text: "CREATE STREAM bad" }));
  report("mixed", (await fault(client, "SELECT 1; CREATE STREAM a")).slice(0, 2));
  const heard = [];
  client.on("notice", (notice) => heard.push([notice.severity, notice.message]));
  await client.query("CREATE TABLE t WITH (connector = 'memory') AS SELECT 1");
  report("warning", heard);
  const together = ["SHOW STREAMS", "SELECT 1", "CREATE STREAM c"].map((text) => client.query(text));
  report("sent together", (await Promise.all(together)).map((each) => each.command));
  await client.end();
}

async function probeReading() {
  const client = await connect();
  for (const [name, text, values] of [["SHOW", "SHOW STREAMS", []], ["run", RUN, ["EXPLAIN PLAN x"]]]) {
    const cursor = client.query(new Cursor(text, values, { rowMode: "array" }));
    report(`cursor: ${name}`, [await cursor.read(1), await cursor.read(5), await cursor.read(5)]);
    await cursor.close();
    const streamed = [];
    for await (const row of client.query(new QueryStream(text, values, { rowMode: "array", batchSize: 1 }))) {
      streamed.push(row);
    }
    report(`stream: ${name}`, streamed);
  }
  const cursor = client.query(new Cursor("SHOW STREAMS"));
  await cursor.read(1);
  await cursor.close();
  report("cursor closed early", await rows(client, "SELECT 1"));
  await client.end();
}

async function probeTransactions() {
  const client = await connect();
  await client.query("BEGIN");
  await client.query("CREATE TEMP TABLE own (a int)");
  await client.query("SAVEPOINT s");
  report("error in a transaction", (await fault(client, "CREATE STREAM bad")).slice(0, 2));
  report("after it", (await fault(client, "CREATE STREAM d"))[0]);
  await client.query("ROLLBACK TO s");
  report("after the savepoint", await rows(client, "SHOW STREAMS"));
  await client.query("ROLLBACK");
  report("rolled back", await rows(client, "SELECT to_regclass('own')"));
  await client.query("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY");
  report("read-only", [await rows(client, "SHOW STREAMS"), await rows(client, RUN, ["CREATE STREAM a"])]);
  await client.query("COMMIT");
  await client.end();
}

async function probeSessions() {
  const client = await connect();
  const slow = new pg.Query("PAUSE QUERY slow");
  const ended = new Promise((resolve) => slow.on("error", (error) => resolve(error.code)));
  client.query(slow);
  setTimeout(() => new pg.Client({ ssl: tls }).cancel(client, slow), 500);
  report("cancel", await ended);
  report("after cancel", await rows(client, "SHOW STREAMS"));
  await client.end();
  const pool = new pg.Pool({ ssl: tls, max: 3 });
  const all = await Promise.all(Array.from({ length: 12 }, () => pool.query({ text: "SHOW STREAMS", rowMode: "array" })));
  report("pool", [...new Set(all.map((each) => each.rows.length))]);
  await pool.end();
}

async function looks() {
  const client = await connect();
  const tables = "SELECT table_schema, table_name, table_type FROM information_schema.tables ORDER BY 1, 2";
  const columns = "SELECT * FROM information_schema.columns WHERE table_schema = $1 ORDER BY table_name, ordinal_position";
  const types = "SELECT oid, typname, typarray, typtype FROM pg_catalog.pg_type ORDER BY oid";
  for (const [text, values] of [
    [tables], [columns, ["alice"]], [types], ["SELECT * FROM alice.orders"], ["TABLE revenue"], ["TABLE alice.large"],
    ["SELECT * FROM alice.orders WHERE id = $1", [1]], ["SHOW server_version"], ["SELECT $1::alice.place", ["(a,1)"]],
  ]) {
    const found = await client.query({ text, values, rowMode: "array" });
    report(text, [found.command, found.rowCount, found.fields, found.rows]);
  }
  await client.end();
}

async function statements() {
  await probeQueries();
  await probeReading();
  await probeTransactions();
  await probeSessions();
}

({ statements, looks })[process.argv[2]]().catch((error) => {
  console.error(error);
  process.exit(1);
});
