//! What the manifests of a package say about what it runs: scripts by their names, and where it begins. Reads small files.
//!
//! It takes in what may be meant. Which of it a runner really takes is not known here: that differs between them.

use super::{MAX_SCRIPTS, Search, words};
use serde_json::Value;
use std::io;
use std::path::Path;

/// Largest manifest that is read.
const MAX_MANIFEST: u64 = 1024 * 1024;
/// How deep values lie in a manifest that are looked at.
const MAX_INNER: usize = 16;
/// Words of runners that are no names of scripts themselves.
const ALIASES: &[(&str, &[&str])] = &[("t", &["test"]), ("tst", &["test"]), ("restart", &["stop", "start"])];

/// What a script of a package runs, what is installed under that name, or where the package itself begins.
pub(super) fn package(search: &mut Search<'_>, base: &Path, rest: &[&str]) {
    for word in rest.iter().filter(|word| !word.starts_with('-')) {
        search.file(&base.join("node_modules/.bin").join(word));
    }
    let own = json(&base.join("package.json")).unwrap_or_default();
    // `npx .`, and a package by its own name.
    let is_own = |word: &&str| *word == "." || own["name"] == **word || own["bin"].get(*word).is_some();
    if rest.iter().any(is_own) {
        begins(search, base);
    }
    for name in ["package.json", "deno.json", "deno.jsonc"] {
        if let Some(manifest) = json(&base.join(name)) {
            scripts(search, base, &manifest, rest);
        }
    }
}

/// What a script of a Python project runs.
pub(super) fn project(search: &mut Search<'_>, base: &Path, rest: &[&str]) {
    for name in ["pyproject.toml", "Pipfile", "hatch.toml"] {
        let manifest = read(&base.join(name)).and_then(|text| text.parse::<toml::Table>().ok());
        if let Some(manifest) = manifest.and_then(|table| serde_json::to_value(table).ok()) {
            scripts(search, base, &manifest, rest);
        }
    }
}

/// Where the package in a folder begins.
pub(super) fn begins(search: &mut Search<'_>, folder: &Path) {
    let Some(manifest) = json(&folder.join("package.json")) else { return };
    let mut files = Vec::new();
    for key in ["main", "module", "bin"] {
        texts(&manifest[key], MAX_INNER, &mut files);
    }
    for file in files.into_iter().take(MAX_SCRIPTS) {
        let file = folder.join(file);
        search.script(&file, false);
        search.script(&file.join("index"), false);
    }
}

/// What `main` of the `package.json` in a folder says, if there is one.
///
/// # Errors
/// When there is one that cannot be understood here.
pub(super) fn main(folder: &Path) -> io::Result<Option<String>> {
    let file = folder.join("package.json");
    if !file.exists() {
        return Ok(None);
    }
    let manifest = json(&file).ok_or(io::ErrorKind::InvalidData)?;
    Ok(manifest["main"].as_str().map(str::to_owned))
}

/// Whatever stands under one of these names anywhere in a manifest is taken for a command line, or for a function of a module.
fn scripts(search: &mut Search<'_>, base: &Path, manifest: &Value, rest: &[&str]) {
    for word in rest.iter().filter(|word| !word.starts_with('-')) {
        let others = ALIASES.iter().filter(|(alias, _)| alias == word).flat_map(|(_, names)| *names);
        for name in [word].into_iter().chain(others) {
            for name in ["", "pre", "post"].map(|when| format!("{when}{name}")) {
                let mut found = Vec::new();
                named(manifest, &name, MAX_INNER, &mut found);
                for script in found {
                    if search.scripts == MAX_SCRIPTS {
                        return;
                    }
                    search.scripts += 1;
                    script_line(search, base, script);
                }
            }
        }
    }
}

/// A script runs in the folder of its package.
fn script_line(search: &mut Search<'_>, base: &Path, script: &str) {
    // `module:function`
    if words(script).count() == 1 && script.contains(':') && !script.contains('/') {
        return search.module(base, script);
    }
    let bases = std::mem::replace(&mut search.bases, vec![base.to_owned()]);
    search.line(&[script], &[]);
    search.bases = bases;
}

fn named<'a>(value: &'a Value, name: &str, depth: usize, found: &mut Vec<&'a str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                if key == name {
                    texts(value, depth, found);
                }
                named(value, name, depth, found);
            }
        }
        Value::Array(inner) => inner.iter().for_each(|value| named(value, name, depth, found)),
        _ => {}
    }
}

fn texts<'a>(value: &'a Value, depth: usize, found: &mut Vec<&'a str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::String(text) => found.push(text),
        Value::Array(inner) => inner.iter().for_each(|value| texts(value, depth, found)),
        Value::Object(inner) => inner.values().for_each(|value| texts(value, depth, found)),
        _ => {}
    }
}

fn json(file: &Path) -> Option<Value> {
    serde_json::from_str(&read(file)?).ok()
}

fn read(file: &Path) -> Option<String> {
    tools::plain_file::read(file, MAX_MANIFEST).ok()
}
