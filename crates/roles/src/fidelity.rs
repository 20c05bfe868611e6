//! Fidelity tables: for every item of the vocabulary, how a dialect carries it.
//!
//! A table has two sources. The verdicts (exact, emulated, dropped, refused) are computed: a suite puts each item through the wire and
//! through every pair of wires and writes down what came out. The words (where it stands on the wire, how it is emulated, why its loss is
//! bearable) are written by hand. Neither can say what the other must: a row is exact because it arrived unchanged, not because somebody
//! wrote so.

use crate::item::Item;
use std::fmt;

/// What became of an item that was put through a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It arrives as it was meant.
    Exact,
    /// It arrives, but otherwise.
    Emulated,
    /// The other end sees nothing of it.
    Dropped,
    /// The command is refused.
    Refused,
}

impl Verdict {
    /// All, the best first.
    pub const ALL: [Verdict; 4] = [Verdict::Exact, Verdict::Emulated, Verdict::Dropped, Verdict::Refused];

    /// As tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::Emulated => "emulated",
            Verdict::Dropped => "dropped",
            Verdict::Refused => "refused",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub item: Item,
    /// Where it stands on the wire.
    pub wire: &'static str,
    pub verdict: Verdict,
    /// How it is emulated, or why it is dropped or refused; empty where it is exact.
    pub why: &'static str,
}

/// A deviation of an existing program from its own document, and what we do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirk {
    /// A short name.
    pub name: &'static str,
    /// What the program does.
    pub what: &'static str,
    pub ours: &'static str,
}

/// What becomes of an item on its way over two wires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    pub item: Item,
    pub verdict: Verdict,
    /// How, or why, in the words of the wires that it is owed to; empty where it is exact.
    pub why: String,
}

/// The computed verdicts of one wire, as the suite wrote them: a head that names the columns, then a line for each item.
///
/// The column `alone` is a UI and a runtime of this wire; a column with the name of a wire is a UI of this wire, a bridge, and a runtime of
/// that wire.
#[derive(Debug, Clone, Copy)]
pub struct Verdicts(pub &'static str);

/// The column of a wire by itself.
pub const ALONE: &str = "alone";
/// Parts the cells of a line.
const CELLS: char = '|';
/// Begins a line that is for people.
const REMARK: char = '#';

impl Verdicts {
    /// The verdicts of a column, as far as there are any.
    pub fn column(self, name: &str) -> Vec<(Item, Verdict)> {
        let mut lines = self.0.lines().filter(|line| !line.starts_with(REMARK));
        let head = lines.next().unwrap_or_default();
        let Some(at) = head.split(CELLS).position(|cell| cell.trim() == name) else { return Vec::new() };
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(CELLS).map(str::trim).collect();
            let item = Item::ALL.iter().find(|item| Some(&item.name()) == cells.first())?;
            let verdict = Verdict::ALL.into_iter().find(|verdict| Some(&verdict.name()) == cells.get(at))?;
            Some((*item, verdict))
        };
        lines.filter_map(row).collect()
    }

    /// The text that [`Verdicts::column`] reads.
    pub fn write(remark: &str, columns: &[(String, Vec<(Item, Verdict)>)]) -> String {
        let mut text: String = remark.lines().map(|line| format!("{REMARK} {line}\n")).collect();
        text.push_str(&format!("{:<16}", "item"));
        for (name, _) in columns {
            text.push_str(&format!("{CELLS} {name:<9}"));
        }
        for item in Item::ALL {
            text = text.trim_end().to_owned();
            text.push_str(&format!("\n{:<16}", item.name()));
            for (_, verdicts) in columns {
                let found = verdicts.iter().find(|(of, _)| of == item);
                let verdict = found.map(|(_, verdict)| verdict.name()).unwrap_or_default();
                text.push_str(&format!("{CELLS} {verdict:<9}"));
            }
        }
        text.trim_end().to_owned() + "\n"
    }
}

/// What people wrote about the items on a wire: a line for each, with the item, where it stands on the wire, and how it is emulated or why
/// it is dropped or refused, which is nothing where it is exact. A fourth cell says why a bridge changes what is exact on both of its
/// wires.
///
/// The item `*` is every item without a line of its own. A cell that is `"` says what the cell above it says.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub &'static str);

/// The item that is every other one.
const REST: &str = "*";
/// The cell above.
const DITTO: &str = "\"";

/// A line of [`Words`].
#[derive(Debug, Clone, Copy, Default)]
struct WrittenRow {
    item: &'static str,
    wire: &'static str,
    why: &'static str,
    across: &'static str,
}

