//! Which files of a project are the program of a server, as far as its command line tells: what a change of is another server. Reads
//! names and small files, and runs nothing.
//!
//! Not everything that a program loads: what its files take from elsewhere, what is installed (`node_modules`, `.venv`) and what is
//! compiled is not known here. [`Program::words`] says so to the person.

#[cfg(test)]
mod tests;

use serde_json::Value;
use std::path::{Path, PathBuf};
use tools::steering::is_heavy;

/// Most files of a program that are compared.
const MAX_FILES: usize = 512;
/// Bytes of them in all: they are read before every turn.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Entries of folders that are looked at.
const MAX_WALKED: usize = 8192;
/// How deep a folder of a program is looked into.
const MAX_DEPTH: usize = 12;
/// Words of a command line that are looked at: a project writes it, and each word costs a look at the disk.
const MAX_WORDS: usize = 128;
/// Folders in which names may begin.
const MAX_BASES: usize = 4;
/// Programs of one line that run others.
const MAX_RUNNERS: usize = 8;
/// Scripts of a package that start scripts.
const MAX_SCRIPTS: usize = 8;
/// Largest file that tells what a package runs.
const MAX_MANIFEST: u64 = 1024 * 1024;
/// Files that a person is told by name.
const MAX_NAMED: usize = 4;

/// How a program finds what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A module by `-m`, or a folder with a `__main__.py`.
    Python,
    /// A file whose ending may be left out, or a folder with a `package.json`.
    Node,
    /// A script of `package.json`, or what is installed beside it.
    Package,
    /// A script of `pyproject.toml`.
    Project,
    /// A folder of sources.
    Folder,
    /// What its own file says.
    Plain,
}

/// Programs that run others, and the files that tell them how.
const RUNNERS: &[(&[&str], Kind, &[&str])] = &[
    (&["python", "pypy"], Kind::Python, &[]),
    (&["node", "nodejs", "tsx", "ts-node"], Kind::Node, &[]),
    (&["bun", "deno"], Kind::Node, &["package.json", "deno.json", "deno.jsonc", "bunfig.toml"]),
    (&["bun", "bunx", "npm", "npx", "pnpm", "pnpx", "yarn"], Kind::Package, &["package.json"]),
    (
        &["uv", "uvx", "poetry", "pdm", "rye", "hatch", "pipenv", "pipx"],
        Kind::Project,
        &["pyproject.toml", "Pipfile"],
    ),
    (&["go"], Kind::Folder, &["go.mod"]),
    (&["cargo"], Kind::Plain, &["Cargo.toml"]),
    (&["make", "gmake"], Kind::Plain, &["GNUmakefile", "makefile", "Makefile"]),
    (&["just"], Kind::Plain, &["justfile", "Justfile", ".justfile"]),
    (&["task"], Kind::Plain, &["Taskfile.yml", "Taskfile.yaml"]),
    (&["bundle", "rake"], Kind::Plain, &["Gemfile", "Rakefile"]),
    (&["composer"], Kind::Plain, &["composer.json"]),
    (
        &["docker", "podman", "docker-compose", "podman-compose"],
        Kind::Plain,
        &["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "Dockerfile"],
    ),
];

/// What may be left out at the end of a name for Node and its like, in their order.
const ENDINGS: &[&str] = &["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".json"];
/// Where Python packages lie in a project.
const PYTHON_ROOTS: &[&str] = &["", "src"];

/// The files of a project that belong to a server, real and inside the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Program {
    files: Vec<PathBuf>,
    bytes: u64,
    /// Whether there are more of them than are compared.
    cut: bool,
}

impl Program {
    /// What a command line in `root` runs, as far as can be told; `env` may name folders to look in. `root` is real.
    pub(super) fn of<'a>(
        root: &Path,
        line: impl Iterator<Item = &'a str>,
        env: impl Iterator<Item = &'a str>,
    ) -> Program {
        let words: Vec<&str> = line.flat_map(words).collect();
        let mut search =
            Search { root, bases: vec![root.to_owned()], found: Program::default(), scripts: 0, walked: 0 };
        // `--prefix server`, `cd server`, `PYTHONPATH=src`: what else is a folder is for the program to work on.
        let named = words
            .windows(2)
            .take(MAX_WORDS)
            .filter(|two| two[0].starts_with('-') || two[0] == "cd")
            .map(|two| two[1]);
        let set = words.iter().copied().take(MAX_WORDS).filter(|word| word.contains('='));
        for word in named.chain(set).chain(env.take(MAX_WORDS)).flat_map(parts).take(MAX_WORDS) {
            if let Some(folder) = search.real(&root.join(word)).filter(|path| path.is_dir())
                && !search.bases.contains(&folder)
            {
                search.bases.push(folder);
            }
        }
        search.found.cut = search.bases.len() > MAX_BASES;
        search.bases.truncate(MAX_BASES);
        search.line(&words);
        search.found
    }

    /// The files, in the order in which they were found.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What is compared and what is not, for the person who agrees to the server.
    pub(super) fn words(&self, root: &Path) -> String {
        let name = |file: &PathBuf| file.strip_prefix(root).unwrap_or(file).display().to_string();
        let names: Vec<String> = self.files.iter().take(MAX_NAMED).map(name).collect();
        let more = match self.files.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let cut = if self.cut { "; there are more, which are not compared" } else { "" };
        match names.is_empty() {
            true => "Its program is not among the files of the project that are compared: you are not asked again when it changes.".to_owned(),
            false => format!(
                "You are asked again when one of these files changes: {}{more}{cut}. What they load from elsewhere is not compared.",
                names.join(", ")
            ),
        }
    }

    fn add(&mut self, file: PathBuf) {
        if self.files.contains(&file) {
            return;
        }
        let bytes = self.bytes.saturating_add(file.metadata().map_or(0, |meta| meta.len()));
        if self.files.len() == MAX_FILES || bytes > MAX_BYTES {
            self.cut = true;
        } else {
            self.bytes = bytes;
            self.files.push(file);
        }
    }
}

