//! The table of modes, cell by cell: the page, the code, and plans of the real tools must say the same.

use crate::room::Room;
use crate::sandbox::guarded;
use domain::ask::Risk;
use domain::session::Policy;
use domain::tool::Decider;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use tools::policy::table::{Act, Say, TABLE, acts, says};
use tools::policy::{Allowance, Rule, Verdict, decide};
use tools::sandbox::{Guard, Lacks};
use tools::{Deed, Fetch, Host, Plan, Tool};

/// Calls of the real tools, with what each does.
fn calls(room: &Room) -> Vec<(Plan, Vec<Act>)> {
    room.put("a", "text");
    room.put("blob", "x");
    room.put_home(".ssh/id", "SECRET");
    std::fs::write(room.path("blob"), [0xff, 0xfe, 0]).unwrap();
    let why = "it must";
    let table: Vec<(&str, Value, Vec<Act>)> = vec![
        ("read", json!({"path": "a"}), vec![Act::LookInside]),
        ("ls", json!({"path": "."}), vec![Act::LookInside]),
        ("todo", json!({"items": []}), vec![Act::LookInside]),
        ("bash", json!({"command": "cat a | wc -l"}), vec![Act::LookInside]),
        ("bash", json!({"command": "tail -f a", "background": true}), vec![Act::LookInside]),
        ("read", json!({"path": "/etc/passwd"}), vec![Act::LookOutside]),
        ("grep", json!({"pattern": "x", "path": "/etc"}), vec![Act::LookOutside]),
        ("read", json!({"path": "~/.ssh/id"}), vec![Act::Leave]),
        ("ls", json!({"path": "~/.ssh"}), vec![Act::Leave]),
        ("grep", json!({"pattern": "x", "path": "~/.ssh"}), vec![Act::Leave]),
        ("find", json!({"pattern": "x", "path": "~/.ssh"}), vec![Act::Leave]),
        ("ls", json!({"path": "~"}), vec![Act::LookOutside]),
        ("write", json!({"path": "new", "content": ""}), vec![Act::Write]),
        ("edit", json!({"path": "a", "old": "text", "new": "x"}), vec![Act::Write]),
        ("write", json!({"path": ".mcp.json", "content": ""}), vec![Act::Steer]),
        ("write", json!({"path": ".git/hooks/x", "content": ""}), vec![Act::Steer]),
        ("write", json!({"path": "AGENTS.md", "content": ""}), vec![Act::Steer]),
        ("bash", json!({"command": "echo x > .mcp.json"}), vec![Act::Command, Act::Steer]),
        ("bash", json!({"command": "cp a .git/hooks/x"}), vec![Act::Command, Act::Steer]),
        ("bash", json!({"command": "git commit -m x"}), vec![Act::Command, Act::Repository]),
        ("bash", json!({"command": "ls && git add a"}), vec![Act::Command, Act::Repository]),
        ("bash", json!({"command": "make"}), vec![Act::Command]),
        ("bash", json!({"command": "echo x > a"}), vec![Act::Command]),
        ("bash", json!({"command": "$X"}), vec![Act::Command]),
        ("bash", json!({"command": "curl x.test"}), vec![Act::Command]),
        (
            "bash",
            json!({"command": "make", "network": true, "reason": why}),
            vec![Act::Network, Act::Command],
        ),
        ("bash", json!({"command": "ls", "network": true, "reason": why}), vec![Act::Network, Act::Command]),
        (
            "bash",
            json!({"command": "ls", "unsandboxed": true, "reason": why}),
            vec![Act::Leave, Act::Command],
        ),
        ("bash", json!({"command": "ls", "workdir": "/"}), vec![Act::Leave, Act::Command]),
        ("write", json!({"path": "/etc/x", "content": ""}), vec![Act::Leave]),
        ("bash", json!({"command": "rm -rf x"}), vec![Act::Command, Act::Critical]),
        ("bash", json!({"command": "sudo ls"}), vec![Act::Command, Act::Critical]),
        ("write", json!({"path": "blob", "content": ""}), vec![Act::Write, Act::Critical]),
    ];
    let mut calls: Vec<_> = table
        .into_iter()
        .map(|(tool, args, acts)| {
            (room.plan(tool, &args).unwrap_or_else(|why| panic!("{tool}: {why}")), acts)
        })
        .collect();
    let fetch = Fetch { private: false }.plan(&json!({"url": "https://example.com"}), &room.place).unwrap();
    calls.push((fetch, vec![Act::Network]));
    let host = Host::parse("registry.npmjs.org:443", None).unwrap();
    calls.push((Plan::reaching(&host, &room.place), vec![Act::Network]));
    let mut lost = room.plan("bash", &json!({"command": "rm a"})).unwrap();
    lost.cannot_be_undone("there are too many files");
    calls.push((lost, vec![Act::Command, Act::CommandForGood]));
    let mut looks = room.plan("bash", &json!({"command": "cat a"})).unwrap();
    looks.cannot_be_undone("there are too many files");
    calls.push((looks, vec![Act::LookInside]));
    // As the engine plans a tool of a server; the engine's own tests drive a real one.
    let mut server = Plan::reading("mcp__x__y", &json!({}), &room.place, "y of x");
    server.raise(Risk::Medium, "the server does it");
    (server.read_only, server.deed) = (false, Deed::Other);
    calls.push((server, vec![Act::Server]));
    calls
}

