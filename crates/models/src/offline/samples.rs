//! The fixed texts of the offline model.

pub(super) const HELP: &str = "\
I am the offline model: no key, no network, but every feature can be tried with me. I understand:

- `list files in src`, `read README.md`, `read A and B`
- ``run `ls -la` ``, `grep TODO in src`, `find *.rs`
- `write hello.txt: hi`, `edit hello.txt: hi => hello`: in a project it just does it; in the mode \"asks first\" it asks
- ``run `git tag try` ``, which needs your yes, as does all that leaves the project
- `plan`, `ask me something` (or: to confirm, choose, type, edit)
- `think`, `show markdown`, `count to 200 slowly`, `fail`, `say WORDS`
- `call TOOL {\"json\": \"arguments\"}` for any other tool
- steps: `write a.txt: hi then read a.txt`

For a real model add an API key with `parlor login`, set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`, or start a local server.";

pub(super) const THOUGHT: &str = "\
The person wants me to think. I should look at the question from more than one side, \
weigh what speaks for each answer, and then say something short.";

/// Every sort of Markdown that a screen must show.
pub(super) const MARKDOWN: &str = "\
# A heading

Some *emphasis*, some **strength**, `a little code`, ~~a mistake~~ and [a link](https://example.com).

## A list

1. First
   - nested
   - with `code`
2. Second

- [x] done
- [ ] to do

> A quotation
> of two lines.

## A table

| Fruit | Colour | Price |
|:------|:------:|------:|
| Apple | red    |  1.20 |
| Plum  | blue   |  0.80 |
| 梨    | green  |  2.00 |

## Code

```rust
fn main() {
    let words = [\"hello\", \"parlor\"];
    println!(\"{}\", words.join(\", \"));
}
```

```diff
- let old = 1;
+ let new = 2;
```

---

The end.";
