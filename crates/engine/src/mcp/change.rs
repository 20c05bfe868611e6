//! A person lets a server reach something, or takes that back, while it runs: it is started again with what it may then.
//!
//! One extension command, so that a UI behind any wire that carries those can ask: `{"server": NAME, "network": true}`, and likewise
//! `project`, `programs` and `folders`; what is not named stays as it was. The answer is what it may reach then.

use super::question::ServerConsent;
use super::reach::{MAX_FOLDERS, Reach};
use super::server::{Project, Servers};
use domain::command::{Refusal, RefusalKind};
use domain::content::Json;
use domain::path_text;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use tools::Bounds;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReachRequest {
    server: String,
    network: Option<bool>,
    project: Option<bool>,
    programs: Option<bool>,
    folders: Option<Vec<String>>,
}

/// Does what is asked. Gives the project as it is then, of which the server is to be started. Reads and writes files.
pub(crate) fn change_reach(
    servers: &Servers,
    project: &Project,
    bounds: &Bounds,
    payload: &Json,
) -> Result<(Arc<Project>, Json), Refusal> {
    let invalid = |what: String| Refusal::new(RefusalKind::Invalid, what);
    let asked: ReachRequest = serde_json::from_str(payload.as_str()).map_err(|why| {
        invalid(format!("that says nothing of what a server may reach: {why}"))
            .hint(r#"say it like {"server": "NAME", "network": true}"#)
    })?;
    let Some(listed) = project.named(&asked.server) else {
        return Err(invalid(format!("there is no MCP server {}", asked.server))
            .hint("list the servers to see which there are"));
    };
    if listed.from_ui {
        let what = format!("{} came with this session, and is not held back", asked.server);
        return Err(invalid(what).hint("change it in the program that you prompt from"));
    }
    if listed.is_behind_a_url() {
        return Err(invalid(format!("{} runs elsewhere: it is not held here", asked.server)));
    }
    if !listed.approved {
        let hint = format!("agree first: `parlor mcp approve {}`", asked.server);
        return Err(
            invalid(format!("{} comes from the project and waits for your consent", asked.server)).hint(hint)
        );
    }
    let mut reach = listed.reach.clone().unwrap_or_default();
    let Reach { network, project: write, programs, folders } = &mut reach;
    for (known, wanted) in [(network, asked.network), (write, asked.project), (programs, asked.programs)] {
        *known = wanted.unwrap_or(*known);
    }
    if let Some(wanted) = asked.folders {
        *folders = checked(&wanted, bounds).map_err(invalid)?;
    }
    let said = ServerConsent { reach, download: false };
    let failed =
        |why: std::io::Error| Refusal::new(RefusalKind::Storage, format!("this could not be kept: {why}"));
    project.let_reach(&listed, &said).map_err(failed)?;
    let answer = json!({ "server": asked.server, "reach": said.reach });
    Ok((servers.project(project.site()), Json::verbatim(answer.to_string())))
}

/// Folders that a server can be let write in: what could be a project, so no home folder, no place of secrets, none of Parlor's own.
///
/// # Errors
/// Which cannot, and why.
pub fn checked(folders: &[String], bounds: &Bounds) -> Result<Vec<String>, String> {
    if folders.len() > MAX_FOLDERS {
        return Err(format!("a server can be let write in {MAX_FOLDERS} folders at most"));
    }
    let check = |folder: &String| match bounds.judge(&path_text::read(folder)) {
        Ok(real) if real.is_dir() => Ok(path_text::write(&real)),
        Ok(_) => Err(format!("{folder} is no folder")),
        Err(why) => Err(format!(
            "a server cannot be let write in {folder}: {why}; name a folder that could be a project"
        )),
    };
    folders.iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_no_server_may_write_in_is_refused_in_words_about_servers() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let bounds = Bounds::new(Some(&home), &[], &[]);
        let home = home.display().to_string();
        for (folder, why) in [
            ("/", "/ belongs to the whole system"),
            (home.as_str(), "is your home folder"),
            ("/proc/none", "No such file"),
        ] {
            let words = checked(&[folder.to_owned()], &bounds).unwrap_err();
            assert!(words.starts_with(&format!("a server cannot be let write in {folder}: ")), "{words}");
            assert!(words.contains(why) && !words.contains("workspace"), "{words}");
        }
    }
}
