//! Rows of the fleet as text: in a table that fits a terminal, as plain lines, as JSON. Pure.

use crate::paint::{Paint, ago, cut, home, line, pad};
use domain::fleet::{Row, Status};
use domain::ids::Millis;
use serde_json::{Value, json};

/// Columns of the status and of the time since.
const STATUS: usize = 12;
const SINCE: usize = 12;
/// Columns of a title and of a folder in a table.
const TITLE: usize = 36;
const FOLDER: usize = 24;
/// Narrower than this a table has no folders.
const WIDE: usize = 90;

/// What it cost, where that is known.
fn cost(row: &Row) -> Option<String> {
    let micros = row.cost_micros?;
    let about = if row.rough { "~" } else { "" };
    Some(match micros {
        0..10_000 => format!("{about}<$0.01"),
        _ => format!("{about}${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000),
    })
}

/// The table in so many columns and rows; what does not fit is counted.
pub(super) fn table(rows: &[Row], now: Millis, (columns, high): (usize, usize), paint: Paint) -> Vec<String> {
    let waiting = rows.iter().filter(|row| row.is_waiting()).count();
    let running = rows.iter().filter(|row| row.status == Status::Running).count();
    let head = format!("{waiting} waiting for you · {running} running · {} in all · q ends", rows.len());
    let mut lines = vec![paint.strong(&cut(&head, columns))];
    if rows.is_empty() {
        lines.push(cut("No session yet. `parlor` opens one.", columns));
    }
    let room = high.saturating_sub(1);
    let fits = if rows.len() > room { room.saturating_sub(1) } else { rows.len() };
    lines.extend(rows.iter().take(fits).map(|row| table_line(row, now, columns, paint)));
    if rows.len() > fits {
        lines.push(paint.dim(&cut(&format!("{} more", rows.len() - fits), columns)));
    }
    lines.truncate(high.max(1));
    lines
}

fn table_line(row: &Row, now: Millis, columns: usize, paint: Paint) -> String {
    let status = pad(row.status.shown(), STATUS);
    let status = match row.status {
        Status::Waiting { .. } => paint.hit(&status),
        Status::Running => paint.accent(&status),
        _ => paint.dim(&status),
    };
    let since = paint.dim(&pad(&ago(row.since, now), SINCE));
    let title = pad(&cut(&line(&row.title), TITLE), TITLE);
    let folder = match columns >= WIDE {
        true => format!("  {}", paint.dim(&pad(&cut(&home(&row.cwd), FOLDER), FOLDER))),
        false => String::new(),
    };
    let used = STATUS + SINCE + TITLE + if folder.is_empty() { 0 } else { FOLDER + 2 };
    let facts = facts(row).join(" · ");
    let tail = cut(&facts, columns.saturating_sub(used + 2));
    let whole = format!("{status}{since}{title}{folder}  {}", paint.dim(&tail));
    // A narrow screen shows the beginning.
    if used + 2 > columns { cut(&plain_line(row), columns) } else { whole }
}

/// What is known beside its name.
fn facts(row: &Row) -> Vec<String> {
    let about = row.about().map(|about| line(&about));
    let branch = row.branch.as_deref().map(line);
    let runtime = row.runtime.as_deref().map(line);
    about.into_iter().chain(branch).chain(cost(row)).chain(runtime).collect()
}

/// A line for whoever reads no table.
pub(super) fn plain_line(row: &Row) -> String {
    let mut said = vec![row.status.shown().to_owned()];
    said.extend(row.session.as_ref().map(ToString::to_string));
    let title = line(&row.title);
    let words: Vec<String> =
        [title, home(&row.cwd)].into_iter().filter(|word| !word.is_empty()).chain(facts(row)).collect();
    format!("{}  {}", said.join("  "), words.join(" · "))
}

/// For programs: what is not known is not there.
pub(super) fn as_json(row: &Row) -> Value {
    let mut told =
        json!({"status": row.status.word(), "title": row.title, "cwd": row.cwd, "since": row.since.0});
    let known = [
        ("session", row.session.as_ref().map(|id| Value::from(id.as_str()))),
        ("pid", row.pid.map(Value::from)),
        ("about", row.about().map(Value::from)),
        ("cost_micros", row.cost_micros.map(Value::from)),
        ("branch", row.branch.clone().map(Value::from)),
        ("runtime", row.runtime.clone().map(Value::from)),
    ];
    for (name, value) in known {
        if let Some(value) = value {
            told[name] = value;
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::Outcome;
    use domain::ids::SessionId;
    use expect_test::expect;
    use unicode_width::UnicodeWidthStr;

    fn row(status: Status, title: &str) -> Row {
        Row {
            status,
            session: Some(SessionId::from_number(7)),
            pid: Some(42),
            title: title.to_owned(),
            cwd: "/src/bridge".to_owned(),
            since: Millis(0),
            cost_micros: Some(1_234_567),
            rough: true,
            branch: Some("main".to_owned()),
            runtime: None,
            tasks: Vec::new(),
        }
    }

    fn rows() -> Vec<Row> {
        let waiting = Status::Waiting { asks: 2, question: "Run `make`?\u{1b}[2J".to_owned(), ask: None };
        let unknown = Row { cost_micros: None, rough: false, branch: None, ..row(Status::Running, "日本") };
        let dead = Row { session: None, ..unknown.clone() };
        let dead = Row { status: Status::Dead, title: "terminal".to_owned(), ..dead };
        vec![row(waiting, "mend the bridge"), unknown, dead, row(Status::Ended(Outcome::Done), "older")]
    }

    #[test]
    fn a_table_fits_its_screen_and_counts_what_does_not() {
        let rows = rows();
        for (columns, high) in [(1, 1), (20, 3), (40, 10), (80, 24), (120, 4), (200, 60)] {
            let lines = table(&rows, Millis(125_000), (columns, high), Paint::plain());
            assert!(lines.len() <= high, "{columns}×{high}: {lines:?}");
            assert!(lines.iter().all(|line| line.width() <= columns), "{columns}×{high}: {lines:?}");
        }
        let lines = table(&rows, Millis(125_000), (120, 4), Paint::plain());
        expect![[r"
            1 waiting for you · 1 running · 4 in all · q ends
            waiting     2 min ago   mend the bridge                       /src/bridge               Run `make`? (1 of 2) · main · ~…
            running     2 min ago   日本                                  /src/bridge               
            2 more"]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn plain_lines_and_json_leave_out_what_is_not_known() {
        let lines: Vec<String> =
            rows().iter().flat_map(|row| [plain_line(row), as_json(row).to_string()]).collect();
        expect![[r#"
            waiting  sess-000000000007  mend the bridge · /src/bridge · Run `make`? (1 of 2) · main · ~$1.23
            {"about":"Run `make`?\u001b[2J (1 of 2)","branch":"main","cost_micros":1234567,"cwd":"/src/bridge","pid":42,"session":"sess-000000000007","since":0,"status":"waiting","title":"mend the bridge"}
            running  sess-000000000007  日本 · /src/bridge
            {"cwd":"/src/bridge","pid":42,"session":"sess-000000000007","since":0,"status":"running","title":"日本"}
            dead  terminal · /src/bridge · process 42 died; what it left was removed
            {"about":"process 42 died; what it left was removed","cwd":"/src/bridge","pid":42,"since":0,"status":"dead","title":"terminal"}
            done  sess-000000000007  older · /src/bridge · main · ~$1.23
            {"branch":"main","cost_micros":1234567,"cwd":"/src/bridge","pid":42,"session":"sess-000000000007","since":0,"status":"done","title":"older"}"#]]
        .assert_eq(&lines.join("\n"));
    }
}
