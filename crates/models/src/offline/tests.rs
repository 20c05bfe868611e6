//! Tables: prompt → plan, conversation → closing words; the streamer's pace and cancel; no text panics the plan.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{ErrorKind, OpaquePart, Reply, ToolSpec};

const TOOLS: [&str; 10] = ["ls", "read", "bash", "write", "edit", "grep", "find", "todo", "ask", "odd"];

fn request(messages: Vec<ChatMessage>) -> Request {
    let spec = |name: &str| ToolSpec { name: name.to_owned(), description: String::new(), schema: json!({}) };
    Request { messages, tools: TOOLS.map(spec).into(), ..Request::default() }
}

fn shown(planned: &[Planned]) -> String {
    let lines = planned.iter().map(|item| match item {
        Planned::Say(text) => format!("say {:?}", text.chars().take(60).collect::<String>()),
        Planned::Think(text) => format!("think {:?}", text.chars().take(20).collect::<String>()),
        Planned::Call { tool, args } => format!("{tool} {args}"),
        other => format!("{other:?}"),
    });
    lines.collect::<Vec<_>>().join(" + ")
}

fn table(prompts: &[&str]) -> String {
    let line = |prompt: &&str| {
        format!("{prompt:?} -> {}\n", shown(&plan(&request(vec![ChatMessage::user(*prompt)]))))
    };
    prompts.iter().map(line).collect()
}

