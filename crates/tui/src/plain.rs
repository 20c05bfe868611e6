//! The UI as lines: every change of state is one, questions are answered in words, nothing is ever drawn over. For dumb terminals,
//! Emacs shells, logs and ears.
//!
//! It is the same model and update as the screen's, told instead of drawn; nothing here does I/O. Invariants: no line holds anything
//! that a terminal obeys; a line that was begun before a question was told is no answer to it ([`Plain::line`]); what a person typed is
//! said to the model, or they are told that it was not.

mod lists;
mod question;
mod telling;
#[cfg(test)]
mod tests;
mod user_command;
mod words;

use crate::about::Note;
use crate::commands::{COMMANDS, Parsed, SlashAction, parse};
use crate::layout::has_unseen_question;
use crate::model::{Model, Want};
use crate::msg::{Begin, Fx, Msg};
use crate::picker::Choice;
use crate::update::update;
use domain::ask::{Ask, AskKind};
use domain::command::{Command, RunCommand};
use domain::event::{Body, RunEvent};
use domain::ids::{AskId, Millis, SessionId};
use domain::port::{LinkState, News, Ticket};
use lists::{MAX_LIST, is_coming, item_told, list_told, page_told};
use question::{QuestionExtent, Reading};
use telling::Telling;
use user_command::OwnTelling;
use words::aloud;

/// Columns of a page: wide, so that nothing is broken into lines that a reader would take for several.
const COLUMNS: u16 = 2_000;
/// How long a second Ctrl-C quits.
const QUIT_MS: u64 = 2_000;
/// Bytes of a prompt or an answer of several lines.
const MAX_TEXT: usize = 1024 * 1024;
/// Commands that are about the screen.
const SCREEN_ONLY: &[SlashAction] = &[
    SlashAction::Keys,
    SlashAction::Fold,
    SlashAction::Theme,
    SlashAction::Mouse,
    SlashAction::Edit,
    SlashAction::Copy,
    SlashAction::Search,
    SlashAction::Settings,
];

/// The person's lines apart, which come with their mark.
#[derive(Debug)]
pub(crate) enum Heard {
    News(News),
    /// It is known now who answers.
    Note(Note),
    /// The shell of it answers.
    Msg(Msg),
    Tick(Millis),
    /// Ctrl-C.
    Interrupt,
    /// Nobody will type any more.
    End,
}

/// What is to be done with it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// To be written, each as one line.
    pub(crate) lines: Vec<String>,
    pub(crate) fx: Vec<Fx>,
    /// A question or a list is among the lines: [`Plain::seen`] wants to know when it was written.
    pub(crate) asks: bool,
    /// Whether what is typed next is not to be shown; `None` leaves that as it is.
    pub(crate) hidden: Option<bool>,
}

#[derive(Debug)]
struct ToldQuestion {
    id: AskId,
    /// Lines that were begun with this mark or a later one may answer.
    seen: Option<u64>,
    /// The answer on its way.
    answered: Option<Ticket>,
    /// Lines of the answer so far.
    lines: Vec<String>,
    hidden: bool,
    /// A yes to less than all of it does not count.
    told: QuestionExtent,
}

/// A list that was told.
#[derive(Debug)]
struct Listed {
    seen: Option<u64>,
    /// What each number means: devices that come and go meanwhile change no number.
    choices: Vec<Choice>,
}

/// The UI as lines.
#[derive(Debug)]
pub(crate) struct Plain {
    model: Model,
    telling: Telling,
    out: Told,
    asked: Option<ToldQuestion>,
    listed: Option<Listed>,
    /// A prompt that a backslash lets go on.
    begun: String,
    /// What was told of the person's own command.
    own_telling: OwnTelling,
    /// Whether the person sees what they type.
    echoes: bool,
    /// Whether nobody will type any more.
    over: bool,
    /// Whether something was said that no run has answered yet.
    owed: bool,
    quit_until: Option<Millis>,
    now: Millis,
    /// Whether the last thing told was that it is the person's turn.
    ready: bool,
}

impl Plain {
    /// Before anything was heard; `echoes` where a terminal shows what is typed.
    pub(crate) fn new(mut model: Model, echoes: bool) -> Plain {
        let mut fx = Vec::new();
        update(&mut model, Msg::Resize(COLUMNS, 50), &mut fx);
        Plain {
            model,
            telling: Telling::default(),
            out: Told::default(),
            asked: None,
            listed: None,
            begun: String::new(),
            own_telling: OwnTelling::default(),
            echoes,
            over: false,
            owed: false,
            quit_until: None,
            now: Millis(0),
            ready: false,
        }
    }

