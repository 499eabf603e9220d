/** Reads the argument object that every function takes. A wrong type is a BAD_REQUEST that names the field. */
import { badRequest } from "./errors";

export type Args = Readonly<Record<string, unknown>>;

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export function text(args: Args, field: string): string {
  const value = args[field];
  if (typeof value !== "string") throw badRequest(field, `${field} must be a string`);
  return value;
}

export function optionalText(args: Args, field: string): string | undefined {
  return isAbsent(args[field]) ? undefined : text(args, field);
}

export function optionalFlag(args: Args, field: string): boolean | undefined {
  const value = args[field];
  if (isAbsent(value)) return undefined;
  if (typeof value !== "boolean") throw badRequest(field, `${field} must be true or false`);
  return value;
}

export function optionalNumber(args: Args, field: string, minimum = -Infinity, maximum = Infinity): number | undefined {
  const value = args[field];
  if (isAbsent(value)) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) throw badRequest(field, `${field} must be a number`);
  if (value < minimum || value > maximum) throw badRequest(field, `${field} must be between ${minimum} and ${maximum}, not ${value}`);
  return value;
}

export function oneOf<Choice extends string>(args: Args, field: string, choices: readonly Choice[], otherwise: Choice): Choice {
  const value = optionalText(args, field);
  if (value === undefined) return otherwise;
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw badRequest(field, `${field} must be one of ${choices.join(", ")}`);
  return choice;
}

export function optionalTexts(args: Args, field: string): string[] | undefined {
  const value = args[field];
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) {
    throw badRequest(field, `${field} must be a list of strings`);
  }
  return value as string[];
}
