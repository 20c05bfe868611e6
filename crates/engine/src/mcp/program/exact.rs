//! The command lines that are understood to their end: an interpreter that everybody has, no option that changes what it loads, and one
//! script or module of the project; or a program of the project itself. Reads names, and runs nothing.
//!
//! Always: what is not known here is not exact. A form is added only where what the interpreter runs is one of the files taken in,
//! whatever else lies in the project.

use super::{RUNNERS, Search, called, manifest, with_ending};
use crate::mcp::variables;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tools::steering::is_heavy;

/// Where interpreters lie that are not the project's.
const SYSTEM: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin"];
/// Interpreters that read the one file that they are given.
const PLAIN: &[&str] = &["sh", "bash", "dash", "ruby", "perl"];
/// Options of Python, letter by letter, that change nothing of what is loaded from the project.
const PYTHON: &str = "uBEsSbqvOd";
/// The same of Node.
const NODE: &[&str] = &["--no-warnings", "--enable-source-maps", "--trace-warnings"];
/// What Node tries at the end of a name, in its order.
const NODE_ENDINGS: &[&str] = &["", ".js", ".json", ".node"];

/// Takes in what a command line runs, if that is known for certain; tells whether it is.
pub(super) fn take(search: &mut Search<'_>, line: &[&str], env: &BTreeMap<String, String>) -> bool {
    let Some((command, args)) = line.split_first() else { return false };
    // What a variable stands for is known when it starts; one that steers may load anything.
    if line.iter().any(|word| word.contains("${")) || env.keys().any(|name| variables::steers(name)) {
        return false;
    }
    let (name, folder) = (called(command), Path::new(command).parent().unwrap_or(Path::new("")));
    let is_system = folder == Path::new("") || SYSTEM.iter().any(|known| folder == Path::new(known));
    match name {
        "python" if is_system => python(search, args),
        "node" | "nodejs" if is_system => node(search, args),
        name if PLAIN.contains(&name) && is_system => args
            .first()
            .is_some_and(|file| !file.starts_with(['-', '+']) && search.file(&search.root.join(file))),
        // By its path: what has none is looked for elsewhere.
        name => {
            command.contains('/') && !runs_others(name, folder) && search.file(&search.root.join(command))
        }
    }
}

/// Whether a program of the project may be there to run what it is told to: installed with others, or named like one that does.
fn runs_others(name: &str, folder: &Path) -> bool {
    let is_installed = folder.iter().any(|part| part.to_str().is_none_or(|part| is_heavy(folder, part)));
    is_installed || PLAIN.contains(&name) || RUNNERS.iter().any(|(names, ..)| names.contains(&name))
}

fn python(search: &mut Search<'_>, args: &[&str]) -> bool {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(flags) = arg.strip_prefix('-').filter(|flags| !flags.is_empty()) else {
            // Without a name it reads what is piped in.
            let script = search.root.join(arg);
            search.folder(&script);
            return *arg != "-" && (search.file(&script) || search.file(&script.join("__main__.py")));
        };
        let (flags, module) = match flags.split_once('m') {
            Some((flags, "")) => (flags, args.next().copied()),
            Some((flags, module)) => (flags, Some(module)),
            None => (flags, None),
        };
        if !flags.chars().all(|flag| PYTHON.contains(flag)) {
            return false;
        }
        if let Some(module) = module {
            search.module(search.root, module);
            let top = search.root.join(module.split('.').next().unwrap_or_default());
            // A folder without it is one only where no other is found anywhere.
            return search.file(&top.join("__init__.py")) || search.file(&with_ending(&top, ".py"));
        }
    }
    false
}

fn node(search: &mut Search<'_>, args: &[&str]) -> bool {
    let Some(script) = args.iter().find(|arg| !NODE.contains(arg)) else { return false };
    if script.starts_with('-') || script.contains("..") || *script == "inspect" {
        return false;
    }
    // As Node has it: without a slash at the end.
    let path: PathBuf = search.root.join(script).components().collect();
    search.script(&path, true);
    if let Some(file) = node_file(&path) {
        return search.file(&file);
    }
    let Ok(main) = manifest::main(&path) else { return false };
    if main.as_ref().is_some_and(|main| main.contains("..")) {
        return false;
    }
    let main = main.map(|main| path.join(main).components().collect::<PathBuf>());
    let main = main.and_then(|main| node_file(&main).or_else(|| node_file(&main.join("index"))));
    main.or_else(|| node_file(&path.join("index"))).is_some_and(|file| search.file(&file))
}

fn node_file(path: &Path) -> Option<PathBuf> {
    NODE_ENDINGS.iter().map(|ending| with_ending(path, ending)).find(|file| file.is_file())
}