fn said(verdict: &Verdict) -> Say {
    match verdict {
        Verdict::Allow(_) => Say::Free,
        Verdict::Ask => Say::Asked,
        Verdict::Deny(_) => Say::Denied,
    }
}

/// The table of the page, by mode and act.
fn page() -> BTreeMap<(String, String), String> {
    let text = include_str!("../../../../docs/consent.md");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let mut rows = text
        .lines()
        .skip_while(|line| !line.starts_with("| mode | look inside"))
        .take_while(|line| line.starts_with('|'));
    let heads = cells(rows.next().expect("the table's head"));
    let mut page = BTreeMap::new();
    for row in rows.skip(1).map(cells) {
        assert_eq!(row.len(), heads.len(), "{row:?}");
        for (head, cell) in heads.iter().zip(&row).skip(1) {
            assert!(page.insert((row[0].clone(), head.clone()), cell.clone()).is_none());
        }
    }
    page
}

#[test]
fn the_page_shows_the_table() {
    let page = page();
    assert_eq!(page.len(), TABLE.len() * Act::ALL.len());
    for mode in Policy::ALL {
        for act in Act::ALL {
            let cell = page.get(&(mode.name().to_owned(), act.name().to_owned()));
            assert_eq!(cell.map(String::as_str), Some(says(mode, act).name()), "{mode}: {}", act.name());
        }
    }
}

#[test]
fn every_cell_is_what_the_tools_plans_get() {
    let room = guarded();
    if !room.place.confined() {
        // Without a leash that holds, that row is another one; the next test drives it.
        return;
    }
    let page = page();
    let mut driven = HashMap::new();
    for (plan, expected) in calls(&room) {
        assert_eq!(acts(&plan), expected, "{} {}", plan.tool, plan.args);
        for mode in Policy::ALL {
            let words = expected.iter().map(|act| &page[&(mode.name().to_owned(), act.name().to_owned())]);
            let strictest =
                ["denied", "asked", "free"].into_iter().find(|word| words.clone().any(|w| w == word));
            let verdict = decide(mode, &plan, &[]);
            assert_eq!(Some(said(&verdict).name()), strictest, "{mode}: {} {}", plan.tool, plan.args);
            for act in &expected {
                *driven.entry((mode, *act)).or_insert(0) += 1;
            }
            match verdict {
                Verdict::Allow(by) => assert_eq!(by, Decider::Policy),
                Verdict::Deny(reason) => {
                    assert!(mode.only_looks(), "{mode}");
                    assert!(reason.contains(&format!("not allowed in {mode} mode")), "{reason}");
                }
                Verdict::Ask => {}
            }
        }
    }
    for mode in Policy::ALL {
        for act in Act::ALL {
            assert!(driven.contains_key(&(mode, act)), "nothing drives {mode}: {}", act.name());
        }
    }
}

#[test]
fn a_command_that_looks_elsewhere_is_a_command_where_that_is_kinder() {
    let room = guarded();
    let plan = room.plan("bash", &json!({"command": "cat /etc/passwd"})).unwrap();
    assert_eq!(acts(&plan), [Act::LookOutside]);
    let read = room.plan("read", &json!({"path": "/etc/passwd"})).unwrap();
    let sandboxed = if room.place.confined() { Say::Free } else { Say::Asked };
    let expected = [Say::Asked, Say::Asked, Say::Asked, Say::Asked, sandboxed, Say::Free];
    for (mode, expected) in Policy::ALL.into_iter().zip(expected) {
        assert_eq!(said(&decide(mode, &plan, &[])), expected, "{mode}");
        let by_tool = if mode == Policy::Full { Say::Free } else { Say::Asked };
        assert_eq!(said(&decide(mode, &read, &[])), by_tool, "{mode}");
    }
}

#[test]
fn without_a_leash_that_holds_sandboxed_asks_like_ask() {
    let none = Room::new();
    let without = Room::new();
    let lacks = Lacks { landlock: Some(0), ..Lacks::default() };
    let guard = Guard::new(&crate::sandbox::program(), &["__guard"]).without(lacks);
    let without = Room { place: without.place.clone().guarded(guard), ..without };
    for room in [none, without] {
        assert!(!room.place.confined());
        for (plan, _) in calls(&room) {
            let (sandboxed, ask) = (decide(Policy::Sandboxed, &plan, &[]), decide(Policy::Ask, &plan, &[]));
            assert_eq!(sandboxed, ask, "{} {}", plan.tool, plan.args);
        }
    }
}

