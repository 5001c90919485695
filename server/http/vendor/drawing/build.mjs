// Writes uPlot and dagre as one module each, with their licences, into the folder of the console.

import { copyFile, readFile } from "node:fs/promises";
import { build } from "esbuild";

const place = process.argv[2] ?? new URL("../../console", import.meta.url).pathname;
const modules = new URL("node_modules/", import.meta.url).pathname;
const libraries = [
  ["uplot", "uplot/dist/uPlot.esm.js", "uplot/LICENSE"],
  ["dagre", "@dagrejs/dagre/dist/dagre.esm.js", "@dagrejs/dagre/dist/dagre.esm.js.LEGAL.txt"],
];

for (const [name, entry, licence] of libraries) {
  const folder = entry.slice(0, entry.indexOf("/dist/"));
  const { name: full, version } = JSON.parse(await readFile(`${modules}${folder}/package.json`, "utf-8"));
  await build({
    entryPoints: [modules + entry], outfile: `${place}/${name}.js`, format: "esm", bundle: true, minify: true,
    target: "es2022", legalComments: "none", logLevel: "warning",
    banner: { js: `/* ${full} ${version}, MIT: ${name}.license.txt. Built by server/http/vendor/drawing. */` },
  });
  await copyFile(modules + licence, `${place}/${name}.license.txt`);
}
await build({
  entryPoints: [`${modules}uplot/dist/uPlot.min.css`], outfile: `${place}/uplot.css`, minify: true, logLevel: "warning",
});
