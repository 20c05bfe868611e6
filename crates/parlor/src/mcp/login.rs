//! `parlor mcp login` and `parlor mcp logout`: the person's yes in a browser, for a server behind a URL.
//!
//! Invariant: no browser is opened before the person saw who asks for their yes, and at which address.

use crate::browser;
use crate::exit::{self, Exit};
use crate::output;
use domain::harmless;
use engine::WorkDir;
use engine::mcp::{self, BegunLogin, BrowserLogin, Entry, Listed, Logins};
use host::launch::Launch;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;
use tui::{Echo, TypedLine, ask_line};

/// How long a browser is waited for.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Forgets the login at a server; whether there was one.
pub(super) fn forget(data: &Path, entry: &Entry) -> anyhow::Result<bool> {
    Ok(Logins::in_data(data).forget(entry)?)
}

/// Logs in at a server, and says whether it lets us in then.
pub(super) async fn login(
    launch: &Launch,
    listed: &Listed,
    data: &Path,
    work_dir: &WorkDir,
) -> anyhow::Result<Exit> {
    let name = &listed.entry.name;
    if launch.ephemeral {
        return Err(exit::usage(
            "nothing is to be kept on disk (--ephemeral, or PARLOR_EPHEMERAL), and a login is\n\nhint: leave it out",
        ));
    }
    let failed = |why: String| {
        anyhow::anyhow!("{name}: {why}\nhint: `parlor mcp test {name}` tells how the server is")
    };
    match mcp::begin_login(listed, data, work_dir).await.map_err(failed)? {
        BegunLogin::Needless => {
            output::print_line(&format!("{name} lets Parlor in already: no login is needed"));
            return Ok(Exit::Done);
        }
        BegunLogin::Done => {}
        BegunLogin::Browser(login) => {
            tell(name, &login);
            let code = match tokio::time::timeout(PATIENCE, answer(&login)).await {
                Ok(answer) => answer?,
                Err(_) => Ok(Err(format!("nobody came back within {} minutes", PATIENCE.as_secs() / 60))),
            };
            let code = match code {
                Ok(code) => code.map_err(failed)?,
                Err(exit) => {
                    output::print_error("nothing was kept");
                    return Ok(exit);
                }
            };
            login.finish(&code).await.map_err(failed)?;
        }
    }
    let tested = mcp::lets_in(listed, data, work_dir).await;
    let tested = tested.map_err(|why| failed(format!("the login is kept, and {why}")))?;
    output::print_line(&format!("logged in at {name}, which has {} tools", tested.tools.len()));
    Ok(Exit::Done)
}

/// Who asks for what, and where.
fn tell(name: &str, login: &BrowserLogin) {
    output::print_error(&format!("{name} wants your yes, which you give at {}", login.place()));
    if let Some(scope) = login.scope() {
        output::print_error(&format!("for: {scope}"));
    }
    output::print_error("Open this address in your browser:\n");
    output::print_line(&harmless::in_line(login.address()));
    output::print_error("");
}

/// What the browser brings, here or typed; the inner error is why it brings nothing, the outer one that the person left.
async fn answer(login: &BrowserLogin) -> anyhow::Result<Result<Result<String, String>, Exit>> {
    if !std::io::stdin().is_terminal() {
        return Ok(Ok(login.wait().await));
    }
    let question =
        "Enter opens it here; a browser elsewhere ends at an address that you paste here (Ctrl-C leaves): ";
    loop {
        let typed = tokio::select! {
            back = login.wait() => return Ok(Ok(back)),
            typed = ask_line(question, Echo::Shown) => typed?,
        };
        match typed {
            TypedLine::Line(line) if line.trim().is_empty() => browser::open(login.address()).await,
            TypedLine::Line(line) => match login.pasted(&line) {
                Ok(code) => return Ok(Ok(Ok(code))),
                Err(why) => output::print_error(&why),
            },
            TypedLine::Unusable(why) => output::print_error(why),
            TypedLine::Cancelled => return Ok(Err(Exit::Cancelled(tui::StopSignal::Interrupt))),
            TypedLine::Told(signal) => return Ok(Err(Exit::Cancelled(signal))),
        }
    }
}
