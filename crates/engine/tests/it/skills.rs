//! Skills and instructions as the model and the UIs get them.

use crate::bench::{Bench, Plan, put};
use domain::command::{Command, ListCommand, Receipt};
use domain::event::{Body, NoteEvent};
use domain::port::TurnEnd;
use domain::tool::ToolOutcome;
use engine::Config;

const PDF: &str = "---\nname: pdf\ndescription: fill PDF forms\n---\nUse the form filler.";

fn bench(script: &str) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "home/.agents/skills/pdf/SKILL.md", PDF);
    put(dir.path(), "settings/AGENTS.md", "Write short commits.");
    put(dir.path(), "work/AGENTS.md", "Run the tests first.");
    let config = Config::default().at(Some(dir.path().join("home")), Some(dir.path().join("settings")));
    Bench::at(dir, Plan::script(script).config(config))
}

#[tokio::test(start_paused = true)]
async fn the_model_knows_the_list_and_the_instructions() {
    let mut bench = bench("model text \"ok\"");
    assert_eq!(bench.run("hello").await, TurnEnd::Done);
    let system = bench.system();
    for part in ["- pdf: fill PDF forms", "Run the tests first.", "Write short commits."] {
        assert!(system.contains(part), "{part} is not in {system}");
    }
    assert!(!system.contains("Use the form filler."), "only what is wanted is loaded");
    assert!(bench.model.seen()[0].tools.iter().any(|tool| tool.name == "skill"));
}

#[tokio::test(start_paused = true)]
async fn the_instructions_of_a_folder_come_with_the_first_step_into_it_and_stay() {
    let script = r#"
        model tool read {"path":"sub/a.txt"}
        ---
        model text "read"
        ---
        model text "and again"
        ---
        model text "and on"
        "#;
    let mut bench = bench(script);
    bench.put("sub/AGENTS.md", "Only tabs here.");
    bench.put("sub/a.txt", "text");
    assert_eq!(bench.run("look").await, TurnEnd::Done);
    assert_eq!(bench.run("once more").await, TurnEnd::Done);
    assert_eq!(bench.run("and on").await, TurnEnd::Done);
    let requests = bench.model.seen();
    let told = |request: &models::Request| {
        let place = request.messages.iter().position(|message| message.text().contains("Only tabs here."));
        (place, request.messages.len())
    };
    // At the end where it was entered, and then always in that place.
    assert_eq!(
        requests.iter().map(told).collect::<Vec<_>>(),
        [(None, 1), (Some(3), 4), (Some(3), 6), (Some(3), 8)]
    );
    assert!(requests.iter().all(|request| request.system == requests[0].system));
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_names_a_skill_pulls_it_in() {
    let mut bench = bench("model text \"ok\"\n---\nmodel text \"ok\"");
    assert_eq!(bench.run("take $pdf for this").await, TurnEnd::Done);
    let wanted = "The person wants this skill to be used now.\n";
    let told = |bench: &Bench| bench.notes().iter().filter(|note| note.starts_with(wanted)).count();
    assert_eq!(told(&bench), 1, "{:?}", bench.notes());
    assert_eq!(bench.run("and now without").await, TurnEnd::Done);
    assert_eq!(told(&bench), 1, "where it was wanted: {:?}", bench.notes());
    assert!(!bench.system().contains("Use the form filler."));
}

#[tokio::test(start_paused = true)]
async fn the_model_loads_a_skill_on_demand() {
    let mut bench = bench(
        "model tool skill {\"name\":\"pdf\"} | tool skill {\"name\":\"other\"}\n---\nmodel text \"ok\"",
    );
    assert_eq!(bench.run("fill the form").await, TurnEnd::Done);
    let outcomes = bench.outcomes();
    assert_eq!(outcomes[0].1, ToolOutcome::Done);
    assert!(outcomes[0].2.ends_with("Use the form filler."));
    assert!(outcomes[1].2.contains("there are: pdf"));
}

#[tokio::test(start_paused = true)]
async fn skills_are_listed_with_what_is_wrong() {
    let mut bench = bench("");
    bench.put(".claude/skills/bad/SKILL.md", "nothing");
    let list = bench.consult(Command::List(ListCommand::Skills { cwd: None, reload: false })).await;
    let Ok(Receipt::Skills(list)) = list else { panic!() };
    assert_eq!((list.skills.len(), list.errors.len()), (1, 1));
    assert_eq!((list.skills[0].name.as_str(), list.skills[0].from_project), ("pdf", false));
}

#[tokio::test(start_paused = true)]
async fn instructions_that_cannot_be_read_are_told_once() {
    let mut bench = Bench::new("model text \"ok\"\n---\nmodel text \"ok\"");
    std::os::unix::fs::symlink("/etc/hostname", bench.work().join("AGENTS.md")).unwrap();
    for prompt in ["one", "two"] {
        assert_eq!(bench.run(prompt).await, TurnEnd::Done);
    }
    assert_eq!(
        bench.count(
            |body| matches!(body, Body::Note(NoteEvent::Noticed { code, .. }) if code == "instructions")
        ),
        1
    );
}