#[test]
fn a_note_of_the_program_is_no_prompt() {
    let note = ChatMessage::user("[note from Parlor]\n- The mode is another.");
    let told = plan(&request(vec![ChatMessage::user("read a.txt"), note.clone()]));
    assert_eq!(shown(&told), r#"read {"path":"a.txt"}"#);
    assert!(!closing::summary(&[note]).contains("mode"));
}

/// Plays the model against a table of results until it calls nothing more; gives all it said.
fn talk(prompt: &str, results: &[(&str, bool)]) -> String {
    let mut messages = vec![ChatMessage::user(prompt)];
    let mut results = results.iter();
    let mut log = String::new();
    for step in 0..10 {
        let planned = plan(&request(messages.clone()));
        let mut tool_calls = Vec::new();
        for item in &planned {
            match item {
                Planned::Say(text) => log.push_str(&format!("{text}\n")),
                Planned::Call { tool, args } => {
                    log.push_str(&format!("[{tool} {args}]\n"));
                    let id = format!("{step}.{}", tool_calls.len());
                    tool_calls.push(ToolCall {
                        id,
                        name: tool.clone(),
                        args: ToolArgs::Parsed(args.clone()),
                    });
                }
                other => log.push_str(&format!("[{other:?}]\n")),
            }
        }
        if tool_calls.is_empty() {
            return log;
        }
        messages.push(ChatMessage::Assistant {
            content: vec![],
            tool_calls: tool_calls.clone(),
            kept: Vec::<OpaquePart>::new(),
        });
        for call in tool_calls {
            let (text, is_error) = *results.next().unwrap();
            let content = vec![Content::Text(text.to_owned())];
            messages.push(ChatMessage::Tool { call_id: call.id, name: call.name, content, is_error });
        }
    }
    panic!("it never came to an end: {log}");
}

#[test]
fn plain_requests_become_tool_calls() {
    let got = table(&[
        "list files",
        "List files in src/bin.",
        "please show files of `my dir`",
        "show me all files in src",
        "ls",
        "read README.md",
        "can you read the file a.txt?",
        "read A and B",
        "read a, b and c",
        "read a and list files",
        "run `ls -la`",
        "run cargo test --all",
        "run `a && b then c` and `d`",
        "write hello.txt: hi",
        "write a.txt: salt and pepper\nthen more",
        "edit a.txt: old words => new words",
        "grep TODO",
        "search for fn main in src",
        "find Model",
        "find *.rs",
        "find files named x.toml",
        "plan",
        "plan: wash, dry; fold",
        "ask me to confirm",
        "ask me to choose",
        "ask me to type",
        "ask me to edit",
        "ask me something",
        "call odd {\"a\":1}",
        "call missing",
        "fetch https://example.com",
    ]);
    expect![[r#"
        "list files" -> ls {"path":"."}
        "List files in src/bin." -> ls {"path":"src/bin"}
        "please show files of `my dir`" -> ls {"path":"my dir"}
        "show me all files in src" -> ls {"path":"src"}
        "ls" -> ls {"path":"."}
        "read README.md" -> read {"path":"README.md"}
        "can you read the file a.txt?" -> read {"path":"a.txt"}
        "read A and B" -> read {"path":"A"} + read {"path":"B"}
        "read a, b and c" -> read {"path":"a"} + read {"path":"b"} + read {"path":"c"}
        "read a and list files" -> read {"path":"a"} + ls {"path":"."}
        "run `ls -la`" -> bash {"command":"ls -la"}
        "run cargo test --all" -> bash {"command":"cargo test --all"}
        "run `a && b then c` and `d`" -> bash {"command":"a && b then c"} + bash {"command":"d"}
        "write hello.txt: hi" -> write {"content":"hi","path":"hello.txt"}
        "write a.txt: salt and pepper\nthen more" -> write {"content":"salt and pepper\nthen more","path":"a.txt"}
        "edit a.txt: old words => new words" -> edit {"new":"new words","old":"old words","path":"a.txt"}
        "grep TODO" -> grep {"pattern":"TODO"}
        "search for fn main in src" -> grep {"path":"src","pattern":"fn main"}
        "find Model" -> grep {"pattern":"Model"}
        "find *.rs" -> find {"pattern":"*.rs"}
        "find files named x.toml" -> find {"pattern":"x.toml"}
        "plan" -> todo {"items":[{"status":"active","text":"look at what is there"},{"status":"pending","text":"make the change"},{"status":"pending","text":"check that it works"}]}
        "plan: wash, dry; fold" -> todo {"items":[{"status":"active","text":"wash"},{"status":"pending","text":"dry"},{"status":"pending","text":"fold"}]}
        "ask me to confirm" -> ask {"kind":"confirm","question":"Shall I go on?"}
        "ask me to choose" -> ask {"kind":"choose","options":["apple","pear","plum"],"question":"Which fruit do you like best?"}
        "ask me to type" -> ask {"kind":"text","placeholder":"a name","question":"What shall I call you?"}
        "ask me to edit" -> ask {"kind":"edit","question":"Please improve this text","text":"The quick brown fox\njumps over the lazy dog.\n"}
        "ask me something" -> ask {"kind":"confirm","question":"Shall I go on?"}
        "call odd {\"a\":1}" -> odd {"a":1}
        "call missing" -> say "I would call the tool `missing` with `{}`, but it is not off"
        "fetch https://example.com" -> say "I would call the tool `fetch` with `{\"url\":\"https://example."
    "#]].assert_eq(&got);
}

#[test]
fn other_requests_speak() {
    let got = table(&[
        "think",
        "fail",
        "fail with a rate limit",
        "fail halfway",
        "count to 3",
        "count to 99999999999 slowly",
        "count",
        "show markdown",
        "say \"good day\"",
        "summarize",
        "help",
        "",
        "What is the meaning of life? And then what?",
        "write",
        "run `open",
        "think then count to 2",
        "think then read A then read B",
    ]);
    expect![[r##"
        "think" -> think "The person wants me " + say "I have thought about it: forty-two."
        "fail" -> Fail { kind: Overloaded, text: "the offline model was asked to fail" }
        "fail with a rate limit" -> Fail { kind: RateLimited, text: "the offline model was asked to fail" }
        "fail halfway" -> say "This answer breaks off in the mid" + Fail { kind: Overloaded, text: "the offline model was asked to fail" }
        "count to 3" -> Count { to: 3, slowly: false }
        "count to 99999999999 slowly" -> Count { to: 10000, slowly: true }
        "count" -> say "You said:\n\n> count\n\nI am the offline model: no key, no netwo"
        "show markdown" -> say "# A heading\n\nSome *emphasis*, some **strength**, `a little c"
        "say \"good day\"" -> say "good day"
        "summarize" -> say "Nothing has happened yet."
        "help" -> say "I am the offline model: no key, no network, but every featur"
        "" -> say "I am the offline model: no key, no network, but every featur"
        "What is the meaning of life? And then what?" -> say "You said:\n\n> What is the meaning of life? And then what?\n\nI "
        "write" -> say "You said:\n\n> write\n\nI am the offline model: no key, no netwo"
        "run `open" -> bash {"command":"`open"}
        "think then count to 2" -> think "The person wants me " + say "I have thought about it: forty-two." + say "\n\n" + Count { to: 2, slowly: false }
        "think then read A then read B" -> think "The person wants me " + say "I have thought about it: forty-two." + read {"path":"A"}
    "##]].assert_eq(&got);
}

#[test]
fn results_are_told() {
    let mut log = String::new();
    let mut tell = |prompt: &str, results: &[(&str, bool)]| {
        log.push_str(&format!("== {prompt}\n{}", talk(prompt, results)));
    };
    tell("list files", &[("a.txt\nb.txt\n", false)]);
    tell("read a and b", &[("one ``` two", false), ("no such file", true)]);
    tell("write a.txt: hi then read a.txt then say bye", &[("2 bytes", false), ("hi", false)]);
    tell("write a.txt: hi then read a.txt", &[("Denied by the person: not in my house", true)]);
    tell("run `rm x`", &[("declined", true)]);
    tell("ask me to type", &[("Ada", false)]);
    tell("call missing {} then run `true`", &[("", false)]);
    tell("plan then think", &[("ok", false)]);
    expect![[r#"
        == list files
        [ls {"path":"."}]
        Here is what is in `.`:

        ```
        a.txt
        b.txt
        ```
        == read a and b
        [read {"path":"a"}]
        [read {"path":"b"}]
        `a` reads:

        ````
        one ``` two
        ````

        `read` failed: no such file
        == write a.txt: hi then read a.txt then say bye
        [write {"content":"hi","path":"a.txt"}]
        Done with `a.txt`. 2 bytes
        [read {"path":"a.txt"}]
        `a.txt` reads:

        ```
        hi
        ```


        bye
        == write a.txt: hi then read a.txt
        [write {"content":"hi","path":"a.txt"}]
        This was denied: not in my house
        == run `rm x`
        [bash {"command":"rm x"}]
        This was denied.
        == ask me to type
        [ask {"kind":"text","placeholder":"a name","question":"What shall I call you?"}]
        You answered: Ada
        == call missing {} then run `true`
        I would call the tool `missing` with `{}`, but it is not offered to me here.
        [bash {"command":"true"}]
        `true` printed:

        (nothing)
        == plan then think
        [todo {"items":[{"status":"active","text":"look at what is there"},{"status":"pending","text":"make the change"},{"status":"pending","text":"check that it works"}]}]
        The plan is made.
        [Think("The person wants me to think. I should look at the question from more than one side, weigh what speaks for each answer, and then say something short.")]
        I have thought about it: forty-two.
    "#]].assert_eq(&log);
}

#[test]
fn questions_take_turns() {
    let mut messages = Vec::new();
    let mut kinds = Vec::new();
    for _ in 0..5 {
        messages.push(ChatMessage::user("ask me something"));
        match &plan(&request(messages.clone()))[..] {
            [Planned::Call { args, .. }] => kinds.push(args["kind"].as_str().unwrap().to_owned()),
            other => panic!("{other:?}"),
        }
        messages.push(ChatMessage::assistant("ok"));
    }
    assert_eq!(kinds, ["confirm", "choose", "text", "edit", "confirm"]);
}

#[tokio::test(start_paused = true)]
async fn words_stream_one_by_one_and_slow_counting_takes_its_time() {
    let start = tokio::time::Instant::now();
    let prompt = request(vec![ChatMessage::user("say one  two\nthree then count to 3 slowly")]);
    let mut deltas = Offline::default().stream(prompt, CancellationToken::new());
    let mut texts = Vec::new();
    let mut reply = Reply::default();
    while let Some(delta) = deltas.recv().await {
        let delta = delta.unwrap();
        if let Delta::Text(text) = &delta {
            texts.push(text.clone());
        }
        reply.push(delta);
    }
    assert_eq!(texts, ["one  ", "two\n", "three", "\n\n", "1, ", "2, ", "3."]);
    assert_eq!(start.elapsed(), SLOW_STEP * 2);
    assert_eq!(reply.stop, Some(StopReason::EndTurn));
    assert!(reply.usage.input > 0 && reply.usage.output > 0);
}

#[tokio::test]
async fn cancel_ends_the_counting() {
    let cancel = CancellationToken::new();
    let prompt = request(vec![ChatMessage::user("count to 10000 slowly")]);
    let mut deltas = Offline::default().stream(prompt, cancel.clone());
    assert_eq!(deltas.recv().await, Some(Ok(Delta::Text("1, ".into()))));
    cancel.cancel();
    assert_eq!(deltas.recv().await.unwrap().unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(deltas.recv().await, None);
}

proptest! {
    #[test]
    fn any_prompt_is_answered(prompt in "\\PC*") {
        for verb in ["", "read ", "find files named ", "write ", "call ", "ask ", "run ", "plan ", "make a plan "] {
            let prompt = format!("{verb}{prompt}");
            prop_assert!(!plan(&request(vec![ChatMessage::user(prompt)])).is_empty());
        }
    }
}
