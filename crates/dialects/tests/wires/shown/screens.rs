//! Models of the screens on which existing UIs show a question: what is on them, and what Enter alone answers.

use rolekit::shown::{TAB, columns_of};
use serde_json::Value;

/// A question as its UI draws it.
#[derive(Default)]
pub(super) struct Question {
    /// What is on the screen, row by row.
    pub(super) screen: Vec<String>,
    /// The rows of the question itself, without what stands above it.
    pub(super) panel: Vec<String>,
    /// It can be scrolled: nothing of it is out of reach.
    pub(super) scrolls: bool,
    /// Whether Enter alone, as the question opens, is a yes.
    pub(super) enter_allows: bool,
    /// Whether a yes that lasts is offered.
    pub(super) lasts: bool,
    /// How the no is called.
    pub(super) no: &'static str,
}

const ROWS: usize = 24;
const COLUMNS: usize = 80;
/// pi draws an overlay from the middle of the screen on, and what does not fit is cut at its bottom.
const OVERLAY_ROWS: usize = 12;
/// Without its border and padding.
const OVERLAY_COLUMNS: usize = COLUMNS - 6;
/// The codelia TUI shows no more lines of a preview.
const PREVIEW_LINES: usize = 120;

/// A field in which one writes.
const FIELD: &str = "> ";

/// Whether an option does nothing.
fn is_no(value: &Value) -> bool {
    ["deny", "no", "no_answer"].iter().any(|no| value == no)
}

/// The text as a terminal of so many columns wraps it.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.replace('\t', &" ".repeat(TAB)).split('\n') {
        let (mut row, mut used) = (String::new(), 0);
        for c in line.chars() {
            if used + columns_of(c) > columns {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(c);
            used += columns_of(c);
        }
        rows.push(row);
    }
    rows
}

fn text<'a>(json: &'a Value, at: &str) -> &'a str {
    json.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

/// The last rows of what a program printed, the question below all else.
fn printed(above: Vec<String>, question: Question) -> Question {
    let mut rows = above;
    rows.extend(question.panel.iter().cloned());
    let screen = rows.split_off(rows.len().saturating_sub(ROWS));
    Question { screen, ..question }
}

/// pi of lemon: the title wrapped, a row for each option, the first of them preselected. A confirm has Yes first.
pub(super) fn pi(sent: &[Value]) -> Option<Question> {
    let request = sent.iter().find(|line| line["type"] == "ui_request")?;
    let mut panel = wrap(text(request, "/params/title"), OVERLAY_COLUMNS);
    let mut question = Question { enter_allows: true, no: "No", ..Question::default() };
    if request["method"] == "confirm" {
        panel.extend(wrap(text(request, "/params/message"), OVERLAY_COLUMNS));
        panel.extend(["Yes".to_owned(), "No".to_owned()]);
    } else if request["method"] != "select" {
        // What is entered is what stands in the field.
        panel.push(FIELD.to_owned());
        (question.no, question.enter_allows) = (FIELD, false);
    } else {
        let options = request["params"]["options"].as_array()?;
        let row = |option: &Value| format!("{} {}", text(option, "/label"), text(option, "/description"));
        panel.extend(options.iter().map(row));
        question.no = if options.iter().any(|option| option["label"] == "Deny") { "Deny" } else { "No" };
        question.enter_allows = options.first().is_some_and(|option| !is_no(&option["value"]));
        let lasts = |option: &Value| option["value"] == "allow_session" || option["value"] == "allow_always";
        question.lasts = options.iter().any(lasts);
    }
    panel.truncate(OVERLAY_ROWS);
    Some(Question { screen: panel.clone(), panel, ..question })
}

