// Bundles CodeMirror for the console into one module, with the versions at its head and the licences beside it.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const bundled = await build({
  entryPoints: ["editor.entry.js"], bundle: true, minify: true, format: "esm", target: "es2022", metafile: true,
  write: false, legalComments: "none", charset: "utf8",
});
const names = new Set(Object.keys(bundled.metafile.inputs).map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]));
const packages = [...names].filter(Boolean).sort();
const version = (name) => lock.packages[`node_modules/${name}`].version;
const head = `/* Vendored: ${packages.map((name) => `${name} ${version(name)}`).join(", ")}. MIT: codemirror.licences.txt. */\n`;
writeFileSync("../console/codemirror.js", head + bundled.outputFiles[0].text);
const licence = (name) => readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
const parts = packages.map((name) => `${name} ${version(name)}\n\n${licence(name)}\n`);
writeFileSync("../console/codemirror.licences.txt", parts.join(`\n${"-".repeat(72)}\n\n`));
