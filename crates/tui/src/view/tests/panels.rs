//! Lists, questions and panels, each at 40, 80 and 120 columns.

use super::*;
use crate::keymap::Keymap;
use crate::settings::Settings;
use domain::event::{Compaction, ContextEvent, QueueEvent, Trigger};
use domain::ids::EntryId;
use domain::queue::Mode;
use domain::session::{
    ModelEntry, ModelRef, ServerEntry, ServerReach, ServerState, SkillEntry, SkillList, ToolEntry,
};

/// Answers the last command that asked for a list.
fn answer(stage: &mut AttachedUi, receipt: Receipt) {
    let asked = stage.ui.fx.iter().rev().find_map(|fx| match fx {
        Fx::Send(outgoing) => Some(outgoing.ticket),
        _ => None,
    });
    stage.ui.hear(News::Settled { ticket: asked.unwrap(), with: Ok(receipt) });
}

#[test]
fn lists_of_the_runtime() {
    check("models", 12, |stage| {
        stage.ui.keys("/model<enter>");
        let model = |name: &str, price| ModelEntry {
            model: ModelRef { provider: "acme".into(), name: name.into() },
            context_window: Some(200_000),
            max_output: None,
            price_input: price,
            price_output: price,
            thinks: None,
        };
        let models = vec![model("small", Some(250_000)), model("large", None)];
        let current = Some(models[1].model.clone());
        answer(stage, Receipt::Models { models, current });
    });
    check("tools", 20, |stage| {
        stage.ui.keys("/tools<enter>");
        let tool = |name: &str, active| ToolEntry {
            name: name.into(),
            description: "reads a file, or a part of one, and tells its lines with their numbers".into(),
            source: "built in".into(),
            active,
        };
        answer(stage, Receipt::Tools(vec![tool("read", true), tool("write", false)]));
    });
    check("skills", 20, |stage| {
        stage.ui.keys("/skills<enter>");
        let skills = vec![SkillEntry {
            name: "release".into(),
            description: "how a release is made here".into(),
            path: "/w/.parlor/skills/release/SKILL.md".into(),
            id: "release".into(),
            from_project: true,
            modified_at: Millis(0),
        }];
        let errors = vec![("/w/bad/SKILL.md".into(), "it has no name".into())];
        answer(stage, Receipt::Skills(SkillList { skills, errors, truncated: false }));
    });
    check("servers", 12, |stage| {
        stage.ui.keys("/mcp<enter>");
        let network = ServerReach { network: true, ..ServerReach::default() };
        let server = |id: &str, state, tools| ServerEntry {
            id: id.into(),
            http: false,
            from_project: false,
            state,
            tools,
            connected_at: None,
            reach: (id == "files").then(|| network.clone()),
        };
        let failed = ServerState::Failed("connection refused".into());
        let servers = [
            server("files", ServerState::Ready, Some(4)),
            server("web", failed, None),
            server("mail", ServerState::AuthRequired, None),
        ];
        answer(stage, Receipt::Servers(servers.to_vec()));
    });
}

#[test]
fn lists_of_our_own() {
    check("settings", 22, |stage| {
        stage.ui.tell(About {
            settings: "/home/me/.config/parlor/config.toml".into(),
            told: vec!["theme cannot be drak; it can be auto, terminal, dark".into()],
            ..About::default()
        });
        stage.ui.keys("/settings<enter><down>");
    });
    check("notices", 12, |stage| {
        stage.ui.keys("/stop<enter>/queue steer<enter>/notices<enter>");
    });
    check("themes", 12, |stage| stage.ui.keys("/theme<enter>"));
    check("policies", 12, |stage| stage.ui.keys("/policy<enter>"));
    check("history", 20, |stage| {
        stage.ui.feed(Msg::History(vec!["an older prompt".into(), "one of\ntwo lines".into()]));
        stage.ui.keys("<ctrl-r>");
    });
    check("queue", 20, |stage| {
        stage.run("work");
        let (item, kind) = (QueuedId(7), QueueKind::Steer);
        stage.happen(Body::Queue(QueueEvent::Added {
            item,
            kind,
            input: Input::text("use tabs, not spaces"),
            by: None,
        }));
        stage.ui.keys("<ctrl-q><delete>");
    });
    check("nothing_fits", 12, |stage| {
        stage.ui.keys("<ctrl-x>");
        answer(stage, Receipt::Sessions(Vec::new()));
        stage.ui.keys("forty-two");
    });
}

