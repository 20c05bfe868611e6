//! Servers that the person has configured for other programs, to be taken over. Reads their files and changes none.
//!
//! What is found is shown before anything is taken: an entry runs a program. Keys that stand in an entry go with it, into a file that is
//! the person's alone.

use super::entry::{self, Entry};
use crate::text_sources::read_text;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Largest file that is read: Claude Code keeps much else in the same one.
const MAX_FILE: u64 = 32 * 1024 * 1024;
/// Most servers that are found.
const MAX_FOUND: usize = 200;

/// How a program writes its servers down.
#[derive(Debug, Clone, Copy)]
enum BookForm {
    /// JSON with an object of servers under this name.
    Json(&'static str),
    /// The same, with more under `projects` by folder.
    ByFolder,
    /// TOML with a table `mcp_servers`.
    Toml,
}

/// The programs, with their files below the home.
const PROGRAMS: &[(&str, &str, BookForm)] = &[
    ("Claude Code", ".claude.json", BookForm::ByFolder),
    ("Claude Desktop", ".config/Claude/claude_desktop_config.json", BookForm::Json("mcpServers")),
    ("Codex", ".codex/config.toml", BookForm::Toml),
    ("Cursor", ".cursor/mcp.json", BookForm::Json("mcpServers")),
    ("VS Code", ".config/Code/User/mcp.json", BookForm::Json("servers")),
];

/// A server that another program has.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    pub program: &'static str,
    pub file: PathBuf,
    pub name: String,
    /// As it would stand in the person's file here.
    pub value: Value,
    /// The same, read; or why it cannot be used here.
    pub entry: Result<Entry, String>,
}

/// The servers of other programs for somebody who works in `project`; and files that cannot be read, with the reason.
pub fn elsewhere(home: &Path, project: Option<&Path>) -> (Vec<Foreign>, Vec<(PathBuf, String)>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for (program, file, form) in PROGRAMS {
        let file = home.join(file);
        if !file.exists() {
            continue;
        }
        match read_text(&file, None, MAX_FILE).and_then(|text| servers(&text, *form, project)) {
            Ok(servers) => found.extend(servers.into_iter().map(|(name, value)| Foreign {
                program,
                file: file.clone(),
                entry: entry::read(&name, &value),
                name,
                value,
            })),
            Err(why) => errors.push((file, why)),
        }
    }
    found.truncate(MAX_FOUND);
    (found, errors)
}

/// The servers in a file, as ours would stand. Pure.
fn servers(text: &str, form: BookForm, project: Option<&Path>) -> Result<Vec<(String, Value)>, String> {
    let json = || serde_json::from_str::<Value>(text).map_err(|why| format!("it is not JSON: {why}"));
    let of = |servers: &Value| -> Vec<(String, Value)> {
        let servers = servers.as_object().into_iter().flatten();
        servers.map(|(name, value)| (name.clone(), as_ours(value))).collect()
    };
    Ok(match form {
        BookForm::Json(name) => of(&json()?[name]),
        BookForm::ByFolder => {
            let file = json()?;
            let mut all = of(&file["mcpServers"]);
            if let Some(project) = project.and_then(Path::to_str) {
                all.extend(of(&file["projects"][project]["mcpServers"]));
            }
            all
        }
        BookForm::Toml => {
            let file: toml::Table =
                toml::from_str(text).map_err(|why| format!("it is not TOML: {}", why.message()))?;
            let servers = file.get("mcp_servers").cloned().unwrap_or_else(|| toml::Table::new().into());
            of(&serde_json::to_value(servers).map_err(|why| why.to_string())?)
        }
    })
}

/// What of an entry has a meaning here, by its usual names.
fn as_ours(value: &Value) -> Value {
    let take = |names: &[&str]| names.iter().find_map(|name| value.get(*name)).cloned();
    let mut ours = Map::new();
    for (name, names) in [
        ("type", &["type", "transport"][..]),
        ("command", &["command"]),
        ("args", &["args"]),
        ("env", &["env"]),
        ("url", &["url", "serverUrl"]),
        ("headers", &["headers", "http_headers"]),
    ] {
        ours.extend(take(names).map(|value| (name.to_owned(), value)));
    }
    // Some keep the name of a variable with the key instead of the key.
    if let Some(variable) = value.get("bearer_token_env_var").and_then(Value::as_str) {
        let headers = ours.entry("headers").or_insert_with(|| json!({}));
        if let Some(headers) = headers.as_object_mut() {
            headers.insert("Authorization".to_owned(), json!(format!("Bearer ${{{variable}}}")));
        }
    }
    Value::Object(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_of_five_programs_are_found_and_none_is_changed() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let put = |name: &str, text: &str| {
            std::fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
            std::fs::write(home.join(name), text).unwrap();
        };
        put(
            ".claude.json",
            r#"{"numStartups": 3, "mcpServers": {"a": {"type": "stdio", "command": "a", "args": ["-x"], "env": {"K": "v"}}},
                "projects": {"/work": {"mcpServers": {"b": {"type": "http", "url": "https://b/mcp"}}}, "/other": {"mcpServers": {"no": {"command": "no"}}}}}"#,
        );
        put(
            ".codex/config.toml",
            "model = \"x\"\n[mcp_servers.c]\ncommand = \"c\"\nargs = [\"1\"]\n[mcp_servers.d]\nurl = \"https://d/mcp\"\nbearer_token_env_var = \"D_KEY\"\n",
        );
        put(".cursor/mcp.json", r#"{"mcpServers": {"e": {"url": "https://e", "type": "sse"}}}"#);
        put(".config/Code/User/mcp.json", r#"{"servers": {"f": {"command": "f"}}, "inputs": []}"#);
        put(".config/Claude/claude_desktop_config.json", "{");
        let (found, errors) = elsewhere(home, Some(Path::new("/work")));
        let names: Vec<(&str, &str, bool)> =
            found.iter().map(|one| (one.program, one.name.as_str(), one.entry.is_ok())).collect();
        assert_eq!(
            names,
            [
                ("Claude Code", "a", true),
                ("Claude Code", "b", true),
                ("Codex", "c", true),
                ("Codex", "d", true),
                ("Cursor", "e", false),
                ("VS Code", "f", true)
            ]
        );
        assert_eq!(
            found[0].value,
            json!({"type": "stdio", "command": "a", "args": ["-x"], "env": {"K": "v"}})
        );
        assert_eq!(found[3].value["headers"], json!({"Authorization": "Bearer ${D_KEY}"}));
        assert_eq!(errors.len(), 1);
        assert!(errors[0].1.contains("not JSON"));
    }
}
