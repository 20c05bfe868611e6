//! The shell of the plain mode: lines in, lines out, a clock. No cursor is moved, no mode of a terminal is switched but its echo while
//! a secret is typed.

use super::command::Running;
use super::lines::{InputLine, StdinLines};
use super::terminal::{self, Signals, StopSignal};
use super::{ExitReason, MAX_BACKLOG, MAX_BATCH, MAX_INBOX, Options, effects, kept_session, now, told};
use crate::model::Model;
use crate::msg::{Begin, FleetWish, Fx, Msg, Outgoing};
use crate::plain::{Heard, Plain, Told};
use crate::theme::Theme;
use domain::port::{LinkState, News};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;
use tokio::sync::mpsc;

/// How often a run that goes on is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Runs the UI until the person leaves.
///
/// # Errors
/// When signals or stdin cannot be used.
pub(super) async fn run(
    mut options: Options,
    mut incoming: mpsc::Receiver<News>,
    outgoing: mpsc::Sender<Outgoing>,
) -> io::Result<ExitReason> {
    let mut signals = Signals::new()?;
    let lines = StdinLines::start()?;
    let mut model = Model::new(options.about.clone(), Theme::Plain);
    model.screen.preferences.load(options.settings, options.keys.clone());
    let restart = options.restart.as_ref().map(|(restart, _)| *restart).unwrap_or_default();
    model.screen.start.stand(restart, options.exits.is_some());
    let (told_fleet, mut fleet) = mpsc::channel(MAX_INBOX);
    let wishes = options.fleet.as_ref().map(|port| {
        model.screen.start.enlist();
        (port.begin)(told_fleet)
    });
    let (mut begin, mut note) = (options.begin.take(), options.note.take());
    let (inbox, mut from_tasks) = mpsc::channel(MAX_INBOX);
    let plain = Plain::new(model, lines.is_terminal());
    let backlog = VecDeque::new();
    let mut shell = PlainShell { plain, lines, options, inbox, backlog, wishes, command: None, exit: None };
    let first = shell.plain.begin();
    shell.perform(first);
    let (mut runtime_gone, mut typing) = (false, true);
    while shell.exit.is_none() {
        let (waiting, runs) = (!shell.backlog.is_empty(), shell.plain.model().world.is_running());
        tokio::select! {
            biased;
            signal = signals.next() => match signal {
                // Somebody at a keyboard may have meant only the run; without one it was sent on purpose.
                StopSignal::Interrupt if shell.lines.is_terminal() => shell.hear(Heard::Interrupt),
                signal => shell.exit = Some(ExitReason::Signal(signal)),
            },
            permit = outgoing.reserve(), if waiting => match permit {
                Ok(permit) => {
                    if let Some(next) = shell.backlog.pop_front() {
                        permit.send(next);
                    }
                }
                Err(_) => shell.backlog.clear(),
            },
            news = incoming.recv(), if !runtime_gone => match news {
                Some(news) => {
                    shell.hear(Heard::News(news));
                    for _ in 0..MAX_BATCH {
                        let Ok(news) = incoming.try_recv() else { break };
                        shell.hear(Heard::News(news));
                    }
                }
                None => {
                    runtime_gone = true;
                    let why = "it closed the link; leave with Ctrl-D and start again".to_owned();
                    shell.hear(Heard::News(News::Link(LinkState::Lost(why))));
                }
            },
            typed = shell.lines.next(), if typing => match typed {
                InputLine::Line(line, mark) => {
                    shell.hear(Heard::Tick(now()));
                    let told = shell.plain.line(&line, mark);
                    shell.perform(told);
                }
                InputLine::End => {
                    typing = false;
                    if shell.lines.is_terminal() && terminal::is_gone() {
                        shell.exit = Some(ExitReason::Signal(StopSignal::HangUp));
                    } else {
                        shell.hear(Heard::End);
                    }
                }
            },
            Some(msg) = from_tasks.recv() => shell.hear(Heard::Msg(msg)),
            Some(heard) = fleet.recv() => shell.hear(Heard::Msg(Msg::Fleet(heard))),
            said = told(&mut note) => shell.hear(Heard::Note(said)),
            () = tokio::time::sleep(LOOK), if runs => shell.hear(Heard::Tick(now())),
        }
        if shell.plain.model().world.current.is_some()
            && let Some(begin) = begin.take()
        {
            match begin {
                Begin::Sessions | Begin::Search(_) | Begin::With { .. } => {
                    shell.hear(Heard::Msg(Msg::Begin(begin)));
                }
                Begin::Prompt(text) => {
                    let told = shell.plain.said_before(text);
                    shell.perform(told);
                }
            }
        }
    }
    let PlainShell { plain, lines, options, command, exit, .. } = shell;
    lines.end().await;
    if let Some(command) = command {
        command.end().await;
    }
    let exit = exit.unwrap_or(ExitReason::Quit);
    if let (ExitReason::Quit | ExitReason::Unanswered, Some(farewell), Some(session)) =
        (&exit, options.farewell, kept_session(plain.model()))
    {
        let status = &plain.model().world.seen().board.status;
        let _ = writeln!(terminal::stdout(), "{}", farewell(&session.to_string(), status));
    }
    Ok(exit)
}

