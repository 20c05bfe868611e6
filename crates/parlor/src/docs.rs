//! `parlor __docs DIR`: writes the pages that come from tables. `cargo xtask docs` runs it; nobody types it.

mod reference;

use crate::exit::Exit;
use anyhow::Context;
use dialects::Dialect;
use kit::check::{Suite, Tested};
use roles::Item;
use roles::fidelity::{Carried, Row, Verdict};
use std::path::Path;

/// Writes the pages of a folder, which is known by its name: those of the dialects (one each, and one for all pairs), or the reference.
pub(crate) fn write(folder: &Path) -> anyhow::Result<Exit> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    if folder.ends_with("reference") {
        for (name, text) in reference::pages() {
            put(folder, name, &text)?;
        }
        return Ok(Exit::Done);
    }
    for dialect in dialects::DRIVEN {
        put(folder, &format!("{dialect}.md"), &page(*dialect))?;
    }
    put(folder, "README.md", &overview())?;
    Ok(Exit::Done)
}

fn put(folder: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

const NOTE: &str = "<!-- Written by `cargo xtask docs` from the tables of the wires. Do not edit. -->\n\n";

/// How the verdicts came about, for readers.
const HOW: &str = "The verdicts are computed: a suite (`fidelity` in `crates/parlor/tests/whole`) lets each item happen at one end and looks \
at what arrives at the other. *Exact* is what arrives as it was meant; *emulated* what arrives otherwise; *dropped* is an item of which \
the other end sees nothing; *refused* is a command that the UI is told cannot be done. How and why are written by hand.\n\n";

fn page(dialect: Dialect) -> String {
    let mut page = format!("{NOTE}# {dialect}\n\n{}\n\n", carrier(dialect));
    if !dialect.is_served() {
        page.push_str(
            "Parlor drives runtimes of this wire and is none itself, so nothing can be played over it from end to end and there is no \
             computed verdict.\n",
        );
        quirks(&mut page, dialect);
        return page;
    }
    page.push_str(
        "## Fidelity\n\nWhat becomes of each item of the vocabulary between a UI and a runtime of Parlor's that speak this wire. ",
    );
    page.push_str(HOW);
    page.push_str("| item | on the wire | fidelity |\n|---|---|---|\n");
    for row in dialect.fidelity() {
        page.push_str(&format!("| {} | {} | {} |\n", row.item, cell(row.wire), cell(&words(&row))));
    }
    quirks(&mut page, dialect);
    asked(&mut page, dialect);
    page
}

/// The scenarios of the conformance kit, each with the sentence on which it stands: a report cites them by name.
fn asked(page: &mut String, dialect: Dialect) {
    let document = kit::check::document(dialect.name());
    let link = document
        .strip_prefix("docs/")
        .map_or_else(|| format!("../../{document}"), |page| format!("../{page}"));
    page.push_str(&format!(
        "\n## What `parlor check` asks\n\nEach scenario by its name, and the sentence of [the wire's document]({link}) on which it stands. \
         What the document leaves open is played too, and costs nothing.\n"
    ));
    for (tested, whose) in [(Tested::Runtime, "Of a runtime"), (Tested::Ui, "Of a UI")] {
        let Some(suite) = Suite::of(dialect.name(), tested) else { continue };
        page.push_str(&format!(
            "\n### {whose}\n\n| scenario | what is asked | where it stands |\n|---|---|---|\n"
        ));
        for scenario in &suite.scenarios {
            let stands = scenario.says.map_or_else(
                || "left open".to_owned(),
                |quote| format!("{}: \u{201c}{}\u{201d}", quote.section, quote.text),
            );
            page.push_str(&format!(
                "| `{}` | {} | {} |\n",
                scenario.name,
                cell(scenario.expects),
                cell(&stands)
            ));
        }
    }
}

fn quirks(page: &mut String, dialect: Dialect) {
    if !dialect.quirks().is_empty() {
        page.push_str(
            "\n## Quirks\n\nWhere existing programs leave their own document, and what we do about it.\n\n",
        );
        page.push_str("| quirk | what the program does | what we do |\n|---|---|---|\n");
        for quirk in dialect.quirks() {
            page.push_str(&format!("| {} | {} | {} |\n", quirk.name, cell(quirk.what), cell(quirk.ours)));
        }
    }
}

fn carrier(dialect: Dialect) -> String {
    let name = dialect.name();
    if let Some(agent) = dialect.description().habits.agents.first().filter(|_| !dialect.is_served()) {
        return format!(
            "One line of JSON is one message, over stdin and stdout of a child process. `parlor attach {}` starts it like this:\n\n\
             ```sh other\nparlor attach --dialect {name} -- {}\n```",
            agent.name,
            agent.command.join(" ")
        );
    }
    if dialect.has_event_lane() {
        return format!(
            "Commands go over a Unix socket, events over a second one beside it (`PATH.events`).\n\n\
             ```sh server\nparlor serve --dialect {name} --socket PATH\nparlor attach --dialect {name} --socket PATH\n```"
        );
    }
    format!(
        "One line of JSON is one message, over stdin and stdout of a child process or over a Unix socket. Here Parlor's UI starts Parlor's \
         runtime:\n\n\
         ```sh\nparlor attach --dialect {name} --prompt \"list files\" -- parlor serve --dialect {name} --stdio\n```\n\n\
         ```text output\nREADME.md\n```\n\n\
         Put another program in the place of either. Without `--prompt` the terminal UI opens. `--socket PATH` in place of `--stdio`, and \
         of `--` with the command, is the same over a socket."
    )
}

fn words(row: &Row) -> String {
    match row.verdict {
        Verdict::Exact => row.verdict.to_string(),
        Verdict::Emulated | Verdict::Dropped | Verdict::Refused => format!("{}: {}", row.verdict, row.why),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn overview() -> String {
    let mut page = format!("{NOTE}# Dialects\n\n");
    for dialect in dialects::ALL {
        let exact = dialect.fidelity().iter().filter(|row| row.verdict == Verdict::Exact).count();
        page.push_str(&format!("- [{dialect}]({dialect}.md): {exact} of {} items exact\n", Item::ALL.len()));
    }
    for dialect in dialects::DRIVEN.iter().filter(|dialect| !dialect.is_served()) {
        page.push_str(&format!("- [{dialect}]({dialect}.md): Parlor drives its runtimes and is none\n"));
    }
    page.push_str(&format!("\n{HOW}"));
    page.push_str(
        "## Bridges\n\nItems that arrive exactly or emulated, for a UI (row) on a runtime (column); each pair was run.\n\n| |",
    );
    for runtime in dialects::ALL {
        page.push_str(&format!(" {runtime} |"));
    }
    page.push_str(&format!("\n|---|{}\n", "---|".repeat(dialects::ALL.len())));
    for ui in dialects::ALL {
        page.push_str(&format!("| **{ui}** |"));
        for runtime in dialects::ALL {
            let arrives = |carried: &&Carried| matches!(carried.verdict, Verdict::Exact | Verdict::Emulated);
            let arrive = ui.carried_on(*runtime).iter().filter(arrives).count();
            page.push_str(&format!(" {arrive} |"));
        }
        page.push('\n');
    }
    page.push_str("\n`parlor bridge --from UI --to RUNTIME --report` tells what becomes of each item.\n");
    page
}
