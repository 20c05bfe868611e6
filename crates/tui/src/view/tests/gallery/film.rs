//! The film of the README: twelve seconds of a session, as it is drawn, in one SVG that moves by style sheets alone.
//!
//! What stands still is one element for as long as it does, so the file is small. Who wants no motion sees one picture: the question.

use super::*;
use crate::theme::Theme;
use domain::ask::{Answer, Scope};
use domain::event::FILES_UNDONE;
use domain::ids::EntryId;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Style;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const COLUMNS: u16 = 100;
const ROWS: u16 = 28;
/// How long the film is, in milliseconds.
const LENGTH: u32 = 12_000;
/// Largest file, in bytes.
const MAX_FILE: usize = 150_000;

/// What is typed to begin with.
const TYPED: &str = "parlor \"fix the failing test\"";
const DIFF: &str = "@@ -7,7 +7,7 @@\n impl Cart {\n     /// What is to be paid.\n     pub fn total(&self) -> Money {\n-        self.items.iter().skip(1).map(|item| item.price).sum()\n+        self.items.iter().map(|item| item.price).sum()\n     }\n }\n";
const FAILS: &str = "running 3 tests\ntest cart::empty_is_free ... ok\ntest cart::discount_is_taken ... ok\ntest cart::total_counts_every_item ... FAILED\n\nassertion `left == right` failed\n  left: 9.50\n right: 12.00\ntest result: FAILED. 2 passed; 1 failed\n";
const PASSES: &str = "running 3 tests\ntest cart::empty_is_free ... ok\ntest cart::discount_is_taken ... ok\ntest cart::total_counts_every_item ... ok\n\ntest result: ok. 3 passed; 0 failed\n";

/// One picture of it, and how long it stands.
struct Frame {
    picture: String,
    lasts: u32,
}

/// Frames in one theme, and which of them stands for all.
struct Film {
    theme: Theme,
    frames: Vec<Frame>,
    still: usize,
}

impl Film {
    fn shot(&mut self, stage: &mut AttachedUi, lasts: u32) {
        stage.ui.wear(self.theme);
        let (buffer, caret) = stage.ui.draw();
        self.frames.push(Frame { picture: crate::svg::svg(&buffer, caret, self.theme), lasts });
        stage.ui.wait(u64::from(lasts));
    }

    /// The shell before the program.
    fn shell(&mut self, typed: &str, lasts: u32) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, COLUMNS, ROWS));
        buffer.set_string(0, 0, format!("~/shop $ {typed}"), Style::default());
        let caret = Position::new(u16::try_from(9 + typed.len()).unwrap(), 0);
        self.frames.push(Frame { picture: crate::svg::svg(&buffer, Some(caret), self.theme), lasts });
    }
}