struct PlainShell {
    plain: Plain,
    lines: StdinLines,
    options: Options,
    inbox: mpsc::Sender<Msg>,
    backlog: VecDeque<Outgoing>,
    /// Where is wished of whoever tells of devices.
    wishes: Option<mpsc::Sender<FleetWish>>,
    /// The person's command under way.
    command: Option<Running>,
    exit: Option<ExitReason>,
}

impl PlainShell {
    fn hear(&mut self, heard: Heard) {
        if !matches!(heard, Heard::Tick(_)) {
            let ticked = self.plain.hear(Heard::Tick(now()));
            self.perform(ticked);
        }
        let told = self.plain.hear(heard);
        self.perform(told);
    }

    fn perform(&mut self, told: Told) {
        if let Some(hidden) = told.hidden {
            // Before the question is told: whoever answers at once must not see it repeated.
            self.lines.hide(hidden);
        }
        if told.asks {
            // Its last line says how to answer: whoever waits for that line is heard, and all before it is on the screen by then.
            let last = told.lines.len().saturating_sub(1);
            self.write(&told.lines[..last]);
            self.plain.seen(self.lines.mark());
            self.write(&told.lines[last..]);
        } else {
            self.write(&told.lines);
        }
        told.fx.into_iter().for_each(|fx| self.effect(fx));
    }

    fn write(&mut self, lines: &[String]) {
        let mut out = terminal::stdout().lock();
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            // Nobody reads any more.
            self.exit = Some(ExitReason::Signal(StopSignal::HangUp));
        }
    }

    fn effect(&mut self, fx: Fx) {
        match fx {
            Fx::Send(outgoing) | Fx::Shown(outgoing) => {
                if self.backlog.len() < MAX_BACKLOG {
                    self.backlog.push_back(outgoing);
                }
            }
            Fx::SaveHistory(prompt) => {
                self.options.history.iter().for_each(|path| effects::keep_prompt(path, &prompt));
            }
            Fx::Write { path, text } => {
                let word = effects::write_out(&self.options.cwd, &path, &text);
                let _ = self.inbox.try_send(Msg::ShellNotice(word));
            }
            Fx::Restart => {
                if let Some((_, again)) = &self.options.restart {
                    let _ = again.try_send(());
                }
            }
            Fx::Shell(line) => {
                self.command = Some(Running::start(line, &self.options.cwd, self.inbox.clone()));
            }
            Fx::StopShell => self.command.iter_mut().for_each(Running::stop),
            Fx::Fleet(wish) => {
                if self.wishes.as_ref().is_some_and(|wishes| wishes.try_send(wish).is_err()) {
                    let _ = self
                        .inbox
                        .try_send(Msg::ShellNotice("that was too much at once: try again".to_owned()));
                }
            }
            Fx::FindAgents => effects::find_agents(self.options.exits.clone(), self.inbox.clone()),
            Fx::Leave(exit) => {
                let session = kept_session(self.plain.model()).cloned();
                self.exit = Some(ExitReason::Wants { exit, session });
            }
            Fx::Quit if self.plain.is_unanswered() => self.exit = Some(ExitReason::Unanswered),
            Fx::Quit => self.exit = Some(ExitReason::Quit),
            // What only a screen has: a title, a bell, a clipboard, pictures, an editor, colours.
            Fx::Copy(_)
            | Fx::OpenEditor(_)
            | Fx::Title(_)
            | Fx::Bell
            | Fx::Notify(_)
            | Fx::Wake(_)
            | Fx::Attach(_)
            | Fx::FindFiles(_)
            // Lines of text leave for it.
            | Fx::FindProviders
            | Fx::Login { .. }
            | Fx::StopLogin
            | Fx::FindBranch(_)
            | Fx::Draw { .. }
            | Fx::Keep { .. }
            | Fx::Mouse(_)
            | Fx::Redraw
            | Fx::Print
            | Fx::Suspend => {}
        }
    }
}
