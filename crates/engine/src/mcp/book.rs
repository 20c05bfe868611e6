//! Where servers are written down: the person's `mcp.json`, the project's `.mcp.json` and `.codelia/config.json`. Reads and writes files.
//!
//! Of a project's file only the servers are read, and none starts before the person agreed to it as it is; what else such a file
//! says, above all what it allows, counts for nothing.

use super::approvals::Approvals;
use super::caches;
use super::card::CardFile;
use super::entry::{self, Entry, EntryError, Form, Way};
use super::program::{self, Program};
use super::reach::Reach;
use crate::config::{Config, WorkDir};
use crate::private_file::write_private;
use crate::text_sources::read_text;
use domain::given_server::GivenServer;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// Largest file of servers.
const MAX_FILE: u64 = 1024 * 1024;
/// Most folders between the project's root and where one works that are looked into.
const MAX_NESTED: usize = 32;
/// The person's file in the directory of settings.
const OWN: &str = "mcp.json";
/// The project's files below its root, and where the servers stand in them. The first that names a server leads.
const PROJECT: &[(&str, Form)] = &[(".mcp.json", Form::COMMON), (".codelia/config.json", Form::OF_SETTINGS)];

/// A server that is written down somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub entry: Entry,
    /// Whether the project brought it (else the person).
    pub from_project: bool,
    /// The folder below the project's root whose file names it: it is started there.
    pub folder: Option<PathBuf>,
    /// Whether a UI brought it for one session: no file names it.
    pub from_ui: bool,
    /// Whether it may start: the person's own always, a project's once the person agreed.
    pub approved: bool,
    /// What it may reach, where the person said so.
    pub reach: Option<Reach>,
    /// What of a project's program is compared, and what is not, in words for the person.
    pub compared: Option<String>,
}

impl Listed {
    /// Whether it is no process of ours, so that no leash holds it.
    pub fn is_behind_a_url(&self) -> bool {
        matches!(self.entry.way, Way::Http { .. })
    }
}

/// The folders from where one works up to below the project's root that have servers of their own, the nearest first. Both are real.
/// Looks at files.
pub(super) fn nested(root: &Path, cwd: &Path) -> Vec<PathBuf> {
    let below = cwd.ancestors().take_while(|dir| *dir != root).take(MAX_NESTED);
    let below = below.filter(|_| cwd.starts_with(root));
    below.filter(|dir| PROJECT.iter().any(|(name, _)| dir.join(name).exists())).map(Path::to_owned).collect()
}

/// The servers for work at a place, the person's first, then those of the nearest folder of the project; and what is wrong in the files,
/// with the file's name. Where there is no workspace there is no project: only the person's own.
pub fn servers(
    config: &Config,
    data: &Path,
    work_dir: &WorkDir,
) -> (Vec<Listed>, Vec<(PathBuf, EntryError)>) {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let project = work_dir.workspace.as_deref().ok().map(real);
    let folders = project.as_deref().map(|root| nested(root, &real(&work_dir.cwd))).unwrap_or_default();
    servers_in(config, data, project.as_deref(), &folders)
}

