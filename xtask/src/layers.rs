//! Who may use whom. The table is the architecture; `cargo metadata` says what the manifests really do.
//! The modules of a crate may not use each other in a circle, nor against the layers that its head names.
//!
//! Only direct edges are judged: a crate that may not use tokio must not name it. Dev-dependencies may be wider
//! (tests use the kit), but never reach up into the binary or this crate, and switch no feature on in what is shipped.

mod circles;
mod drawing;
mod features;
mod floors;
mod modules;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::findings::judge;
use crate::program::sources;
use crate::shell::Shell;
use crate::tree::{self, Page};

/// Which crates from elsewhere a layer may name outside its tests.
pub(crate) enum Outside {
    /// What its work needs.
    Any,
    /// Nothing but these.
    Only(&'static [&'static str]),
    /// No runtime for asynchronous work: the layer is pure, or blocks honestly.
    NoTokio,
    /// Neither flags nor a terminal: a shell with windows uses it as well as the command line does.
    NoTerminal,
}

/// What reads a command line or draws on a terminal, by the beginnings of the names.
const TERMINAL: &[&str] = &["clap", "crossterm", "ratatui"];

/// One crate of ours.
pub(crate) struct Layer {
    pub(crate) name: &'static str,
    /// Why it is a crate of its own.
    pub(crate) why: &'static str,
    /// Crates of ours that it may use.
    pub(crate) uses: &'static [&'static str],
    pub(crate) outside: Outside,
}

/// A wire of other programs: two roles without I/O. None knows another, so each compiles and is tested by itself.
const fn foreign_wire(name: &'static str) -> Layer {
    Layer {
        name,
        why: "one wire language, two roles without I/O; knows no other wire",
        uses: &["domain", "wire", "roles", "rolekit"],
        outside: Outside::NoTokio,
    }
}

