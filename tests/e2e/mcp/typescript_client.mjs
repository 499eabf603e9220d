// The official TypeScript client against `roost mcp`: prints one JSON object with what it saw.
// Arguments: the package ("v1" or "v2"), then the server's command and arguments. The packages are
// looked for where NODE_CLIENTS says.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [release, command, ...args] = process.argv.slice(2);
const find = createRequire(process.env.NODE_CLIENTS + "/");
const load = (name) => import(pathToFileURL(find.resolve(name)).href);
const names = {
  v1: ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"],
  v2: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
}[release];
const [{ Client }, { StdioClientTransport }] = await Promise.all(names.map(load));

const client = new Client({ name: "typescript", version: "1" });
const env = { ROOST_HOME: process.env.ROOST_HOME };
await client.connect(new StdioClientTransport({ command, args, env }));
// Listing first makes the client hold every structured answer against its schema.
const { tools } = await client.listTools();
const call = (name, arguments_ = {}) => client.callTool({ name, arguments: arguments_ });
const url = "https://site.test/";
const seen = {
  server: client.getServerVersion().name,
  tools: tools.length,
  opened: await call("browser_navigate", { url }),
  tabs: await call("browser_tabs", { action: "list" }),
  picture: await call("browser_take_screenshot"),
  status: await call("roost_status"),
  loop: await call("loop_status"),
  refused: await call("session_dispose", { session: "nobody's" }),
  misspelt: await call("browser_clik"),
  together: await Promise.all([1, 2, 3, 4].map(() => call("browser_evaluate", { function: "() => 1" }))),
};
await client.close();
console.log(JSON.stringify(seen));
