// Reads pairs of line trees from standard input, one JSON array a line, and answers each with its edit script.
import { createInterface } from "node:readline";

const { editScript } = await import(process.argv[2]);

for await (const line of createInterface({ input: process.stdin })) {
  const [before, now] = JSON.parse(line);
  const { removed, placed, changed, matching } = editScript(before, now);
  process.stdout.write(`${JSON.stringify({ removed, placed, changed, oldOf: Array.from(matching.oldOf) })}\n`);
}
