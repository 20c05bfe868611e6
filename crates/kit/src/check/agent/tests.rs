//! Of the scripted model itself: what it hears, how it calls, what it counts; and that harnesses with a fault are found out, each for
//! its own reason. That our own agent does well is shown where there is a program.

use super::bill::Bill;
use super::form::{CallForm, ToolRole};
use super::heard::{Heard, HeardItem, ModelApi, OfferedTool};
use super::play::{AgentTask, ModelAnswer, TaskOutcome, TaskPlay, TaskStep};
use super::reply::{self, Charged, Reply, ReplyCall, ReplyEnd};
use super::tasks;
use expect_test::expect;
use serde_json::{Value, json};
use std::path::Path;

/// What is wrong with a harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HarnessFault {
    None,
    /// Arguments that are not named as its schema has them are refused.
    Strict,
    /// Of two places it takes the first.
    TakesFirst,
    /// Nobody tells the model that it repeats itself.
    NeverTells,
    /// A summary takes the place of everything.
    Forgets,
    /// Only the first prompt reaches the model.
    DropsPrompts,
    /// A run ends after a few requests.
    Wall,
    /// There is no tool that edits.
    NoEdit,
}

/// Requests after which a harness with a wall stops, and after which any does.
const WALL: usize = 5;
const PATIENCE: usize = 500;
/// The same call so many times is a circle.
const SAME: usize = 3;

/// A harness in a few lines.
struct Harness {
    fault: HarnessFault,
    messages: Vec<Value>,
    last: (String, usize),
}

impl Harness {
    fn heard(&self) -> Heard {
        let tool = |name: &str, keys: &[&str]| {
            let properties: Value =
                keys.iter().map(|key| ((*key).to_owned(), json!({"type":"string"}))).collect();
            json!({"type":"function","function":{"name":name,"parameters":{"type":"object","properties":properties,"required":keys}}})
        };
        let mut tools = vec![tool("read", &["path"]), tool("write", &["path", "content"])];
        if self.fault != HarnessFault::NoEdit {
            tools.push(tool("edit", &["path", "old", "new"]));
        }
        Heard::read(ModelApi::Chat, &json!({"tools":tools,"messages":self.messages,"stream":true}))
    }

    /// Keeps the first prompt and the last exchange, and puts a summary between them.
    fn compact(&mut self, play: &mut TaskPlay) {
        let whole = std::mem::take(&mut self.messages);
        self.messages = vec![json!({"role":"user","content":"Write a summary of the conversation."})];
        let ModelAnswer::Reply(summary, _) = play.answer(&self.heard()) else { panic!("no summary") };
        let mut kept = vec![json!({"role":"user","content":summary.text})];
        if self.fault != HarnessFault::Forgets {
            kept.insert(0, whole[0].clone());
        }
        kept.extend(whole[whole.len() - 2..].iter().cloned());
        self.messages = kept;
    }