/// codelia's terminal UI: what was said and the preview stand above the panel; Allow is preselected in a confirm, the first item in a
/// pick, whose title is one row.
pub(super) fn codelia(sent: &[Value]) -> Option<Question> {
    let asks = |line: &Value| line.get("id").is_some() && text(line, "/method").starts_with("ui.");
    let at = sent.iter().position(asks)?;
    let mut above = Vec::new();
    for line in &sent[..at] {
        let event = &line["params"]["event"];
        match event["type"].as_str() {
            Some("text") => above.extend(wrap(text(event, "/content"), COLUMNS)),
            Some("permission.preview") => {
                let lines: Vec<&str> = text(event, "/diff").split('\n').take(PREVIEW_LINES).collect();
                above.extend(wrap(&lines.join("\n"), COLUMNS));
            }
            _ => {}
        }
    }
    let params = &sent[at]["params"];
    let mut panel = Vec::new();
    let (enter_allows, lasts, no);
    if sent[at]["method"] == "ui.confirm.request" {
        panel.extend(wrap(text(params, "/title"), COLUMNS));
        panel.extend(wrap(text(params, "/message"), COLUMNS));
        panel.extend(["1. Allow", "2. Allow (don't ask again)", "3. Deny"].map(str::to_owned));
        (enter_allows, lasts, no) = (true, params["allow_remember"] == true, "Deny");
    } else if sent[at]["method"] == "ui.prompt.request" {
        panel.extend(wrap(text(params, "/title"), COLUMNS));
        panel.extend(wrap(text(params, "/message"), COLUMNS));
        panel.push(FIELD.to_owned());
        (enter_allows, lasts, no) = (false, false, FIELD);
    } else {
        panel.push(text(params, "/title").chars().take(COLUMNS).collect());
        let items = params["items"].as_array()?;
        let row = |item: &Value| format!("{} {}", text(item, "/label"), text(item, "/detail"));
        panel.extend(items.iter().map(row));
        let asks_tool = items.iter().any(|item| item["label"] == "Deny");
        no = if asks_tool { "Deny" } else { "No" };
        (enter_allows, lasts) =
            (items.first().is_some_and(|item| !is_no(&item["id"])), asks_tool && items.len() > 2);
    }
    Some(printed(above, Question { panel, enter_allows, lasts, no, ..Question::default() }))
}

/// openagent's terminal: everything is printed in turn, then one key is read; Enter is a no.
pub(super) fn openagent(sent: &[Value]) -> Option<Question> {
    let at = sent.iter().position(|line| line["method"] == "tool.request_approval")?;
    let blocks = sent[..at].iter().filter(|line| line["method"] == "stream.block");
    let above = blocks.flat_map(|line| wrap(text(line, "/params/content"), COLUMNS)).collect();
    let params = &sent[at]["params"];
    let mut panel = vec![format!("Tool: {}", text(params, "/tool_name"))];
    panel.extend(wrap(text(params, "/description"), COLUMNS));
    panel.push(format!("Risk: {}", text(params, "/risk_level")));
    panel.extend(wrap(&text(params, "/preview").replace('\r', ""), COLUMNS));
    panel.push("Approve? [y/N]".to_owned());
    let lasts = params.get("rule").is_some_and(|rule| !rule.is_null());
    Some(printed(above, Question { panel, lasts, no: "[y/N]", ..Question::default() }))
}

/// An editor: the card scrolls, and its buttons are always there.
pub(super) fn editor(sent: &[Value]) -> Option<Question> {
    if let Some(form) = sent.iter().find(|line| line["method"] == "elicitation/create") {
        let mut panel = wrap(text(form, "/params/requestedSchema/title"), COLUMNS);
        panel.extend(wrap(text(form, "/params/message"), COLUMNS));
        panel.push("Cancel".to_owned());
        let screen = panel.clone();
        return Some(Question { screen, panel, scrolls: true, no: "Cancel", ..Question::default() });
    }
    let request = sent.iter().find(|line| line["method"] == "session/request_permission")?;
    let words = |one: &Value| match one["type"].as_str() {
        Some("diff") => format!("{}{}", text(one, "/oldText"), text(one, "/newText")),
        _ => text(one, "/content/text").to_owned(),
    };
    let content = request["params"]["toolCall"]["content"].as_array()?;
    let mut panel: Vec<String> = content.iter().flat_map(|one| wrap(&words(one), COLUMNS)).collect();
    let options = request["params"]["options"].as_array()?;
    panel.extend(options.iter().map(|option| text(option, "/name").to_owned()));
    let screen = panel.clone();
    Some(Question { screen, panel, scrolls: true, enter_allows: true, lasts: true, no: "Reject" })
}

/// Parlor's own screens: they are told everything, and have their own tests of what they offer for what they show.
pub(super) fn ours(sent: &[Value], is_question: impl Fn(&Value) -> bool) -> Option<Question> {
    let request = sent.iter().find(|line| is_question(line))?;
    let screen = vec![request.to_string(), "no".to_owned()];
    Some(Question { screen, scrolls: true, lasts: true, no: "no", ..Question::default() })
}
