//! Further scenes of the gallery: a plan that may begin, a sub-agent that asks, ports, servers, and the question of another session.

use super::*;
use domain::session::{ServerEntry, ServerState};

/// The question of a session that runs elsewhere, as the fleet shows it whole.
pub(super) fn elsewhere() -> Ask {
    let diff = "@@ -40,4 +40,6 @@\n     loop {\n-        let line = inbox.recv();\n+        let Some(line) = inbox.recv() else {\n+            return;\n+        };\n         send(line);\n";
    let preview = Preview::Diff { path: "src/bridge.rs".into(), text: diff.into() };
    let args = r#"{"path":"src/bridge.rs"}"#;
    let kind = consent_to(ToolRunId(3), "write", args, preview, Risk::Medium, "changes a file");
    let kind = AskKind::Consent(Box::new(kind));
    Ask { id: AskId(9), run: Some(RunId(1)), title: "overwrite src/bridge.rs".into(), kind, deadline: None }
}

pub(super) fn question_plan(stage: &mut AttachedUi) {
    let policy = Policy::Plan;
    stage.happen(Body::Session(SessionEvent::PolicyChosen { policy }));
    stage.run("rename total to sum_of");
    let look = tool(stage, 20, "grep", r#"{"pattern":"total\\("}"#);
    ended(
        stage,
        look,
        ToolOutcome::Done,
        "src/cart.rs:4: fn total(\nsrc/till.rs:9: cart.total()\n",
        Vec::new(),
    );
    stage.text("`total` is used in two files.\n\n## Plan\n\n1. Rename it in `src/cart.rs`\n2. Rename its use in `src/till.rs`\n3. Run the tests\n");
    let choice = |id: &str, label: &str, detail: &str| Choice {
        id: id.into(),
        label: label.into(),
        detail: Some(detail.into()),
    };
    let choices = vec![
        choice("begin", "Begin", "back to the mode ask"),
        choice("edit", "Edit the plan", "change its text, then you are asked again"),
        choice("keep", "Keep planning", "say what is missing; nothing begins yet"),
    ];
    let message = "Nothing has been changed so far.".into();
    ask(stage, 40, "Begin with this plan?", AskKind::Choose { message, choices, many: false });
    stage.ui.wait(2_000);
}

pub(super) fn sub_agent(stage: &mut AttachedUi) {
    stage.run("rename total to sum_of and commit it");
    stage.text("Two sub-agents look and change; I check what they did.\n");
    let look = tool(stage, 20, "task", r#"{"agent":"explore","prompt":"who calls total?"}"#);
    ended(stage, look, ToolOutcome::Done, "src/till.rs calls it once, nobody else.", Vec::new());
    let works =
        tool(stage, 21, "task", r#"{"agent":"general","prompt":"rename total to sum_of and commit it"}"#);
    stage.happen(Body::Tool(ToolEvent::Started { tool: works }));
    let progress = Progress::Output("read src/cart.rs\nedit src/cart.rs\nedit src/till.rs\n".into());
    stage.happen(Body::Tool(ToolEvent::Progress { tool: works, progress }));
    let line = "git commit -am 'rename total'";
    let args = r#"{"command":"git commit -am 'rename total'"}"#;
    let preview = Preview::Command { line: line.into(), inner: Vec::new() };
    let asked = consent_to(works, "bash", args, preview, Risk::Medium, "`git` runs code of this project");
    let title =
        "Sub-agent general “rename total to sum_of and commit it” asks: run `git commit -am 'rename total'`";
    ask(stage, 40, title, AskKind::Consent(Box::new(asked)));
    stage.ui.wait(2_000);
}

pub(super) fn ports(stage: &mut AttachedUi) {
    stage.ui.keys("/ports<enter>");
    let told =
        r#"{"ports":[{"port":5173,"open":true,"listens":true},{"port":8000,"open":false,"listens":true}]}"#;
    answer(stage, Receipt::Extension(Json::verbatim(told)));
}

pub(super) fn servers(stage: &mut AttachedUi) {
    stage.ui.keys("/mcp<enter>");
    let server = |id: &str, state, tools| ServerEntry {
        id: id.into(),
        http: id != "files",
        from_project: false,
        state,
        tools,
        connected_at: None,
        reach: None,
    };
    let failed = ServerState::Failed("connection refused".into());
    let servers = vec![
        server("files", ServerState::Ready, Some(4)),
        server("tickets", failed, None),
        server("mail", ServerState::AuthRequired, None),
    ];
    answer(stage, Receipt::Servers(servers));
}