    fn perform(&mut self, call: &ReplyCall, cwd: &Path) -> String {
        let Ok(args) = serde_json::from_str::<Value>(&call.args) else { return "not JSON".to_owned() };
        let same = format!("{} {}", call.name, call.args);
        self.last.1 = if self.last.0 == same { self.last.1 + 1 } else { 1 };
        self.last.0 = same;
        let loose = self.fault != HarnessFault::Strict;
        let word = |names: &[&str]| {
            let names = if loose { names } else { &names[..1] };
            names.iter().find_map(|name| args[*name].as_str()).unwrap_or_default().to_owned()
        };
        let path = cwd.join(word(&["path", "file_path"]));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        match call.name.as_str() {
            "read" if self.last.1 > SAME && self.fault != HarnessFault::NeverTells => {
                format!("{text}\nYou have read this {} times.", self.last.1)
            }
            "read" => text,
            "write" => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, word(&["content"])).unwrap();
                "written".to_owned()
            }
            _ => {
                let (old, new) = (word(&["old", "old_str"]), word(&["new", "new_str"]));
                let found = text.matches(&old).count();
                if old.is_empty() || found == 0 || (found > 1 && self.fault != HarnessFault::TakesFirst) {
                    return format!("refused: found {found} times");
                }
                std::fs::write(path, text.replacen(&old, &new, 1)).unwrap();
                "edited".to_owned()
            }
        }
    }

    /// One run.
    fn run(&mut self, prompt: &str, play: &mut TaskPlay, cwd: &Path) {
        let dropped = self.fault == HarnessFault::DropsPrompts && !self.messages.is_empty();
        self.messages.push(json!({"role":"user","content":if dropped { "Go on." } else { prompt }}));
        for request in 0..PATIENCE {
            if self.fault == HarnessFault::Wall && request == WALL {
                return;
            }
            let reply = match play.answer(&self.heard()) {
                ModelAnswer::Status(_, Some(_)) => {
                    self.compact(play);
                    continue;
                }
                ModelAnswer::Status(..) => continue,
                ModelAnswer::Reply(reply, _) if reply.end != ReplyEnd::Whole => continue,
                ModelAnswer::Reply(reply, _) => reply,
            };
            self.messages.push(json!({"role":"assistant","content":reply.text}));
            if reply.calls.is_empty() {
                return;
            }
            for call in &reply.calls {
                let result = self.perform(call, cwd);
                self.messages.push(json!({"role":"tool","tool_call_id":call.id,"content":result}));
            }
        }
    }
}

/// What a harness with this fault makes of a task, and how many rounds it costs.
fn tried(task: AgentTask, fault: HarnessFault) -> (TaskOutcome, usize) {
    let dir = tempfile::tempdir().unwrap();
    super::lay_out(&task, dir.path()).unwrap();
    let mut play = TaskPlay::new(task, dir.path().to_owned());
    let mut harness = Harness { fault, messages: Vec::new(), last: (String::new(), 0) };
    while let Some(prompt) = play.next_prompt() {
        harness.run(&prompt, &mut play, dir.path());
        if !play.is_answered() {
            break;
        }
    }
    (play.outcome(None), play.lost.len())
}

fn named(name: &str) -> AgentTask {
    tasks::all().into_iter().find(|task| task.name == name).unwrap()
}

#[test]
fn a_harness_with_a_fault_is_found_out_for_its_reason() {
    for (task, fault, reason) in [
        (named("two-places"), HarnessFault::TakesFirst, "could mean two places"),
        (named("circle"), HarnessFault::NeverTells, "never told that it repeats itself"),
        (named("outgrown-window"), HarnessFault::Forgets, "of the first prompt was not sent any more"),
        (tasks::day(18, true), HarnessFault::Forgets, "of the first prompt was not sent any more"),
        (tasks::day(3, true), HarnessFault::DropsPrompts, "prompt 2 did not reach the model"),
        (tasks::day(12, true), HarnessFault::Wall, "the run ended at step"),
    ] {
        let name = task.name;
        assert_eq!(tried(task.clone(), HarnessFault::None), (TaskOutcome::Solved, 0), "{name}");
        match tried(task, fault) {
            (TaskOutcome::Unsolved(why), _) => assert!(why.contains(reason), "{name}, {fault:?}: {why}"),
            other => panic!("{name}, {fault:?}: {other:?}"),
        }
    }
}

#[test]
fn a_round_that_had_to_be_tried_again_is_lost_and_the_task_solved_all_the_same() {
    let task = named("other-argument-names");
    assert_eq!(tried(task.clone(), HarnessFault::None), (TaskOutcome::Solved, 0));
    assert_eq!(tried(task.clone(), HarnessFault::Strict), (TaskOutcome::Solved, 1));
    let told = TaskOutcome::NotTried("the agent offers no tool that edits files".to_owned());
    assert_eq!(tried(task, HarnessFault::NoEdit), (told, 0), "what an agent has no tool for is no failure");
}

