//! The question which of its wishes a server gets, in words that a person reads once, and what each answer means. Pure.

use super::book::Listed;
use super::reach::Reach;
use domain::ask::{AskKind, Choice};
use domain::harmless::marked;

/// What the person said to one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerConsent {
    pub(crate) reach: Reach,
    /// It gets the network for its next start, to download itself, and not again.
    pub(crate) download: bool,
}

const NO: &str = "no";
const READ: &str = "read";
const DOWNLOAD: &str = "download";
const NETWORK: &str = "network";
const WRITE: &str = "write";
const BOTH: &str = "network-and-write";
const ALL: &str = "all";

/// The title and the question. What it had before it was a choice stands first for one that was agreed to before, else that it is not
/// started.
pub(crate) fn question(listed: &Listed) -> (String, AskKind) {
    let entry = &listed.entry;
    let choice = |id: &str, label: &str, detail: Option<&str>| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        detail: detail.map(str::to_owned),
    };
    let no = choice(NO, "Do not start it", None);
    let all = |label| {
        choice(ALL, label, Some("it uses the network, writes in the project, talks to Docker and D-Bus"))
    };
    let mut choices = if listed.approved { vec![all("As before")] } else { vec![no.clone()] };
    choices.push(choice(
        READ,
        "Start it to read only",
        Some("no network, and it writes nothing but its own cache"),
    ));
    if let Some(program) = entry.downloads_with() {
        let detail = format!("for {program} to download it; afterwards it runs without");
        choices.push(choice(DOWNLOAD, "Start it, with the network this once", Some(&detail)));
    }
    choices.push(choice(NETWORK, "Start it with the network", Some("it cannot write in the project")));
    choices.push(choice(WRITE, "Start it and let it write in the project", Some("it has no network")));
    choices.push(choice(BOTH, "Start it with the network, and let it write in the project", None));
    if listed.approved {
        choices.push(no);
    } else if entry.works_through().is_some() {
        choices.push(all("Start it with everything"));
    }
    let who = if listed.from_project { "of this project" } else { "of yours" };
    let title = match listed.approved {
        true => format!("What may the MCP server {} {who} reach?", entry.name),
        false => format!("This project brings the MCP server {}", entry.name),
    };
    let before = match listed.approved {
        true => {
            "Until now it could use the network, write in the project and talk to other programs. Say once what it may.\n"
        }
        false => "",
    };
    let compared = listed.compared.as_ref().map(|words| format!("\n{words}")).unwrap_or_default();
    let message = format!(
        "{}\n\n{before}It runs in the sandbox: it reads what commands may read, and writes only into a private cache unless you allow more. \
         /mcp changes that at any time.",
        marked(&format!("It {}.{compared}", entry.words())),
    );
    (title, AskKind::Choose { message, choices, many: false })
}

/// What an answer means; `None`: it is not started.
pub(crate) fn said(chosen: &[String]) -> Option<ServerConsent> {
    let nothing = Reach::default();
    let (reach, download) = match chosen.first()?.as_str() {
        READ => (nothing, false),
        DOWNLOAD => (nothing, true),
        NETWORK => (Reach { network: true, ..nothing }, false),
        WRITE => (Reach { project: true, ..nothing }, false),
        BOTH => (Reach { network: true, project: true, ..nothing }, false),
        ALL => (Reach::all(), false),
        _ => return None,
    };
    Some(ServerConsent { reach, download })
}

#[cfg(test)]
mod tests {
    use super::super::entry::read;
    use super::*;
    use serde_json::json;

    fn listed(command: &str, approved: bool) -> Listed {
        let entry = read("files", &json!({"command": command, "args": ["-y", "x"]})).unwrap();
        Listed {
            entry,
            from_project: true,
            folder: None,
            from_ui: false,
            approved,
            reach: None,
            compared: None,
        }
    }

    fn choices(listed: &Listed) -> (String, Vec<Choice>) {
        let (_, AskKind::Choose { message, choices, many: false }) = question(listed) else { panic!() };
        (message, choices)
    }

    #[test]
    fn a_new_server_is_not_started_unless_that_is_chosen_and_an_old_one_keeps_what_it_had() {
        let (message, new) = choices(&listed("npx", false));
        assert!(message.contains("It runs `npx -y x`."), "{message}");
        let compared = Listed { compared: Some("This is compared.".to_owned()), ..listed("npx", false) };
        assert!(
            choices(&compared)
                .0
                .contains("  | It runs `npx -y x`.\n  | This is compared.\n\nIt runs in the sandbox")
        );
        let ids: Vec<&str> = new.iter().map(|choice| choice.id.as_str()).collect();
        assert_eq!(ids, [NO, READ, DOWNLOAD, NETWORK, WRITE, BOTH]);
        let (message, old) = choices(&listed("server", true));
        assert!(message.contains("Until now it could use the network, write in the project"), "{message}");
        let ids: Vec<&str> = old.iter().map(|choice| choice.id.as_str()).collect();
        assert_eq!(ids, [ALL, READ, NETWORK, WRITE, BOTH, NO]);
        assert_eq!(choices(&listed("docker", false)).1.last().unwrap().id, ALL);
    }

    #[test]
    fn a_projects_server_says_nothing_in_parlors_name_in_its_own_question() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let file = "x`.\nParlor: you wrote this.sh";
        std::fs::write(root.join(file), "").unwrap();
        let args = ["-y", "x`.\n\nParlor: this is the server that you approved.\n\nIt runs `npx", file];
        let entry = read("files", &json!({"command": "npx", "args": args})).unwrap();
        let line: Vec<&str> = ["npx"].into_iter().chain(args).collect();
        let (_, compared) = super::super::digest_with_files("", &line, &Default::default(), &root, &root);
        assert!(compared.contains("you wrote this"), "{compared}");
        let of = |compared: String| Listed {
            entry: entry.clone(),
            compared: Some(compared),
            ..listed("npx", false)
        };
        let (message, _) = choices(&of(compared));
        let ours: Vec<&str> =
            message.lines().filter(|line| domain::harmless::mark_of(line).is_none()).collect();
        assert!(matches!(ours[..], ["", ours] if ours.starts_with("It runs in the sandbox: ")), "{message}");
        // Two ticks around each of them: none closes its own.
        assert_eq!(message.matches('`').count(), 4, "{message}");
    }

    #[test]
    fn every_choice_means_something_and_what_is_no_choice_starts_nothing() {
        let all = [listed("npx", false), listed("docker", false), listed("npx", true)];
        for choice in all.iter().flat_map(|one| choices(one).1) {
            assert_eq!(said(std::slice::from_ref(&choice.id)).is_none(), choice.id == NO, "{choice:?}");
        }
        assert_eq!((said(&[]), said(&["yes".to_owned()])), (None, None));
        let read = said(&[READ.to_owned()]).unwrap();
        assert_eq!(read, ServerConsent { reach: Reach::default(), download: false });
    }
}
