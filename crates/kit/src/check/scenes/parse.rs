//! The reader of a wire's file of scenarios.

use super::{
    Condition, JsonKind, Judgement, LineKind, Otherwise, OwnScenario, PartLine, ScenarioFile, SceneStep,
    Term, WishName,
};
use crate::check::shared::CAUSES;
use crate::check::{Quote, Tested};
use crate::notation::NotationError;
use crate::pattern::Pattern;

const STEPS: &str = "`>`, `<`, greet, hello, probe, prompt, gather, lull, needs, must, none, some, once, each, rises, counts, pairs, judge, \
                     anyorder, tries";

const PARTS: &str = "opening, reply, prompt, accept, text, end, fail, ask, answered, yes, settled, unknown";
const BEGINNINGS: [&str; 5] = ["word", "runtime", "ui", "part", "scenario"];

/// Reads a whole file.
pub(super) fn file(
    text: &'static str,
    judgements: &'static [Judgement],
) -> Result<ScenarioFile, NotationError> {
    let mut reader = FileReader { lines: text.lines().enumerate(), line: 0, words: Vec::new(), judgements };
    let mut file = ScenarioFile::default();
    let mut line = reader.next();
    while let Some((first, whole)) = line {
        let (head, rest) = split(first);
        line = match head {
            "word" => {
                let (name, condition) = split(&whole[head.len()..]);
                let (name, mut left) = (name.to_owned(), condition);
                let condition = reader.condition(&mut left)?;
                reader.words.push((name, condition));
                reader.next()
            }
            "runtime" | "ui" => {
                let tested = if head == "ui" { Tested::Ui } else { Tested::Runtime };
                let (heads, next) = reader.heads()?;
                let Some(quote) = heads.says else {
                    return Err(reader.error("`seed` and `says` are missing"));
                };
                file.quotes.extend(rest.split_whitespace().map(|name| (tested, name, quote)));
                next
            }
            "part" if !PARTS.split(", ").any(|known| known == rest) => {
                return Err(reader.error(format!("{rest:?} is no part; there are {PARTS}")));
            }
            "part" => {
                let (lines, next) = reader.part()?;
                file.parts.push((rest, lines));
                next
            }
            "scenario" => {
                let (heads, next) = reader.heads()?;
                let (steps, next) = reader.steps(next, None)?;
                let Some(title) = heads.title.filter(|_| !steps.is_empty()) else {
                    return Err(reader.error("a scenario has a `title` and steps"));
                };
                file.own.push(OwnScenario { name: rest, title, says: heads.says, steps });
                next
            }
            _ => return Err(reader.error("what begins here is no word, runtime, ui, part or scenario")),
        };
    }
    Ok(file)
}

