//! What a tool is: a spec for the model, a plan for the person, a run for the machine.
//!
//! Invariants: a plan changes nothing; its digest covers everything that a consent was given for (tool, arguments,
//! working directory, the files it would touch as they are now). The caller compares digests once more before a run.

use crate::address::Host;
use crate::context::ToolContext;
use crate::rule::Rule;
use domain::ask::{ActionDigest, Assessment, Preview, Risk};
use domain::tool::ToolResult;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::error::ToolError;
pub use crate::port::{BoxFuture, Outcome, Port, Question};
pub use crate::rule::RuleOffer;
pub(crate) use crate::title::one_line;

/// What every reason says that is about a place which is closed to commands.
pub(crate) const KEEPS_SECRETS: &str = "where people keep secrets";

/// What the model is told about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The name it is called by.
    pub name: String,
    /// What it does and when to take it.
    pub description: String,
    /// JSON schema of the arguments.
    pub schema: Value,
    /// Whether no call of it ever changes anything, so that several may run at once.
    pub read_only: bool,
}

/// What kind of act a plan is: what rules and policy look at.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// Looks at files only.
    Read,
    /// Looks where the leash lets no command look: keys, logins, our own folders.
    ReadClosed,
    Write {
        /// The files, canonical.
        paths: Vec<PathBuf>,
    },
    /// Runs a command line.
    Command {
        /// What it would do.
        judgement: Box<crate::shell::Judgement>,
        /// What it wants beyond the leash.
        leaves: Leaves,
    },
    /// Asks another machine for a page.
    Fetch {
        /// The host, with its port where that is not the usual one.
        host: String,
    },
    /// Lets a command that runs reach a host by the session's proxy.
    Reach {
        /// The host, with its port where that is not a usual one.
        host: String,
    },
    /// Anything else: only a rule for the whole tool can cover it.
    Other,
}

/// What a command wants beyond the leash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leaves {
    pub network: bool,
    /// To run free of it, or to begin outside the project.
    pub free: bool,
}

/// What a call would do. Nothing has happened yet.
#[derive(Debug, Clone)]
pub struct Plan {
    pub tool: String,
    /// The arguments as the model wrote them.
    pub args: Value,
    /// Where it would happen.
    pub place: ToolContext,
    /// One short line for a person.
    pub title: String,
    /// How dangerous it is, and why.
    pub assessment: Assessment,
    /// What the person may look at before deciding.
    pub preview: Option<Preview>,
    /// What a consent is bound to.
    pub digest: ActionDigest,
    /// What "always" would mean; `None` when it should be asked each time.
    pub rule: Option<RuleOffer>,
    /// Whether this call changes nothing.
    pub read_only: bool,
    /// What policy and rules look at.
    pub deed: Deed,
    /// The file or folder that it is about, every link followed; `None` when there is not exactly one.
    pub path: Option<PathBuf>,
    /// Whether all that it would write stands there already.
    pub writes_the_same: bool,
    /// Why neither undo nor git brings back what it changes, where that is so.
    pub unkept: Option<String>,
}

impl Plan {
    /// A plan that reads only and harms nothing; the digest covers tool, arguments and working directory.
    pub fn reading(tool: &str, args: &Value, place: &ToolContext, title: impl Into<String>) -> Plan {
        let mut assessment =
            Assessment { risk: Risk::Low, reasons: Vec::new(), reversible: true, unrated: false };
        if let Some(c) = unseen(args) {
            assessment.risk = Risk::High;
            assessment.reasons.push(format!(
                "holds characters that cannot be seen (U+{:04X}): it is not what it looks like",
                u32::from(c)
            ));
        }
        Plan {
            tool: tool.to_owned(),
            args: args.clone(),
            place: place.clone(),
            title: one_line(&title.into()),
            assessment,
            preview: None,
            digest: crate::digest::action(tool, args, place.workdir(), &[]),
            rule: None,
            read_only: true,
            deed: Deed::Read,
            path: None,
            writes_the_same: false,
            unkept: None,
        }
    }

    /// That a command of `bash` reaches a host while it runs: what the session's proxy has decided.
    pub fn reaching(host: &Host, place: &ToolContext) -> Plan {
        let args = serde_json::json!({"host": host.to_string()});
        let mut plan = Plan::reading("bash", &args, place, format!("reach {host}"));
        plan.raise(Risk::High, format!("sends to {host} what it likes of what it can read"));
        plan.assessment.reversible = false;
        (plan.read_only, plan.deed) = (false, Deed::Reach { host: host.to_string() });
        let rule = Rule::reach(host);
        // Rules are for a project: where there is no workspace nothing is remembered.
        plan.rule = place.root().map(|_| RuleOffer { words: rule.to_string(), rules: vec![rule] });
        plan
    }

    /// Whether it would write what is there already, in files of the workspace that anybody may change: nobody needs to be asked.
    pub(crate) fn changes_nothing(&self) -> bool {
        let Deed::Write { paths } = &self.deed else { return false };
        let plain = |path: &PathBuf| {
            self.place.inside(path)
                && self.place.readable(path)
                && self.place.steering_when_written(path).is_none()
        };
        self.writes_the_same
            && self.assessment.reversible
            && self.assessment.risk <= Risk::Medium
            && paths.iter().all(plain)
    }