#[test]
fn tasks_have_names_of_their_own_and_every_step_can_end() {
    let all = tasks::all();
    assert!(all.len() >= 30, "{}", all.len());
    let mut names: Vec<&str> = all.iter().map(|task| task.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    for task in &all {
        assert!(!task.holds.is_empty() && !task.steps.is_empty(), "{}", task.name);
        for step in &task.steps {
            if let TaskStep::Call { tries, signs } = step {
                assert!(!tries.is_empty() && tries.iter().all(|forms| !forms.is_empty()), "{}", task.name);
                assert!(!signs.is_empty(), "{}", task.name);
            }
        }
        // What is looked for in requests is looked for as it is.
        for words in task.keeps.iter().chain([&task.prompt]) {
            assert_eq!(json!(words).to_string(), format!("\"{words}\""), "{}", task.name);
        }
    }
}

#[test]
fn a_conversation_is_heard_alike_on_all_apis() {
    let schema = json!({"type":"object","properties":{"path":{"type":"string"}}});
    let chat = json!({"stream":true,
        "tools":[{"type":"function","function":{"name":"read","parameters":schema}}],
        "messages":[{"role":"system","content":"be"},{"role":"user","content":"look"},
            {"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"read","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"a","content":"there"},{"role":"user","content":[{"type":"text","text":"now"}]}]});
    let responses = json!({"stream":true,"instructions":"be","tools":[{"type":"function","name":"read","parameters":schema}],
        "input":[{"role":"user","content":[{"type":"input_text","text":"look"}]},
            {"type":"function_call","call_id":"a","name":"read","arguments":"{}"},
            {"type":"function_call_output","call_id":"a","output":"there"},
            {"type":"message","role":"user","content":"now"}]});
    let messages = json!({"stream":true,"system":[{"type":"text","text":"be"}],"tools":[{"name":"read","input_schema":schema}],
        "messages":[{"role":"user","content":"look"},
            {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"there"}]},
                {"type":"text","text":"now"}]}]});
    let person = |text: &str| HeardItem::Person(text.to_owned());
    let items = [person("look"), HeardItem::Model, HeardItem::Result("there".to_owned()), person("now")];
    for (api, body) in
        [(ModelApi::Chat, chat), (ModelApi::Responses, responses), (ModelApi::Messages, messages)]
    {
        let heard = Heard::read(api, &body);
        assert_eq!(heard.items, items, "{api:?}");
        assert_eq!(heard.tools, [OfferedTool { name: "read".to_owned(), schema: schema.clone() }], "{api:?}");
        assert!(heard.streams && heard.carries("be") && heard.says("there"), "{api:?}");
        assert_eq!(
            (heard.newest_results(), heard.newest_words()),
            (vec!["there"], "now".to_owned()),
            "{api:?}"
        );
        assert!(!heard.asks_for_summary("now"), "{api:?}");
    }
    let odd = Heard::read(ModelApi::Messages, &json!([1, "x"]));
    assert_eq!((odd.tools.len(), odd.items.len()), (0, 0), "what is no request is read as nothing");
}

