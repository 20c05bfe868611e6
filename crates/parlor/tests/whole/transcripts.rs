//! Plays every runtime transcript against the real hub, agent and tools in this process, with a scripted model.
//!
//! `transcripts/DIALECT/runtime/*.txt`. With `UPDATE_EXPECT=1` the expected lines are rewritten with what came.

use crate::bench;
use dialects::Dialect;
use kit::notation::{Report, Side, Transcript, accept};
use kit::player::{self, Lane, Playback};
use std::path::{Path, PathBuf};

/// The transcripts of a role of a wire.
pub(crate) fn of(dialect: Dialect, role: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../transcripts");
    let folder = std::fs::read_dir(root.join(dialect.name()).join(role));
    let files = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    found.sort();
    found
}

/// A transcript whose UI names the folder to work in says `{place}` there.
pub(crate) fn placed(text: &str, place: &Path) -> String {
    text.replace("{place}", &place.display().to_string())
}

pub(crate) async fn play(dialect: Dialect, transcript: &Transcript, place: &Path) -> Playback {
    let hub = bench::runtime(&player::script(transcript), place);
    let guest = bench::guest(dialect, place, transcript.heads.options.clone());
    let ends = bench::serve(&hub, guest, &bench::lanes(dialect)).await;
    let lane = |(number, end)| {
        let (read, write) = tokio::io::split(end);
        Lane { number, read: Box::new(read), write: Box::new(write) }
    };
    let lanes = (0..).zip(ends).map(lane).collect();
    let played = player::play(transcript, Side::Runtime, lanes).await;
    hub.stop().await;
    played
}

#[test]
fn every_runtime_transcript_plays() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut failed = Vec::new();
    let found: Vec<PathBuf> = dialects::ALL.iter().flat_map(|dialect| of(*dialect, "runtime")).collect();
    assert!(!found.is_empty(), "there are no transcripts to play");
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a readable transcript");
        let workplace = bench::workplace();
        let transcript = match Transcript::parse(&placed(&text, workplace.path())) {
            Ok(transcript) => transcript,
            Err(why) => {
                failed.push(format!("{}: {why}", path.display()));
                continue;
            }
        };
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&path).display().to_string();
        let dialect: Dialect = dialects::named(transcript.heads.dialect.as_deref().unwrap_or_default())
            .expect("a known dialect");
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