    /// Takes in that `path`, every link in it followed, is read: routine in the workspace, more than that elsewhere, and most where the
    /// leash would let no command look.
    pub(crate) fn reads(&mut self, path: &Path) {
        self.path = Some(path.to_owned());
        if self.place.readable(path) {
            return;
        }
        let shown = domain::path_text::write(path);
        if self.place.closed().holds(path) {
            self.raise(Risk::High, format!("reads {shown}, {KEEPS_SECRETS}"));
            self.deed = Deed::ReadClosed;
        } else {
            self.raise(Risk::High, format!("reads {shown}, outside the project"));
        }
    }

    /// Where `text` leads now, when that is where it led as this was planned.
    pub(crate) fn path_again(&self, text: &str) -> Result<PathBuf, ToolError> {
        let path = self.place.resolve(text)?;
        if self.path.as_ref() == Some(&path) {
            Ok(path)
        } else {
            Err(ToolError::Stale { tool: self.tool.clone() })
        }
    }

    /// Takes in that neither undo nor git brings back what this changes, and says so to whoever is asked. A command that only looks
    /// changes nothing.
    pub fn cannot_be_undone(&mut self, why: &str) {
        if matches!(&self.deed, Deed::Command { judgement, .. } if judgement.looks() || judgement.read_only())
        {
            return;
        }
        self.unkept = Some(why.to_owned());
        self.assessment.reversible = false;
        self.assessment.reasons.insert(0, format!("cannot be undone: {why}"));
    }

    /// Raises the risk, never lowers it, and says why.
    pub fn raise(&mut self, risk: Risk, reason: impl Into<String>) {
        self.assessment.risk = self.assessment.risk.max(risk);
        self.assessment.reasons.push(reason.into());
    }
}

/// One use of a tool: `plan` looks, `run` does.
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> Spec;
    /// The name it is called by.
    fn name(&self) -> String {
        self.spec().name
    }
    /// For a tool that something outside of us performs: the tool as that offers it now, once it is there. A call is planned, decided on and
    /// run with what this gives, never with what was known of it before.
    ///
    /// # Errors
    /// Why there is no such tool any more, in words for the model.
    fn as_of_now(&self) -> Option<BoxFuture<'static, Result<Arc<dyn Tool>, String>>> {
        None
    }
    /// What this call would do. May read files, so call it where blocking is allowed. Never changes anything.
    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError>;
    /// Does what was planned. Ends soon after `port.cancel` fires.
    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome>;
}

/// Whether `plan` still says what would happen: plans once more and compares digests. To be called just before a run.
pub fn still_valid(tool: &dyn Tool, plan: &Plan) -> Result<(), ToolError> {
    plan.place.look_again();
    let again = tool.plan(&plan.args, &plan.place)?;
    if again.digest == plan.digest { Ok(()) } else { Err(ToolError::Stale { tool: plan.tool.clone() }) }
}

/// A character in the arguments that a screen leaves out, and that a reader would have to know of.
fn unseen(args: &Value) -> Option<char> {
    match args {
        Value::String(text) => text.chars().find(|c| domain::harmless::is_harmful(*c) && !c.is_control()),
        Value::Array(items) => items.iter().find_map(unseen),
        Value::Object(map) => map.values().find_map(unseen),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Runs blocking work of a tool at its place; a cancel answers at once although the work may still end in the background.
pub(crate) fn blocking(
    place: ToolContext,
    port: Port,
    work: impl FnOnce() -> Result<ToolResult, ToolError> + Send + 'static,
) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        if port.cancel.is_cancelled() {
            return Outcome::cancelled();
        }
        let task = tokio::task::spawn_blocking(work);
        tokio::select! {
            biased;
            ended = task => match ended {
                Ok(result) => Outcome::from(result.map_err(|why| place.named(why))),
                Err(_) => Outcome::failed("the tool broke down; try another way"),
            },
            () = port.cancel.cancelled() => Outcome::cancelled(),
        }
    })
}

/// Runs the work of a tool that walks through a folder, by a thread that can read nothing beside it where the kernel knows such limits: a
/// command that runs meanwhile may put links into the workspace at any time, and a walk goes by names.
pub(crate) fn walking(
    plan: Plan,
    port: Port,
    work: impl FnOnce(&Plan, &Path) -> Result<ToolResult, ToolError> + Send + 'static,
) -> BoxFuture<'static, Outcome> {
    blocking(plan.place.clone(), port, move || {
        let stale = || ToolError::Stale { tool: plan.tool.clone() };
        let start = plan.path.clone().ok_or_else(stale)?;
        // What leaves files out of a walk may stand above where it begins, but not outside the project.
        let top = plan.place.root().filter(|root| start.starts_with(root)).unwrap_or(&start).to_owned();
        let walk = std::thread::Builder::new().spawn(move || {
            crate::sandbox::read_only_beneath(&top).map_err(ToolError::at_path("walk", &top))?;
            work(&plan, &start)
        });
        let broken = |_| ToolError::Args { tool: "walk".into(), why: "broke down; try another way".into() };
        walk.map_err(ToolError::io(Path::new("/")))?.join().map_err(broken)?
    })
}