/// Every crate of the workspace, lowest first.
pub(crate) const LAYERS: &[Layer] = &[
    Layer {
        name: "domain",
        why: "the vocabulary and its laws; pure, so that everything else can be checked against it",
        uses: &[],
        outside: Outside::Only(&["serde", "serde_json", "schemars"]),
    },
    Layer {
        name: "wire",
        why: "bytes to lines to envelopes; knows no conversation, so that every dialect can stand on it",
        uses: &[],
        outside: Outside::NoTokio,
    },
    Layer {
        name: "heap",
        why: "the settings of the C library's heap, and with them the only `unsafe` of the workspace",
        uses: &[],
        outside: Outside::Only(&["libc"]),
    },
    Layer {
        name: "record",
        why: "the one written form of the vocabulary, shared by the native wire, the store and export",
        uses: &["domain"],
        outside: Outside::NoTokio,
    },
    Layer {
        name: "roles",
        why: "what every dialect implements; all that the hub and links need to know of one",
        uses: &["domain"],
        outside: Outside::Only(&[]),
    },
    Layer {
        name: "rolekit",
        why: "what the roles of several wires are made of; knows none of them, so that a change of one touches no other",
        uses: &["domain", "wire", "roles"],
        outside: Outside::NoTokio,
    },
    foreign_wire("acp"),
    foreign_wire("asst"),
    foreign_wire("claude"),
    foreign_wire("codelia"),
    foreign_wire("lemon"),
    foreign_wire("nous"),
    foreign_wire("openagent"),
    foreign_wire("postcard"),
    Layer {
        name: "native",
        why: "our own wire, which carries everything as it is written",
        uses: &["domain", "wire", "record", "roles", "rolekit"],
        outside: Outside::NoTokio,
    },
    Layer {
        name: "dialects",
        why: "the list of the wires, and all that the others know of them",
        uses: &["roles", "acp", "asst", "claude", "codelia", "lemon", "nous", "openagent", "native"],
        outside: Outside::NoTokio,
    },
    Layer {
        name: "link",
        why: "the transports: the only place where bytes come and go",
        uses: &["roles", "domain", "wire"],
        outside: Outside::Any,
    },
    Layer {
        name: "store",
        why: "sessions on disk, behind a trait that assumes no local file",
        uses: &["domain", "record"],
        outside: Outside::NoTokio,
    },
    Layer {
        name: "team",
        why: "sessions of several machines in one PostgreSQL, apart so that whoever keeps them in a file compiles nothing of it in `store`",
        uses: &["domain", "record", "store"],
        outside: Outside::Any,
    },
    Layer {
        name: "export",
        why: "a session as people and other programs read it, and back; pure, so that every command and wire writes the same",
        uses: &["domain", "wire", "record"],
        outside: Outside::NoTokio,
    },
    Layer {
        name: "models",
        why: "speaks to providers and knows nothing of sessions; keeps heavy dependencies out of the engine's compile",
        uses: &[],
        outside: Outside::Any,
    },
    Layer {
        name: "tools",
        why: "the agent's hands; keeps heavy dependencies out of the engine's compile",
        uses: &["domain"],
        outside: Outside::Any,
    },
    Layer {
        name: "engine",
        why: "our agent: the loop of model, consent and tool",
        uses: &["domain", "models", "tools"],
        outside: Outside::Any,
    },
    Layer {
        name: "hub",
        why: "sessions, runs, queues, asks and the attached UIs; knows no dialect by name",
        uses: &["domain", "store", "export", "roles", "link", "wire"],
        outside: Outside::Any,
    },
    Layer {
        name: "web",
        why: "guard and relay between pages and the processes that have sessions; knows these only through a trait",
        uses: &["domain", "wire", "native", "link"],
        outside: Outside::Any,
    },
    Layer {
        name: "host",
        why: "what runs sessions on a machine, whoever shows them; knows no flags and no screen, so that other shells can stand on it",
        uses: &[
            "domain", "wire", "dialects", "roles", "link", "store", "team", "models", "tools", "engine",
            "hub", "web",
        ],
        outside: Outside::NoTerminal,
    },
    Layer {
        name: "window",
        why: "what a desktop shell decides and does that needs no window; it is a client of the server, so it knows neither host nor hub",
        uses: &["domain", "wire", "link"],
        outside: Outside::NoTerminal,
    },
    Layer {
        name: "remote",
        why: "the way to other programs' runtimes, for whoever attaches to one; knows no flags and no screen either",
        uses: &[
            "domain", "wire", "record", "dialects", "roles", "link", "store", "tools", "engine", "hub",
            "host",
        ],
        outside: Outside::NoTerminal,
    },
    Layer {
        name: "tui",
        why: "pure update and view with a thin terminal shell; reads code as the page does, with export's lexer",
        uses: &["domain", "export"],
        outside: Outside::Any,
    },
    Layer {
        name: "kit",
        why: "transcripts, replay, scripted peers and conformance, for our tests and other people's programs",
        uses: &["domain", "wire", "record", "roles", "link"],
        outside: Outside::Any,
    },
    Layer {
        name: TESTKIT,
        why: "what tests and benches of several crates share; of these it knows the vocabulary and the roles alone, and is in nothing that is shipped",
        uses: &["domain", "roles"],
        outside: Outside::NoTokio,
    },
    Layer {
        name: "simulate",
        why: "plays the hub from a seed, with a store, an agent and UIs that fail; it stands on the hub as it is shipped, and is in nothing that is shipped",
        uses: &["domain", "wire", "roles", "native", "link", "store", "hub"],
        outside: Outside::NoTerminal,
    },
    Layer {
        name: BINARY,
        why: "the binary: the only place where everything meets",
        uses: &[
            "domain", "wire", "record", "roles", "dialects", "link", "store", "export", "models", "tools",
            "engine", "hub", "web", "heap", "host", "remote", "team", "tui", "kit",
        ],
        outside: Outside::Any,
    },
    Layer {
        name: "xtask",
        why: "the project's chores; builds in seconds on a clean clone",
        uses: &[],
        outside: Outside::Only(&["anyhow", "flate2", "serde_json", "sha2"]),
    },
];

