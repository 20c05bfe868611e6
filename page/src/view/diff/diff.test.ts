import { describe, expect, test } from "vitest";
import { marks, pairs } from "./pairs";
import { parse } from "./parse";

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

  test("stands side by side", () => {
    const [file] = parse("@@ -1,3 +1,2 @@\n a\n-b\n-c\n+d\n");
    const shown = pairs(file?.rows ?? []).map(({ left, right }) => [left?.text, right?.text]);
    expect(shown.slice(1)).toEqual([["a", "a"], ["b", "d"], ["c", undefined]]);
  });

  test("marks the words that changed, where that helps", () => {
    const found = marks("let line = inbox.recv().await;", "let Some(line) = inbox.recv().await;");
    expect(found?.after.filter((mark) => mark.changed).map((mark) => mark.text).join("")).toContain("Some");
    expect(marks("completely other", "nothing alike here at all")).toBeUndefined();
    expect(marks("x".repeat(501), "x")).toBeUndefined();
  });
});
