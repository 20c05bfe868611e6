//! Another program's agent, whole, on the leash: it writes in the workspace and in the folders that were named, reads no secrets but its
//! own, and reaches the hosts that rules allow, by a proxy in a network of its own.
//!
//! What it is not: a way to have a single command held, which `bash` has. Invariants: it is all of it or an error, never a looser leash
//! than was asked for; nobody is asked in the middle, since it is the agent itself that waits; the way out ends with this value.

use crate::context::ToolContext;
use crate::error::ToolError;
use crate::gate::Gate;
use crate::proxy::{Asking, NAMES, WayOut};
use crate::sandbox::Leash;
use crate::steering::{self, Commits};
use crate::temp::Temp;
use std::ffi::OsString;
use std::io::{self, Error};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

/// Variables by which programs find temp.
const TEMP_NAMES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// What a program may have beside the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeashedPlaces {
    /// Folders that it may write in; they must be there.
    pub writable: Vec<PathBuf>,
    /// Places that it may read although they are closed otherwise, such as its own login.
    pub readable: Vec<PathBuf>,
}

/// How a program is started on the leash. To be kept for as long as it runs.
#[derive(Debug)]
pub struct Leashed {
    /// What stands before its command.
    pub guard: Vec<OsString>,
    /// What is set for it.
    pub env: Vec<(OsString, OsString)>,
    /// What the guard has as its stdin, and our end of what the program has as its own.
    pub stdin: Option<(Stdio, OwnedFd)>,
    _way: WayOut,
    /// Holds its network and its temp.
    _place: ToolContext,
}

impl Leashed {
    /// Puts a program on the leash that works in this place. `grace` is how long it may take to end once it is asked to; `line` names it
    /// where its way out is talked of. To be called within a tokio runtime.
    ///
    /// # Errors
    /// Where there is no guard or the kernel cannot hold it, and when a place is not there.
    pub async fn open(
        place: &ToolContext,
        places: &LeashedPlaces,
        gate: Arc<dyn Gate>,
        grace: Duration,
        line: &str,
    ) -> Result<Leashed, ToolError> {
        let at = place.workdir().to_owned();
        let failed = |source: Error| ToolError::io(&at)(source);
        let why = |words: String| failed(Error::other(words));
        let guard =
            place.guard().ok_or_else(|| why("there is nothing here that could hold it".to_owned()))?;
        let cannot = |lack: String| why(format!("it cannot be put in the sandbox: {lack}"));
        guard.networks().map_err(cannot)?;
        if !guard.holds() {
            return Err(why(
                "it cannot be put in the sandbox: this kernel holds no program well enough".to_owned()
            ));
        }
        let net = place.net().cloned().ok_or_else(|| why("it cannot have a separate network".to_owned()))?;
        let inside = net.clone();
        let listener = tokio::task::spawn_blocking(move || inside.listen(None)).await;
        let listener = listener.map_err(|_| why("its network broke down".to_owned()))?.map_err(failed)?;
        let way = WayOut::open(listener, gate.clone(), Asking::Nobody, line).map_err(failed)?;
        place.lead_in(&gate).await;
        let temp = place.temp().map_or(Ok(None), Temp::make).map_err(failed)?.map(ToOwned::to_owned);
        let (of, own, also) = (place.clone(), places.clone(), temp.clone());
        let leash = tokio::task::spawn_blocking(move || leash(&of, &own, also)).await;
        let leash = leash.map_err(|_| why("the look at its folders broke down".to_owned()))?;
        let (theirs, ours) = io::pipe().map_err(failed)?;
        let pass = net.pass_with(&theirs).map_err(failed)?;
        let named = NAMES.iter().find(|name| place.variable(name).is_some_and(|value| !value.is_empty()));
        if let Some(name) = named {
            // That one would look names up by itself, so nothing could be judged here.
            return Err(why(format!(
                "{name} names a proxy of yours, by which it would reach any host: unset it"
            )));
        }
        let mut env: Vec<(OsString, OsString)> =
            way.variables().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        if temp.is_some() {
            env.extend(TEMP_NAMES.map(|name| (name.into(), "/tmp".into())));
        }
        let guard = guard.leashed(grace, &leash);
        Ok(Leashed { guard, env, stdin: Some((pass, ours.into())), _way: way, _place: place.clone() })
    }
}

fn leash(place: &ToolContext, places: &LeashedPlaces, temp: Option<PathBuf>) -> Leash {
    let mut writable: Vec<PathBuf> = place.root().map(ToOwned::to_owned).into_iter().collect();
    let (mut locked, mut pinned) = (Vec::new(), Vec::new());
    for folder in &writable {
        let (more, also) = steering::locks(folder, Commits::Not);
        locked.extend(more);
        pinned.extend(also);
    }
    writable.extend(places.writable.iter().cloned());
    let readable = places.readable.clone();
    Leash { writable, readable, locked, pinned, own_network: true, temp, ..Leash::default() }
}
