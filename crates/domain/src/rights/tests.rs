//! Every command against every role.

use super::*;
use crate::command::{
    DiffSince, ExportFormat, FilesCommand, ListCommand, ListScope, PromptOptions, QueueCommand, RunCommand,
    ShellCommand,
};
use crate::content::{Input, Json};
use crate::ids::{AskId, QueuedId, SessionId, ToolRunId};
use crate::queue::{Mode, QueueKind};
use crate::session::{Budget, Policy};
use crate::signal::UiContext;
use crate::tool::ToolResult;

/// Which role is the least that may give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Least {
    Observer,
    Approver,
    Controller,
}

use Least::{Approver, Controller, Observer};

fn answer(answer: Answer) -> Command {
    Command::Answer { ask: AskId(1), answer }
}

fn allow(scope: Scope) -> Command {
    answer(Answer::Allow { scope, digest: None })
}

fn run(command: RunCommand) -> Command {
    Command::Run(command)
}

fn table() -> Vec<(Least, Command)> {
    let session = || SessionId::from_number(1);
    let input = || Input { text: "x".to_owned(), attachments: Vec::new() };
    let line = || "ls".to_owned();
    let item = QueuedId(1);
    let kind = QueueKind::Steer;
    let library = Command::Library;
    let (queue, about, files, shell) = (Command::Queue, Command::Session, Command::Files, Command::Shell);
    vec![
        (Approver, allow(Scope::Once)),
        (Controller, allow(Scope::Session)),
        (Controller, allow(Scope::Always)),
        (Approver, answer(Answer::Deny { reason: None })),
        (Approver, answer(Answer::Deny { reason: Some("not there".to_owned()) })),
        (Controller, answer(Answer::Confirmed(true))),
        (Approver, answer(Answer::Confirmed(false))),
        (Controller, answer(Answer::Chosen(vec!["a".to_owned()]))),
        (Controller, answer(Answer::Entered("a key".to_owned()))),
        (Approver, answer(Answer::Dismissed)),
        (Controller, run(RunCommand::Prompt { input: input(), options: PromptOptions::default() })),
        (Controller, run(RunCommand::Cancel { run: None, reason: None })),
        (Controller, run(RunCommand::Compact { instruction: None })),
        (Controller, queue(QueueCommand::Add { kind, input: input() })),
        (Controller, queue(QueueCommand::Edit { item, input: input() })),
        (Controller, queue(QueueCommand::Drop { item })),
        (Controller, queue(QueueCommand::SetMode { kind, mode: Mode::All })),
        (Controller, library(LibraryCommand::New { cwd: None, title: None, id: None })),
        (Observer, library(LibraryCommand::Open { session: session() })),
        (Controller, library(LibraryCommand::Branch { session: None, at: None })),
        (Controller, library(LibraryCommand::Delete { session: session() })),
        (Observer, library(LibraryCommand::List { scope: ListScope::All, limit: None, search: None })),
        (Observer, library(LibraryCommand::History { session: session(), max_runs: 1, max_events: 1 })),
        (Observer, library(LibraryCommand::Export { session: None, format: ExportFormat::Html })),
        (Controller, library(LibraryCommand::Save { path: None, history: true })),
        (Controller, library(LibraryCommand::Load { path: line() })),
        (Observer, about(SessionCommand::Close)),
        (Controller, about(SessionCommand::Rename { title: line() })),
        (Controller, about(SessionCommand::Clear)),
        (Controller, about(SessionCommand::SetLeaf { leaf: None })),
        (Observer, about(SessionCommand::Stats)),
        (Controller, about(SessionCommand::SetModel { provider: None, name: line() })),
        (Controller, about(SessionCommand::SetEffort { effort: None })),
        (Controller, about(SessionCommand::SetBudget { budget: Budget::default() })),
        (Controller, about(SessionCommand::SetPolicy { policy: Policy::default() })),
        (Controller, about(SessionCommand::SetTools { tools: None })),
        (Observer, Command::List(ListCommand::Models { provider: None })),
        (Observer, Command::List(ListCommand::Servers)),
        (Observer, Command::List(ListCommand::Skills { cwd: None, reload: false })),
        (Observer, Command::List(ListCommand::Tools)),
        (Controller, shell(ShellCommand::Run { line: line(), cwd: None, seconds: None })),
        (Controller, shell(ShellCommand::Start { line: line(), cwd: None, typed: false })),
        (Controller, shell(ShellCommand::Jobs)),
        (Controller, shell(ShellCommand::Job { job: line(), wait: None })),
        (Controller, shell(ShellCommand::Stop { job: line() })),
        (Controller, files(FilesCommand::Undo { leave: false })),
        (Controller, files(FilesCommand::Redo { leave: false })),
        (Controller, files(FilesCommand::Go { back: Vec::new(), forth: Vec::new(), leave: false })),
        (Controller, files(FilesCommand::Diff { since: DiffSince::Start })),
        (Controller, Command::Performed { tool: ToolRunId(1), failed: false, result: ToolResult::default() }),
        (Controller, Command::UpdateContext(UiContext::default())),
        (
            Controller,
            Command::Extension { name: crate::command::RULES.to_owned(), payload: Json::verbatim("{}") },
        ),
    ]
}

