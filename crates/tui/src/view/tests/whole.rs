//! Nobody says yes to what was not on the screen: every kind of question, on screens of every size, whatever is pressed and when.

use super::*;

const SIZES: &[(u16, u16)] = &[(20, 6), (30, 8), (40, 12), (60, 9), (80, 24), (120, 40)];
/// The columns of a small one.
const SMALL: u16 = 30;
/// Words of what is asked.
const LENGTHS: &[usize] = &[6, 30, 150];
/// More than the pages of the longest question on a screen where one fits.
const PAGES: usize = 40;

fn words(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("w{at:04}")).collect()
}

/// Each kind with what is asked in its message, the key that shows all of it and the one that says yes.
fn kinds(asked: &str) -> Vec<(AskKind, &'static str, &'static str)> {
    let line = Preview::Command { line: asked.to_owned(), inner: Vec::new() };
    let choice = Choice { id: "one".into(), label: "take one".into(), detail: None };
    let message = asked.to_owned();
    let text = AskKind::Text {
        message: message.clone(),
        placeholder: None,
        default: None,
        secret: false,
        multiline: false,
    };
    vec![
        (consent(ToolRunId(20), Preview::Text(asked.to_owned()), Risk::High), "v", "y"),
        (consent(ToolRunId(20), line, Risk::Critical), "v", "a"),
        (AskKind::Confirm { message: message.clone(), yes: None, no: None, danger: true }, "v", "y"),
        (AskKind::Choose { message: message.clone(), choices: vec![choice], many: false }, "<f2>", "<enter>"),
        (text, "<f2>", "<enter>"),
        (AskKind::Edit { message, prefill: "so far".into() }, "<f2>", "<enter>"),
    ]
}

/// A person who looks at every frame.
struct Person {
    stage: AttachedUi,
    /// The screen as it is now: a frame costs more than all the rest.
    screen: String,
    seen: String,
}

impl Person {
    fn new((columns, rows): (u16, u16), title: &str, kind: AskKind) -> Person {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("go");
        tool(&mut stage, 20, "bash", "{}");
        ask(&mut stage, 40, title, kind);
        stage.ui.fx.clear();
        let mut person = Person { stage, screen: String::new(), seen: String::new() };
        person.look();
        person
    }

    fn look(&mut self) {
        self.stage.ui.wait(crate::ask::QUIET_MS + crate::ask::SEEN_MS);
        self.screen = self.stage.ui.screen();
        self.seen.push_str(&self.screen);
    }

    /// Presses a key; whether the question is answered by it.
    fn press(&mut self, key: &str) -> bool {
        self.stage.ui.keys(key);
        let answered = self.stage.ui.fx.drain(..).any(|fx| format!("{fx:?}").contains("Answer {"));
        if !answered {
            self.look();
        }
        answered
    }

    /// Says yes wherever it may count, and goes through the page once; whether that was an answer.
    fn says_yes(&mut self, view: &str, yes: &str) -> bool {
        let hasty = [yes, view, yes, "<end>", yes, "<esc>", yes, view];
        if hasty.iter().any(|key| self.press(key)) {
            return true;
        }
        for _ in 0..PAGES {
            let before = self.screen.clone();
            if self.press("<pagedown>") || self.press(yes) {
                return true;
            }
            if self.screen == before {
                break;
            }
        }
        self.press("<esc>") || self.press(yes)
    }
}

#[test]
fn a_yes_counts_only_when_every_row_was_on_the_screen() {
    let all = std::env::var_os("PARLOR_SLOW").is_some();
    for (by_size, size) in SIZES.iter().enumerate() {
        // On the smallest screens a few words are many pages already, and each of their frames is dear.
        let lengths = if all || size.0 > SMALL { LENGTHS } else { &LENGTHS[..2] };
        for (by_length, count) in lengths.iter().enumerate() {
            let words = words(*count);
            for (by_kind, (kind, view, yes)) in kinds(&words.join(" ")).into_iter().enumerate() {
                // Thousands of frames: any two of size, length and kind meet, and all three with `--slow`.
                if !all && (by_size + by_kind) % lengths.len() != by_length {
                    continue;
                }
                let mut person = Person::new(*size, "Go on?", kind.clone());
                if person.says_yes(view, yes) {
                    let missing: Vec<&String> =
                        words.iter().filter(|word| !person.seen.contains(*word)).collect();
                    assert!(missing.is_empty(), "{size:?} {count} {kind:?}: a yes without {missing:?}");
                }
            }
        }
    }
}

#[test]
fn a_yes_can_be_said_on_every_usual_screen() {
    for size in [(40, 12), (80, 24)] {
        for count in LENGTHS {
            for (kind, view, yes) in kinds(&words(*count).join(" ")) {
                let yes = if yes == "a" { "y" } else { yes };
                let mut person = Person::new(size, "Go on?", kind.clone());
                assert!(
                    person.says_yes(view, yes),
                    "{size:?} {count} {kind:?}\n{}",
                    person.stage.ui.screen()
                );
            }
        }
    }
}

#[test]
fn a_title_that_is_cut_is_not_agreed_to_either() {
    let words = words(120);
    for (kind, view, yes) in kinds("short") {
        let mut person = Person::new((80, 24), &words.join(" "), kind.clone());
        assert!(person.says_yes(view, yes), "{kind:?}");
        assert!(words.iter().all(|word| person.seen.contains(word)), "{kind:?}");
    }
}

#[test]
fn no_always_counts_and_both_ends_are_shown_with_what_is_left_out() {
    let line = format!("HEAD {} TAIL", "x ".repeat(1500));
    let preview = Preview::Command { line, inner: Vec::new() };
    for size in [(30, 8), (40, 12), (60, 9), (60, 12), (80, 24)] {
        let mut person = Person::new(size, "Go on?", consent(ToolRunId(20), preview.clone(), Risk::High));
        let screen = person.stage.ui.screen();
        assert!(!screen.contains("y once") && !screen.contains("y allow once"), "{screen}");
        assert!(screen.contains("all first"), "{screen}");
        assert!(size.1 < 24 || screen.contains("HEAD") && screen.contains("TAIL"), "{screen}");
        let hidden = screen.split("… ").find_map(|rest| rest.split_once(" more line")).map(|(n, _)| n);
        let hidden: usize = hidden.unwrap_or_default().parse().unwrap();
        assert!(hidden > 3000 / usize::from(size.0) - usize::from(size.1), "{hidden} rows\n{screen}");
        assert!(person.press("n"), "{screen}");
    }
}