impl Words {
    fn rows(self) -> Vec<WrittenRow> {
        let mut above = WrittenRow::default();
        let row = |line: &'static str| {
            let mut cells = line.split(CELLS).map(str::trim);
            let mut cell = |above| match cells.next() {
                Some(DITTO) => above,
                cell => cell.unwrap_or_default(),
            };
            above = WrittenRow {
                item: cell(above.item),
                wire: cell(above.wire),
                why: cell(above.why),
                across: cell(above.across),
            };
            above
        };
        self.0.lines().filter(|line| !line.starts_with(REMARK)).map(row).collect()
    }
}

/// What a wire's table is made of.
#[derive(Debug, Clone, Copy)]
pub struct Sources {
    pub words: Words,
    pub verdicts: Verdicts,
}

impl Sources {
    /// The text of both, as a wire includes it.
    pub const fn new(words: &'static str, verdicts: &'static str) -> Sources {
        Sources { words: Words(words), verdicts: Verdicts(verdicts) }
    }

    /// The table: what was written beside what was computed.
    pub fn table(&self) -> Vec<Row> {
        let (verdicts, words) = (self.verdicts.column(ALONE), self.words.rows());
        let row = |words: &WrittenRow| {
            let (item, verdict) = verdicts.iter().find(|(item, _)| item.name() == words.item)?;
            Some(Row { item: *item, wire: words.wire, verdict: *verdict, why: words.why })
        };
        let rest = words.iter().find(|words| words.item == REST);
        let unsaid = |(item, _): &&(Item, Verdict)| !words.iter().any(|words| words.item == item.name());
        let rest = rest.into_iter().flat_map(|rest| {
            verdicts.iter().filter(unsaid).map(|(item, verdict)| {
                let why = if *verdict == Verdict::Exact { "" } else { rest.why };
                Row { item: *item, wire: rest.wire, verdict: *verdict, why }
            })
        });
        words.iter().filter_map(row).chain(rest).collect()
    }

    /// What is wrong with the table, in words: lines about something that is no item, items without exactly one row, and words that are
    /// missing or that say how something is emulated which is exact.
    pub fn faults(&self) -> Vec<String> {
        let is_item = |name: &str| name == REST || Item::ALL.iter().any(|item| item.name() == name);
        let words = self.words.rows();
        let unknown = words.iter().filter(|words| !is_item(words.item));
        let unknown = unknown.map(|words| format!("{}: is no item", words.item));
        unknown.chain(faults(&self.table())).collect()
    }

    /// What becomes of each item between a UI of this wire and a runtime of another: the verdict is the computed one of the pair, the
    /// words are those of the wire that it is owed to. A pair is exact only where both of its wires are: what was sent through the pair
    /// may lack just the thing that one of them leaves out.
    pub fn carried_on(&self, runtime: &str, table: &[Row]) -> Vec<Carried> {
        let (ours, words) = (self.table(), self.words.rows());
        let one = |(item, computed): &(Item, Verdict)| {
            let rows: Vec<&Row> = [&ours, table]
                .into_iter()
                .filter_map(|table| table.iter().find(|row| row.item == *item))
                .collect();
            let both_exact = rows.iter().all(|row| row.verdict == Verdict::Exact);
            let verdict = match computed {
                Verdict::Exact if !both_exact => Verdict::Emulated,
                computed => *computed,
            };
            let across =
                words.iter().find(|words| words.item == item.name()).map_or("", |words| words.across);
            Carried { item: *item, verdict, why: why(verdict, &rows, across) }
        };
        self.verdicts.column(runtime).iter().map(one).collect()
    }
}

/// What is said of a pair which loses something that each of its wires carries in a form of its own.
const FORMS_DIFFER: &str = "each wire has a form of its own for it, and neither form fits the other";

/// Why a pair has this verdict, given the rows of its two wires.
fn why(verdict: Verdict, rows: &[&Row], across: &str) -> String {
    let said = |wanted: &dyn Fn(&Row) -> bool| -> Vec<&str> {
        let mut said: Vec<&str> = rows.iter().filter(|row| wanted(row)).map(|row| row.why).collect();
        said.dedup();
        said
    };
    let same = said(&|row| row.verdict == verdict);
    match verdict {
        Verdict::Exact => String::new(),
        _ if !same.is_empty() => same.join("; "),
        Verdict::Emulated => {
            let other = said(&|row| row.verdict != Verdict::Exact);
            if other.is_empty() { across.to_owned() } else { other.join("; ") }
        }
        // How a wire emulates something does not say why it is lost.
        Verdict::Dropped | Verdict::Refused if across.is_empty() => FORMS_DIFFER.to_owned(),
        Verdict::Dropped | Verdict::Refused => across.to_owned(),
    }
}

