/**
 * The tools that a page offers to agents (WebMCP, https://webmachinelearning.github.io/webmcp/).
 *
 * The browser keeps them, so this world can list and call them. A polyfill that a page brings itself lives in the
 * page's own world, where no code of ours runs: its tools are not seen.
 */
import { type Args, text } from "./args";
import { cut } from "./dom";
import { badRequest, PageError } from "./errors";

const TOOLS_LIMIT = 200;
const NAME_CHARS = 200;
const DESCRIPTION_CHARS = 2_000;
const SCHEMA_CHARS = 10_000;
const RESULT_CHARS = 1_000_000;

interface RegisteredTool {
  name: string;
  description?: string;
  inputSchema?: unknown;
  window?: unknown;
}

interface ModelContext {
  getTools?: () => Promise<RegisteredTool[]>;
  executeTool?: (tool: RegisteredTool, input: unknown) => Promise<unknown>;
  invokeTool?: (name: string, input: unknown) => Promise<unknown>;
}

export interface PageTool {
  name: string;
  description: string;
  /** A JSON Schema as text. */
  inputSchema: string;
}

function modelContext(): ModelContext {
  const found = (document as { modelContext?: ModelContext }).modelContext ?? (navigator as { modelContext?: ModelContext }).modelContext;
  if (found?.getTools) return found;
  const reason = isSecureContext ? "This browser does not have WebMCP" : "Only https pages and pages of this machine can offer tools";
  throw new PageError("NOT_FOUND", reason, { hint: "Act in the page itself: take a snapshot." });
}

async function ownTools(): Promise<RegisteredTool[]> {
  const tools = await modelContext().getTools!();
  return Array.from(tools).filter((tool) => !("window" in tool) || tool.window === window).slice(0, TOOLS_LIMIT);
}

export async function pageTools(): Promise<{ tools: PageTool[] }> {
  const tools = await ownTools();
  return {
    tools: tools.map((tool) => ({
      name: cut(String(tool.name), NAME_CHARS),
      description: cut(String(tool.description ?? ""), DESCRIPTION_CHARS),
      inputSchema: cut(asJson(tool.inputSchema ?? {}), SCHEMA_CHARS),
    })),
  };
}

export async function callPageTool(args: Args): Promise<{ value: string }> {
  const name = text(args, "name");
  const tool = (await ownTools()).find((one) => one.name === name);
  if (!tool) throw new PageError("NOT_FOUND", "The page offers no tool of that name", { hint: "List the page's tools first." });
  const context = modelContext();
  try {
    const answer = context.invokeTool ? await context.invokeTool(name, args.input) : await executed(context, tool, args.input);
    return { value: cut(asJson(answer), RESULT_CHARS) };
  } catch (error) {
    throw new PageError("BAD_REQUEST", "The page's tool failed", { field: "input", pageSaid: String((error as Error)?.message ?? error) });
  }
}

/** Chromium's first versions take the input as JSON text. */
async function executed(context: ModelContext, tool: RegisteredTool, input: unknown): Promise<unknown> {
  if (!context.executeTool) throw badRequest("name", "This browser cannot call the page's tools");
  try {
    return await context.executeTool(tool, input);
  } catch (error) {
    if (!String((error as Error)?.message).includes("Failed to parse input")) throw error;
    return context.executeTool(tool, JSON.stringify(input));
  }
}

function asJson(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "null";
}