/// The same where the folders are known.
pub(super) fn servers_in(
    config: &Config,
    data: &Path,
    project: Option<&Path>,
    folders: &[PathBuf],
) -> (Vec<Listed>, Vec<(PathBuf, EntryError)>) {
    let (mut listed, mut errors) = (Vec::<Listed>::new(), Vec::new());
    let approvals = Approvals::in_data(data);
    let own = config.settings.iter().map(|dir| (dir.join(OWN), Form::COMMON, None));
    let own = own.map(|(file, form, project)| (file, form, project, None));
    let places = project.into_iter().flat_map(|root| {
        let folders = folders.iter().map(move |folder| (root, folder.as_path(), Some(folder)));
        folders.chain([(root, root, None)])
    });
    let theirs = places.flat_map(|(root, dir, folder)| {
        PROJECT.iter().map(move |(name, form)| (dir.join(name), *form, Some(root), folder))
    });
    for (file, form, project, folder) in own.chain(theirs) {
        if !file.exists() {
            continue;
        }
        let (entries, wrong) = match read_text(&file, project, MAX_FILE) {
            Ok(text) => entry::parse_as(&text, form),
            Err(why) => (Vec::new(), vec![EntryError { name: None, why }]),
        };
        errors.extend(wrong.into_iter().map(|error| (file.clone(), error)));
        for mut entry in entries {
            let mut compared = None;
            if let Some(root) = project {
                let dir = folder.map_or(root, PathBuf::as_path);
                (entry.digest, compared) = with_files(&entry, root, dir);
            }
            if listed.iter().any(|known| known.entry.name == entry.name) {
                let why = "hidden by another server of this name that leads".to_owned();
                errors.push((file.clone(), EntryError { name: Some(entry.name), why }));
                continue;
            }
            let said = approvals.of(project, &entry.digest);
            let (from_project, approved) = (project.is_some(), project.is_none() || said.approved);
            listed.push(Listed {
                entry,
                from_project,
                folder: folder.cloned(),
                from_ui: false,
                approved,
                reach: said.reach,
                compared,
            });
        }
    }
    (listed, errors)
}

/// The servers that a UI brought along, and what is wrong with the others. They may start, and reach what they could where the person
/// chose them; like all others they write nothing of the person's beside the project.
pub(super) fn given(servers: &[GivenServer]) -> (Vec<Listed>, Vec<EntryError>) {
    let (mut listed, mut errors) = (Vec::new(), Vec::new());
    for GivenServer { name, entry } in servers {
        let value = serde_json::from_str(entry.as_str()).map_err(|why| why.to_string());
        match value.and_then(|value: Value| entry::read(name, &value)) {
            Ok(entry) => {
                let reach = Some(Reach::all());
                listed.push(Listed {
                    entry,
                    from_project: false,
                    folder: None,
                    from_ui: true,
                    approved: true,
                    reach,
                    compared: None,
                });
            }
            Err(why) => errors.push(EntryError { name: Some(name.clone()), why }),
        }
    }
    (listed, errors)
}

/// The digest of a project's entry together with its program, and what is known of that, in words.
fn with_files(entry: &Entry, root: &Path, dir: &Path) -> (String, Option<String>) {
    // The same entry in another folder runs something else.
    let digest = match dir == root {
        true => entry.digest.clone(),
        false => tools::digest::hex(format!("{}\n{}", entry.digest, dir.display()).as_bytes()),
    };
    let Way::Child { command, args, env } = &entry.way else { return (digest, None) };
    let line: Vec<&str> = std::iter::once(command).chain(args).map(String::as_str).collect();
    let (digest, words) = digest_with_files(&digest, &line, env, root, dir);
    (digest, Some(words))
}

/// A digest together with the files of the project that are known to be the program of a command line: whoever changes the program of what
/// was agreed to has something else. It is started in `dir`, in the project. Also what is known of it, in words.
pub(crate) fn digest_with_files(
    digest: &str,
    line: &[&str],
    env: &BTreeMap<String, String>,
    root: &Path,
    dir: &Path,
) -> (String, String) {
    let mut files = Vec::new();
    let values = env.values().map(String::as_str);
    let bases = if dir == root { vec![root] } else { vec![dir, root] };
    for word in line.iter().copied().chain(values).flat_map(program::parts) {
        for base in &bases {
            let file = base.join(word).canonicalize().ok();
            files.extend(file.filter(|path| path.starts_with(root) && path.is_file()));
        }
    }
    let program = Program::of(root, dir, line, env);
    let more: Vec<&PathBuf> = program.files().iter().filter(|file| !files.contains(file)).collect();
    let mut text = digest.to_owned();
    for path in files.iter().chain(more) {
        let file = tools::digest::of_file(path).ok().flatten().unwrap_or_default();
        let _ = write!(text, "\n{}\n{file}", path.display());
    }
    let digest = if text == digest { text } else { tools::digest::hex(text.as_bytes()) };
    (digest, program.words(root))
}

