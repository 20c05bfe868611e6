//! Plays every transcript of a UI role against our role of that dialect: `transcripts/DIALECT/ui/*.txt`.

use dialects::Dialect;
use kit::notation::{Report, Transcript};
use kit::ui_player;
use std::path::{Path, PathBuf};

fn transcripts(dialect: Dialect) -> Vec<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../transcripts").join(dialect.name()).join("ui");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

#[test]
fn every_transcript_is_played_as_written() {
    let mut failures = String::new();
    let mut played = 0;
    for &dialect in dialects::DRIVEN {
        for file in transcripts(dialect) {
            let text = std::fs::read_to_string(&file).unwrap();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let transcript =
                Transcript::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(transcript.heads.dialect.as_deref(), Some(dialect.name()), "{name}");
            let outcomes = ui_player::play(dialect.ui_role().as_mut(), &transcript).outcomes;
            let report = Report { name: &name, transcript: &transcript, outcomes: &outcomes };
            played += 1;
            if !report.passed() {
                failures.push_str(&report.to_string());
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(played > 0, "no transcripts were found");
}
