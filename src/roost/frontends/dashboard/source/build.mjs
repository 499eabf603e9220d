// Builds ../page/app.js, or the file named on the command line (the test that compares builds does that).
import { build } from "esbuild";

const header =
  "// Made from src/roost/frontends/dashboard/source by `npm install --no-package-lock && npm run build`. Edit the sources, not this file.";

await build({
  entryPoints: ["main.ts"],
  outfile: process.argv[2] ?? "../page/app.js",
  absWorkingDir: import.meta.dirname,
  bundle: true,
  format: "iife",
  target: ["chrome115", "firefox115", "safari17"],
  charset: "utf8",
  banner: { js: header },
  logLevel: "warning",
});