#[test]
fn a_call_has_the_words_of_the_harness_that_it_is_for() {
    let text = json!({"type":"string"});
    let tool = |name: &str, properties: Value, required: Value| OfferedTool {
        name: name.to_owned(),
        schema: json!({"type":"object","properties":properties,"required":required}),
    };
    let harnesses = [
        vec![tool(
            "Edit",
            json!({"file_path":text,"old_string":text,"new_string":text,"replace_all":{"type":"boolean"}}),
            json!([]),
        )],
        vec![tool(
            "edit",
            json!({"path":text,"edits":{"type":"array","items":{"type":"object","properties":{"old":text,"new":text}}}}),
            json!(["path"]),
        )],
        vec![tool(
            "developer__text_editor",
            json!({"command":{"type":"string","enum":["view","write","str_replace"]},"path":text,"old_str":text,"new_str":text,"file_text":text}),
            json!(["command"]),
        )],
        vec![tool("apply_patch", json!({"input":text}), json!(["input"]))],
        vec![tool(
            "shell",
            json!({"command":{"type":"array","items":text},"justification":text}),
            json!(["command", "justification"]),
        )],
    ];
    let forms = [
        CallForm::Edit { path: "{cwd}/f".to_owned(), old: "a\n".to_owned(), new: "b\n".to_owned() },
        CallForm::Read { path: "{cwd}/f".to_owned() },
        CallForm::Twice(Box::new(CallForm::Run { command: "ls".to_owned() })),
        CallForm::Foreign { role: ToolRole::Edit, name: "str_replace_editor", args: "{}".to_owned() },
    ];
    let mut told = String::new();
    for tools in &harnesses {
        for form in &forms {
            told += &match form.call(tools, "/w") {
                Ok((name, args)) => format!("{name} {args}\n"),
                Err(role) => format!("no {}\n", role.words()),
            };
        }
    }
    expect![[r#"
        Edit {"file_path":"/w/f","new_string":"b\n","old_string":"a\n"}
        no tool that reads files
        no tool that runs commands
        str_replace_editor {}
        edit {"edits":[{"new":"b\n","old":"a\n"}],"path":"/w/f"}
        no tool that reads files
        no tool that runs commands
        str_replace_editor {}
        developer__text_editor {"command":"str_replace","new_str":"b\n","old_str":"a\n","path":"/w/f"}
        developer__text_editor {"command":"view","path":"/w/f"}
        no tool that runs commands
        str_replace_editor {}
        apply_patch {"input":"*** Begin Patch\n*** Update File: /w/f\n@@\n-a\n+b\n*** End Patch\n"}
        no tool that reads files
        no tool that runs commands
        no tool that edits files
        no tool that edits files
        shell {"command":["bash","-lc","cat '/w/f'"],"justification":"check"}
        shell "{\"command\":[\"bash\",\"-lc\",\"ls\"],\"justification\":\"check\"}"
        no tool that edits files
    "#]]
    .assert_eq(&told);
}

#[test]
fn tokens_that_were_sent_before_in_the_same_place_count_as_cached() {
    let long = "word ".repeat(4_000);
    let ask = |api: ModelApi, mark: usize, words: &[&str]| {
        let message = |(at, words): (usize, &&str)| match at == mark {
            true => {
                json!({"role":"user","content":[{"type":"text","text":words,"cache_control":{"type":"ephemeral"}}]})
            }
            false => json!({"role":"user","content":[{"type":"text","text":words}]}),
        };
        let messages: Vec<Value> = words.iter().enumerate().map(message).collect();
        Heard::read(api, &json!({"messages":messages}))
    };
    for (api, mark, share) in
        [(ModelApi::Chat, 9, 99), (ModelApi::Messages, 1, 99), (ModelApi::Messages, 9, 0)]
    {
        let mut bill = Bill::default();
        assert_eq!(bill.add(&ask(api, mark.min(8), &[&long])).1, 0, "nothing was sent before");
        let (sent, cached) = bill.add(&ask(api, mark, &[&long, "and now"]));
        assert_eq!(cached * 100 / sent, share, "{api:?}, marked at {mark}");
        let (_, cached) = bill.add(&ask(api, mark, &["something else", &long]));
        assert_eq!(cached, 0, "the same words in another place were not kept");
    }
    let mut bill = Bill::default();
    bill.add(&ask(ModelApi::Chat, 9, &["short"]));
    assert_eq!(bill.add(&ask(ModelApi::Chat, 9, &["short"])).1, 0, "nobody keeps what is short");
}

#[test]
fn an_answer_that_breaks_has_no_end_on_any_api() {
    let call =
        ReplyCall { id: "c".to_owned(), name: "write".to_owned(), args: "{\"path\":\"f\"}".to_owned() };
    let rest = r#"\":\"f\"}"#;
    for (api, ends) in [
        (ModelApi::Chat, "[DONE]"),
        (ModelApi::Responses, "response.completed"),
        (ModelApi::Messages, "message_stop"),
    ] {
        let mut reply = Reply { calls: vec![call.clone()], ..Reply::text("I go on.") };
        let whole = reply::stream(api, &reply, Charged::default());
        assert!(whole.contains(ends) && whole.contains(rest), "{whole}");
        reply.end = ReplyEnd::Broken;
        let broken = reply::stream(api, &reply, Charged::default());
        assert!(whole.starts_with(&broken), "it is the start of the whole one: {broken}");
        assert!(!broken.contains(ends) && !broken.contains(rest), "{broken}");
    }
}