const BINARY: &str = "parlor";
/// For tests alone: nothing but tests may use it, so it may use what is for tests.
const TESTKIT: &str = "testkit";

/// One line of a manifest's dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edge {
    from: String,
    to: String,
    kind: EdgeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdgeKind {
    Normal,
    Dev,
}

/// What the manifests say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Graph {
    crates: Vec<String>,
    edges: Vec<Edge>,
}

/// Reads the workspace and judges it, and what ARCHITECTURE.md says of it.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let metadata = shell.metadata()?;
    let mut found = findings(LAYERS, &read(&metadata)?);
    found.extend(leaks(&metadata));
    found.extend(features::findings(shell, BINARY)?);
    found.extend(drawing::findings(LAYERS, &page(shell)?));
    let pages = tree::pages(shell.root(), ".rs")?;
    let crates = modules::crates(&sources(&pages));
    found.extend(circles::findings(&crates));
    found.extend(floors::findings(&crates, &pages));
    judge("layers", &found)
}

/// Draws the crates again.
pub(crate) fn draw(shell: &Shell) -> Result<()> {
    let fresh = drawing::redrawn(LAYERS, &page(shell)?.text);
    let fresh = fresh.with_context(|| format!("{} has no drawing of the crates", drawing::PAGE))?;
    std::fs::write(shell.root().join(drawing::PAGE), fresh)
        .with_context(|| format!("could not write {}", drawing::PAGE))
}

fn page(shell: &Shell) -> Result<Page> {
    let text = std::fs::read_to_string(shell.root().join(drawing::PAGE))
        .with_context(|| format!("could not read {}", drawing::PAGE))?;
    Ok(Page { path: drawing::PAGE.to_owned(), text })
}

/// Crates that only tests use, and the features of ours that bring them in. The program must not carry them.
const TEST_CRATES: &[&str] = &["proptest", "schemars"];
const TEST_FEATURES: &[&str] = &["schema"];

/// Where something that is for tests would get into the program.
fn leaks(metadata: &Value) -> Vec<String> {
    let mut leaks = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let from = package["name"].as_str().unwrap_or_default();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            if dependency["kind"] == "dev" || from == TESTKIT {
                continue;
            }
            if TEST_CRATES.contains(&to) && dependency["optional"] != true {
                leaks.push(format!(
                    "`{from}` uses `{to}`, which is for tests: make it optional, behind a feature"
                ));
            }
            let features = dependency["features"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for feature in
                features.filter(|feature| TEST_FEATURES.contains(feature) && metadata_has(metadata, to))
            {
                leaks.push(format!(
                    "`{from}` switches on `{feature}` of `{to}`, which is for tests: do it for tests only"
                ));
            }
        }
        let default =
            package["features"]["default"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for feature in default.filter(|feature| TEST_FEATURES.contains(feature)) {
            leaks.push(format!(
                "`{from}` has `{feature}`, which is for tests, on by default: switch it on in tests only"
            ));
        }
    }
    leaks
}

fn metadata_has(metadata: &Value, name: &str) -> bool {
    metadata["packages"].as_array().into_iter().flatten().any(|package| package["name"] == name)
}

fn read(metadata: &Value) -> Result<Graph> {
    let mut graph = Graph::default();
    for package in metadata["packages"].as_array().context("cargo metadata lists no packages")? {
        let from = package["name"].as_str().context("a package without a name")?;
        graph.crates.push(from.to_owned());
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().context("a dependency without a name")?;
            // Build-dependencies count as normal ones: they shape what the crate is.
            let kind = if dependency["kind"] == "dev" { EdgeKind::Dev } else { EdgeKind::Normal };
            graph.edges.push(Edge { from: from.to_owned(), to: to.to_owned(), kind });
        }
    }
    Ok(graph)
}

