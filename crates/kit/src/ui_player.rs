//! Plays a transcript against a UI role, without I/O: lines of the runtime (`<`) are fed to the role, lines of the UI (`>`) are
//! expected from it, `command` steps are what our side wants, and `event` steps are what the session must show.
//!
//! What the role reports goes through the canon, every event is checked by the grammar and folded, as in the hub. `wait` moves a fake
//! clock and fires the role's timers. `event` lines match a subsequence: each must be the beginning of something that comes after
//! what the one before matched. What nobody should overlook (a refusal, drift, a link that is given up) must be named by an `event`.

mod brief;
mod driven_role;
mod script;

#[cfg(test)]
mod tests;

use crate::notation::{Came, Judge, Kind, Leave, Next, Outcome, Raw, Say, Side, Step, Transcript, Verdict};
use crate::pattern::Missing;
use driven_role::DrivenRole;
use roles::{Hello, Lane, Line, UiRole};

pub use brief::{brief, brief_settled};
pub use script::{Act, parse_command};

/// What became of a transcript.
#[derive(Debug, Clone)]
pub struct RolePlayback {
    /// What became of each expectation, for a [`crate::notation::Report`].
    pub outcomes: Vec<Outcome>,
    /// Every line that the role said.
    pub said: Vec<String>,
}

/// Plays a transcript.
pub fn play(role: &mut dyn UiRole, transcript: &Transcript) -> RolePlayback {
    let option = |name: &str| {
        transcript.heads.options.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    };
    let hello = Hello {
        version: option("version").unwrap_or("0.0.0").to_owned(),
        cwd: transcript.heads.session_cwd.clone().unwrap_or_default(),
        session: option("session").map(Into::into),
        ..Hello::default()
    };
    let mut player = Player {
        judge: Judge::new(transcript, Side::Ui),
        driven: DrivenRole::open(role, &hello),
        said: Vec::new(),
    };
    player.run();
    let mut outcomes = player.judge.outcomes().to_vec();
    outcomes.extend(player.driven.finish().into_iter().map(|what| unexpected(0, what)));
    RolePlayback { outcomes, said: player.said }
}

struct Player<'t, 'r> {
    judge: Judge<'t>,
    driven: DrivenRole<'r>,
    said: Vec<String>,
}

impl<'t> Player<'t, '_> {
    fn run(&mut self) {
        loop {
            match self.judge.advance() {
                Next::Await => match self.driven.next_line() {
                    Some((lane, line)) => self.came(lane, line),
                    None => self.judge.gave_up("the role said nothing more"),
                },
                Next::Do(step) => {
                    // An `event` only looks; everything else would make the role say more.
                    if !matches!(step.kind, Kind::Event(_)) {
                        self.drain();
                    }
                    if let Err(what) = self.act(step) {
                        self.judge.note(unexpected(step.line_no, what));
                    }
                }
                Next::Done => return self.drain(),
            }
        }
    }

    /// Whatever the role said and nobody waited for.
    fn drain(&mut self) {
        while let Some((lane, line)) = self.driven.next_line() {
            self.came(lane, line);
        }
    }

    fn came(&mut self, lane: u8, line: String) {
        self.judge.came(lane, Came::line(&line));
        self.said.push(line);
    }

    fn act(&mut self, step: &'t Step) -> Result<(), String> {
        match &step.kind {
            Kind::Say(Say { lane, pattern, .. }) => {
                let line =
                    pattern.fill(self.judge.bindings(), Missing::Invent).map_err(|why| why.to_string())?;
                self.driven.line(Lane(u32::from(*lane)), Line::Text(line.replace(['\n', '\r'], " ")));
                Ok(())
            }
            Kind::Raw(Raw { lane, bytes, .. }) => {
                let wire = bytes.to_wire();
                for line in wire.strip_suffix(b"\n").unwrap_or(&wire).split(|byte| *byte == b'\n') {
                    self.driven.line(Lane(u32::from(*lane)), line_of(line));
                }
                Ok(())
            }
            Kind::Command(text) => match parse_command(text)? {
                Act::Command(command) => {
                    self.driven.command(command);
                    Ok(())
                }
                Act::Answer(answer) => self.driven.answer(answer),
            },
            Kind::Event(wanted) => {
                let verdict = match self.driven.expect(wanted) {
                    Ok(()) => Verdict::Met,
                    Err(why) => Verdict::Missing { why },
                };
                self.judge.note(Outcome { line_no: step.line_no, verdict });
                Ok(())
            }
            Kind::Wait(time) => {
                self.driven.wait(time.0);
                Ok(())
            }
            Kind::Leave(Leave { side: Some(Side::Ui), .. }) => {
                Err("here the UI is what is tested; it cannot leave".to_owned())
            }
            Kind::Leave(_) => {
                self.driven.lost();
                Ok(())
            }
            Kind::Model(_) | Kind::Tool(_) | Kind::Keys(_) | Kind::Screen(_) => {
                Err("a UI role has no model, tools, keys or screen".to_owned())
            }
            Kind::Note(_) | Kind::Optional(_) | Kind::AnyOrder(_) => Ok(()),
        }
    }
}

/// As the framing would see it.
fn line_of(bytes: &[u8]) -> Line {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Line::Text(text.strip_suffix('\r').unwrap_or(text).to_owned()),
        _ => Line::Garbled(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn unexpected(line_no: usize, what: String) -> Outcome {
    Outcome { line_no, verdict: Verdict::Unexpected { side: Side::Ui, lane: 0, came: Came::Text(what) } }
}
