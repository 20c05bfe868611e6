// What was allowed for good, as our agent tells it.

export interface Allowed {
  words: string;
  where: string;
  /** What to send to take it back. */
  revoke: { revoke: { project: string | null; rule: unknown } };
}

interface Told {
  session?: { words?: string; rule?: unknown }[];
  projects?: { project?: string; here?: boolean; rules?: { words?: string; rule?: unknown }[] }[];
}

/** Rules of the session, of this project, of the others. */
export function allowed(answer: unknown): Allowed[] {
  let told = answer as Told | string | undefined;
  if (typeof told === "string") {
    try {
      told = JSON.parse(told) as Told;
    } catch {
      return [];
    }
  }
  const found: Allowed[] = [];
  const add = (
    rules: { words?: string; rule?: unknown }[] | undefined,
    project: string | null,
    where: string,
  ): void => {
    for (const { words, rule } of Array.isArray(rules) ? rules : [])
      found.push({ words: words ?? "", where, revoke: { revoke: { project, rule } } });
  };
  add(told?.session, null, "until this session closes");
  const projects = [...(told?.projects ?? [])].sort((a, b) => Number(b.here ?? false) - Number(a.here ?? false));
  for (const { project, here, rules } of projects)
    add(rules, project ?? "", here ? "in this project" : `in ${project ?? "?"}`);
  return found;
}
