//! A day of work, and how much of what is sent again the providers have in their caches. The caches are those of `caches.rs`, which count by
//! each maker's documented rules.

use crate::bench::{Bench, Plan, put};
use crate::caches::{Counts, Maker, Provider, Says};
use domain::command::{Command, FilesCommand, Receipt};
use domain::event::{Body, CACHE_LOST, NoteEvent};
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::signal::UiContext;
use engine::Config;
use models::catalog::Catalog;
use serde_json::json;

/// Prompts of the day, and how often each has the model asked.
const PROMPTS: usize = 16;
const STEPS: usize = 5;
/// Percent of the tokens that were sent before which must come from the cache.
const BAR: u64 = 95;

const SKILL: &str = "---\nname: pdf\ndescription: fill PDF forms\n---\nUse the form filler.";

/// What the model does all day: it reads, here and there a folder with instructions of its own, twice thirty files at once, and writes.
fn says() -> Vec<Says> {
    let mut day = Vec::new();
    for prompt in 0..PROMPTS {
        for step in 0..STEPS {
            let file = format!("f{prompt}_{step}.txt");
            let calls = match (prompt, step) {
                (_, step) if step == STEPS - 1 => Vec::new(),
                (2, 1) => vec![("read", json!({ "path": "sub/a.txt" }))],
                (10, 2) => vec![("read", json!({ "path": "sub/deep/b.txt" }))],
                (5 | 12, 1) => {
                    (0..30).map(|n| ("read", json!({ "path": format!("many/{prompt}_{n}.txt") }))).collect()
                }
                (6, 3) => vec![("write", json!({ "path": "made.txt", "content": "made" }))],
                _ => vec![("read", json!({ "path": file }))],
            };
            day.push((format!("Step {step} of prompt {prompt}."), calls));
        }
    }
    day
}

fn bench(model: &std::sync::Arc<dyn models::Model>) -> Plan {
    let mut plan = Plan::script("model text \"unused\"").policy(Policy::Full);
    plan.model = Some(model.clone());
    plan
}

async fn day(maker: Maker, name: &str, base: &str, key: &str) -> (Provider, Bench) {
    let provider = Provider::start(maker, says()).await;
    let env = [(key.to_owned(), "k".to_owned()), (base.to_owned(), provider.url.clone())];
    let model = Catalog::new(env).open(name).unwrap();
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "home/.agents/skills/pdf/SKILL.md", SKILL);
    let home = dir.path().join("home");
    let config = || Config::default().at(Some(home.clone()), None);
    std::fs::create_dir(dir.path().join("work")).unwrap();
    let mut bench = Bench::at(dir, bench(&model).config(config()));
    let line = |file: &str| format!("This is a line of {file} and it has some words.\n");
    for (_, calls) in says() {
        for path in calls.iter().filter_map(|(_, args)| args["path"].as_str()) {
            bench.put(path, &line(path).repeat(if path.starts_with("many") { 20 } else { 50 }));
        }
    }
    bench.take_away("made.txt");
    bench.put("AGENTS.md", "Run the tests first.");
    bench.put("sub/AGENTS.md", "Only tabs here.");
    bench.put("sub/deep/AGENTS.md", "Only spaces here.");
    bench.put(".git/HEAD", "ref: refs/heads/main\n");
    for prompt in 0..PROMPTS {
        // The person goes on in their editor, changes the branch, takes files back, and closes the program once.
        let file = format!("src/file_{prompt}.rs");
        let selection = Some((format!("fn selected_{prompt}() {{}}"), file.clone()));
        match prompt {
            4 => _ = bench.put(".git/HEAD", "ref: refs/heads/feature\n"),
            7 => {
                let undo = Command::Files(FilesCommand::Undo { leave: false });
                assert!(matches!(bench.consult(undo).await, Ok(Receipt::Files { .. })));
                assert_eq!(bench.get("made.txt"), None);
            }
            9 => bench = bench.reborn(self::bench(&model).config(config())),
            _ => {}
        }
        bench.ui = UiContext { active_file: Some(file), selection, ..UiContext::default() };
        let words = if prompt == 8 { "fill the form with $pdf" } else { "go on" };
        assert_eq!(bench.run(&format!("{words}, part {prompt}")).await, TurnEnd::Done, "prompt {prompt}");
    }
    (provider, bench)
}

/// Percent of what was sent before that came from the cache, over the whole day.
fn share(maker: Maker, counts: &[Counts]) -> u64 {
    let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).sum::<u64>();
    let (sent, again, cached) = (sum(|one| one.sent), sum(|one| one.again), sum(|one| one.cached));
    println!(
        "{maker:?}: {} requests, {sent} tokens sent, {again} of them before, {cached} cached",
        counts.len()
    );
    cached * 100 / again
}

