//! MCP servers: how each is, and below it what it may reach, a line each that Enter opens or closes. The runtime keeps it and starts the
//! server again; here it is only a list.

use crate::clean::clean_line;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::picker::{Choice, Item, ReachLine};
use domain::command::{Command, SERVER_REACH};
use domain::content::Json;
use domain::session::{ServerEntry, ServerState};
use serde_json::json;

/// Characters of why one failed that most screens have room for beside its name.
const SHORT: usize = 40;

/// The lines of the list.
pub(super) fn items(servers: Vec<ServerEntry>) -> Vec<Item> {
    servers.into_iter().flat_map(lines).collect()
}

fn lines(server: ServerEntry) -> Vec<Item> {
    let (sign, state) = match &server.state {
        ServerState::Disabled => ("  ", "switched off, or it waits for your consent".to_owned()),
        ServerState::Connecting => ("… ", "connecting".to_owned()),
        ServerState::Ready => ("✓ ", format!("ready, {} tools", server.tools.unwrap_or(0))),
        ServerState::Failed(why) => ("✗ ", format!("failed: {}", clean_line(why))),
        ServerState::AuthRequired => {
            ("! ", format!("needs login: parlor mcp login {}", clean_line(&server.id)))
        }
    };
    // A line is often cut; the whole of why it failed, or of what lets it in, stands below the list.
    let more = match &server.state {
        ServerState::Failed(why) if why.chars().count() > SHORT => clean_line(why),
        ServerState::AuthRequired => state.clone(),
        _ => String::new(),
    };
    let line = |sign, label: String, detail: String, choice, more| Item {
        cells: Vec::new(),
        label,
        detail,
        choice,
        sign,
        more,
    };
    let name = clean_line(&server.id);
    let mut lines = vec![line(sign, name.clone(), state, Choice::Nothing, more)];
    let Some(reach) = server.reach else { return lines };
    let parts = [
        ("network", reach.network, "the network", "it may use it", "it may not use it"),
        ("project", reach.project, "the project", "it may write in it", "it may only read it"),
        (
            "programs",
            reach.programs,
            "Docker, D-Bus and the like",
            "it may talk to them",
            "it may not talk to them",
        ),
    ];
    for (what, on, label, yes, no) in parts {
        let reach = ReachLine { server: server.id.clone(), what, on };
        let (sign, detail) = if on { ("☑ ", yes) } else { ("☐ ", no) };
        let label = format!("{name}: {label}");
        lines.push(line(sign, label, detail.to_owned(), Choice::Reach(Box::new(reach)), String::new()));
    }
    for folder in &reach.folders {
        let folder = clean_line(folder);
        lines.push(line(
            "☑ ",
            format!("{name}: {folder}"),
            "it may write in it".to_owned(),
            Choice::Nothing,
            String::new(),
        ));
    }
    lines
}

/// Opens what is closed to a server, or closes it again.
pub(super) fn switch(model: &mut Model, line: &ReachLine, fx: &mut Vec<Fx>) {
    let asked = json!({ "server": line.server, line.what: !line.on });
    let payload = Json::verbatim(asked.to_string());
    model.send(Want::Reach, Command::Extension { name: SERVER_REACH.to_owned(), payload }, fx);
}