fn findings(layers: &[Layer], graph: &Graph) -> Vec<String> {
    let mut findings = Vec::new();
    for name in &graph.crates {
        if !layers.iter().any(|layer| layer.name == name) {
            findings.push(format!(
                "crate `{name}` has no row: add one to LAYERS in xtask/src/layers.rs with what it may use and a \
                 reason a newcomer would see, or make it a module of the crate it serves"
            ));
        }
    }
    for layer in layers {
        if !graph.crates.iter().any(|name| name == layer.name) {
            findings.push(format!(
                "`{}` has a row in xtask/src/layers.rs but is no crate of the workspace: remove the row",
                layer.name
            ));
        }
    }
    for edge in &graph.edges {
        let ours = graph.crates.contains(&edge.to);
        let Some(layer) = layers.iter().find(|layer| layer.name == edge.from) else { continue };
        match (ours, edge.kind) {
            (true, EdgeKind::Normal) if !layer.uses.contains(&edge.to.as_str()) => {
                findings.push(format!(
                    "`{}` must not use `{}` (it may use: {}; it is {})",
                    edge.from,
                    edge.to,
                    listed(layer.uses),
                    layer.why
                ));
            }
            (true, EdgeKind::Dev) if edge.to == BINARY || edge.to == "xtask" => {
                findings
                    .push(format!("tests of `{}` must not use `{}`: it stands above", edge.from, edge.to));
            }
            (false, EdgeKind::Normal) => findings.extend(refused_outside(layer, &edge.to)),
            (true, EdgeKind::Normal | EdgeKind::Dev) | (false, EdgeKind::Dev) => {}
        }
    }
    findings
}