async fn hold(maker: Maker, name: &str, base: &str, key: &str) -> Provider {
    let (provider, bench) = day(maker, name, base, key).await;
    let counts = provider.counts();
    assert_eq!(counts.len(), PROMPTS * STEPS);
    let all: Vec<String> = provider.bodies().iter().map(ToString::to_string).collect();
    for told in [
        "Only tabs here.",
        "Only spaces here.",
        "on branch feature",
        "fn selected_15()",
        "Use the form filler.",
        "made.txt",
    ] {
        assert!(all.iter().any(|body| body.contains(told)), "{told} is not told");
    }
    let share = share(maker, &counts);
    let lost: Vec<(usize, &Counts)> =
        counts.iter().enumerate().filter(|(_, one)| one.cached * 10 < one.again * 9).collect();
    assert!(share >= BAR, "{share} % of what was sent before are cached: {lost:?}");
    let lost =
        bench.count(|body| matches!(body, Body::Note(NoteEvent::Noticed { code, .. }) if code == CACHE_LOST));
    assert_eq!(lost, 0, "nothing was lost");
    // What the person is told is what the provider counted.
    assert_eq!(bench.state.usage.cache_read, counts.iter().map(|one| one.cached).sum::<u64>());
    provider
}

#[tokio::test]
async fn a_day_on_anthropic_comes_from_its_cache() {
    hold(Maker::Anthropic, "anthropic/claude-sonnet-4-5", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY").await;
}

#[tokio::test]
async fn a_day_on_openai_responses_comes_from_its_cache() {
    hold(Maker::Responses, "openai-responses/gpt-5", "OPENAI_BASE_URL", "OPENAI_API_KEY").await;
}

#[tokio::test]
async fn a_day_on_openai_chat_comes_from_its_cache_by_one_key() {
    let azure = hold(Maker::Chat, "azure/gpt-5.6", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY").await;
    let keys: std::collections::HashSet<String> =
        azure.bodies().iter().map(|body| body["prompt_cache_key"].to_string()).collect();
    assert!(keys.len() == 1 && !keys.contains("null"), "{keys:?}");
}

#[tokio::test]
async fn a_day_on_gemini_comes_from_its_cache() {
    hold(Maker::Gemini, "gemini/gemini-2.5-pro", "GEMINI_BASE_URL", "GEMINI_API_KEY").await;
}

/// Long files that are read in one prompt, twice as much as the window holds, and the bytes of each: 40 KB with the numbers of its lines.
const LONG_FILES: usize = 40;
const LONG_FILE: usize = 36_300;
/// Percent of each request with which the next one must begin. What leaves the conversation is missing here and costs nothing; what costs
/// is what is sent again and not cached, and there the bar is that of every day.
const KEPT_BAR: u64 = 87;
/// How often results may leave.
const MOST_CUTS: usize = 3;

#[tokio::test]
async fn long_results_leave_the_conversation_at_rare_moments() {
    let maker = Maker::Anthropic;
    let mut says: Vec<Says> = (0..LONG_FILES)
        .map(|n| (format!("File {n}."), vec![("read", json!({ "path": format!("long_{n}.txt") }))]))
        .collect();
    says.push(("All are read.".to_owned(), Vec::new()));
    let provider = Provider::start(maker, says).await;
    let env = [
        ("ANTHROPIC_API_KEY".to_owned(), "k".to_owned()),
        ("ANTHROPIC_BASE_URL".to_owned(), provider.url.clone()),
    ];
    let model = Catalog::new(env).open("anthropic/claude-sonnet-4-5").unwrap();
    assert_eq!(model.info().context_window, Some(200_000));
    let mut bench = Bench::with(bench(&model));
    for n in 0..LONG_FILES {
        let line = |at: usize| {
            format!("line {at} of file {n:02} and it has some words, which make it a long line\n")
        };
        let text: String = (0..LONG_FILE / line(100).len()).map(line).collect();
        bench.put(&format!("long_{n}.txt"), &text);
    }
    assert_eq!(bench.run("read them all").await, TurnEnd::Done);
    let (counts, bodies) = (provider.counts(), provider.bodies());
    let (kept, share) = (provider.kept(maker), share(maker, &counts));
    println!("{kept} % of what was sent before is kept, {share} % of what is sent again is cached");
    assert_eq!(counts.len(), LONG_FILES + 1, "nothing is summarized");
    let last = bodies.last().unwrap()["messages"].to_string();
    assert!(last.contains("`recall` with id"), "the day is long enough");
    assert!(last.contains(&format!("line 500 of file {} ", LONG_FILES - 1)), "the newest result is whole");
    // A tool that comes later changes what stands before everything.
    assert!(bodies.iter().all(|body| body["tools"] == bodies[0]["tools"]), "the tools stay the same");
    let cuts = counts.windows(2).filter(|pair| pair[1].sent < pair[0].sent).count();
    assert!(cuts <= MOST_CUTS, "results left {cuts} times");
    assert!(kept >= KEPT_BAR, "{kept} % of what was sent before is kept");
    assert!(share >= BAR, "{share} % of what is sent again is cached");
}
