import type { Connection } from "./connection";
import { button, element } from "./dom";
import type { Policy, PolicyLayer, PolicyRule } from "./messages";

const PRESETS = {
  open: "Everything is allowed.",
  careful: "Asks you before uploads, downloads and scripts, and before a login is sent.",
  lockdown: "Only listed origins, no scripts, no uploads.",
};
const FILE = "file";
/** Where the policy comes from, as refusals name it. */
const SOURCE = "the dashboard";
const FILE_BYTES = 64 * 1024;

/** What the agents of one session may do, and the choice of another policy. */
export class PolicyPanel {
  readonly root: HTMLElement;
  private readonly inForce = element("div", { "aria-live": "polite" });
  private readonly file = element("input", { type: "file", accept: ".toml", "aria-label": "Policy file" });
  private readonly form: HTMLFormElement;
  private session = "";

  constructor(
    private readonly connection: Connection,
    private readonly failed: (error: Error) => void,
  ) {
    const choices = [...Object.entries(PRESETS), [FILE, "A policy file on this computer:"] as const];
    this.form = element(
      "form",
      { class: "choices", submit: (event) => void this.submit(event) },
      element("p", {}, "Choose another policy for this session. It replaces what its agents were started with. The configuration's policy stays."),
      ...choices.map(([name, help]) =>
        element(
          "label",
          {},
          element("input", { type: "radio", name: "policy", value: name, required: true }),
          element("span", {}, name === FILE ? "" : element("b", {}, name), ` ${help}`),
        ),
      ),
      this.file,
      element("button", { type: "submit", class: "primary" }, "Set policy"),
    );
    this.file.addEventListener("change", () => {
      this.form.querySelector<HTMLInputElement>(`[value=${FILE}]`)?.click();
    });
    this.root = element("div", { class: "policy" }, this.inForce, this.form);
  }

  /** Read the policy of that session again. */
  async read(session: string): Promise<void> {
    if (session !== this.session) {
      this.session = session;
      this.form.reset();
      this.inForce.replaceChildren();
    }
    const policy = (await this.connection.call("policy_show", { session })) as Policy;
    if (session === this.session) this.show(policy);
  }

  private show(policy: Policy): void {
    // A click must not lose its button, and a screen reader must not hear the same again.
    const shown = JSON.stringify(policy);
    if (this.inForce.dataset.shown === shown && this.inForce.hasChildNodes()) return;
    this.inForce.dataset.shown = shown;
    this.inForce.replaceChildren(...policyParts(policy));
    if (policy.approvals.length) {
      this.inForce.append(button("Withdraw approvals", () => void this.change("policy_forget", {})));
    }
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    const chosen = String(new FormData(this.form).get("policy"));
    const file = this.file.files?.[0];
    if (chosen !== FILE) {
      await this.change("policy_set", { policy: chosen, source: SOURCE });
    } else if (!file) {
      this.failed(new Error("Choose a policy file first."));
    } else if (file.size > FILE_BYTES) {
      this.failed(new Error(`A policy file has at most ${FILE_BYTES / 1024} KiB.`));
    } else {
      await this.change("policy_set", { policy: await file.text(), source: `${SOURCE} (${file.name.slice(0, 100)})` });
    }
  }

  private async change(op: string, args: Record<string, unknown>): Promise<void> {
    const session = this.session;
    try {
      const policy = (await this.connection.call(op, { session, ...args })) as Policy;
      if (session === this.session) this.show(policy);
    } catch (error) {
      this.failed(error as Error);
    }
  }
}

/** Return a policy as a person reads it: every layer with its rules, and what was approved. */
export function policyParts(policy: Policy): HTMLElement[] {
  const layers = policy.layers.map((layer) =>
    element("section", {}, element("h3", {}, layer.source), element("ul", {}, ...layerLines(layer).map((line) => element("li", {}, line)))),
  );
  const approved = policy.approvals.map(({ subject, session, program, origin }) =>
    element("li", {}, `${subject} on ${origin ?? "every origin"}, ${session ? "in this session" : `for ${program ?? "every program"}`}`),
  );
  return [
    ...(policy.isOpen ? [element("p", {}, element("b", {}, "open"), ": everything is allowed.")] : []),
    ...layers,
    ...(approved.length ? [element("section", {}, element("h3", {}, "You have approved"), element("ul", {}, ...approved))] : []),
  ];
}

function layerLines(layer: PolicyLayer): string[] {
  const { source: _, rules = [], ...limits } = layer;
  const lines = [...Object.entries(limits).map(([name, value]) => `${name} = ${JSON.stringify(value)}`), ...rules.map(ruleLine)];
  return lines.length ? lines : ["restricts nothing"];
}

function ruleLine({ verdict, operations, origins, clients }: PolicyRule): string {
  const where = origins?.length ? ` on ${origins.join(", ")}` : "";
  const whom = clients?.length ? ` for ${clients.join(", ")}` : "";
  return `${verdict} ${operations.join(", ")}${where}${whom}`;
}
