//! Plays the steps of a scenario against the program.

use super::{Condition, Otherwise, SceneStep, WishName};
use crate::check::shared::{RUN_ENDS, greet, probe, prompt};
use crate::check::talk::Talk;
use crate::check::wires::{Greeting, RuntimeWire};
use crate::check::{Doing, Stop, Wishes};
use crate::pattern::{Bindings, Missing};
use serde_json::Value;

/// Plays a scenario from its beginning.
pub(in crate::check) async fn play(talk: &mut Talk, steps: &[SceneStep]) -> Result<(), Stop> {
    let wire = talk.wire()?;
    let mut bindings = Bindings::new();
    for wish in [WishName::Plain, WishName::Tool, WishName::Slow, WishName::Consent] {
        let (name, text) = wish.of(&talk.wishes);
        bindings.bind(name, Value::from(text));
    }
    Scene { talk, wire, bindings, line: Value::Null, heard: Vec::new(), is_slow: false }.steps(steps).await
}

impl WishName {
    fn of(self, wishes: &Wishes) -> (&'static str, String) {
        match self {
            WishName::Plain => ("plain", wishes.plain.clone()),
            WishName::Tool => ("tool", wishes.tool.clone()),
            WishName::Slow => ("slow", wishes.slow.clone()),
            WishName::Consent => ("consent", wishes.consent.clone()),
        }
    }
}

/// A scenario under way.
struct Scene<'t> {
    talk: &'t mut Talk,
    wire: &'static RuntimeWire,
    bindings: Bindings,
    /// The line that was found last.
    line: Value,
    /// The lines that were kept.
    heard: Vec<Value>,
    /// The prompt that was said last is answered slowly, perhaps for longer than anything is waited for.
    is_slow: bool,
}

