// Writes what the console takes of CodeMirror as one module, with the licences, into the folder of the console.

import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const place = process.argv[2] ?? new URL("../../console", import.meta.url).pathname;
const lock = JSON.parse(await readFile("package-lock.json", "utf-8"));
const built = await build({
  entryPoints: ["entry.js"], bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none",
  metafile: true, write: false, logLevel: "warning",
});
const names = Object.keys(built.metafile.inputs).map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
const packages = [...new Set(names.filter(Boolean))].sort().map((name) => [name, lock.packages[`node_modules/${name}`].version]);
const head = packages.map((each) => each.join(" ")).join(", ");
await writeFile(
  `${place}/codemirror.js`,
  `/* ${head}, MIT: codemirror.license.txt. Built by server/http/vendor/editor. */\n${built.outputFiles[0].text}`,
);
const parts = packages.map(async (each) => `${each.join(" ")}\n\n${(await readFile(`node_modules/${each[0]}/LICENSE`, "utf-8")).trim()}\n`);
await writeFile(`${place}/codemirror.license.txt`, (await Promise.all(parts)).join(`\n${"-".repeat(72)}\n\n`));
