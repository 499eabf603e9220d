// Builds ../bundle.js, or the file named on the command line (the test that compares builds does that).
import { build } from "esbuild";

const header =
  "// Made from src/roost/page/source by `npm install --no-package-lock && npm run build`. Edit the sources, not this file.";

await build({
  entryPoints: ["main.ts"],
  outfile: process.argv[2] ?? "../bundle.js",
  absWorkingDir: import.meta.dirname,
  bundle: true,
  format: "iife",
  target: ["chrome115", "firefox115"],
  charset: "utf8",
  legalComments: "inline",
  banner: { js: header },
  logLevel: "warning",
});
