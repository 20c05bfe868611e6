//! Which files of a project are the program of a server, as far as its command line tells: what a change of is another server. Reads
//! names and small files, and runs nothing.
//!
//! Always: only of a command line that is understood to its end ([`exact`]) are the files told as what is compared; of every other the
//! person hears that it is not known whole, however many files were found by looking around.
//!
//! Not everything that a program loads: what its files take from elsewhere, what is installed (`node_modules`, `.venv`) and what is
//! compiled is not known here. [`Program::words`] says so to the person.

mod exact;
mod manifest;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unasked;

use domain::harmless::as_word;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tools::steering::is_heavy;

/// Most files of a program that are compared.
const MAX_FILES: usize = 512;
/// Bytes of them in all: they are read before every turn.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Entries of one folder that are looked at.
const MAX_WALKED: usize = 8192;
/// How deep a folder of a program is looked into.
const MAX_DEPTH: usize = 12;
/// Words of a command line that are looked at: a project writes it, and each word costs a look at the disk.
const MAX_WORDS: usize = 128;
/// Names of files that a command line is searched for.
const MAX_NAMES: usize = 256;
/// Looks at the disk in all.
const MAX_LOOKS: usize = 16_384;
/// Folders in which names may begin.
const MAX_BASES: usize = 8;
/// Folders that are named from within each other (`cd a && cd b`).
const MAX_STEPS: usize = 3;
/// Programs of one line that run others.
const MAX_RUNNERS: usize = 8;
/// Scripts of a package that start scripts.
const MAX_SCRIPTS: usize = 8;
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
    /// A script of `pyproject.toml`, or a module.
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
    // `npm start` runs `server.js` where nothing else is said.
    (
        &["bun", "bunx", "deno", "npm", "npx", "pnpm", "pnpx", "yarn"],
        Kind::Package,
        &["package.json", "server.js"],
    ),
    (
        &["uv", "uvx", "poetry", "pdm", "rye", "hatch", "pipenv", "pipx"],
        Kind::Project,
        &["pyproject.toml", "Pipfile", "hatch.toml"],
    ),
    (&["go"], Kind::Folder, &["go.mod", "main.go"]),
    (&["cargo"], Kind::Plain, &["Cargo.toml", "build.rs", "src/main.rs"]),
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

/// What may be left out at the end of a name.
const ENDINGS: &[&str] =
    &["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json", ".node", ".py", ".sh"];
/// Where Python packages lie in a project.
const PYTHON_ROOTS: &[&str] = &["", "src", "python"];
/// What comes before the folder in which something is run.
const PLACES: &[&str] =
    &["-C", "--chdir", "--cwd", "--dir", "--directory", "--prefix", "--project", "cd", "pushd"];
/// Endings of programs and of what tells how to run them; a file without any may be one too.
const PROGRAMS: &[&str] = &[
    "bash", "cjs", "cts", "go", "js", "json", "jsonc", "jsx", "lua", "mjs", "mk", "mts", "node", "php", "pl",
    "py", "rb", "rs", "sh", "so", "toml", "ts", "tsx", "yaml", "yml", "zsh",
];

/// The files of a project that belong to a server, real and inside the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Program {
    files: Vec<PathBuf>,
    bytes: u64,
    /// Whether the command line is understood to its end: these files are what it runs.
    exact: bool,
    /// Whether there are more of them than are compared.
    cut: bool,
}

impl Program {
    /// What a command line in `dir` runs, as far as can be told; `env` may name folders and files too. `root` is real, and `dir` lies in it.
    pub(super) fn of(root: &Path, dir: &Path, line: &[&str], env: &BTreeMap<String, String>) -> Program {
        let below = (dir != root).then(|| dir.to_owned());
        let is_below = below.is_some();
        let mut search = Search {
            root,
            bases: below.into_iter().chain([root.to_owned()]).collect(),
            found: Program::default(),
            scripts: 0,
            looks: 0,
            seen: BTreeSet::new(),
        };
        let exact = exact::take(&mut search, line, env) && !is_below;
        let values: Vec<&str> = env.values().map(String::as_str).collect();
        search.line(line, &values);
        Program { exact, ..search.found }
    }

