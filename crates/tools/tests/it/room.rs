//! A workplace of its own for each test.

use domain::ask::Risk;
use domain::tool::{Progress, ToolOutcome};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::{Outcome, Plan, Port, Tool, ToolContext, Toolbox, still_valid};

/// Where programs are looked for.
pub(crate) const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

/// A workspace in a directory that goes away with the test.
pub(crate) struct Room {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) place: ToolContext,
    pub(crate) toolbox: Toolbox,
}

impl Room {
    pub(crate) fn new() -> Room {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        Room::within(dir)
    }

    /// The same workspace with what is in it, for a session that begins now.
    pub(crate) fn begun_again(self) -> Room {
        Room::within(self.dir)
    }

    fn within(dir: tempfile::TempDir) -> Room {
        let place = ToolContext::new(&dir.path().join("work"), &dir.path().join("outputs")).unwrap();
        let env = [("PATH", SYSTEM), ("HOME", "/nonexistent"), ("LANG", "C.UTF-8")];
        let place = place.with_env(env.map(|(name, value)| (name.into(), value.into())).into_iter());
        let place = place.with_home(&dir.path().canonicalize().unwrap().join("home"));
        Room { dir, place, toolbox: Toolbox::standard() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.root().unwrap().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a file of the person's home.
    pub(crate) fn put_home(&self, name: &str, text: &str) {
        let path = self.dir.path().join("home").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        self.toolbox.get(name).unwrap()
    }

    pub(crate) fn plan(&self, name: &str, args: &Value) -> Result<Plan, String> {
        self.tool(name).plan(args, &self.place).map_err(|error| error.to_string())
    }

    pub(crate) fn risk(&self, name: &str, args: &Value) -> Risk {
        self.plan(name, args).unwrap().assessment.risk
    }

    /// Plans, checks and runs one call, without live output.
    pub(crate) async fn call(&self, name: &str, args: Value) -> Outcome {
        let (port, _news) = port();
        self.call_with(name, args, port).await
    }

    pub(crate) async fn call_with(&self, name: &str, mut args: Value, port: Port) -> Outcome {
        let tool = self.tool(name);
        if args["network"] == true || args["unsandboxed"] == true {
            // What is not about the reason need not give one.
            args["reason"] = args.get("reason").cloned().unwrap_or_else(|| "a test".into());
        }
        match tool.plan(&args, &self.place) {
            Err(error) => Outcome::failed(error.to_string()),
            Ok(plan) => {
                still_valid(&*tool, &plan).unwrap();
                tool.run(plan, port).await
            }
        }
    }

    /// The text of a call that must work.
    pub(crate) async fn done(&self, name: &str, args: Value) -> String {
        let outcome = self.call(name, args).await;
        assert_eq!(outcome.outcome, ToolOutcome::Done, "{}", outcome.result.text);
        outcome.result.text
    }

    /// The text of a call that must fail.
    pub(crate) async fn failed(&self, name: &str, args: Value) -> String {
        let outcome = self.call(name, args).await;
        assert_eq!(outcome.outcome, ToolOutcome::Failed, "{}", outcome.result.text);
        outcome.result.text
    }
}

/// A port, and where its live output can be read.
pub(crate) fn port() -> (Port, mpsc::Receiver<Progress>) {
    let (progress, news) = mpsc::channel(16);
    let (asks, _) = mpsc::channel(1);
    (Port { progress, asks, cancel: CancellationToken::new(), gate: None }, news)
}
