//! What the scripted model wants, as a call of the tools that the agent under test offers: by what a tool is for and by its own schema,
//! or in the words of another harness, as models do. Pure.

use super::heard::OfferedTool;
use serde_json::{Map, Value, json};

/// By what a tool is chosen, since every harness has its own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolRole {
    Read,
    Edit,
    Write,
    Run,
    Patch,
}

impl ToolRole {
    /// The tool in words, for "the agent offers no …".
    pub(super) fn words(self) -> &'static str {
        match self {
            ToolRole::Read => "tool that reads files",
            ToolRole::Edit => "tool that edits files",
            ToolRole::Write => "tool that writes files",
            ToolRole::Run => "tool that runs commands",
            ToolRole::Patch => "tool that takes patches",
        }
    }

    /// How harnesses call such a tool, without signs between words; the likelier ones first.
    fn names(self) -> &'static [&'static str] {
        match self {
            ToolRole::Read => {
                &["read", "readfile", "fileread", "readtextfile", "viewfile", "view", "openfile", "cat"]
            }
            ToolRole::Edit => {
                &["edit", "editfile", "fileedit", "strreplace", "replace", "searchreplace", "replaceinfile"]
            }
            ToolRole::Write => {
                &["write", "writefile", "filewrite", "createfile", "writetofile", "writetextfile"]
            }
            ToolRole::Run => &[
                "bash",
                "shell",
                "runshellcommand",
                "shellcommand",
                "execcommand",
                "runterminalcmd",
                "executecommand",
                "runcommand",
                "executebash",
                "terminal",
                "execute",
                "exec",
            ],
            ToolRole::Patch => &["applypatch", "patch"],
        }
    }

    /// The same for a tool that does several of these, by a word for what is wanted.
    fn verbs(self) -> &'static [&'static str] {
        match self {
            ToolRole::Read => &["view", "read"],
            ToolRole::Edit => &["str_replace", "replace", "edit"],
            ToolRole::Write => &["create", "write"],
            ToolRole::Run | ToolRole::Patch => &[],
        }
    }

    /// The tool that the agent has for it.
    pub(super) fn among(self, tools: &[OfferedTool]) -> Option<&OfferedTool> {
        let by_name =
            self.names().iter().find_map(|name| tools.iter().find(|tool| plain(&tool.name) == *name));
        by_name.or_else(|| {
            let is_editor = |tool: &&OfferedTool| EDITORS.contains(&plain(&tool.name).as_str());
            tools
                .iter()
                .filter(is_editor)
                .find(|tool| verb(&tool.schema["properties"]["command"], self).is_some())
        })
    }
}

/// Tools that view, write and edit, by a word for what is wanted.
const EDITORS: [&str; 3] = ["strreplaceeditor", "strreplacebasededittool", "texteditor"];

/// A name without the server or group before it and without signs between its words.
fn plain(name: &str) -> String {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    let last = last.rsplit("__").next().unwrap_or(last);
    last.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The word that such a tool has for a role.
fn verb(schema: &Value, role: ToolRole) -> Option<&'static str> {
    let offered = schema.get("enum").and_then(Value::as_array)?;
    role.verbs().iter().copied().find(|verb| offered.iter().any(|word| word == verb))
}

/// A call as the model wants it or writes it. `{cwd}` in any text becomes the folder of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallForm {
    /// As the agent's own schema wants it.
    Read {
        path: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
    },
    Write {
        path: String,
        text: String,
    },
    Run {
        command: String,
    },
    /// The agent's own tool, with these arguments.
    Own {
        role: ToolRole,
        args: String,
    },
    /// The tool of another harness that does what the agent has a tool for.
    Foreign {
        role: ToolRole,
        name: &'static str,
        args: String,
    },
    /// The arguments as a text of JSON within JSON.
    Twice(Box<CallForm>),
    /// Line breaks within texts as they are, which JSON does not allow.
    RawBreaks(Box<CallForm>),
}

/// A name and arguments.
pub(super) type NamedCall = (String, String);