fn faults(table: &[Row]) -> Vec<String> {
    let rows = |item: Item| table.iter().filter(|row| row.item == item).count();
    let holes = Item::ALL.iter().filter(|item| rows(**item) != 1);
    let holes = holes.map(|item| format!("{item}: {} rows", rows(*item)));
    let unsaid = table.iter().filter(|row| row.verdict != Verdict::Exact && row.why.is_empty());
    let unsaid = unsaid.map(|row| format!("{}: {}, and nobody says how or why", row.item, row.verdict));
    let denied = table.iter().filter(|row| row.verdict == Verdict::Exact && !row.why.is_empty());
    let denied = denied.map(|row| format!("{}: exact, but said to be: {}", row.item, row.why));
    holes.chain(unsaid).chain(denied).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(verdict: Verdict, why: &'static str) -> Row {
        Row { item: Item::MessageText, wire: "text", verdict, why }
    }

    fn sources(words: &str, verdicts: &str) -> Sources {
        let text = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        Sources::new(text(words), text(verdicts))
    }

    fn carried(computed: &'static str, ours: Verdict, theirs: Verdict) -> Carried {
        let words = match ours {
            Verdict::Exact => "",
            _ => "our words",
        };
        let verdicts = format!("item | alone | far\nmessage text | {ours} | {computed}\n");
        let sources = sources(&format!("message text | text | {words}"), &verdicts);
        let theirs = if theirs == Verdict::Exact { row(theirs, "") } else { row(theirs, "their words") };
        sources.carried_on("far", &[theirs]).remove(0)
    }

    #[test]
    fn a_pair_is_exact_only_where_both_wires_are() {
        assert_eq!(carried("exact", Verdict::Exact, Verdict::Exact).verdict, Verdict::Exact);
        let lesser = carried("exact", Verdict::Exact, Verdict::Emulated);
        assert_eq!((lesser.verdict, lesser.why.as_str()), (Verdict::Emulated, "their words"));
        let lesser = carried("exact", Verdict::Emulated, Verdict::Emulated);
        assert_eq!((lesser.verdict, lesser.why.as_str()), (Verdict::Emulated, "our words; their words"));
    }

    #[test]
    fn the_words_of_a_pair_fit_its_verdict() {
        let dropped = carried("dropped", Verdict::Dropped, Verdict::Emulated);
        assert_eq!(dropped.why, "our words");
        // Both emulate it, and yet it is lost: saying how would contradict the verdict.
        for verdict in ["dropped", "refused"] {
            assert_eq!(carried(verdict, Verdict::Emulated, Verdict::Emulated).why, FORMS_DIFFER);
            assert_eq!(carried(verdict, Verdict::Exact, Verdict::Emulated).why, FORMS_DIFFER);
        }
        // The hub makes up for what a wire refuses.
        assert_eq!(carried("emulated", Verdict::Exact, Verdict::Refused).why, "their words");
    }

    #[test]
    fn a_line_says_what_the_one_above_says_and_one_line_may_be_for_the_rest() {
        let verdicts = "item | alone | far\nprompt | emulated | x\nsteer | dropped | x\ncancel | exact | exact\ntitle | exact | dropped\n";
        let words =
            "# remark\nprompt | say | in words\nsteer | | \"\ntitle | head || comes twice\n* | all | none\n";
        let sources = sources(words, verdicts);
        let table = sources.table();
        let told: Vec<_> = table.iter().map(|row| (row.item.name(), row.wire, row.why)).collect();
        let expected = [
            ("prompt", "say", "in words"),
            ("steer", "", "in words"),
            ("title", "head", ""),
            ("cancel", "all", ""),
        ];
        assert_eq!(told, expected);
        let theirs = Row { item: Item::Title, wire: "", verdict: Verdict::Exact, why: "" };
        assert_eq!(sources.carried_on("far", &[theirs])[1].why, "comes twice");
    }

    #[test]
    fn a_line_about_no_item_is_a_fault_as_one_that_is_said_twice_is() {
        let faults =
            sources("promt | say |\nprompt | say |\nprompt | say |", "item | alone\nprompt | exact\n");
        let faults = faults.faults();
        assert!(faults.contains(&"promt: is no item".to_owned()), "{faults:?}");
        assert!(faults.contains(&"prompt: 2 rows".to_owned()), "{faults:?}");
    }
}