#[test]
fn questions_further_on() {
    check("choose_many", 18, |stage| {
        stage.run("pick");
        let choice = |id: &str| Choice { id: id.into(), label: format!("the {id}"), detail: None };
        let choices = ["apple", "pear", "plum", "pineapple"].map(choice).to_vec();
        ask(stage, 9, "Which fruit?", AskKind::Choose { message: String::new(), choices, many: true });
        stage.ui.keys("<space><down><down><space>pl");
    });
    check("consent_reason", 20, |stage| {
        stage.run("clean up");
        let id = tool(stage, 6, "bash", r#"{"command":"rm -rf build"}"#);
        ask(
            stage,
            9,
            "run a command",
            consent(id, Preview::Command { line: "rm -rf build".into(), inner: Vec::new() }, Risk::Critical),
        );
        stage.ui.keys("rmove it to the trash");
    });
    check("consent_full", 20, |stage| {
        stage.run("clean up");
        let id = tool(stage, 6, "bash", r#"{"command":"rm -rf build"}"#);
        ask(
            stage,
            9,
            "run a command",
            consent(id, Preview::Command { line: "rm -rf build".into(), inner: Vec::new() }, Risk::Critical),
        );
        stage.ui.keys("v");
    });
}

#[test]
fn around_the_composer() {
    check("selected", 14, |stage| {
        stage.run("say something");
        stage.text("Something.");
        stage.end(Outcome::Done);
        stage.ui.keys("<alt-up>");
    });
    check("suggestion", 10, |stage| {
        let session = SessionId::from_number(1);
        let signal = Signal::Suggestion {
            text: "run the tests".into(),
            confidence: 900,
            source: "test".into(),
            context: None,
        };
        stage.ui.hear(News::Signal { session, signal });
    });
    check("attached", 10, |stage| {
        let part = Part::Image { mime: "image/png".into(), base64: "AAAA".into() };
        stage.ui.feed(Msg::Attached(Ok(("shot.png".into(), part))));
        stage.ui.keys("what is this?");
    });
    check("command_runs", 14, |stage| {
        stage.ui.keys("!make<enter>");
        let steps: String = (1..=12).map(|line| format!("step {line}\n")).collect();
        stage.ui.feed(Msg::ShellSaid(said(&steps)));
        stage.ui.keys("typing goes on");
        stage.ui.wait(65_000);
    });
    check("wide_characters", 10, |stage| stage.ui.keys("日本語 👩‍👩‍👧 e\u{301} ok"));
    check("many_lines", 12, |stage| {
        stage.ui.keys("one<ctrl-j>two<ctrl-j>three<ctrl-j>four<ctrl-j>five<ctrl-j>six");
    });
    check("waiting", 12, |stage| {
        stage.run("work");
        stage.happen(Body::Queue(QueueEvent::ModeSet { kind: QueueKind::FollowUp, mode: Mode::All }));
        let (item, kind) = (QueuedId(7), QueueKind::FollowUp);
        stage.happen(Body::Queue(QueueEvent::Added {
            item,
            kind,
            input: Input::text("then write the changelog"),
            by: None,
        }));
    });
}

#[test]
fn summaries_and_settings_that_are_wrong() {
    check("summary", 12, |stage| {
        let compaction = Compaction {
            summary: "They spoke about **tabs**.".into(),
            first_kept: None,
            tokens_before: 81_000,
            trigger: Trigger::Threshold,
            unexplained: false,
            usage: Usage::default(),
        };
        stage.happen(Body::Context(ContextEvent::Compacted { entry: EntryId(3), parent: None, compaction }));
        stage.ui.keys("<ctrl-o>");
    });
    check("wrong_settings", 22, |stage| {
        let examples = vec!["list files".into(), "think".into()];
        let note = Note { words: "model: offline".into(), examples, ..Note::default() };
        let (keys, told) = Keymap::read(&[("steer".into(), vec!["ctrl-c".into()])]);
        stage.ui.tell(About { program: "parlor 0.1.0".into(), note, told, ..About::default() });
        stage.ui.model.screen.preferences.load(Settings::default(), keys);
    });
}