fn refused_outside(layer: &Layer, to: &str) -> Option<String> {
    match layer.outside {
        Outside::Any => None,
        Outside::Only(allowed) => (!allowed.contains(&to)).then(|| {
            format!("`{}` must not use the outside crate `{to}` (allowed: {})", layer.name, listed(allowed))
        }),
        Outside::NoTokio => (to == "tokio" || to.starts_with("tokio-")).then(|| {
            format!("`{}` must not use `{to}`: asynchronous work belongs to the shells", layer.name)
        }),
        Outside::NoTerminal => TERMINAL
            .iter()
            .any(|begins| to.starts_with(begins))
            .then(|| format!("`{}` must not use `{to}`: flags and screens belong to the binary", layer.name)),
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn real_crates() -> Vec<String> {
        LAYERS.iter().map(|layer| layer.name.to_owned()).collect()
    }

    fn planted(edges: &[(&str, &str, EdgeKind)]) -> Vec<String> {
        let edges = edges
            .iter()
            .map(|&(from, to, kind)| Edge { from: from.to_owned(), to: to.to_owned(), kind })
            .collect();
        findings(LAYERS, &Graph { crates: real_crates(), edges })
    }

    #[test]
    fn allowed_edges_pass() {
        let edges = [
            ("codelia", "domain", EdgeKind::Normal),
            ("codelia", "serde", EdgeKind::Normal),
            ("codelia", "kit", EdgeKind::Dev),
            ("domain", "proptest", EdgeKind::Dev),
            ("link", "tokio", EdgeKind::Normal),
            ("parlor", "tui", EdgeKind::Normal),
        ];
        assert_eq!(planted(&edges), Vec::<String>::new());
    }

    #[test]
    fn each_planted_violation_is_found_and_named() {
        let cases = [
            (("domain", "wire", EdgeKind::Normal), "`domain` must not use `wire`"),
            (("domain", "regex", EdgeKind::Normal), "`domain` must not use the outside crate `regex`"),
            (("hub", "engine", EdgeKind::Normal), "`hub` must not use `engine`"),
            (("codelia", "acp", EdgeKind::Normal), "`codelia` must not use `acp`"),
            (("rolekit", "acp", EdgeKind::Normal), "`rolekit` must not use `acp`"),
            (("tui", "link", EdgeKind::Normal), "`tui` must not use `link`"),
            (("store", "tokio", EdgeKind::Normal), "`store` must not use `tokio`"),
            (("wire", "tokio-util", EdgeKind::Normal), "`wire` must not use `tokio-util`"),
            (("host", "clap_complete", EdgeKind::Normal), "`host` must not use `clap_complete`"),
            (("host", "tui", EdgeKind::Normal), "`host` must not use `tui`"),
            (("remote", "kit", EdgeKind::Normal), "`remote` must not use `kit`"),
            (("remote", "ratatui-core", EdgeKind::Normal), "`remote` must not use `ratatui-core`"),
            (("host", "remote", EdgeKind::Normal), "`host` must not use `remote`"),
            (("hub", "parlor", EdgeKind::Dev), "tests of `hub` must not use `parlor`"),
            (("xtask", "regex", EdgeKind::Normal), "`xtask` must not use the outside crate `regex`"),
        ];
        for (edge, expected) in cases {
            let found = planted(&[edge]);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{edge:?}: {found:?}");
        }
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_found() {
        let mut crates = real_crates();
        crates.retain(|name| name != "kit");
        crates.push("extras".to_owned());
        let found = findings(LAYERS, &Graph { crates, edges: Vec::new() });
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("crate `extras` has no row: add one"), "{found:?}");
        assert!(found[1].contains("`kit` has a row"), "{found:?}");
    }

    #[test]
    fn the_table_points_downwards_only() {
        for (at, layer) in LAYERS.iter().enumerate() {
            for used in layer.uses {
                let below = LAYERS[..at].iter().any(|lower| lower.name == *used);
                assert!(below, "{} uses {used}, which does not stand before it", layer.name);
            }
        }
    }

    #[test]
    fn metadata_is_read_with_kinds() {
        let metadata = json!({"packages": [{"name": "a", "dependencies": [
            {"name": "b", "kind": null}, {"name": "c", "kind": "dev"}, {"name": "d", "kind": "build"},
        ]}]});
        let kinds: Vec<EdgeKind> = read(&metadata).unwrap().edges.into_iter().map(|edge| edge.kind).collect();
        assert_eq!(kinds, [EdgeKind::Normal, EdgeKind::Dev, EdgeKind::Normal]);
        assert!(read(&json!({})).is_err());
    }

    #[test]
    fn what_is_for_tests_does_not_get_into_the_program() {
        let workspace = |dependency: Value, features: Value| {
            let own = json!({ "name": "record", "dependencies": [], "features": {} });
            leaks(
                &json!({ "packages": [own, { "name": "dialects", "dependencies": [dependency], "features": features }] }),
            )
        };
        let on = |kind: Value, features: Value| json!({ "name": "record", "kind": kind, "features": features, "optional": false });
        let schemars = |kind: Value, optional: bool| json!({ "name": "schemars", "kind": kind, "features": [], "optional": optional });
        for (dependency, features, count) in [
            (on(Value::Null, json!(["schema"])), json!({}), 1),
            (on(json!("dev"), json!(["schema"])), json!({}), 0),
            (on(Value::Null, json!([])), json!({}), 0),
            (schemars(Value::Null, false), json!({}), 1),
            (schemars(Value::Null, true), json!({ "schema": ["dep:schemars"] }), 0),
            (schemars(Value::Null, true), json!({ "schema": ["dep:schemars"], "default": ["schema"] }), 1),
            (schemars(json!("dev"), false), json!({}), 0),
        ] {
            assert_eq!(
                workspace(dependency.clone(), features.clone()).len(),
                count,
                "{dependency} {features}"
            );
        }
    }
}
