//! Plays every runtime transcript against the real hub, agent and tools in this process, with a scripted model.
//!
//! `transcripts/DIALECT/runtime/*.txt`. With `UPDATE_EXPECT=1` the expected lines are rewritten with what came.

use dialects::Dialect;
use dialects::role::{Greeting, Lane as RoleLane};
use domain::command::Refusal;
use domain::session::{ModelEntry, ModelRef, Policy};
use engine::ModelSource;
use hub::Guest;
use hub::core::Standing;
use kit::notation::{Report, Side, Transcript, accept};
use kit::player::{self, Lane, Played};
use link::{AsyncSink, AsyncSource, Limits, Wiring};
use models::Model;
use models::scripted::Scripted;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::MemoryStore;

/// The scripted model under the names that a transcript may choose.
struct Script(Arc<Scripted>);

impl ModelSource for Script {
    fn find(&self, provider: Option<&str>, name: &str) -> Result<ModelRef, Refusal> {
        if name == "missing" || name.starts_with("no-such") {
            let kind = domain::command::RefusalKind::ModelUnknown;
            return Err(Refusal::new(kind, format!("unknown model: {name}")));
        }
        Ok(ModelRef { provider: provider.unwrap_or("scripted").to_owned(), name: name.to_owned() })
    }
    fn open(&self, _: Option<&ModelRef>) -> Result<Arc<dyn Model>, Refusal> {
        Ok(self.0.clone())
    }
    fn list(&self) -> tools::BoxFuture<'_, Vec<ModelEntry>> {
        let model = ModelRef { provider: "scripted".to_owned(), name: "script".to_owned() };
        let entry = ModelEntry {
            model,
            context_window: Some(200_000),
            max_output: None,
            price_input: None,
            price_output: None,
        };
        Box::pin(async { vec![entry] })
    }
}

fn transcripts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../transcripts");
    let mut found = Vec::new();
    for dialect in Dialect::ALL {
        let Ok(folder) = std::fs::read_dir(root.join(dialect.name()).join("runtime")) else { continue };
        found.extend(
            folder
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|e| e == "txt")),
        );
    }
    found.sort();
    found
}

async fn play(dialect: Dialect, transcript: &Transcript, workplace: &Path) -> Played {
    let script = Scripted::parse(&player::script(transcript)).expect("the model's script");
    let hub = parlor::stack::assemble_in(
        Arc::new(Script(Arc::new(script))),
        Box::new(MemoryStore::default()),
        workplace,
        &workplace.join(".data"),
        Policy::default(),
        Arc::new(|line| eprintln!("log: {line}")),
    );
    let guest = Guest {
        role: dialect.runtime_role(),
        name: dialect.name().to_owned(),
        standing: Standing::Controller,
        greeting: Greeting {
            version: "0.0.0".to_owned(),
            cwd: workplace.display().to_string(),
            model: Some(("scripted".to_owned(), "script".to_owned())),
            options: transcript.heads.options.clone(),
        },
        start: None,
    };
    let ui = hub.seat(guest).await.expect("the hub runs");
    let mut lanes = Vec::new();
    for number in 0..lanes_of(dialect) {
        let lane = RoleLane(u32::from(number));
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(ours);
        let link =
            Wiring::new(Limits::default()).lane(lane, AsyncSource::new(read), AsyncSink(write)).start();
        let hub = hub.clone();
        tokio::spawn(async move { hub.connect(ui, lane, link).await });
        let (read, write) = tokio::io::split(theirs);
        lanes.push(Lane { number, read: Box::new(read), write: Box::new(write) });
    }
    let played = player::play(transcript, Side::Runtime, lanes).await;
    hub.stop().await;
    played
}

fn lanes_of(dialect: Dialect) -> u8 {
    if dialect.name() == "nous" { 2 } else { 1 }
}

#[test]
fn every_runtime_transcript_plays() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut failed = Vec::new();
    let found = transcripts();
    assert!(!found.is_empty(), "there are no transcripts to play");
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a readable transcript");
        let transcript = match Transcript::parse(&text) {
            Ok(transcript) => transcript,
            Err(why) => {
                failed.push(format!("{}: {why}", path.display()));
                continue;
            }
        };
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&path).display().to_string();
        let dialect: Dialect = transcript.heads.dialect.as_deref().unwrap_or_default().parse().expect("a known dialect");
        let workplace = tempfile::tempdir().expect("a place to work");
        std::fs::write(workplace.path().join("a.txt"), "alpha\nbeta\n").expect("a file to read");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(player::moves_clock(&transcript))
            .build()
            .expect("a runtime");
        let played = runtime.block_on(play(dialect, &transcript, workplace.path()));
        let report = Report { name: &name, transcript: &transcript, outcomes: &played.outcomes };
        if report.passed() {
            continue;
        }
        if update {
            let accepted =
                accept(&text, &played.outcomes, &played.bindings).expect("an acceptable transcript");
            std::fs::write(&path, accepted).expect("a writable transcript");
        } else {
            failed.push(report.to_string());
        }
    }
    assert!(failed.is_empty(), "{} transcripts differ:\n{}", failed.len(), failed.join("\n\n"));
}
