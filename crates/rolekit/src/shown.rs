//! A question as a person can read it on 80×24: the risk first, both ends of what is asked, and what may then be offered.
//!
//! One rule for all wires: who is asked has seen all of it, or finds *Deny* first and nothing that lasts; what nobody reads before a yes
//! ([`MAX_SHOWN`]) is not asked at all. Pure. How the rows are put on a wire, and where the whole goes before them, is that wire's.

#[cfg(test)]
mod tests;

use domain::ask::{AskKind, Assessment, Choice, Consent, MAX_SHOWN, Preview, Risk, Scope};
pub use domain::harmless::visible;
use domain::ids::SessionId;

/// What is shown in a question is no wider: the narrowest overlay of an 80-column screen.
pub const COLUMNS: usize = 70;
/// The rows that the risk may take.
const RISK_ROWS: usize = 2;
/// The fewest rows for both ends of what is asked: the path of a file and the row after it, what is left out, the last row.
const FEWEST: usize = 4;
/// A tab takes no more columns than these.
pub const TAB: usize = 8;

/// What a person can be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    Allow(Scope),
    Deny,
}

const ALL: &[Offer] =
    &[Offer::Allow(Scope::Once), Offer::Allow(Scope::Session), Offer::Allow(Scope::Always), Offer::Deny];
const ONCE: &[Offer] = &[Offer::Allow(Scope::Once), Offer::Deny];
/// Whoever answers without looking says no.
const CAREFUL: &[Offer] = &[Offer::Deny, Offer::Allow(Scope::Once)];

/// The first choice of a list that is not shown whole.
pub const NO_ANSWER: &str = "No answer";

/// A consent in a wire's own words.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The line on top.
    pub title: &'a str,
    pub what: &'a str,
    pub assessment: &'a Assessment,
    /// What a lasting yes would remember.
    pub rule: Option<&'a str>,
}

impl Asked<'_> {
    /// How dangerous it is and why.
    pub fn risk(&self) -> String {
        risk_words(risk(self.assessment), &self.assessment.reasons)
    }

    /// Whether nobody is asked about so much.
    pub fn is_too_long(&self) -> bool {
        let reasons: usize = self.assessment.reasons.iter().map(String::len).sum();
        self.title.len() + self.what.len() + reasons > MAX_SHOWN
    }
}

/// A question in rows that fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// How dangerous it is; empty where nobody told.
    pub risk: String,
    /// One row.
    pub title: String,
    /// What would happen, or its two ends.
    pub what: String,
    /// Everything, where the rows do not hold it: it goes before the question.
    pub whole: Option<String>,
    /// What is offered, in this order.
    pub offers: &'static [Offer],
    /// The choices of a list, a row each. Where not all of it is shown, the first of them is to give no answer.
    pub choices: Vec<Choice>,
}

/// Nothing, and nothing to say yes to.
impl Default for Shown {
    fn default() -> Shown {
        let nothing = String::new;
        Shown {
            risk: nothing(),
            title: nothing(),
            what: nothing(),
            whole: None,
            offers: &[Offer::Deny],
            choices: Vec::new(),
        }
    }
}

impl Shown {
    /// The rows of the question, the risk first.
    pub fn rows(&self) -> String {
        joined([&self.risk, &self.title, &self.what])
    }

    /// Whether an answer to the list is to give none.
    pub fn is_no_answer(&self, ids: &[String]) -> bool {
        let first = self.choices.first().filter(|_| self.whole.is_some());
        first.is_some_and(|choice| ids.contains(&choice.id))
    }
}

/// The consent in so many rows; `None` when it is longer than anybody is asked about.
pub fn show(asked: Asked<'_>, rows: usize) -> Option<Shown> {
    let what = visible(asked.what.trim_end_matches('\n'));
    let risk = visible(&asked.risk()).into_owned();
    let title = visible(asked.title);
    if asked.is_too_long() {
        return None;
    }
    let risk_rows = if risk.is_empty() { 0 } else { rows_of(&risk).len().min(RISK_ROWS) };
    let room = rows.saturating_sub(1 + risk_rows).max(FEWEST);
    // The title is a heading: what is asked stands below it, whole or with its two ends.
    let (short_risk, short_what) = (short(&risk, RISK_ROWS), short(&what, room));
    let fitted_title = one_row(&title, COLUMNS);
    let title_cut = !title.split_whitespace().eq(fitted_title.split_whitespace());
    let is_cut = short_risk.is_some() || short_what.is_some() || title_cut;
    let whole = is_cut.then(|| joined([&risk, &title, &what]));
    let offers = match asked.rule {
        _ if is_cut => CAREFUL,
        Some(rule) if rows_of(rule).len() == 1 => ALL,
        // A rule that cannot be read whole is not made.
        Some(_) | None => ONCE,
    };
    let title = fitted_title;
    let (risk, what) = (short_risk.unwrap_or(risk), short_what.unwrap_or_else(|| what.into_owned()));
    Some(Shown { risk, title, what, whole, offers, choices: Vec::new() })
}