impl Scene<'_> {
    fn steps<'s>(&'s mut self, steps: &'s [SceneStep]) -> Doing<'s> {
        Box::pin(async move {
            for step in steps {
                self.step(step).await?;
            }
            Ok(())
        })
    }

    async fn step(&mut self, step: &SceneStep) -> Result<(), Stop> {
        match step {
            SceneStep::Greet => greet(self.talk).await,
            SceneStep::Probe => probe(self.talk).await,
            SceneStep::Hello => match &self.wire.greeting {
                Greeting::Say(hello) => self.talk.say(&hello()).await,
                Greeting::Hear | Greeting::None => Ok(()),
            },
            SceneStep::Prompt(wish) => {
                self.heard.clear();
                self.is_slow = matches!(wish, WishName::Slow);
                let (_, text) = wish.of(&self.talk.wishes);
                let id = prompt(self.talk, &text).await?;
                self.bindings.bind("id", Value::from(id));
                Ok(())
            }
            SceneStep::Say(pattern, numbered) => {
                self.heard.clear();
                if *numbered {
                    let id = self.talk.id();
                    self.bindings.bind("id", Value::from(id));
                }
                let unsayable = |why: String| Stop::wrong(format!("this line cannot be said: {why}"));
                let line = pattern.fill(&mut self.bindings, Missing::Refuse);
                let line = line.map_err(|why| unsayable(why.to_string()))?;
                let line = serde_json::from_str(&line).map_err(|why| unsayable(why.to_string()))?;
                self.talk.say(&line).await
            }
            SceneStep::Await { all, because, what } => {
                let (wire, bindings) = (self.wire, &mut self.bindings);
                let mut open: Vec<&Condition> = all.iter().collect();
                let came = self.talk.until(what, |line| {
                    open.retain(|condition| !condition.holds(Some(wire), line, bindings));
                    open.is_empty().then(|| line.clone())
                });
                self.line = came.await.map_err(|stop| match because {
                    Some(cause) => stop.because(cause),
                    None => stop,
                })?;
                Ok(())
            }
            SceneStep::Gather(last) => {
                let (wire, bindings) = (self.wire, &mut self.bindings);
                self.heard = self.talk.until_over(|line| last.holds(Some(wire), line, bindings)).await;
                if last.awaits_the_end() && !self.is_slow { self.ended(last) } else { Ok(()) }
            }
            SceneStep::Needs(ability) => match self.talk.announced(ability) {
                Some(true) => Ok(()),
                _ => Err(Stop::Skipped(format!("the program does not announce `{ability}`"))),
            },
            SceneStep::Lull => {
                let came = self.talk.lull().await;
                self.heard.extend(came);
                Ok(())
            }
            SceneStep::Tries(times, over, steps) => {
                for left in (0..*times).rev() {
                    match self.steps(steps).await {
                        // What does not come now may come at the next try.
                        Err(Stop::Wrong { .. }) if left > 0 => continue,
                        other => other?,
                    }
                    if self.position(over).is_some() {
                        break;
                    }
                }
                Ok(())
            }
            judgement => self.judge(judgement),
        }
    }

    /// Of a run that was not heard to its end nothing can be said. Where the end is told besides, its last word will do.
    fn ended(&self, last: &Condition) -> Result<(), Stop> {
        let is_last = |line: &Value| {
            last.holds(Some(self.wire), line, &mut self.bindings.clone()) || (self.wire.last_word)(line)
        };
        if self.heard.iter().any(is_last) {
            return Ok(());
        }
        let (count, patience) = (self.heard.len(), self.talk.wishes.patience);
        let why = format!("the end of the run: did not come within {patience:?} ({count} other lines did)");
        Err(Stop::wrong(why).because(RUN_ENDS))
    }

    fn judge(&mut self, step: &SceneStep) -> Result<(), Stop> {
        match step {
            SceneStep::Must(condition, otherwise) => {
                let holds = condition.holds(Some(self.wire), &self.line, &mut self.bindings);
                self.or(holds, otherwise)
            }
            SceneStep::None(condition, otherwise) => {
                let found = self.found(condition);
                self.or(!found, otherwise)
            }
            SceneStep::Some(condition, otherwise) => {
                let found = self.found(condition);
                self.or(found, otherwise)
            }
            SceneStep::Once(condition, otherwise) => {
                let of = |line: &&Value| condition.holds(Some(self.wire), line, &mut self.bindings.clone());
                let count = self.heard.iter().filter(of).count();
                self.bindings.bind("count", Value::from(count));
                self.or(count == 1, otherwise)
            }
            SceneStep::Each(place, condition, otherwise) => {
                let items = elements(self.line.pointer(place));
                let other = |(_, item): &(Value, Value)| {
                    !condition.holds(Some(self.wire), item, &mut self.bindings.clone())
                };
                let Some((name, item)) = items.into_iter().find(other) else { return Ok(()) };
                self.bindings.bind("name", name);
                self.bindings.bind("item", item);
                self.or(false, otherwise)
            }
            SceneStep::Rises { place, by_one, without } => {
                let numbers = self.heard.iter().filter_map(|line| line.pointer(place)?.as_i64());
                let numbers: Vec<i64> = numbers.collect();
                self.or(!numbers.is_empty(), without)?;
                if *by_one && numbers.len() == 1 {
                    return Err(Stop::Skipped("only one event came".to_owned()));
                }
                rising(&numbers, *by_one)
            }
            SceneStep::Pairs(place, things) => things.iter().try_for_each(|thing| {
                let count = |how: &str| {
                    let kind = format!("{thing}_{how}");
                    let is = |line: &&Value| line.pointer(place).is_some_and(|there| *there == kind);
                    self.heard.iter().filter(is).count()
                };
                match (count("start"), count("end")) {
                    (starts, ends) if starts == ends => Ok(()),
                    (starts, ends) => {
                        Err(Stop::wrong(format!("{starts} {thing}_start and {ends} {thing}_end")))
                    }
                }
            }),
            SceneStep::Judge(judgement) => judgement(&self.heard),
            _ => Ok(()),
        }
    }

    fn position(&self, condition: &Condition) -> Option<usize> {
        self.heard.iter().position(|line| condition.holds(Some(self.wire), line, &mut self.bindings.clone()))
    }

    /// Whether a line was kept of which a condition holds; it is the one that was found last then.
    fn found(&mut self, condition: &Condition) -> bool {
        let (wire, bindings) = (self.wire, &mut self.bindings);
        let found = self.heard.iter().find(|line| condition.holds(Some(wire), line, bindings));
        if let Some(line) = found {
            self.line = line.clone();
        }
        found.is_some()
    }

    fn or(&self, holds: bool, otherwise: &Otherwise) -> Result<(), Stop> {
        if holds {
            return Ok(());
        }
        let words = self.words(&otherwise.words);
        Err(if otherwise.skipped { Stop::Skipped(words) } else { Stop::wrong(words) })
    }

    /// Words with what their names stand for: `$name` as JSON, `${name}` as bare text.
    fn words(&self, text: &str) -> String {
        let mut pieces = text.split('$');
        let mut words = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let bare = piece.strip_prefix('{').and_then(|piece| piece.split_once('}'));
            let end = piece.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(piece.len());
            let (name, rest) = bare.unwrap_or_else(|| piece.split_at(end));
            let value = if name == "line" { Some(&self.line) } else { self.bindings.get(name) };
            match value {
                Some(Value::String(text)) if bare.is_some() => words.push_str(text),
                Some(value) => words.push_str(&value.to_string()),
                None => words.push_str(name),
            }
            words.push_str(rest);
        }
        words
    }
}

/// What a list or an object holds, with what names it there.
fn elements(value: Option<&Value>) -> Vec<(Value, Value)> {
    match value {
        Some(Value::Array(items)) => {
            items.iter().enumerate().map(|(at, item)| (Value::from(at), item.clone())).collect()
        }
        Some(Value::Object(members)) => {
            members.iter().map(|(key, item)| (Value::from(key.as_str()), item.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// Numbers that rise, perhaps by exactly one.
fn rising(numbers: &[i64], by_one: bool) -> Result<(), Stop> {
    let mut pairs = numbers.iter().zip(numbers.iter().skip(1));
    let other = pairs.find(|(one, next)| if by_one { **next != **one + 1 } else { next <= one });
    match other {
        None => Ok(()),
        Some((one, next)) => Err(Stop::wrong(format!("after {one} came {next}"))),
    }
}