    /// Whether a question waits that nobody will answer.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.over && !self.echoes && self.asked.is_some()
    }

    /// What is known of whoever answers, of the session, of the settings.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The first lines.
    pub(crate) fn begin(&mut self) -> Told {
        let about = self.model.screen.start.about().clone();
        self.say(format!("{}, plain mode.", about.program));
        let told = self.model.screen.start.untold();
        told.iter().for_each(|told| self.say(format!("Warning: {}", aloud(told))));
        about.warning.iter().for_each(|warning| self.say(format!("Warning: {}", aloud(warning))));
        self.note(&about.note);
        self.say(
            "Write a prompt and Enter. \"/help\" lists commands, Ctrl-C stops a run, Ctrl-D leaves."
                .to_owned(),
        );
        self.take()
    }

    fn note(&mut self, note: &Note) {
        if !note.words.is_empty() {
            self.say(format!("{}.", aloud(&note.words)));
        }
        if let Some(told) = &note.told {
            self.say(format!("{}.", aloud(told)));
        }
        if let Some(unkept) = &note.unkept {
            self.say(format!("Warning: {}", aloud(unkept)));
        }
    }

    /// What was told last is written: lines that are begun with this mark come after it.
    pub(crate) fn seen(&mut self, mark: u64) {
        let (asked, listed) = (self.asked.iter_mut(), self.listed.iter_mut());
        asked.map(|asked| &mut asked.seen).chain(listed.map(|listed| &mut listed.seen)).for_each(|seen| {
            seen.get_or_insert(mark);
        });
    }

    /// Takes in what was heard.
    pub(crate) fn hear(&mut self, heard: Heard) -> Told {
        match heard {
            Heard::News(news) => self.news(news),
            Heard::Note(note) => {
                self.note(&note);
                self.update(Msg::Note(note));
            }
            Heard::Msg(msg) => {
                self.own_said(&msg);
                self.update(msg);
            }
            Heard::Tick(now) => {
                self.now = now;
                self.update(Msg::Tick(now));
                let lines = self.telling.tick(self.model.world.state(), now);
                lines.into_iter().for_each(|line| self.say(line));
            }
            Heard::Interrupt => self.interrupt(),
            Heard::End => {
                self.over = true;
                if self.echoes {
                    self.out.fx.push(Fx::Quit);
                }
            }
        }
        self.settle();
        self.take()
    }

    /// A line that was typed; `begun` is the mark that held when its first byte came.
    pub(crate) fn line(&mut self, line: &str, begun: u64) -> Told {
        self.quit_until = None;
        self.typed(line, begun);
        self.settle();
        self.take()
    }

    fn typed(&mut self, line: &str, begun: u64) {
        let current =
            self.question().map(|(asked, ask)| (asked.seen, asked.lines.clone(), asked.told, ask.clone()));
        if let Some((seen, before, told, ask)) = current {
            let reading = question::read(&ask, line, &before, told);
            if seen.is_some_and(|seen| begun >= seen) {
                match parse(line.trim()) {
                    Some(parsed) if is_for_us(&parsed, &ask.kind, &reading) => {
                        self.command(line.trim(), &parsed);
                    }
                    _ => self.answer(&ask, line, reading),
                }
                return;
            }
            // It was meant for something else; what would be an answer is not said to the model either.
            if matches!(reading, Reading::Answer(..))
                && !matches!(ask.kind, AskKind::Text { .. } | AskKind::Edit { .. })
            {
                return self.say(
                    "That was begun before the question was there, so it is no answer. Write it again."
                        .to_owned(),
                );
            }
        }
        if let Some(listed) = self.listed.take_if(|listed| listed.seen.is_some_and(|seen| begun >= seen)) {
            match line.trim().parse::<usize>() {
                Ok(number) if (1..=listed.choices.len()).contains(&number) => {
                    return self.pick(number - 1, listed);
                }
                Ok(_) => {
                    self.say(format!("That is none of them: a number from 1 to {}.", listed.choices.len()));
                    self.listed = Some(listed);
                    return;
                }
                Err(_) => self.model.screen.over.close(),
            }
            if line.trim().is_empty() {
                return self.say("The list is closed.".to_owned());
            }
        }
        self.prompt_line(line);
    }

    /// A line for the model, or a command.
    fn prompt_line(&mut self, line: &str) {
        if self.begun.len() + line.len() > MAX_TEXT {
            self.begun.clear();
            return self.say("That is too long for a prompt: put it into a file and name that.".to_owned());
        }
        if let Some(line) = line.strip_suffix('\\') {
            self.begun.push_str(line);
            self.begun.push('\n');
            return;
        }
        let text = std::mem::take(&mut self.begun) + line;
        if text.trim().is_empty() {
            return;
        }
        match parse(text.trim()) {
            _ if text.starts_with('!') => self.own(text.trim()),
            Some(parsed) => self.command(text.trim(), &parsed),
            None => self.prompt(text.trim_end().to_owned()),
        }
    }

    /// What the person said before there was a screen: no terminal has shown it as it was typed.
    pub(crate) fn said_before(&mut self, text: String) -> Told {
        let echoes = std::mem::replace(&mut self.echoes, false);
        self.prompt(text);
        self.echoes = echoes;
        self.settle();
        self.take()
    }

    fn prompt(&mut self, text: String) {
        self.out.fx.push(Fx::SaveHistory(text.clone()));
        self.model.screen.composer.remember(text.clone());
        let text = self.model.screen.own.along(text);
        if self.echoes {
            self.telling.typed(&text);
        }
        self.owed = true;
        self.update(Msg::Begin(Begin::Prompt(text)));
    }

    fn command(&mut self, line: &str, parsed: &Parsed<'_>) {
        match parsed {
            Parsed::Unknown(name, near) => {
                let hint =
                    near.map_or("/help lists them".to_owned(), |near| format!("did you mean /{near}?"));
                self.say(format!("There is no command /{name}: {hint}"));
            }
            Parsed::Command(command, _) if SCREEN_ONLY.contains(&command.does) => {
                self.say(format!("/{} is only on the screen: start parlor without --plain.", command.name));
            }
            Parsed::Command(command, _) => match command.does {
                SlashAction::Help => self.help(),
                SlashAction::Stop => self.stop(),
                SlashAction::Print => {
                    let lines = Telling::all(self.model.world.state());
                    let empty = lines.is_empty().then(|| "Nothing was said yet.".to_owned());
                    lines.into_iter().chain(empty).for_each(|line| self.say(line));
                }
                _ => self.update(Msg::Slash(line.to_owned())),
            },
        }
    }

    fn help(&mut self) {
        let (here, seen) = (self.model.screen.start.here(), self.model.world.seen());
        let offered = COMMANDS.iter().filter(|command| {
            !SCREEN_ONLY.contains(&command.does) && command.is_offered(&seen.abilities, here)
        });
        let lines: Vec<String> = offered
            .map(|command| match command.does {
                SlashAction::Print => "/print: tell the whole conversation".to_owned(),
                _ if command.takes.is_empty() => format!("/{}: {}", command.name, command.help),
                _ => format!("/{} {}: {}", command.name, command.takes, command.help),
            })
            .collect();
        lines.into_iter().for_each(|line| self.say(aloud(&line)));
        self.say("A question is answered in words: yes, no, no because and a reason, a number. A backslash at the end of a line goes on in the next one. A line that begins with \"!\" is a command of your own.".to_owned());
    }

    /// Does what a line means to the question.
    fn answer(&mut self, ask: &Ask, line: &str, reading: Reading) {
        match reading {
            Reading::Answer(answer, said) => {
                if self.model.screen.asks.answer().is_none() {
                    return;
                }
                self.unhide();
                self.say(said);
                self.model.send(Want::Answer, Command::Answer { ask: ask.id, answer }, &mut self.out.fx);
                let ticket = self.out.fx.iter().rev().find_map(|fx| match fx {
                    Fx::Send(outgoing) => Some(outgoing.ticket),
                    _ => None,
                });
                if let Some(asked) = &mut self.asked {
                    asked.answered = ticket;
                    asked.lines.clear();
                }
            }
            Reading::Show => {
                self.tell_question(QuestionExtent::All);
                if let Some(asked) = &mut self.asked {
                    asked.told = QuestionExtent::All;
                }
            }
            Reading::Stop => self.stop(),
            Reading::Prompt(text) => self.prompt(text),
            Reading::More => {
                let Some(asked) = &mut self.asked else { return };
                let length: usize = asked.lines.iter().map(String::len).sum();
                if length + line.len() > MAX_TEXT {
                    asked.lines.clear();
                    return self.say("That is too long for an answer; start again.".to_owned());
                }
                asked.lines.push(line.to_owned());
            }
            Reading::Hint(words) => self.say(words),
        }
    }

    fn stop(&mut self) {
        if self.stop_own() {
            return;
        }
        let Some(run) = self.model.world.state().open_run().map(|run| run.id) else {
            return self.say("Nothing runs.".to_owned());
        };
        self.say("Stopping the run.".to_owned());
        // Who stops the run knows why its question goes.
        self.model.screen.asks.answer();
        self.model.screen.wishes.stop(Some(run));
        let cancel = Command::Run(RunCommand::Cancel { run: Some(run), reason: None });
        self.model.send(Want::Nothing, cancel, &mut self.out.fx);
    }

    fn interrupt(&mut self) {
        if self.quit_until.is_some_and(|until| self.now < until) {
            return self.out.fx.push(Fx::Quit);
        }
        self.quit_until = Some(Millis(self.now.0 + QUIT_MS));
        self.begun.clear();
        if self.model.world.is_running() || self.model.screen.own.runs() {
            self.stop();
        }
        self.say("Ctrl-C again quits.".to_owned());
    }

    /// A line of the list was chosen.
    fn pick(&mut self, number: usize, listed: Listed) {
        let at = match &listed.choices[number] {
            meant @ (Choice::Asking(..) | Choice::Device(_)) => {
                let list = self.model.screen.over.list();
                list.and_then(|picker| picker.lines().position(|(item, _)| item.choice == *meant))
            }
            _ => Some(number),
        };
        let Some(at) = at else {
            self.listed = Some(listed);
            return self.say("That one is no longer there.".to_owned());
        };
        self.update(Msg::Pick(at));
        // A list that stays open is one of things to switch on and off, or of devices.
        let line = self
            .model
            .screen
            .over
            .list()
            .map(|picker| picker.lines().nth(at).map(|(item, _)| item_told(item)));
        if let Some(line) = line {
            line.into_iter().for_each(|line| self.say(format!("{}. {line}", number + 1)));
            self.listed = Some(listed);
        }
    }

    fn news(&mut self, news: News) {
        let before = self.model.world.link.clone();
        match news {
            News::Attached { ref session, .. } => {
                let again = self.model.world.current.as_ref() == Some(session);
                self.update(Msg::News(news));
                if !again {
                    self.asked = None;
                    self.unhide();
                }
                let lines = self.telling.shown(self.model.world.state(), again);
                lines.into_iter().for_each(|line| self.say(line));
                self.ready = false;
            }
            News::Happened { session, event } => {
                self.update(Msg::News(News::Happened { session: session.clone(), event: event.clone() }));
                let state = self.model.world.state();
                if self.is_current(&session) && state.seq == event.seq {
                    self.owed &= !matches!(event.body, Body::Run(RunEvent::Ended { .. }));
                    let lines = self.telling.happened(state, event.at, &event.body);
                    lines.into_iter().for_each(|line| self.say(line));
                }
            }
            News::Signal { session, signal } => {
                if self.is_current(&session) {
                    let lines = self.telling.signal(self.now, &signal);
                    lines.into_iter().for_each(|line| self.say(line));
                }
                self.update(Msg::News(News::Signal { session, signal }));
            }
            News::Settled { ticket, with } => {
                let refused = with.is_err();
                self.owed &= !refused;
                self.update(Msg::News(News::Settled { ticket, with }));
                let ours = self.asked.as_ref().is_some_and(|asked| asked.answered == Some(ticket));
                if refused && ours {
                    // It is open again, and told again.
                    self.asked = None;
                }
            }
            News::Link(link) => {
                if let (LinkState::Lost(_), true) = (&link, before != link) {
                    self.owed = false;
                    self.say("The runtime is gone.".to_owned());
                }
                self.update(Msg::News(News::Link(link)));
            }
        }
    }

    fn is_current(&self, session: &SessionId) -> bool {
        self.model.world.current.as_ref() == Some(session)
    }

    fn update(&mut self, msg: Msg) {
        update(&mut self.model, msg, &mut self.out.fx);
    }

    /// The question that was told and waits.
    fn question(&self) -> Option<(&ToldQuestion, &Ask)> {
        let asked = self.asked.as_ref().filter(|asked| asked.answered.is_none())?;
        Some((asked, self.model.world.state().ask(asked.id)?))
    }

    /// Tells what the update left to be told: words in passing, pages, lists, questions, texts that came back.
    fn settle(&mut self) {
        for notice in self.model.screen.toasts.take_fresh() {
            telling::noticed(notice.level, &notice.text).into_iter().for_each(|line| self.say(line));
        }
        let back = self.model.screen.composer.take();
        if !back.trim().is_empty() {
            self.say(format!("Not sent: {}", aloud(&back)));
        }
        if let Some(page) = self.model.screen.over.page() {
            let lines = page_told(page.title(), page.content(), &self.model);
            self.model.screen.over.close();
            lines.into_iter().for_each(|line| self.say(line));
        }
        self.settle_list();
        self.settle_question();
        if has_unseen_question(&self.model) {
            self.update(Msg::Drawn);
        }
        let works = self.model.world.is_running() || self.model.screen.own.runs();
        let idle = self.model.world.current.is_some() && !works;
        if self.over && !self.echoes {
            self.leave_when_done(idle);
        }
        if idle && self.asked.is_none() && !self.ready && self.listed.is_none() {
            self.say("Ready.".to_owned());
            self.ready = true;
        }
    }

    /// Nobody will say anything more: what was said is heard to its end.
    fn leave_when_done(&mut self, idle: bool) {
        let waits = self.model.world.state().queues.all().next().is_some();
        let settled = self.model.screen.tickets.is_empty() && !self.owed && !waits;
        if self.asked.is_some() {
            self.say("Nobody is there to answer. The question waits in the session.".to_owned());
            self.out.fx.push(Fx::Quit);
        } else if idle && settled {
            self.out.fx.push(Fx::Quit);
        }
    }

    fn settle_list(&mut self) {
        let Some(picker) = self.model.screen.over.list() else {
            self.listed = None;
            return;
        };
        if self.listed.is_some() || is_coming(picker) {
            return;
        }
        let lines = list_told(picker);
        let choices: Vec<Choice> =
            picker.lines().take(MAX_LIST).map(|(item, _)| item.choice.clone()).collect();
        let only_read = choices.is_empty() || picker.lines().all(|(item, _)| item.choice == Choice::Nothing);
        lines.into_iter().for_each(|line| self.say(line));
        if only_read {
            self.model.screen.over.close();
        } else {
            self.say("A number selects one; an empty line leaves the list.".to_owned());
            self.listed = Some(Listed { seen: None, choices });
            self.out.asks = true;
        }
    }

    fn settle_question(&mut self) {
        let first = self.model.world.state().asks.first().map(|ask| ask.id);
        if self.asked.as_ref().map(|asked| asked.id) == first {
            return;
        }
        self.unhide();
        self.asked = None;
        let Some(id) = first else { return };
        let ask = self.model.world.state().ask(id);
        let hidden = ask.is_some_and(|ask| matches!(ask.kind, AskKind::Text { secret: true, .. }));
        self.asked = Some(ToldQuestion {
            id,
            seen: None,
            answered: None,
            lines: Vec::new(),
            hidden,
            told: QuestionExtent::Usual,
        });
        self.tell_question(QuestionExtent::Usual);
        if hidden {
            self.out.hidden = Some(true);
            if self.echoes {
                self.say("What you type is not shown.".to_owned());
            }
        }
        self.out.asks = true;
    }

    fn tell_question(&mut self, extent: QuestionExtent) {
        let state = self.model.world.state();
        let Some(ask) = self.asked.as_ref().and_then(|asked| state.ask(asked.id)) else { return };
        let same = !self.model.world.seen().abilities.session_scope;
        let lines = question::told(ask, state.asks.len(), same, extent, self.now);
        lines.into_iter().for_each(|line| self.say(line));
    }

    fn unhide(&mut self) {
        if self.asked.as_mut().is_some_and(|asked| std::mem::take(&mut asked.hidden)) {
            self.out.hidden = Some(false);
        }
    }

    fn say(&mut self, line: String) {
        self.ready = false;
        self.out.lines.push(line);
    }

    fn take(&mut self) -> Told {
        std::mem::take(&mut self.out)
    }
}

/// Whether a line that begins with a slash is a command although a question waits. Where a text is asked for, it may be one.
fn is_for_us(parsed: &Parsed<'_>, kind: &AskKind, reading: &Reading) -> bool {
    let is_text = matches!(kind, AskKind::Text { .. } | AskKind::Edit { .. });
    match parsed {
        Parsed::Command(command, _) if is_text => {
            matches!(command.does, SlashAction::Stop | SlashAction::Quit)
        }
        Parsed::Command(..) | Parsed::Unknown(..) if is_text => false,
        Parsed::Command(..) => true,
        Parsed::Unknown(..) => matches!(reading, Reading::Hint(_)),
    }
}