/// The title, unless it is said in the message, and the message of a question that is no consent.
pub fn words_of<'a>(title: &'a str, kind: &'a AskKind) -> (&'a str, &'a str) {
    let message = match kind {
        AskKind::Consent(_) => "",
        AskKind::Confirm { message, .. }
        | AskKind::Choose { message, .. }
        | AskKind::Text { message, .. }
        | AskKind::Edit { message, .. } => message.trim_end_matches('\n'),
    };
    if message.trim() == title.trim() { (title, "") } else { (title, message) }
}

/// What can be chosen, where anything can.
pub fn choices_of(kind: &AskKind) -> &[Choice] {
    if let AskKind::Choose { choices, .. } = kind { choices } else { &[] }
}

/// Whether nobody is asked so long a question, that is no consent.
pub fn is_too_long(title: &str, kind: &AskKind) -> bool {
    let (title, message) = words_of(title, kind);
    let long = |choice: &Choice| choice.label.len() + choice.detail.as_deref().map_or(0, str::len);
    title.len() + message.len() + choices_of(kind).iter().map(long).sum::<usize>() > MAX_SHOWN
}

/// A question that is no consent in so many rows, which the choices have for themselves besides; in one row, its title and its message
/// stand side by side. `None` when it is longer than anybody is asked about.
pub fn show_question(title: &str, kind: &AskKind, rows: usize) -> Option<Shown> {
    if is_too_long(title, kind) {
        return None;
    }
    let (title, message) = words_of(title, kind);
    let (title, message) = (visible(title), visible(message));
    let all = match (rows, &*message) {
        (1, message) if !message.is_empty() => format!("{title}: {message}"),
        _ => joined([&title, &message]),
    };
    let (choices, cuts): (Vec<Choice>, Vec<bool>) = choices_of(kind).iter().map(fitted_choice).unzip();
    let is_cut = rows_of(&all).len() > rows || cuts.contains(&true);
    if !is_cut {
        let (title, what) = (title.into_owned(), message.into_owned());
        return Some(Shown { title, what, offers: ONCE, choices, ..Shown::default() });
    }
    // A title of several rows is what is asked.
    let (title, what) = match rows_of(&title).len() {
        1 => (title.into_owned(), message.into_owned()),
        _ => (String::new(), joined([&title, &message])),
    };
    let room = rows.saturating_sub(rows_of(&title).len()).max(FEWEST);
    let listed = choices_of(kind).iter().map(|choice| match &choice.detail {
        Some(detail) => format!("- {}: {}", visible(&choice.label), visible(detail)),
        None => format!("- {}", visible(&choice.label)),
    });
    let whole = Some(joined([&title, &what, &listed.collect::<Vec<_>>().join("\n")]));
    let choices =
        if choices.is_empty() { choices } else { no_answer(&choices).chain(choices.clone()).collect() };
    let what = short(&what, room).unwrap_or(what);
    Some(Shown { risk: String::new(), title, what, whole, offers: CAREFUL, choices })
}

/// What is chosen by who has not seen all of it and only presses Enter.
fn no_answer(choices: &[Choice]) -> impl Iterator<Item = Choice> + use<> {
    let mut id = "no_answer".to_owned();
    while choices.iter().any(|choice| choice.id == id) {
        id.push('_');
    }
    std::iter::once(Choice { id, label: NO_ANSWER.to_owned(), detail: None })
}

/// A choice in one row, and whether something of it is left out.
fn fitted_choice(choice: &Choice) -> (Choice, bool) {
    const BETWEEN: usize = 2;
    let fit = |text: &str, columns: usize| match visible(text) {
        text if width(&text) <= columns && !text.contains('\n') => (text.into_owned(), false),
        text => (one_row(&text, columns), true),
    };
    let (label, label_cut) = fit(&choice.label, COLUMNS);
    let left = COLUMNS.saturating_sub(width(&label) + BETWEEN);
    let (detail, detail_cut) = choice.detail.as_deref().map(|detail| fit(detail, left)).unzip();
    (Choice { id: choice.id.clone(), label, detail }, label_cut || detail_cut == Some(true))
}