/// Writes a server into the person's file; one of the same name is replaced.
///
/// # Errors
/// When the entry cannot be used, or the file cannot be read or written.
pub fn add(settings: &Path, name: &str, value: &Value) -> io::Result<Entry> {
    let entry = entry::read(name, value).map_err(io::Error::other)?;
    change(settings, |servers| {
        servers.insert(name.to_owned(), value.clone());
        true
    })?;
    Ok(entry)
}

/// Takes a server out of the person's file; `false` when there was none.
///
/// # Errors
/// When the file cannot be read or written.
pub fn remove(settings: &Path, name: &str) -> io::Result<bool> {
    change(settings, |servers| servers.remove(name).is_some())
}

/// Takes back what the person said to a server, and removes what it downloaded; `false` when they had said nothing.
///
/// # Errors
/// When the file of agreements cannot be written, or its folder not be removed.
pub fn forget(data: &Path, project: Option<&Path>, entry: &Entry) -> io::Result<bool> {
    // First of all: it counts whatever becomes of the folder.
    let had = Approvals::in_data(data).forget(project, &entry.digest)?;
    CardFile::of(data, project, &entry.digest).remove();
    let folder = caches::folder(data, project, entry);
    caches::remove(&folder).map_err(|why| {
        let what = "your answer is forgotten, but what it downloaded cannot be removed; remove";
        io::Error::new(why.kind(), format!("{what} {} yourself: {why}", folder.display()))
    })?;
    Ok(had)
}

