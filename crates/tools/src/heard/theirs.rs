//! Names of tools and arguments as other harnesses have them, and ours for them. Data, and the way to look it up.
//!
//! Names are compared by their letters and digits alone, so `ReadFile`, `read_file` and `read-file` are one.

/// Our name for something, and those that others have for it.
type Names = (&'static str, &'static [&'static str]);

const TOOLS: &[Names] = &[
    (
        "bash",
        &[
            "shell",
            "shellcommand",
            "localshell",
            "containerexec",
            "exec",
            "execcommand",
            "runshellcommand",
            "runcommand",
            "runterminalcmd",
            "runterminalcommand",
            "runinterminal",
            "executecommand",
            "executebash",
            "execute",
            "terminal",
            "developershell",
            "runbash",
            "bashtool",
        ],
    ),
    ("read", &["readfile", "view", "viewfile", "openfile"]),
    ("write", &["writefile", "createfile", "create", "writetofile", "savefile"]),
    (
        "edit",
        &[
            "multiedit",
            "editfile",
            "strreplace",
            "replace",
            "searchreplace",
            "replacestringinfile",
            "replaceinfile",
            "applydiff",
            "searchandreplace",
            "strreplacefile",
            "replacefilecontent",
        ],
    ),
    ("apply_patch", &["patch"]),
    ("grep", &["grepsearch", "searchfilecontent", "searchfiles", "grepfiles", "searchtext", "ripgrep", "rg"]),
    ("find", &["glob", "filesearch", "findpath", "findbyname", "globfiles", "findfiles"]),
    ("ls", &["list", "listdir", "listdirectory", "listfiles"]),
    ("todo", &["todowrite", "updateplan", "writetodos", "settodolist", "managetodolist"]),
    ("fetch", &["webfetch", "fetchwebpage", "fetchurl", "readurl"]),
    ("ask", &["askuser", "askfollowupquestion"]),
];

/// Others' tools that are our background commands, with what is done there.
const JOBS: &[(&str, &str)] =
    &[("bashoutput", "read"), ("killshell", "stop"), ("killbash", "stop"), ("commandstatus", "read")];

/// Tools that are several of ours, by what their argument `command` says.
const EDITORS: &[&str] =
    &["strreplacebasededittool", "strreplaceeditor", "texteditor", "developertexteditor"];

/// The arguments of our tools.
const ARGS: &[(&str, &[Names])] = &[
    (
        "bash",
        &[
            ("command", &["cmd", "script", "commandline"]),
            ("workdir", &["cwd", "cd", "directory", "dirpath", "workingdirectory"]),
            ("background", &["runinbackground", "isbackground"]),
            ("timeout", &["timeoutseconds"]),
            ("unsandboxed", &["withescalatedpermissions", "dangerouslydisablesandbox"]),
            ("reason", &["justification"]),
        ],
    ),
    (
        "read",
        &[
            ("path", FILE),
            ("offset", &["startline", "start", "lineoffset", "startlineoneindexed"]),
            ("limit", &["lines", "linecount", "nlines"]),
            ("end_line", &["endline", "endlineoneindexedinclusive"]),
            ("view_range", &["viewrange", "readrange"]),
        ],
    ),
    (
        "write",
        &[("path", FILE), ("content", &["contents", "text", "filetext", "codecontent", "filecontent"])],
    ),
    (
        "edit",
        &[
            ("path", FILE),
            ("old", &["oldstring", "oldstr", "oldtext", "search", "targetcontent"]),
            ("new", &["newstring", "newstr", "newtext", "replace", "replacementcontent"]),
            ("all", &["replaceall", "changeall", "allowmultiple"]),
            ("edits", &["edit", "changes", "replacements", "replacementchunks"]),
        ],
    ),
    ("apply_patch", &[("input", &["patch", "patchtext", "diff"])]),
    (
        "grep",
        &[
            ("pattern", &["query", "regex"]),
            ("path", FOLDER),
            ("glob", &["include", "includepattern", "filepattern"]),
            ("ignore_case", &["i", "caseinsensitive"]),
            ("context", &["c", "contextlines"]),
            ("limit", &["maxresults", "headlimit"]),
        ],
    ),
    (
        "find",
        &[
            ("pattern", &["glob", "globpattern", "query", "name"]),
            ("path", FOLDER),
            ("limit", &["maxresults"]),
        ],
    ),
    ("ls", &[("path", FOLDER)]),
    ("todo", &[("items", &["todos", "plan", "tasks", "steps", "todolist"])]),
    ("fetch", &[("url", &["uri", "address"])]),
    ("bash_jobs", &[("id", &["bashid", "shellid", "taskid", "job", "jobid", "commandid"])]),
    ("ask", &[("message", &["question"])]),
];

const FILE: &[&str] = &["filepath", "file", "filename", "targetfile", "absolutepath", "targetpath"];
const FOLDER: &[&str] = &[
    "dir",
    "directory",
    "dirpath",
    "directorypath",
    "searchpath",
    "searchdirectory",
    "folder",
    "filepath",
    "cwd",
    "relativeworkspacepath",
];

/// What others put before the names of tools.
const PREFIXES: &[&str] = &["functions.", "functions:", "default_api.", "default_api:", "tools.", "tool."];

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meant {
    /// A tool of ours.
    Tool(String),
    /// Another's name for what is done with background commands.
    Job(&'static str),
    /// Several tools in one.
    Editor,
}

impl Meant {
    /// Our tool for it, as far as the name tells.
    pub(super) fn tool(&self) -> &str {
        match self {
            Meant::Tool(name) => name,
            Meant::Job(_) => "bash_jobs",
            Meant::Editor => "edit",
        }
    }

    /// Whether only the arguments tell which tool it is.
    pub(super) fn is_several(&self) -> bool {
        *self == Meant::Editor
    }
}

/// A name without what some put before it.
pub(super) fn bare(name: &str) -> &str {
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// The letters and digits of a name, small.
pub(super) fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// What a name means, by its letters.
pub(super) fn meant(letters: &str) -> Option<Meant> {
    if EDITORS.contains(&letters) {
        return Some(Meant::Editor);
    }
    if let Some((_, act)) = JOBS.iter().find(|(name, _)| *name == letters) {
        return Some(Meant::Job(act));
    }
    // A tool of ours that is not offered is found too: it may be reached all the same, or told to be switched off.
    let means = |(ours, theirs): &&Names| self::letters(ours) == letters || theirs.contains(&letters);
    TOOLS.iter().find(means).map(|(ours, _)| Meant::Tool((*ours).to_owned()))
}

/// Our name for an argument of our tool; `None` where it is ours already, or nobody's.
pub(super) fn argument(tool: &str, name: &str) -> Option<&'static str> {
    let (_, args) = ARGS.iter().find(|(ours, _)| *ours == tool)?;
    if args.iter().any(|(ours, _)| *ours == name) {
        return None;
    }
    let letters = letters(name);
    let means =
        |(ours, theirs): &&Names| self::letters(ours) == letters || theirs.contains(&letters.as_str());
    args.iter().find(means).map(|(ours, _)| *ours)
}