/// What would happen, in the words of most wires.
pub fn what(consent: &Consent) -> String {
    match &consent.preview {
        Some(Preview::Text(text)) => text.clone(),
        Some(Preview::Command { line, .. }) => line.clone(),
        Some(Preview::Diff { path, text }) => format!("{path}\n{}", without_header(path, text)),
        None => format!("{} {}", consent.name, consent.args),
    }
}

/// A diff without the two lines that only name its file once more: in a few rows they take the place of what would change.
fn without_header<'a>(path: &str, text: &'a str) -> &'a str {
    let named = |line: &'a str, mark: &str, side: &str| {
        let (head, rest) = line.split_once('\n')?;
        let name = head.strip_prefix(mark)?;
        (name == "/dev/null" || name.strip_prefix(side).unwrap_or(name) == path).then_some(rest)
    };
    named(text, "--- ", "a/").and_then(|rest| named(rest, "+++ ", "b/")).unwrap_or(text)
}

/// How dangerous it is in a word, where somebody told.
pub fn risk(assessment: &Assessment) -> Option<&'static str> {
    let word = match assessment.risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    };
    (!assessment.unrated).then_some(word)
}

/// How dangerous it is and why; nothing where nobody told.
pub fn risk_words(risk: Option<&str>, reasons: &[String]) -> String {
    let reasons = reasons.join("; ");
    match (risk, reasons.as_str()) {
        (None, _) => reasons,
        (Some(risk), "") => format!("Risk {risk}"),
        (Some(risk), reasons) => format!("Risk {risk}: {reasons}"),
    }
}

/// What a person hears who is not asked, and where they can be.
pub fn not_asked(title: &str, session: &SessionId) -> String {
    let title = one_row(&visible(title), COLUMNS);
    format!(
        "\"{title}\" is not asked here: it is too long to be shown whole, and a yes is for what was seen. It counts as no unless \
         somebody answers it elsewhere. To see such a question, open the session with `parlor attach --session {session}`, and \
         have it asked again"
    )
}

/// In one row, its middle left out where it is longer.
pub fn one_row(text: &str, columns: usize) -> String {
    const GAP: &str = " … ";
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&words) <= columns {
        return words;
    }
    let half = columns.saturating_sub(GAP.len()) / 2;
    let head = taken(words.chars(), half);
    let tail: String = taken(words.chars().rev(), half).chars().rev().collect();
    format!("{}{GAP}{}", head.trim_end(), tail.trim_start())
}

/// As many characters as have room.
fn taken(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += columns_of(*c);
        used <= columns
    };
    chars.take_while(fits).collect()
}

/// Both ends in so many rows; `None` when all of it fits.
fn short(text: &str, rows: usize) -> Option<String> {
    const LEFT_OUT: &str = "… not all of it is shown in this question …";
    let all = rows_of(text);
    if all.len() <= rows {
        return None;
    }
    // Blank rows at the ends would hide what stands between them.
    let said: Vec<&str> = all.iter().map(String::as_str).filter(|row| !row.trim().is_empty()).collect();
    let room = rows.saturating_sub(1).max(2);
    let (head, tail) = if said.len() <= room {
        (said.as_slice(), Vec::new())
    } else {
        (&said[..room.div_ceil(2)], last_rows(text, room / 2))
    };
    let tail = tail.iter().map(String::as_str);
    Some(head.iter().copied().chain([LEFT_OUT]).chain(tail).collect::<Vec<_>>().join("\n"))
}

/// The text as rows of a screen that is as narrow as can be.
fn rows_of(text: &str) -> Vec<String> {
    text.split('\n').flat_map(|line| wrapped(line.chars())).collect()
}

/// The last rows that say something, full from the end on: a line's last row may hold a single letter.
fn last_rows(text: &str, rows: usize) -> Vec<String> {
    let lines = text.rsplit('\n').filter(|line| !line.trim().is_empty());
    let backwards = lines.flat_map(|line| wrapped(line.chars().rev())).filter(|row| !row.trim().is_empty());
    let mut last: Vec<String> = backwards.take(rows).map(|row| row.chars().rev().collect()).collect();
    last.reverse();
    last
}

fn wrapped(chars: impl Iterator<Item = char>) -> Vec<String> {
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for c in chars {
        let columns = columns_of(c);
        if used + columns > COLUMNS {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(c);
        used += columns;
    }
    rows.push(row);
    rows
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// No less than a terminal takes: to cut too early does no harm.
pub fn columns_of(c: char) -> usize {
    match c {
        '\t' => TAB,
        c if c.is_ascii() => 1,
        _ => 2,
    }
}

fn joined<const N: usize>(parts: [&str; N]) -> String {
    let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    said.join("\n")
}
