//! `cargo xtask sheet`: the scenes of the terminal (dark, light, 16 colours on both grounds) and those of the page on one sheet, for
//! somebody who has never seen Parlor: whatever they cannot name is to be mended.
//!
//! The terminal's are drawn by its own tests (`gallery.rs`), the page's by a real browser (`page/tests/shot.mjs`) where one and the page's
//! packages are here; else the sheet has the committed pictures of the page and says so. The browser also makes each picture of the sheet
//! a file of its own, which whoever has no browser can look at.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::shell::Shell;

/// Where everything is put, below the target folder.
const FOLDER: &str = "sheet";
/// The scenes, as the tests of the screen call them, and what they show.
const SCENES: &[(&str, &str)] = &[
    ("first", "The first screen"),
    ("conversation", "An answer"),
    ("working", "A run under way"),
    ("question-write", "May this file be changed?"),
    ("question-command", "May this command run?"),
    ("question-choose", "A question with choices"),
    ("question-plan", "May this plan begin?"),
    ("sub-agent", "A sub-agent asks"),
    ("fleet", "Who waits, wherever it runs"),
    ("search", "A search over all sessions"),
    ("sessions", "All sessions"),
    ("rules", "What was allowed"),
    ("ports", "Where commands listen"),
    ("servers", "Servers that give tools"),
];
/// The colours, as the files are called, and in words.
const COLOURS: &[(&str, &str)] = &[
    ("dark", "dark"),
    ("light", "light"),
    ("terminal", "16 colours, dark ground"),
    ("terminal-light", "16 colours, light ground"),
];
/// How wide the screens are, as the files are called; the scenes that a narrow screen changes most are shown on one as well.
const WIDE: &str = "120";
const NARROW: &str = "040";
const ON_NARROW: &[&str] = &["first", "question-write", "question-command", "fleet"];
/// The page: what stands behind its address, and what that shows.
const PAGE: &[(&str, &str)] = &[
    ("#/", "The page: all sessions"),
    ("#/new", "The page: a new session"),
    ("#/s/s1", "The page: a session"),
];
/// What the browser's pictures are called.
const SHOTS: &[(&str, &str)] = &[
    ("1440-dark", "wide, dark"),
    ("1440-light", "wide, light"),
    ("390-dark", "phone, dark"),
    ("390-light", "phone, light"),
];
/// What is committed of the page.
const COMMITTED: &[&str] =
    &["page-fleet-dark", "page-fleet-light", "page-session-dark", "page-session-light"];
const BROWSER: &str = "chromium";

/// Draws everything and puts it on one sheet.
pub(crate) fn run(shell: &Shell, pictures: &[&str]) -> Result<()> {
    let metadata = shell.metadata()?;
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    let folder = Path::new(target).join(FOLDER);
    let terminal = folder.join("terminal");
    std::fs::create_dir_all(&terminal).with_context(|| format!("could not make {}", terminal.display()))?;
    let into = terminal.to_str().context("the target directory's path is not valid UTF-8")?;
    shell.step("cargo", pictures, &[("PARLOR_PICTURES", into)])?;
    let browser = shell.probe(&[BROWSER, "--version"]);
    let packages = shell.root().join("page/node_modules/playwright-core").is_dir();
    let page = if browser && packages { shots(shell, &folder)? } else { committed(shell.root()) };
    let sheet = folder.join("sheet.html");
    std::fs::write(&sheet, html(&page)).with_context(|| format!("could not write {}", sheet.display()))?;
    println!("{}", sheet.display());
    if browser && packages {
        let folder = folder.to_str().context("the target directory's path is not valid UTF-8")?;
        shell.step("node", &["page/tests/sheet.mjs", folder], &[])?;
        println!("{folder}/pictures");
    }
    Ok(())
}

/// The page as a browser shows it: pictures and their words.
fn shots(shell: &Shell, folder: &Path) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for (at, (address, what)) in PAGE.iter().enumerate() {
        let name = format!("page-{at}");
        let into = folder.join(&name);
        std::fs::create_dir_all(&into).with_context(|| format!("could not make {}", into.display()))?;
        let into = into.to_str().context("the target directory's path is not valid UTF-8")?;
        shell.step("node", &["page/tests/shot.mjs", into, address], &[])?;
        all.extend(SHOTS.iter().map(|(file, how)| (format!("{name}/{file}.png"), format!("{what} ({how})"))));
    }
    Ok(all)
}

fn committed(root: &Path) -> Vec<(String, String)> {
    let shown = |name: &&str| {
        let path = root.join("docs/img").join(format!("{name}.png"));
        (
            format!("file://{}", path.display()),
            format!("{name}, as committed: no browser or no packages of the page here"),
        )
    };
    COMMITTED.iter().map(shown).collect()
}

/// The sheet: a row for each scene, a column for each of its colours.
fn html(page: &[(String, String)]) -> String {
    let mut sheet = String::from(
        "<!doctype html><meta charset=utf-8><title>Parlor, its screens</title>\n<style>body{font:16px sans-serif;margin:24px;\
         background:#888;color:#000}section{margin:0 0 24px}figure{display:inline-block;margin:4px;vertical-align:top}\
         img{width:1036px;display:block}img.narrow{width:364px}figcaption{font-size:13px}</style>\n",
    );
    // What a figure is called is what its picture is called.
    let figure = |sheet: &mut String, (file, class): (&str, &str), words: &str| {
        let name: String = file.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = name.trim_start_matches("terminal-").trim_end_matches("-svg").trim_end_matches("-png");
        let _ = writeln!(
            sheet,
            "<figure id=\"{name}\"><img class=\"{class}\" src=\"{file}\" alt=\"{words}\">\
             <figcaption>{words}</figcaption></figure>"
        );
    };
    for (name, what) in SCENES {
        let _ = writeln!(sheet, "<section><h2>{what}</h2>");
        for (colour, words) in COLOURS {
            figure(&mut sheet, (format!("terminal/{name}-{WIDE}-{colour}.svg").as_str(), "wide"), words);
        }
        if ON_NARROW.contains(name) {
            for (colour, words) in COLOURS {
                figure(
                    &mut sheet,
                    (format!("terminal/{name}-{NARROW}-{colour}.svg").as_str(), "narrow"),
                    words,
                );
            }
        }
        sheet.push_str("</section>\n");
    }
    let _ = writeln!(sheet, "<section><h2>The page</h2>");
    for (file, words) in page {
        let class = if file.contains("/390-") { "narrow" } else { "wide" };
        figure(&mut sheet, (file.as_str(), class), words);
    }
    sheet.push_str("</section>\n");
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sheet_has_ten_scenes_at_least_in_every_colour_and_the_page() {
        let sheet = html(&[("page-0/1440-dark.png".to_owned(), "The page".to_owned())]);
        assert!(SCENES.len() >= 10);
        for (name, what) in SCENES {
            assert!(sheet.contains(what), "{what}");
            for (colour, _) in COLOURS {
                assert!(sheet.contains(&format!("terminal/{name}-{WIDE}-{colour}.svg")), "{name} {colour}");
            }
        }
        assert!(sheet.contains("page-0/1440-dark.png"));
        assert!(sheet.contains("<figure id=\"first-040-terminal-light\">"), "{sheet}");
        assert!(ON_NARROW.iter().all(|name| SCENES.iter().any(|(scene, _)| scene == name)));
    }
}
