//! Whether every relative link in the Markdown pages leads somewhere, also to the heading it names.
//!
//! What it is not: a Markdown parser. It knows fences, inline code, `[text](target)`, `[name]: target` and the
//! `src` and `href` of embedded HTML, which is what our pages use. Links to other hosts are not followed: a check
//! without a network must give the same answer every day.

use std::collections::BTreeMap;

use crate::tree::Page;

/// Judges the links of all pages. `exists` answers for a path relative to the root.
pub(crate) fn findings(pages: &[Page], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let anchors: BTreeMap<&str, Vec<String>> =
        pages.iter().map(|page| (page.path.as_str(), anchors(&page.text))).collect();
    let mut findings = Vec::new();
    for page in pages {
        for (line, target) in targets(&page.text) {
            let (path, fragment) = target.split_once('#').unwrap_or((&target, ""));
            let Some(path) = resolve(&page.path, path) else {
                findings.push(format!("{}:{line}: `{target}` leads out of the repository", page.path));
                continue;
            };
            if !exists(&path) {
                findings.push(format!("{}:{line}: `{target}` leads nowhere", page.path));
            } else if !fragment.is_empty()
                && anchors
                    .get(path.as_str())
                    .is_some_and(|known| !known.iter().any(|known| known == fragment))
            {
                findings.push(format!("{}:{line}: {path} has no heading `#{fragment}`", page.path));
            }
        }
    }
    findings
}

/// Lines that are prose: numbered, with fenced blocks left out.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let start = line.trim_start();
        match fence {
            Some(mark) => {
                if start.starts_with(mark) {
                    fence = None;
                }
                None
            }
            None => {
                fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
                fence.is_none().then_some((at + 1, line))
            }
        }
    })
}

/// A line without its inline code.
fn without_code(line: &str) -> String {
    line.split('`')
        .enumerate()
        .filter(|(at, _)| at % 2 == 0)
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join("_")
}

fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        let mut found: Vec<&str> = Vec::new();
        for (opening, closing) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            let after = line.split(opening).skip(1);
            found.extend(after.filter_map(|rest| rest.split_once(closing)).map(|(target, _)| target));
        }
        if let Some((name, target)) = line.trim_start().split_once("]: ")
            && name.starts_with('[')
        {
            found.push(target);
        }
        // What follows a space is the title of the link.
        let plain = found.into_iter().filter_map(|target| target.split_whitespace().next());
        let plain = plain.map(|target| target.trim_matches(['<', '>']));
        targets.extend(plain.filter(|target| is_relative(target)).map(|target| (number, target.to_owned())));
    }
    targets
}

fn is_relative(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    let foreign = scheme.is_some_and(|s| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric()));
    !target.is_empty() && !foreign && !target.starts_with("//")
}

/// Where a target on a page leads, relative to the root; nothing if it leaves the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(page.to_owned());
    }
    let (folder, _) = page.rsplit_once('/').unwrap_or(("", page));
    let joined = match target.strip_prefix('/') {
        Some(from_root) => from_root.to_owned(),
        None => format!("{folder}/{target}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The anchors that readers of the page get for its headings.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let slug = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let same = (1..).map(|n| format!("{slug}-{n}"));
        let free = std::iter::once(slug.clone()).chain(same).find(|slug| !anchors.contains(slug));
        anchors.extend(free);
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pages: &[(&str, &str)]) -> Vec<String> {
        let pages: Vec<Page> =
            pages.iter().map(|&(path, text)| Page { path: path.to_owned(), text: text.to_owned() }).collect();
        findings(&pages, |path| {
            path.is_empty() || path == "docs" || pages.iter().any(|page| page.path == path)
        })
    }

    #[test]
    fn good_links_pass() {
        let readme = "[a](docs/a.md) [b](docs/a.md#one-thing \"title\") ![c](<docs/a.md>) [up](./docs/)\n\
                      [web](https://example.org/x) [mail](mailto:a@example.org) [here](#top)\n# Top\n[r]: docs/a.md\n";
        let a = "# One *thing*!\n[back](../README.md) [root](/README.md)\n";
        assert_eq!(check(&[("README.md", readme), ("docs/a.md", a)]), Vec::<String>::new());
    }

    #[test]
    fn each_bad_link_is_found_with_its_place() {
        let cases = [
            ("[a](gone.md)", "README.md:1: `gone.md` leads nowhere"),
            ("\n\n![a](img/gone.png)", "README.md:3: `img/gone.png` leads nowhere"),
            ("[a](../secret.md)", "README.md:1: `../secret.md` leads out of the repository"),
            ("[a](#gone)", "README.md:1: README.md has no heading `#gone`"),
            ("[a]: gone.md", "README.md:1: `gone.md` leads nowhere"),
            ("<img src=\"gone.png\">", "README.md:1: `gone.png` leads nowhere"),
            ("[a](README.md) and [b](gone.md)", "README.md:1: `gone.md` leads nowhere"),
        ];
        for (text, expected) in cases {
            assert_eq!(check(&[("README.md", text)]), [expected], "{text}");
        }
    }

    #[test]
    fn code_is_not_prose() {
        let text = "```\n[a](gone.md)\n```\n`[b](gone.md)`\n~~~ x\n[c](gone.md)\n~~~\n";
        assert_eq!(check(&[("README.md", text)]), Vec::<String>::new());
    }

    #[test]
    fn equal_headings_get_numbers() {
        assert_eq!(anchors("# A b\n## A b\n#no\n"), ["a-b", "a-b-1"]);
    }
}
