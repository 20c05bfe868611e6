// What a person reads on the page has the words of docs/words.md: those that it refuses stand in no text here.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const REFUSED =
  /\b(takes? (it|them|back|along)|taken (back|off)|stands?|anew|nowhere|in passing|of its own|go(es)? along)\b/i;

/** The texts of a source: what stands between quotes, and words between tags. */
function texts(source: string): string[] {
  const code = source
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/([;,{]) \/\/ .*$/gm, "$1");
  return [
    ...(code.match(/"(?:[^"\\\n]|\\.)*"/g) ?? []),
    ...(code.match(/`(?:[^`\\]|\\.)*`/g) ?? []),
    ...(code.match(/^\s+[A-Z“][^=;{}()<>]*[a-z.?!…]$/gm) ?? []),
    ...(code.match(/>[^<>{}=;]*</g) ?? []),
  ];
}

test("texts for people have the words that people know", () => {
  const folder = import.meta.dirname;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !file.endsWith(".test.ts"),
  );
  expect(files.length).toBeGreaterThan(60);
  const wrong = files.flatMap((file) =>
    texts(readFileSync(join(folder, file), "utf8"))
      .filter((text) => !text.startsWith('"./') && REFUSED.test(text))
      .map((text) => `${file}: ${text.trim()}`),
  );
  expect(wrong, "see docs/words.md").toEqual([]);
});

test("a refused word in a text is found, and in a comment it is not", () => {
  const found = texts(`// "it takes it"
<b title="Take back">It stands there</b>;
const a = "taken"; // nowhere
  Nothing goes along with it.
`).filter((text) => REFUSED.test(text));
  expect(found.length).toBe(3);
});