impl CallForm {
    /// The call, in the words of an agent that offers these tools; or what it has no tool for.
    pub(super) fn call(&self, tools: &[OfferedTool], cwd: &str) -> Result<NamedCall, ToolRole> {
        let here = |text: &str| text.replace("{cwd}", cwd);
        let own = |role: ToolRole, words: &[(Word, &str)]| {
            let words: Vec<(Word, String)> = words.iter().map(|(word, text)| (*word, here(text))).collect();
            let tool = role.among(tools)?;
            Some((tool.name.clone(), filled(&tool.schema, role, &words).to_string()))
        };
        let run = |command: &str| own(ToolRole::Run, &[(Word::Command, command)]);
        let patch = |text: String| own(ToolRole::Patch, &[(Word::Patch, &text)]);
        match self {
            CallForm::Read { path } => own(ToolRole::Read, &[(Word::Path, path)])
                .or_else(|| run(&format!("cat '{path}'")))
                .ok_or(ToolRole::Read),
            CallForm::Edit { path, old, new } => {
                own(ToolRole::Edit, &[(Word::Path, path), (Word::Old, old), (Word::New, new)])
                    .or_else(|| patch(as_patch(path, old, new)))
                    .ok_or(ToolRole::Edit)
            }
            CallForm::Write { path, text } => own(ToolRole::Write, &[(Word::Path, path), (Word::Text, text)])
                .or_else(|| {
                    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
                    patch(format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"))
                })
                .or_else(|| run(&format!("cat > '{path}' <<'END_OF_FILE'\n{text}END_OF_FILE")))
                .ok_or(ToolRole::Write),
            CallForm::Run { command } => run(command).ok_or(ToolRole::Run),
            CallForm::Own { role, args } => {
                role.among(tools).map(|tool| (tool.name.clone(), here(args))).ok_or(*role)
            }
            CallForm::Foreign { role, name, args } => {
                let could = role
                    .among(tools)
                    .or_else(|| ToolRole::Edit.among(tools).filter(|_| *role == ToolRole::Patch));
                could.map(|_| ((*name).to_owned(), here(args))).ok_or(*role)
            }
            CallForm::Twice(form) => {
                let (name, args) = form.call(tools, cwd)?;
                Ok((name, Value::from(args).to_string()))
            }
            CallForm::RawBreaks(form) => {
                let (name, args) = form.call(tools, cwd)?;
                Ok((name, args.replace("\\n", "\n")))
            }
        }
    }
}

/// An edit as a patch.
fn as_patch(path: &str, old: &str, new: &str) -> String {
    let side =
        |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    format!(
        "*** Begin Patch\n*** Update File: {path}\n@@\n{}{}*** End Patch\n",
        side('-', old),
        side('+', new)
    )
}

/// What an argument is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Path,
    Old,
    New,
    Text,
    Command,
    Patch,
}

impl Word {
    /// What an argument of this name is about.
    fn of(name: &str) -> Option<Word> {
        Some(match plain(name).as_str() {
            "path" | "filepath" | "file" | "filename" | "targetfile" | "absolutepath" => Word::Path,
            "old" | "oldstring" | "oldstr" | "oldtext" | "search" | "find" | "before" => Word::Old,
            "new" | "newstring" | "newstr" | "newtext" | "replace" | "replacement" | "after" => Word::New,
            "content" | "contents" | "filetext" | "filecontent" | "text" => Word::Text,
            "command" | "cmd" | "commandline" | "script" => Word::Command,
            "patch" | "input" | "patchtext" | "diff" => Word::Patch,
            _ => return None,
        })
    }
}

/// Arguments that a schema takes: what is wanted under the names that it has, and of the rest only what it demands.
fn filled(schema: &Value, role: ToolRole, words: &[(Word, String)]) -> Value {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let is_required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name))
    };
    let mut args = Map::new();
    for (name, property) in properties {
        let known = Word::of(name).and_then(|word| words.iter().find(|(other, _)| *other == word));
        let kind = kind(property);
        let value = match (known, kind) {
            (Some((Word::Command, command)), "array") => Some(json!(["bash", "-lc", command])),
            (Some((_, text)), "string") => Some(json!(text)),
            (_, "array") if holds_edits(property) => Some(json!([filled(&property["items"], role, words)])),
            _ if verb(property, role).is_some() => verb(property, role).map(Value::from),
            _ if is_required(name) => Some(something(property, kind)),
            _ => None,
        };
        args.extend(value.map(|value| (name.clone(), value)));
    }
    Value::Object(args)
}

/// The type of a property; of several, the first.
fn kind(property: &Value) -> &str {
    let of = |schema: &'_ Value| match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).map(str::to_owned),
        kind => kind.as_str().map(str::to_owned),
    };
    let any = property["anyOf"].as_array().into_iter().flatten().find_map(of);
    match of(property).or(any).as_deref() {
        Some("array") => "array",
        Some("object") => "object",
        Some("boolean") => "boolean",
        Some("integer" | "number") => "number",
        _ => "string",
    }
}

fn holds_edits(property: &Value) -> bool {
    let items = property["items"]["properties"].as_object();
    items.is_some_and(|items| items.keys().any(|name| Word::of(name) == Some(Word::Old)))
}

/// Any value of a type.
fn something(property: &Value, kind: &str) -> Value {
    match (property["enum"].get(0), kind) {
        (Some(first), _) => first.clone(),
        (None, "array") => json!([]),
        (None, "object") => json!({}),
        (None, "boolean") => json!(false),
        (None, "number") => property.get("minimum").cloned().unwrap_or(json!(1)),
        (None, _) => json!("check"),
    }
}