#[test]
fn what_is_allowed_from_the_start_covers_that_much_and_no_more() {
    let room = guarded();
    // What each word covers beside what is free anyway.
    let covers = |word: &str, acts: &[Act], tool: &str| {
        let inside = |act: &Act| {
            matches!(
                act,
                Act::LookInside
                    | Act::LookOutside
                    | Act::Write
                    | Act::Command
                    | Act::CommandForGood
                    | Act::Repository
                    | Act::Server
            )
        };
        match word {
            "all" => true,
            "bash" => tool == "bash" && acts.iter().all(inside),
            "bash:network" => tool == "bash" && acts.iter().all(|act| inside(act) || *act == Act::Network),
            "bash:free" => {
                tool == "bash"
                    && acts.iter().all(|act| inside(act) || matches!(act, Act::Network | Act::Leave))
            }
            "fetch" => tool == "fetch",
            // Another host is another matter; the next test has one.
            "host:registry.npmjs.org" => tool == "bash" && acts == [Act::Network],
            name => tool == name && acts.iter().all(inside),
        }
    };
    let tools: Vec<&str> = room.toolbox.names().chain(["fetch"]).collect();
    let words = [
        "bash",
        "bash:network",
        "bash:free",
        "all",
        "write",
        "edit",
        "read",
        "fetch",
        "mcp__x__y",
        "host:registry.npmjs.org",
    ];
    for word in words {
        let rule = Rule::given(Allowance::parse(word, &tools).unwrap());
        for (plan, acts) in calls(&room) {
            for mode in Policy::ALL {
                let before = decide(mode, &plan, &[]);
                let after = decide(mode, &plan, std::slice::from_ref(&rule));
                let covered = before == Verdict::Ask && covers(word, &acts, &plan.tool);
                let by = Decider::Rule(format!("allowed from the start: {word}"));
                let expected = if covered { Verdict::Allow(by) } else { before };
                assert_eq!(after, expected, "--allow {word}, {mode}: {} {}", plan.tool, plan.args);
            }
        }
    }
}

#[test]
fn a_host_for_commands_is_that_host_and_that_port_and_no_page() {
    let room = guarded();
    let reaching = |host: &str| Plan::reaching(&Host::parse(host, Some(443)).unwrap(), &room.place);
    let plan = reaching("Registry.npmjs.org.");
    let mut kept = plan.rule.unwrap().rules;
    assert_eq!(kept[0].to_string(), "let commands reach registry.npmjs.org");
    kept.push(Rule::given(Allowance::parse("host:files.test:8443", &[]).unwrap()));
    // A rule for pages of a host, which `fetch` offers, lets no command go there.
    let fetch = Fetch { private: false }.plan(&json!({"url": "https://pages.test"}), &room.place).unwrap();
    kept.extend(fetch.rule.unwrap().rules);
    for (host, covered) in [
        ("registry.npmjs.org", true),
        ("registry.npmjs.org:80", true),
        ("registry.npmjs.org:8443", false),
        ("x.registry.npmjs.org", false),
        ("npmjs.org", false),
        ("files.test:8443", true),
        ("files.test", false),
        ("pages.test", false),
    ] {
        for mode in [Policy::Ask, Policy::AutoEdit, Policy::Sandboxed, Policy::Full] {
            let verdict = decide(mode, &reaching(host), &kept);
            assert_eq!(said(&verdict), if covered { Say::Free } else { Say::Asked }, "{mode}: {host}");
        }
        assert_eq!(said(&decide(Policy::ReadOnly, &reaching(host), &kept)), Say::Denied, "{host}");
    }
    let page = Fetch { private: false };
    let page = page.plan(&json!({"url": "https://registry.npmjs.org"}), &room.place).unwrap();
    assert_eq!(decide(Policy::Ask, &page, &kept), Verdict::Ask);
    // Nor does it cover the network as a whole.
    let whole = room.plan("bash", &json!({"command": "make", "network": true, "reason": "x"})).unwrap();
    assert_eq!(decide(Policy::Sandboxed, &whole, &kept), Verdict::Ask);
}

#[test]
fn the_model_cannot_free_itself_in_full() {
    let room = guarded();
    for args in [
        json!({"command": "make", "unsandboxed": true, "reason": "faster"}),
        json!({"command": "make", "network": true, "reason": "faster"}),
        json!({"command": "make", "unsandboxed": true, "network": true, "reason": "faster"}),
    ] {
        assert_eq!(decide(Policy::Full, &room.plan("bash", &args).unwrap(), &[]), Verdict::Ask, "{args}");
    }
    // Nor by a rule that it got for the same command.
    let rules = room.plan("bash", &json!({"command": "make"})).unwrap().rule.unwrap().rules;
    let free = json!({"command": "make", "unsandboxed": true, "reason": "faster"});
    assert_eq!(decide(Policy::Ask, &room.plan("bash", &free).unwrap(), &rules), Verdict::Ask);
}