/// From the prompt to the undo.
fn film(theme: Theme) -> Film {
    let mut film = Film { theme, frames: Vec::new(), still: 0 };
    film.shell("", 500);
    for end in [3, 6, 8, 12, 15, 19, 23, TYPED.len()] {
        film.shell(&TYPED[..end], 110);
    }
    film.shell(TYPED, 370);
    let mut stage = stage(COLUMNS, ROWS);
    stage.happen(Body::Session(SessionEvent::PolicyChosen { policy: Policy::Ask }));
    stage.run("fix the failing test");
    film.shot(&mut stage, 400);
    let failing = tool(&mut stage, 20, "bash", r#"{"command":"cargo test -p shop"}"#);
    stage.happen(Body::Tool(ToolEvent::Started { tool: failing }));
    film.shot(&mut stage, 500);
    finished(&mut stage, failing, ToolOutcome::Failed, FAILS);
    film.shot(&mut stage, 900);
    stage.text("`total` passes over the first item.\n");
    film.shot(&mut stage, 400);
    let args = r#"{"path":"src/cart.rs"}"#;
    let edit = tool(&mut stage, 21, "edit", args);
    let preview = Preview::Diff { path: "src/cart.rs".into(), text: DIFF.into() };
    let mut kind = consent_to(edit, "edit", args, preview, Risk::Low, "changes a file of the project");
    kind.rule = Some("write files under ~/shop".into());
    ask(&mut stage, 40, "edit src/cart.rs", AskKind::Consent(Box::new(kind)));
    film.still = film.frames.len();
    film.shot(&mut stage, 2_200);
    stage.ui.keys("y");
    stage.close(40, Answer::Allow { scope: Scope::Once, digest: None });
    let diff = Part::Diff { path: Some("src/cart.rs".into()), text: DIFF.into() };
    ended(&mut stage, edit, ToolOutcome::Done, "edited", vec![diff]);
    film.shot(&mut stage, 700);
    let passing = tool(&mut stage, 22, "bash", r#"{"command":"cargo test -p shop"}"#);
    stage.happen(Body::Tool(ToolEvent::Started { tool: passing }));
    film.shot(&mut stage, 500);
    finished(&mut stage, passing, ToolOutcome::Done, PASSES);
    stage.text("All three tests pass.\n");
    stage.end(Outcome::Done);
    film.shot(&mut stage, 1_500);
    for typed in ["/", "un", "do"] {
        stage.ui.keys(typed);
        film.shot(&mut stage, 180);
    }
    stage.ui.keys("<esc>");
    stage.ui.keys("<ctrl-u>");
    let text = "Undid 1 file change of “fix the failing test”\n  restored src/cart.rs";
    stage.happen(Body::Note(NoteEvent::Noticed {
        entry: EntryId(90),
        parent: Some(EntryId(5)),
        run: None,
        level: Level::Info,
        code: FILES_UNDONE.into(),
        text: text.into(),
    }));
    let so_far: u32 = film.frames.iter().map(|frame| frame.lasts).sum();
    film.shot(&mut stage, LENGTH - so_far);
    film
}

fn finished(stage: &mut AttachedUi, tool: ToolRunId, outcome: ToolOutcome, text: &str) {
    stage.ui.wait(900);
    let result = ToolResult { text: text.to_owned(), parts: Vec::new(), json: None, truncated: false };
    stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
}

/// What lies below what: grounds, text, the caret.
fn layer(element: &str) -> u8 {
    match element {
        text if text.starts_with("<text") => 1,
        caret if caret.contains("width=\"2\"") => 2,
        _ => 0,
    }
}

/// All frames as one document: each element once, with the frames that it is seen in.
fn document(film: &Film) -> String {
    let mut seen: BTreeMap<(u8, &str), BTreeSet<usize>> = BTreeMap::new();
    for (at, frame) in film.frames.iter().enumerate() {
        for element in frame.picture.lines().skip(2).filter(|line| *line != "</svg>") {
            seen.entry((layer(element), element)).or_default().insert(at);
        }
    }
    let mut groups: BTreeMap<(u8, BTreeSet<usize>), Vec<&str>> = BTreeMap::new();
    for ((layer, element), frames) in seen {
        groups.entry((layer, frames)).or_default().push(element);
    }
    let spans: BTreeSet<&BTreeSet<usize>> = groups.keys().map(|(_, frames)| frames).collect();
    let spans: Vec<&BTreeSet<usize>> = spans.into_iter().collect();
    let mut out: String =
        film.frames[0].picture.lines().take(2).fold(String::new(), |all, line| all + line + "\n");
    out.push_str("<style>\ng{visibility:hidden}\n.s{visibility:visible}\n");
    for (number, frames) in spans.iter().enumerate() {
        let _ = writeln!(out, ".f{number}{{animation:f{number} {LENGTH}ms step-end infinite}}");
        let _ = writeln!(out, "@keyframes f{number}{{{}}}", moments(film, frames));
    }
    out.push_str("@media (prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n");
    for ((_, frames), elements) in &groups {
        let number = spans.iter().position(|span| *span == frames).unwrap();
        let still = if frames.contains(&film.still) { " s" } else { "" };
        let _ = writeln!(out, "<g class=\"f{number}{still}\">\n{}\n</g>", elements.join("\n"));
    }
    out.push_str("</svg>\n");
    out
}

/// When something comes and goes, in percents.
fn moments(film: &Film, frames: &BTreeSet<usize>) -> String {
    let (mut out, mut at, mut was) = (String::new(), 0, None);
    for (number, frame) in film.frames.iter().enumerate() {
        let is = frames.contains(&number);
        if was != Some(is) {
            let word = if is { "visible" } else { "hidden" };
            let _ = write!(out, "{:.2}%{{visibility:{word}}}", f64::from(at) * 100.0 / f64::from(LENGTH));
        }
        (was, at) = (Some(is), at + frame.lasts);
    }
    out
}

/// `cargo xtask film` draws it again.
#[test]
fn the_film_of_the_readme_is_what_is_drawn() {
    let folder = std::env::var_os("PARLOR_PICTURES").map(std::path::PathBuf::from);
    for theme in [Theme::Dark, Theme::Light] {
        let film = film(theme);
        assert_eq!(film.frames.iter().map(|frame| frame.lasts).sum::<u32>(), LENGTH);
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).unwrap();
            for (at, frame) in film.frames.iter().enumerate() {
                std::fs::write(folder.join(format!("film-{at:02}-{}.svg", theme.name())), &frame.picture)
                    .unwrap();
            }
        }
        let whole = document(&film);
        assert!(whole.len() < MAX_FILE, "{}", whole.len());
        let path = format!("{}/../../docs/img/film-{}.svg", env!("CARGO_MANIFEST_DIR"), theme.name());
        expect_file![path].assert_eq(&whole);
    }
}