/// A line as it stands in the file, and with what is indented below it.
type FileLine = Option<(&'static str, String)>;

#[derive(Default)]
struct SceneHeads {
    title: Option<&'static str>,
    says: Option<Quote>,
}

struct FileReader {
    lines: std::iter::Enumerate<std::str::Lines<'static>>,
    /// The number of the line taken last.
    line: usize,
    words: Vec<(String, Condition)>,
    judgements: &'static [Judgement],
}

impl FileReader {
    fn error(&self, what: impl Into<String>) -> NotationError {
        NotationError { line: self.line, what: what.into() }
    }

    /// The next line that says something.
    fn next(&mut self) -> FileLine {
        let (at, first) = self.lines.find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))?;
        self.line = at + 1;
        let mut whole = first.trim_end().to_owned();
        while let Some((_, more)) =
            self.lines.clone().next().filter(|(_, more)| more.starts_with(' ') && !more.trim().is_empty())
        {
            whole.push(' ');
            whole.push_str(more.trim());
            self.lines.next();
        }
        Some((first.trim_end(), whole))
    }

    /// The heads of a part, and the line after them.
    fn heads(&mut self) -> Result<(SceneHeads, FileLine), NotationError> {
        let (mut heads, mut section) = (SceneHeads::default(), None);
        loop {
            let line = self.next();
            let (word, rest) = line.as_ref().map_or(("", ""), |(first, _)| split(first));
            match (word, section) {
                ("title", _) => heads.title = Some(rest),
                ("seed", None) => section = Some(rest),
                ("says", Some(section)) if heads.says.is_none() => {
                    heads.says = Some(Quote { section, text: rest });
                }
                ("seed" | "says", _) => return Err(self.error("`says` stands once, below its `seed`")),
                _ if section.is_some() != heads.says.is_some() => {
                    return Err(self.error("a `seed` without `says` above"));
                }
                _ => return Ok((heads, line)),
            }
        }
    }

    /// The lines of a part, and the line after them.
    fn part(&mut self) -> Result<(Vec<PartLine>, FileLine), NotationError> {
        let mut lines = Vec::new();
        loop {
            let line = self.next();
            let (sign, mut left) = line.as_ref().map_or(("", ""), |(_, whole)| split(whole));
            lines.push(match sign {
                ">" => PartLine::Heard(self.condition(&mut left)?),
                "<" => PartLine::Said(0, self.pattern(&mut left)?),
                "<@1" => PartLine::Said(1, self.pattern(&mut left)?),
                _ => return Ok((lines, line)),
            });
            if !left.is_empty() {
                return Err(self.error(format!("{left:?} after the line")));
            }
        }
    }

    /// Steps, up to the next part or the `end` of a block.
    fn steps(
        &mut self,
        mut line: FileLine,
        block: Option<&str>,
    ) -> Result<(Vec<SceneStep>, FileLine), NotationError> {
        let mut steps = Vec::new();
        while let Some((_, whole)) = &line {
            match (split(whole), block) {
                (("end", ""), Some(_)) => return Ok((steps, self.next())),
                ((word, _), None) if BEGINNINGS.contains(&word) => break,
                ((word @ ("anyorder" | "tries"), mut rest), _) => {
                    let step = if word == "tries" {
                        let (times, condition) = split(rest);
                        rest = condition;
                        let times = times.parse().map_err(|_| self.error("`tries` needs a number"))?;
                        SceneStep::Tries(times, self.condition(&mut rest)?, Vec::new())
                    } else {
                        let (because, what) = self.awaited(rest)?;
                        SceneStep::Await { all: Vec::new(), because, what }
                    };
                    let next = self.next();
                    let (inner, next) = self.steps(next, Some(word))?;
                    steps.push(self.block(step, inner)?);
                    line = next;
                }
                ((word, rest), _) => {
                    let (word, rest) = (word.to_owned(), rest.to_owned());
                    steps.push(self.step(&word, &rest, block)?);
                    line = self.next();
                }
            }
        }
        match block {
            Some(word) => Err(self.error(format!("this `{word}` has no `end`"))),
            None => Ok((steps, line)),
        }
    }

    fn block(&self, step: SceneStep, inner: Vec<SceneStep>) -> Result<SceneStep, NotationError> {
        let SceneStep::Await { because, what, .. } = step else {
            return match step {
                SceneStep::Tries(times, over, _) => Ok(SceneStep::Tries(times, over, inner)),
                other => Ok(other),
            };
        };
        let conditions = inner.into_iter().map(|step| match step {
            SceneStep::Await { all, .. } => Ok(all),
            _ => Err(self.error("an `anyorder` block holds only `<` lines")),
        });
        let all = conditions.collect::<Result<Vec<_>, _>>()?.concat();
        Ok(SceneStep::Await { all, because, what })
    }

    fn step(&self, word: &str, rest: &str, block: Option<&str>) -> Result<SceneStep, NotationError> {
        let mut left = rest;
        let step = match word {
            "greet" => SceneStep::Greet,
            "hello" => SceneStep::Hello,
            "probe" => SceneStep::Probe,
            "lull" => SceneStep::Lull,
            "prompt" => SceneStep::Prompt(match std::mem::take(&mut left) {
                "plain" => WishName::Plain,
                "tool" => WishName::Tool,
                "slow" => WishName::Slow,
                "consent" => WishName::Consent,
                _ => return Err(self.error("`prompt` is followed by plain, tool, slow or consent")),
            }),
            ">" => SceneStep::Say(self.pattern(&mut left)?, rest.contains("$id") || rest.contains("${id}")),
            "<" => {
                let all = vec![self.condition(&mut left)?];
                let (because, what) = match block {
                    Some("anyorder") => (None, String::new()),
                    _ => self.awaited(std::mem::take(&mut left))?,
                };
                SceneStep::Await { all, because, what }
            }
            "gather" => SceneStep::Gather(self.condition(&mut left)?),
            "needs" if left.is_empty() => return Err(self.error("`needs` is followed by an ability")),
            "needs" => SceneStep::Needs(std::mem::take(&mut left).to_owned()),
            "must" => SceneStep::Must(self.condition(&mut left)?, self.otherwise(&mut left)?),
            "none" => SceneStep::None(self.condition(&mut left)?, self.otherwise(&mut left)?),
            "some" => SceneStep::Some(self.condition(&mut left)?, self.otherwise(&mut left)?),
            "once" => SceneStep::Once(self.condition(&mut left)?, self.otherwise(&mut left)?),
            "each" => {
                let (place, rest) = split(left);
                left = rest;
                SceneStep::Each(place.to_owned(), self.condition(&mut left)?, self.otherwise(&mut left)?)
            }
            "rises" | "counts" => {
                let (place, rest) = split(left);
                left = rest;
                let without = self.otherwise(&mut left)?;
                SceneStep::Rises { place: place.to_owned(), by_one: word == "counts", without }
            }
            "pairs" => {
                let (place, things) = split(std::mem::take(&mut left));
                SceneStep::Pairs(place.to_owned(), things.split_whitespace().map(str::to_owned).collect())
            }
            "judge" => {
                let name = std::mem::take(&mut left);
                let found = self.judgements.iter().find(|(known, _)| *known == name);
                let Some((_, judgement)) = found else {
                    return Err(self.error(format!("there is no judgement {name:?}")));
                };
                SceneStep::Judge(*judgement)
            }
            _ => return Err(self.error(format!("unknown word {word:?}; a step begins with {STEPS}"))),
        };
        match left.trim() {
            "" => Ok(step),
            more => Err(self.error(format!("{more:?} after the step"))),
        }
    }

    fn pattern(&self, left: &mut &str) -> Result<Pattern, NotationError> {
        let (pattern, length) = Pattern::parse_prefix(left)
            .map_err(|why| self.error(format!("{} (character {} of the value)", why.what, why.at + 1)))?;
        *left = left[length..].trim_start();
        Ok(pattern)
    }

    fn condition(&self, left: &mut &str) -> Result<Condition, NotationError> {
        let mut alternatives = vec![vec![(true, self.term(left)?)]];
        loop {
            let (word, rest) = split(left);
            if !matches!(word, "and" | "or" | "not") {
                return Ok(Condition(alternatives));
            }
            *left = rest;
            let term = (word != "not", self.term(left)?);
            match alternatives.last_mut().filter(|_| word != "or") {
                Some(terms) => terms.push(term),
                None => alternatives.push(vec![term]),
            }
        }
    }

    fn term(&self, left: &mut &str) -> Result<Term, NotationError> {
        if left.starts_with(['{', '[']) || left.starts_with("null") {
            return self.pattern(left).map(Term::Fits);
        }
        let (word, rest) = split(left);
        *left = rest;
        if !word.starts_with('/') {
            return Ok(match word {
                "any" => Term::Wire(LineKind::Any),
                "greeted" => Term::Wire(LineKind::Greeted),
                "ended" => Term::Wire(LineKind::Ended),
                "of-run" => Term::Wire(LineKind::OfRun),
                "asked" => Term::Wire(LineKind::Asked),
                _ => match self.words.iter().find(|(name, _)| name == word) {
                    Some((_, condition)) => Term::Word(condition.clone()),
                    None => return Err(self.error(format!("{word:?} is neither a pattern nor a word"))),
                },
            });
        }
        let (place, (is, kind)) = (word.to_owned(), split(rest));
        if is != "is" {
            return Ok(Term::Has(place));
        }
        let (kind, rest) = split(kind);
        *left = rest;
        let kind = match kind {
            "text" => JsonKind::Text,
            "name" => JsonKind::Name,
            "number" => JsonKind::Number,
            "list" => JsonKind::List,
            "object" => JsonKind::Object,
            "count" => match split(rest) {
                ("below", rest) => {
                    let (bound, rest) = split(rest);
                    *left = rest;
                    let bound = bound.parse().map_err(|_| self.error("`below` needs a number"))?;
                    JsonKind::Count(Some(bound))
                }
                _ => JsonKind::Count(None),
            },
            _ => return Err(self.error(format!("{kind:?} is no kind of value"))),
        };
        Ok(Term::Is(place, kind))
    }

    /// `because NAME`, perhaps, and what is waited for.
    fn awaited(&self, rest: &str) -> Result<(Option<&'static str>, String), NotationError> {
        let (because, rest) = match split(rest) {
            ("because", rest) => {
                let (name, rest) = split(rest);
                let Some(cause) = CAUSES.into_iter().find(|cause| *cause == name) else {
                    return Err(self.error(format!("`because` is followed by {}", CAUSES.join(", "))));
                };
                (Some(cause), rest)
            }
            _ => (None, rest),
        };
        match split(rest) {
            ("else", words) if !words.is_empty() => Ok((because, words.to_owned())),
            _ => Err(self.error("what is waited for is missing: `else the answer`")),
        }
    }

    fn otherwise(&self, left: &mut &str) -> Result<Otherwise, NotationError> {
        let (word, words) = split(std::mem::take(left));
        match word {
            "" => Ok(Otherwise { skipped: false, words: "$line".to_owned() }),
            "else" | "skip" if !words.is_empty() => {
                Ok(Otherwise { skipped: word == "skip", words: words.to_owned() })
            }
            _ => Err(self.error("`else` or `skip` and words, or nothing, follow a condition")),
        }
    }
}

/// The first word and the rest, without the space between.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}