/// Changes the person's file and leaves everything else in it as it was.
fn change(settings: &Path, change: impl FnOnce(&mut Map<String, Value>) -> bool) -> io::Result<bool> {
    let file = settings.join(OWN);
    let mut all: Value = if file.exists() {
        let text = read_text(&file, None, MAX_FILE).map_err(io::Error::other)?;
        serde_json::from_str(&text).map_err(|why| {
            io::Error::other(format!("{} is not JSON, correct it first: {why}", file.display()))
        })?
    } else {
        json!({})
    };
    let servers = all.as_object_mut().map(|all| all.entry("mcpServers").or_insert_with(|| json!({})));
    let Some(servers) = servers.and_then(Value::as_object_mut) else {
        return Err(io::Error::other(format!(
            "{} has no object `mcpServers`, correct it first",
            file.display()
        )));
    };
    let changed = change(servers);
    if changed {
        write_private(&file, &format!("{all:#}\n"))?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_whose_program_changed_is_another_server() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap().join("work");
        let (config, data) = (Config::default(), dir.path().join("data"));
        std::fs::create_dir_all(project.join("pkg/deep")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(project.join(name), text).unwrap();
        let manifest = r#"{"main": "main.js", "scripts": {"start": "node srv.js"}}"#;
        for (line, file, good) in [
            (&["python3", "--script=srv.py"][..], "srv.py", ""),
            (&["python3", "-m", "srv"], "srv.py", ""),
            (&["python3", "-m", "pkg.run"], "pkg/deep/used.py", ""),
            (&["node", "."], "main.js", ""),
            (&["node", "."], "package.json", manifest),
            (&["npm", "start"], "srv.js", ""),
            (&["npm", "start"], "package.json", manifest),
            (&["uv", "run", "x"], "pyproject.toml", ""),
            (&["deno", "run", "-A", "main.ts"], "main.ts", ""),
            (&["sh", "-c", "exec python -m srv"], "srv.py", ""),
        ] {
            put("package.json", manifest);
            put(file, good);
            let servers_file = json!({"mcpServers": {"s": {"command": line[0], "args": line[1..]}}});
            put(".mcp.json", &servers_file.to_string());
            let see = || servers_in(&config, &data, Some(&project), &[]).0.remove(0);
            Approvals::in_data(&data).agree(Some(&project), &see().entry.digest, "x", None).unwrap();
            assert!(see().approved, "{line:?}");
            assert!(see().compared.unwrap().contains(file), "{line:?}: {:?}", see().compared);
            put("unrelated.txt", file);
            assert!(see().approved, "{line:?} has nothing to do with that");
            put(file, &format!("{good} "));
            assert!(!see().approved, "{line:?}: {file} changed");
        }
        // Where nothing is known the person is told so.
        put(".mcp.json", r#"{"mcpServers": {"s": {"command": "installed", "args": ["serve"]}}}"#);
        let compared = servers_in(&config, &data, Some(&project), &[]).0.remove(0).compared.unwrap();
        assert!(compared.contains("not among the files"), "{compared}");
    }

    #[test]
    fn a_folder_on_the_way_has_servers_of_its_own_which_wait_for_consent_by_themselves() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap();
        let (config, data) = (Config::default(), project.join("data"));
        std::fs::create_dir_all(project.join("a/b/c")).unwrap();
        std::fs::create_dir_all(project.join("other")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(project.join(name), text).unwrap();
        let of = |name: &str| json!({"mcpServers": {name: {"command": "python3", "args": ["srv.py"]}, "both": {"command": name}}});
        for (folder, name) in [("", "root"), ("a/", "middle"), ("a/b/c/", "near"), ("other/", "aside")] {
            put(&format!("{folder}.mcp.json"), &of(name).to_string());
            put(&format!("{folder}srv.py"), "1");
        }
        let at = |cwd: &str| {
            let folders = nested(&project, &project.join(cwd));
            servers_in(&config, &data, Some(&project), &folders).0
        };
        let names = |cwd: &str| at(cwd).into_iter().map(|one| one.entry.name).collect::<Vec<_>>();
        assert_eq!(names(""), ["both", "root"]);
        assert_eq!(names("a/b/c"), ["both", "near", "middle", "root"]);
        let near = at("a/b/c");
        assert!(
            matches!(&near[0].entry.way, Way::Child { command, .. } if command == "near"),
            "the nearest leads"
        );
        assert_eq!(near[1].folder.as_deref(), Some(&*project.join("a/b/c")));
        // A yes for one folder's is none for another's, also where they say the same.
        let both = |cwd: &str| at(cwd).remove(0);
        put("a/.mcp.json", &of("near").to_string());
        Approvals::in_data(&data).agree(Some(&project), &both("a/b/c").entry.digest, "x", None).unwrap();
        assert!(both("a/b/c").approved && !both("a").approved && !both("").approved);
        // Its program is the one beside it.
        let srv = || at("a/b/c").remove(1);
        Approvals::in_data(&data).agree(Some(&project), &srv().entry.digest, "x", None).unwrap();
        assert!(srv().approved && srv().compared.unwrap().contains("a/b/c/srv.py"));
        put("a/b/c/srv.py", "2");
        assert!(!srv().approved);
        assert!(nested(&project, Path::new("/elsewhere")).is_empty());
    }

    #[test]
    fn the_person_leads_and_a_project_waits_for_consent() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (settings, project, data) = (base.join("settings"), base.join("work"), base.join("data"));
        std::fs::create_dir(&project).unwrap();
        add(&settings, "mine", &json!({"command": "a"})).unwrap();
        add(&settings, "both", &json!({"command": "b"})).unwrap();
        let file = r#"{"mcpServers": {"both": {"command": "evil"}, "theirs": {"command": "c"}}}"#;
        std::fs::write(project.join(".mcp.json"), file).unwrap();
        let config = Config::default().at(None, Some(settings.clone()));
        let see = || {
            let (listed, errors) = servers_in(&config, &data, Some(&project), &[]);
            let seen: Vec<_> = listed
                .into_iter()
                .map(|one| (one.entry.name.clone(), one.from_project, one.approved, one.entry.digest))
                .collect();
            (seen, errors.len())
        };
        let (seen, errors) = see();
        let plain: Vec<(&str, bool, bool)> = seen.iter().map(|(n, p, a, _)| (n.as_str(), *p, *a)).collect();
        assert_eq!(plain, [("both", false, true), ("mine", false, true), ("theirs", true, false)]);
        assert_eq!(errors, 1);
        Approvals::in_data(&data).agree(Some(&project), &seen[2].3, "x", None).unwrap();
        assert!(see().0[2].2);
        assert!(remove(&settings, "both").unwrap() && !remove(&settings, "both").unwrap());
        assert!(!see().0[1].2, "a project's server of that name is no longer hidden, and not approved");
    }

    #[test]
    fn what_was_said_is_taken_back_also_where_a_cache_cannot_be_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (data, project) = (dir.path(), Some(Path::new("/p")));
        let entry = entry::read("s", &json!({"command": "a"})).unwrap();
        let approvals = Approvals::in_data(data);
        approvals.agree(project, &entry.digest, "x", None).unwrap();
        // No folder can be removed here, not even by root.
        let folder = caches::folder(data, project, &entry);
        std::fs::write(folder.parent().unwrap(), "").unwrap();
        let why = forget(data, project, &entry).unwrap_err().to_string();
        assert!(why.contains(&folder.display().to_string()), "{why}");
        assert!(!approvals.of(project, &entry.digest).approved);
    }

    #[test]
    fn the_servers_of_a_projects_settings_wait_for_consent_too() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap();
        let (config, data) = (Config::default(), project.join("data"));
        let write = |text: &str| std::fs::write(project.join(".codelia/config.json"), text).unwrap();
        std::fs::create_dir(project.join(".codelia")).unwrap();
        write(
            r#"{"version": 1, "permissions": {"allow": [{"tool": "mcp__docs__read"}, {"tool": "shell"}]}, "mcp": {"servers": {
                "docs": {"transport": "http", "url": "https://x/mcp"},
                "files": {"transport": "stdio", "command": "srv", "args": ["-v"], "enabled": false}}}}"#,
        );
        let see = || servers_in(&config, &data, Some(&project), &[]);
        let (listed, errors) = see();
        let seen: Vec<_> = listed.iter().map(|one| (one.entry.name.as_str(), one.entry.disabled)).collect();
        assert_eq!((seen, errors), (vec![("docs", false), ("files", true)], vec![]));
        assert!(listed.iter().all(|one| one.from_project && !one.approved));
        Approvals::in_data(&data).agree(Some(&project), &listed[0].entry.digest, "x", None).unwrap();
        assert!(see().0[0].approved && !see().0[1].approved);
        // One server that changed is another one; what is none of ours costs nothing.
        write(
            r#"{"version": 1, "mcp": {"servers": {"docs": {"transport": "http", "url": "https://y/mcp"}}}}"#,
        );
        assert!(!see().0[0].approved);
        write(r#"{"version": 1, "model": {"name": "m"}}"#);
        assert_eq!(see(), (vec![], vec![]));
        // The common file leads.
        std::fs::write(project.join(".mcp.json"), r#"{"mcpServers": {"docs": {"command": "a"}}}"#).unwrap();
        write(r#"{"mcp": {"servers": {"docs": {"transport": "http", "url": "https://y/mcp"}}}}"#);
        let (listed, errors) = see();
        assert!(matches!(listed[0].entry.way, Way::Child { .. }) && listed.len() == 1 && errors.len() == 1);
    }

    #[test]
    fn a_file_that_is_not_ours_to_mend_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mcp.json"), "{ // comment").unwrap();
        assert!(add(dir.path(), "a", &json!({"command": "x"})).is_err());
        assert_eq!(std::fs::read_to_string(dir.path().join("mcp.json")).unwrap(), "{ // comment");
        std::fs::write(dir.path().join("mcp.json"), r#"{"keep": 1, "mcpServers": {}}"#).unwrap();
        add(dir.path(), "a", &json!({"url": "http://x"})).unwrap();
        assert!(std::fs::read_to_string(dir.path().join("mcp.json")).unwrap().contains("\"keep\": 1"));
        assert!(add(dir.path(), "a", &json!({})).is_err());
    }
}