/// The words of an argument: some are lines for a shell.
fn words(argument: &str) -> impl Iterator<Item = &str> {
    let split = argument.split(|c: char| c.is_whitespace() || ";&|()<>".contains(c));
    split.map(|word| word.trim_matches(['"', '\''])).filter(|word| !word.is_empty())
}

/// A word and its parts: `--config=run.json`, `PYTHONPATH=src:lib`.
pub(super) fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(['=', ':', ',']).chain([word]).filter(|part| !part.is_empty())
}

struct Search<'a> {
    root: &'a Path,
    /// Folders in which a name may begin.
    bases: Vec<PathBuf>,
    found: Program,
    scripts: usize,
    walked: usize,
}

impl Search<'_> {
    /// Where a path leads, if that lies in the project.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok().filter(|path| path.starts_with(self.root))
    }

    /// Takes in a file; tells whether there is one.
    fn file(&mut self, path: &Path) -> bool {
        let file = self.real(path).filter(|path| path.is_file());
        let is_there = file.is_some();
        file.into_iter().for_each(|file| self.found.add(file));
        is_there
    }

    fn line(&mut self, words: &[&str]) {
        let mut runners = 0;
        self.found.cut |= words.len() > MAX_WORDS;
        let words = words.get(..MAX_WORDS).unwrap_or(words);
        for (at, word) in words.iter().enumerate() {
            let rest = words.get(at + 1..).unwrap_or_default();
            parts(word).for_each(|part| {
                self.file(&self.root.join(part));
            });
            let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // `python3.12`
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            for (_, kind, manifests) in RUNNERS.iter().filter(|(names, ..)| names.contains(&name)) {
                runners += 1;
                if runners > MAX_RUNNERS {
                    self.found.cut = true;
                    return;
                }
                for base in self.bases.clone() {
                    for manifest in *manifests {
                        self.file(&base.join(manifest));
                    }
                    match kind {
                        Kind::Python => self.python(&base, rest),
                        Kind::Node => self.node(&base, rest),
                        Kind::Package => self.package(&base, rest),
                        Kind::Project => self.project(&base, rest),
                        Kind::Folder => {
                            rest.iter()
                                .filter(|word| !word.starts_with('-'))
                                .for_each(|word| self.folder(&base.join(word)));
                        }
                        Kind::Plain => {}
                    }
                }
            }
        }
    }

    fn python(&mut self, base: &Path, rest: &[&str]) {
        let module = rest.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("-m") {
            Some("") => rest.get(at + 1).copied(),
            Some(module) => Some(module),
            None => None,
        });
        if let Some(module) = module {
            self.module(base, module);
        }
        if let Some(script) = rest.iter().find(|word| !word.starts_with('-')) {
            let script = base.join(script);
            self.file(&script.join("__main__.py"));
            self.folder(&script);
        }
    }

    /// A module of Python: the file, and the whole of the package that it is in.
    fn module(&mut self, base: &Path, module: &str) {
        let top = module.split(['.', ':']).next().unwrap_or_default();
        for root in PYTHON_ROOTS.iter().map(|below| base.join(below)).filter(|_| !top.is_empty()) {
            self.file(&root.join(format!("{top}.py")));
            self.folder(&root.join(top));
        }
    }

    fn node(&mut self, base: &Path, rest: &[&str]) {
        // `deno run FILE`
        let rest = rest.strip_prefix(&["run"]).unwrap_or(rest);
        for (at, word) in rest.iter().enumerate().filter(|(_, word)| !word.starts_with('-')) {
            let is_found = self.script(&base.join(word), true);
            let is_value =
                at.checked_sub(1).and_then(|at| rest.get(at)).is_some_and(|before| before.starts_with('-'));
            // What comes after the script is for the script.
            if is_found && !is_value {
                return;
            }
        }
    }

    /// What Node takes a path for.
    fn script(&mut self, path: &Path, packages: bool) -> bool {
        let named = |ending: &&str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        if ENDINGS.iter().map(named).any(|file| self.file(&file)) {
            return true;
        }
        let Some(folder) = self.real(path).filter(|path| path.is_dir() && packages) else { return false };
        let manifest = folder.join("package.json");
        self.file(&manifest);
        let main = read(&manifest).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if let Some(main) = main.as_ref().and_then(|manifest| manifest["main"].as_str()) {
            let main = folder.join(main);
            if !self.script(&main, false) {
                self.script(&main.join("index"), false);
            }
        }
        self.script(&folder.join("index"), false);
        self.folder(&folder);
        true
    }

    /// What a script of a package runs, and what is installed under that name.
    fn package(&mut self, base: &Path, rest: &[&str]) {
        let manifest =
            read(&base.join("package.json")).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        for word in rest.iter().filter(|word| !word.starts_with('-')) {
            self.file(&base.join("node_modules/.bin").join(word));
            for name in ["", "pre", "post"].map(|when| format!("{when}{word}")) {
                let script = manifest.as_ref().and_then(|manifest| manifest["scripts"][name].as_str());
                if let Some(script) = script.filter(|_| self.scripts < MAX_SCRIPTS) {
                    self.scripts += 1;
                    self.script_line(base, script);
                }
            }
        }
    }

    /// A script runs in the folder of its package.
    fn script_line(&mut self, base: &Path, script: &str) {
        let bases = std::mem::replace(&mut self.bases, vec![base.to_owned()]);
        let line: Vec<&str> = words(script).collect();
        for word in line.iter().flat_map(|word| parts(word)) {
            self.file(&base.join(word));
        }
        self.line(&line);
        self.bases = bases;
    }

    /// The module of a script of a Python project.
    fn project(&mut self, base: &Path, rest: &[&str]) {
        let manifest = read(&base.join("pyproject.toml")).and_then(|text| text.parse::<toml::Table>().ok());
        let Some(manifest) = manifest else { return };
        let at = |way: &[&str]| {
            let mut inner = manifest.get(*way.first()?)?;
            for name in way.get(1..)? {
                inner = inner.get(*name)?;
            }
            Some(inner)
        };
        let tables = [
            at(&["project", "scripts"]),
            at(&["tool", "poetry", "scripts"]),
            at(&["tool", "pdm", "scripts"]),
        ];
        for word in rest.iter().filter(|word| !word.starts_with('-')) {
            for target in tables.iter().flatten().filter_map(|table| table.get(*word)?.as_str()) {
                self.module(base, target);
            }
        }
    }

    /// The whole of a folder but the project itself, without what is installed, compiled or kept by version control.
    fn folder(&mut self, path: &Path) {
        if let Some(folder) = self.real(path).filter(|path| path.is_dir() && path != self.root) {
            self.below(&folder, MAX_DEPTH);
        }
    }

    fn below(&mut self, folder: &Path, depth: usize) {
        if depth == 0 || self.found.files.len() == MAX_FILES {
            self.found.cut = true;
            return;
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.take(MAX_WALKED).map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            self.walked += 1;
            if self.walked > MAX_WALKED {
                self.found.cut = true;
                return;
            }
            let name = entry.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name == ".git" || is_heavy(folder, &name) {
                continue;
            }
            if entry.is_dir() && !entry.is_symlink() {
                self.below(&entry, depth - 1);
            } else {
                self.file(&entry);
            }
        }
    }
}

fn read(file: &Path) -> Option<String> {
    let meta = file.metadata().ok()?;
    if meta.is_file() && meta.len() <= MAX_MANIFEST { std::fs::read_to_string(file).ok() } else { None }
}