    /// The files, in the order in which they were found.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What is compared and what is not, for the person who agrees to the server.
    pub(super) fn words(&self, root: &Path) -> String {
        let name = |file: &PathBuf| as_word(&file.strip_prefix(root).unwrap_or(file).to_string_lossy());
        let names: Vec<String> = self.files.iter().take(MAX_NAMED).map(name).collect();
        let more = match self.files.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let cut = if self.cut { "; there are more, which are not compared" } else { "" };
        let compared = format!("when one of these files changes: {}{more}{cut}", names.join(", "));
        match (names.is_empty(), self.exact) {
            (true, _) => "Its program is not among the files of the project that are compared: you are not asked again when it changes.".to_owned(),
            (false, true) => format!(
                "You are asked again {compared}. What they load from elsewhere, what is installed and what is compiled is not compared."
            ),
            (false, false) => format!(
                "What it runs is not known whole: you are not asked again when something changes that is not known. You are asked again {compared}."
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

/// Everything in an argument that may be the name of a file: the whole, its words, and what is left of them without marks
/// (`${NAME:-srv.py}`, `--x=y`, `/srv.py` behind a variable).
fn names(argument: &str) -> impl Iterator<Item = &str> {
    let plain = |c: char| c.is_alphanumeric() || "_-./@+~".contains(c);
    let loose = argument.split(move |c: char| !plain(c));
    let loose = loose.flat_map(|part| {
        let bare = part.trim_start_matches('-');
        [part, bare, bare.trim_start_matches('/')]
    });
    [argument].into_iter().chain(words(argument)).chain(loose).filter(|name| !name.is_empty())
}

/// The runner of this name, without the number of its version.
fn called(word: &str) -> &str {
    let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Which files of a folder are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Which {
    All,
    Programs,
}

struct Search<'a> {
    root: &'a Path,
    /// Folders in which a name may begin.
    bases: Vec<PathBuf>,
    found: Program,
    scripts: usize,
    looks: usize,
    /// Folders that were looked into.
    seen: BTreeSet<(PathBuf, Which)>,
}

impl Search<'_> {
    /// Where a path leads, if that lies in the project.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        self.looks += 1;
        if self.looks > MAX_LOOKS {
            self.found.cut = true;
            return None;
        }
        path.canonicalize().ok().filter(|path| path.starts_with(self.root))
    }

    fn real_folder(&mut self, path: &Path) -> Option<PathBuf> {
        self.real(path).filter(|path| path.is_dir())
    }

    /// Takes in a file; tells whether there is one.
    fn file(&mut self, path: &Path) -> bool {
        let file = self.real(path).filter(|path| path.is_file());
        let is_there = file.is_some();
        file.into_iter().for_each(|file| self.found.add(file));
        is_there
    }

    /// A command line and the values of its variables, looked at generously: every name in it may be that of a file.
    fn line(&mut self, arguments: &[&str], values: &[&str]) {
        let all: Vec<&str> = arguments.iter().copied().flat_map(words).take(MAX_WORDS + 1).collect();
        self.found.cut |= all.len() > MAX_WORDS;
        let words = all.get(..MAX_WORDS).unwrap_or(&all);
        self.folders(arguments, words, values);
        self.names(arguments, values);
        let mut runners = 0;
        for (at, word) in words.iter().enumerate() {
            let rest = words.get(at + 1..).unwrap_or_default();
            for (_, kind, manifests) in RUNNERS.iter().filter(|(names, ..)| names.contains(&called(word))) {
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
                        Kind::Package => manifest::package(self, &base, rest),
                        Kind::Project => {
                            manifest::project(self, &base, rest);
                            self.python(&base, rest);
                        }
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

    /// `--prefix server`, `cd server`, `PYTHONPATH=src`: folders in which names may begin. What else is a folder is for the program to
    /// work on. Where something is run its programs are taken in too.
    fn folders(&mut self, arguments: &[&str], words: &[&str], values: &[&str]) {
        let two = || words.windows(2).chain(arguments.windows(2).take(MAX_WORDS));
        let behind = two().filter(|two| two[0].starts_with('-') || PLACES.contains(&two[0]));
        let behind = behind.map(|two| (two[1], PLACES.contains(&two[0])));
        let set = words.iter().filter_map(|word| word.split_once('='));
        let set = set.map(|(name, value)| (value, PLACES.contains(&name)));
        let values = values.iter().take(MAX_WORDS).map(|value| (*value, false));
        let named: Vec<(&str, bool)> = behind
            .chain(set)
            .chain(values)
            .flat_map(|(value, is_place)| parts(value).map(move |part| (part, is_place)))
            .take(MAX_NAMES)
            .collect();
        for _ in 0..MAX_STEPS {
            for base in self.bases.clone() {
                for (name, is_place) in &named {
                    let Some(folder) = self.real_folder(&base.join(name)) else { continue };
                    if *is_place && folder != self.root {
                        self.below(&folder, MAX_DEPTH, Which::Programs);
                    }
                    if self.bases.contains(&folder) {
                        continue;
                    }
                    if self.bases.len() == MAX_BASES {
                        self.found.cut = true;
                        return;
                    }
                    self.bases.push(folder);
                }
            }
        }
    }

    fn names(&mut self, arguments: &[&str], values: &[&str]) {
        let all = arguments.iter().chain(values).copied().flat_map(names);
        let (mut known, bases) = (BTreeSet::new(), self.bases.clone());
        for name in all {
            if !known.insert(name) {
                continue;
            }
            if known.len() > MAX_NAMES {
                self.found.cut = true;
                return;
            }
            // `make` is no `make.sh`.
            let is_runner = RUNNERS.iter().any(|(names, ..)| names.contains(&name));
            let endings = if is_runner { ENDINGS.get(..1).unwrap_or_default() } else { ENDINGS };
            for base in &bases {
                for ending in endings {
                    self.file(&with_ending(&base.join(name), ending));
                }
            }
        }
    }

    fn python(&mut self, base: &Path, rest: &[&str]) {
        for (at, word) in rest.iter().enumerate() {
            let next = || rest.get(at + 1).copied();
            // `-m x`, `-mx`, `-um x`
            let module = match word.strip_prefix('-').filter(|flags| !flags.starts_with('-')) {
                Some(flags) => flags
                    .split_once('m')
                    .and_then(|(_, module)| if module.is_empty() { next() } else { Some(module) }),
                None if *word == "--module" => next(),
                None => None,
            };
            if let Some(module) = module {
                self.module(base, module);
                return;
            }
            if word.starts_with('-') {
                continue;
            }
            let script = base.join(word);
            self.file(&script.join("__main__.py"));
            self.folder(&script);
            // What comes after the script is for the script.
            if self.real(&script).is_some() {
                return;
            }
        }
    }

    /// A module of Python: the file, and the whole of the package that it is in.
    fn module(&mut self, base: &Path, module: &str) {
        let top = module.split(['.', ':']).next().unwrap_or_default();
        for root in PYTHON_ROOTS.iter().map(|below| base.join(below)).filter(|_| !top.is_empty()) {
            for ending in [".py", ".pyc", ".so", ".abi3.so"] {
                self.file(&root.join(format!("{top}{ending}")));
            }
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

    /// All that Node and its like may take a path for: which of them it is differs.
    fn script(&mut self, path: &Path, packages: bool) -> bool {
        let mut is_found = false;
        for ending in ENDINGS {
            is_found |= self.file(&with_ending(path, ending));
        }
        // `index.js` may be written for `index.ts`.
        if path.extension().is_some_and(|ending| ending == "js" || ending == "mjs" || ending == "cjs") {
            for ending in ["ts", "mts", "cts", "tsx"] {
                is_found |= self.file(&path.with_extension(ending));
            }
        }
        let Some(folder) = self.real_folder(path).filter(|_| packages) else { return is_found };
        self.file(&folder.join("package.json"));
        manifest::begins(self, &folder);
        self.script(&folder.join("index"), false);
        self.folder(&folder);
        true
    }

    /// The whole of a folder but the project itself, without what is installed, compiled or kept by version control.
    fn folder(&mut self, path: &Path) {
        if let Some(folder) = self.real_folder(path).filter(|path| path != self.root) {
            self.below(&folder, MAX_DEPTH, Which::All);
        }
    }

    fn below(&mut self, folder: &Path, depth: usize, which: Which) {
        if !self.seen.insert((folder.to_owned(), which)) {
            return;
        }
        if depth == 0 || self.found.files.len() == MAX_FILES {
            self.found.cut = true;
            return;
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.take(MAX_WALKED).map(|entry| entry.path()).collect();
        self.found.cut |= entries.len() == MAX_WALKED;
        entries.sort();
        for entry in entries {
            let name = entry.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name == ".git" || is_heavy(folder, &name) {
                continue;
            }
            // A link to a folder of the project is a folder of the program.
            if let Some(inner) = self.real_folder(&entry) {
                self.below(&inner, depth - 1, which);
            } else if which == Which::All || is_program(&name) {
                self.file(&entry);
            }
            if self.looks > MAX_LOOKS {
                return;
            }
        }
    }
}

fn is_program(name: &str) -> bool {
    name.rsplit_once('.').is_none_or(|(_, ending)| PROGRAMS.contains(&ending))
}