/// A number for each command there is: one that is new has to be put in here, and so into the table.
fn number(command: &Command) -> usize {
    match command {
        Command::Answer { answer, .. } => match answer {
            Answer::Allow { scope: Scope::Once, .. } => 0,
            Answer::Allow { scope: Scope::Session, .. } => 1,
            Answer::Allow { scope: Scope::Always, .. } => 2,
            Answer::Deny { reason: None } => 3,
            Answer::Deny { reason: Some(_) } => 4,
            Answer::Confirmed(true) => 5,
            Answer::Confirmed(false) => 6,
            Answer::Chosen(_) => 7,
            Answer::Entered(_) => 8,
            Answer::Dismissed => 9,
        },
        Command::Run(RunCommand::Prompt { .. }) => 10,
        Command::Run(RunCommand::Cancel { .. }) => 11,
        Command::Run(RunCommand::Compact { .. }) => 12,
        Command::Queue(QueueCommand::Add { .. }) => 13,
        Command::Queue(QueueCommand::Edit { .. }) => 14,
        Command::Queue(QueueCommand::Drop { .. }) => 15,
        Command::Queue(QueueCommand::SetMode { .. }) => 16,
        Command::Library(library) => match library {
            LibraryCommand::New { .. } => 17,
            LibraryCommand::Open { .. } => 18,
            LibraryCommand::Branch { .. } => 19,
            LibraryCommand::Delete { .. } => 20,
            LibraryCommand::List { .. } => 21,
            LibraryCommand::History { .. } => 22,
            LibraryCommand::Export { .. } => 23,
            LibraryCommand::Save { .. } => 24,
            LibraryCommand::Load { .. } => 25,
        },
        Command::Session(about) => match about {
            SessionCommand::Close => 26,
            SessionCommand::Rename { .. } => 27,
            SessionCommand::Clear => 28,
            SessionCommand::SetLeaf { .. } => 29,
            SessionCommand::Stats => 30,
            SessionCommand::SetModel { .. } => 31,
            SessionCommand::SetEffort { .. } => 32,
            SessionCommand::SetBudget { .. } => 33,
            SessionCommand::SetPolicy { .. } => 34,
            SessionCommand::SetTools { .. } => 35,
        },
        Command::List(ListCommand::Models { .. }) => 36,
        Command::List(ListCommand::Servers) => 37,
        Command::List(ListCommand::Skills { .. }) => 38,
        Command::List(ListCommand::Tools) => 39,
        Command::Shell(ShellCommand::Run { .. }) => 40,
        Command::Shell(ShellCommand::Start { .. }) => 41,
        Command::Shell(ShellCommand::Jobs) => 42,
        Command::Shell(ShellCommand::Job { .. }) => 43,
        Command::Shell(ShellCommand::Stop { .. }) => 44,
        Command::Files(FilesCommand::Undo { .. }) => 45,
        Command::Files(FilesCommand::Redo { .. }) => 46,
        Command::Files(FilesCommand::Go { .. }) => 47,
        Command::Files(FilesCommand::Diff { .. }) => 48,
        Command::Performed { .. } => 49,
        Command::UpdateContext(_) => 50,
        Command::Extension { .. } => 51,
    }
}

#[test]
fn every_command_is_allowed_to_the_roles_that_it_is_for_and_to_no_other() {
    let numbers: Vec<usize> = table().iter().map(|(_, command)| number(command)).collect();
    assert_eq!(numbers, (0..52).collect::<Vec<_>>(), "each command stands in the table once");
    for (least, command) in table() {
        let may = Standing::ALL.map(|standing| standing.may(&command).is_ok());
        assert_eq!(may, [true, least != Controller, least == Observer], "{command:?}");
    }
}

#[test]
fn who_may_not_is_told_what_it_may() {
    let always = allow(Scope::Always);
    let told = |standing: Standing| standing.may(&always).unwrap_err();
    assert!(told(Standing::Approver).message.contains("allow once and deny"));
    assert!(told(Standing::Observer).message.contains("only look"));
    assert_eq!(told(Standing::Observer).kind, RefusalKind::NotAllowed);
}

#[test]
fn a_question_that_only_a_controller_may_answer_is_not_an_approvers() {
    let asked = Standing::ALL.map(|standing| (standing.is_asked(true), standing.is_asked(false)));
    assert_eq!(asked, [(true, true), (true, false), (false, false)]);
}

#[test]
fn whoever_asks_for_more_gets_no_more() {
    let [controller, approver, observer] = Standing::ALL;
    for (has, asks, gets) in [
        (controller, controller, controller),
        (controller, approver, approver),
        (controller, observer, observer),
        (approver, controller, approver),
        (approver, approver, approver),
        (approver, observer, observer),
        (observer, controller, observer),
        (observer, approver, observer),
        (observer, observer, observer),
    ] {
        assert_eq!(has.lowered_to(asks), gets, "{has} that asks to be {asks}");
    }
    assert!(Standing::ALL.iter().all(|standing| Standing::named(standing.name()) == Some(*standing)));
    assert_eq!(Standing::named("owner"), None);
}
