import { describe, expect, test } from "vitest";
import { marks, pairs } from "./pairs";
import { isDiff, parse } from "./parse";

const TWO = `diff --git a/a.rs b/a.rs
index 1..2 100644
--- a/a.rs
+++ b/a.rs
@@ -1,3 +1,4 @@ fn x()
 one
-two
+two!
+three
 four
diff --git a/b.md b/b.md
new file mode 100644
--- /dev/null
+++ b/b.md
@@ -0,0 +1,2 @@
+--- a line that looks like a head
++++ b/nothing
\\ No newline at end of file
`;

describe("a diff", () => {
  test("has files, numbers and counts", () => {
    const [first, second] = parse(TWO);
    expect([first?.path, first?.added, first?.removed]).toEqual(["a.rs", 2, 1]);
    expect([second?.path, second?.added, second?.removed]).toEqual(["b.md", 2, 0]);
    const two = first?.rows.find((row) => row.text === "two!");
    expect([two?.kind, two?.before, two?.after]).toEqual(["added", undefined, 2]);
    const four = first?.rows.find((row) => row.text === "four");
    expect([four?.before, four?.after]).toEqual([3, 4]);
    expect(second?.rows.map((row) => row.kind)).toEqual(["note", "hunk", "added", "added", "note"]);
  });

  test("without heads takes the name it is given", () => {
    const [file] = parse("@@ -1 +1 @@\n-a\n+b\n", "x.txt");
    expect([file?.path, file?.added, file?.removed]).toEqual(["x.txt", 1, 1]);
    expect(parse("", "x")).toEqual([]);
  });

  test("of Parlor's own form has no line that is only a head", () => {
    const [file] = parse("diff a/h.txt b/h.txt\n--- a/h.txt\n+++ b/h.txt\n@@ -1 +1 @@\n-hi\n+hello\n");
    expect([file?.path, file?.rows.map((row) => row.kind)]).toEqual(["h.txt", ["hunk", "removed", "added"]]);
  });

  test("of a file without a line says what it is", () => {
    const told = (text: string): (string | string[])[][] =>
      parse(text).map(({ path, rows }) => [path, rows.map((row) => row.text)]);
    const empty = "diff a/acc1 b/acc1\nnew file mode 100644\ndiff a/acc2 b/acc2\ndeleted file mode 100644\n";
    expect(told(empty)).toEqual([
      ["acc1", ["new, empty"]],
      ["acc2", ["deleted, it was empty"]],
    ]);
    expect(told("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n")).toEqual([["x", ["new, empty"]]]);
    // What has something in it, and what only changes its mode, is told as it was.
    expect(
      told("diff a/b.png b/b.png\nnew file mode 100644\nBinary files a/b.png and b/b.png differ\n")[0]?.[1],
    ).toContain("new file mode 100644");
    expect(told("diff a/r b/r\nold mode 100644\nnew mode 100755\n")[0]?.[1]).toEqual([
      "old mode 100644",
      "new mode 100755",
    ]);
    expect([
      isDiff(empty),
      isDiff("@@ -1 +1 @@\n-a\n+b\n"),
      isDiff("Nothing has changed."),
      isDiff("# z: too large"),
    ]).toEqual([true, true, false, false]);
  });

  test("stands side by side", () => {
    const [file] = parse("@@ -1,3 +1,2 @@\n a\n-b\n-c\n+d\n");
    const shown = pairs(file?.rows ?? []).map(({ left, right }) => [left?.text, right?.text]);
    expect(shown.slice(1)).toEqual([
      ["a", "a"],
      ["b", "d"],
      ["c", undefined],
    ]);
  });

  test("marks the words that changed, where that helps", () => {
    const found = marks("let line = inbox.recv().await;", "let Some(line) = inbox.recv().await;");
    expect(
      found?.after
        .filter((mark) => mark.changed)
        .map((mark) => mark.text)
        .join(""),
    ).toContain("Some");
    expect(marks("completely other", "nothing alike here at all")).toBeUndefined();
    expect(marks("x".repeat(501), "x")).toBeUndefined();
  });
});
