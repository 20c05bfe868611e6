//! The reader of transcripts: line by line, except that a JSON value may go on over lines until it is complete.

use super::{
    Heads, Kind, Leave, Leaving, MAX_SCREEN, MAX_TRANSCRIPT, Millis, Raw, RawBytes, Say, Screen, Side, Step,
    Transcript,
};
use crate::pattern::Pattern;

/// Why a text is not a transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct NotationError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to write instead.
    pub what: String,
}

const WORDS: &str =
    "`>`, `<`, `!`, `#`, model, tool, command, event, keys, screen, wait, optional, anyorder, close, kill";
const HEADS: &str = "dialect, title, seed, session-cwd, home, option";

/// Reads a whole transcript; the error names the line.
pub(super) fn transcript(text: &str) -> Result<Transcript, NotationError> {
    if text.len() > MAX_TRANSCRIPT {
        return Err(NotationError { line: 1, what: format!("longer than {MAX_TRANSCRIPT} bytes") });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = TranscriptReader { text, line: "", line_at: 0, line_no: 0, next_at: 0 };
    let mut transcript = Transcript::default();
    while let Some(line) = reader.line() {
        let (word, value) = split_word(line.trim());
        if !HEADS.split(", ").any(|head| head == word) {
            let step = reader.step(line)?;
            transcript.steps.push(step);
            continue;
        }
        // Comments so far stand above this head; anything else means that the heads are over.
        if transcript.steps.iter().any(|step| !matches!(step.kind, Kind::Note(_)) || step.after.is_some()) {
            return Err(reader.error(format!("`{word}` must stand before the first step")));
        }
        let comments = transcript.steps.drain(..).filter_map(|step| match step.kind {
            Kind::Note(text) if !text.is_empty() => Some(text),
            _ => None,
        });
        transcript.heads.preface.extend(comments);
        reader.head(&mut transcript.heads, word, value)?;
    }
    trim_blank(&mut transcript.steps);
    Ok(transcript)
}

/// Empty lines at the beginning and at the end say nothing.
fn trim_blank(steps: &mut Vec<Step>) {
    let blank = |step: &Step| step.kind == Kind::Note(String::new()) && step.after.is_none();
    while steps.last().is_some_and(blank) {
        steps.pop();
    }
    let first = steps.iter().position(|step| !blank(step)).unwrap_or(0);
    steps.drain(..first);
}

struct TranscriptReader<'t> {
    text: &'t str,
    /// The line taken last, without its end.
    line: &'t str,
    line_at: usize,
    /// Its number.
    line_no: usize,
    /// Where the next one begins.
    next_at: usize,
}

impl<'t> TranscriptReader<'t> {
    /// The next line without its end.
    fn line(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let line = rest.split('\n').next().unwrap_or_default();
        self.line_at = self.next_at;
        self.next_at = (self.next_at + line.len() + 1).min(self.text.len());
        self.line_no += 1;
        self.line = line.strip_suffix('\r').unwrap_or(line);
        Some(self.line)
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.next_at..).unwrap_or_default()
    }

    fn error(&self, what: impl Into<String>) -> NotationError {
        NotationError { line: self.line_no, what: what.into() }
    }

    fn head(&self, heads: &mut Heads, word: &str, value: &str) -> Result<(), NotationError> {
        if value.is_empty() {
            return Err(self.error(format!("`{word}` needs a value")));
        }
        let place = match word {
            "dialect" => &mut heads.dialect,
            "title" => &mut heads.title,
            "seed" => &mut heads.seed,
            "session-cwd" => &mut heads.session_cwd,
            "home" => &mut heads.home,
            _ => {
                let option = value.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
                let Some((name, value)) = option.filter(|(name, _)| !name.is_empty()) else {
                    return Err(self.error("an option is written `option name=value`"));
                };
                heads.options.push((name.to_owned(), value.to_owned()));
                return Ok(());
            }
        };
        if place.replace(value.to_owned()).is_some() {
            return Err(self.error(format!("`{word}` stands twice")));
        }
        Ok(())
    }

    /// A step that begins on the line just taken; takes more lines where it needs them.
    fn step(&mut self, line: &'t str) -> Result<Step, NotationError> {
        let line_no = self.line_no;
        let trimmed = line.trim_start();
        let (after, body) = match trimmed.strip_prefix("@+") {
            None => (None, trimmed),
            Some(timed) => {
                let (time, body) = timed.split_once(' ').unwrap_or((timed, ""));
                (Some(self.time(time)?), body.trim_start())
            }
        };
        let kind = self.kind(body)?;
        Ok(Step { line_no, last_line: self.line_no, after, kind })
    }

    fn kind(&mut self, body: &'t str) -> Result<Kind, NotationError> {
        if let Some(raw) = body.strip_prefix('!') {
            return Ok(Kind::Raw(self.raw(raw)?));
        }
        let body = body.trim();
        if body.is_empty() || body.starts_with('#') {
            return Ok(Kind::Note(body.to_owned()));
        }
        if body.starts_with(['>', '<']) {
            return Ok(Kind::Say(self.say(body)?));
        }
        let (word, value) = split_word(body);
        match word {
            "model" => self.verbatim(word, value).map(Kind::Model),
            "tool" => self.verbatim(word, value).map(Kind::Tool),
            "command" => self.verbatim(word, value).map(Kind::Command),
            "event" => self.verbatim(word, value).map(Kind::Event),
            "keys" => self.verbatim(word, value).map(Kind::Keys),
            "wait" => self.time(value).map(Kind::Wait),
            "close" => self.leave(Leaving::Close, value),
            "kill" => self.leave(Leaving::Kill, value),
            "screen" => self.screen(value),
            "optional" if value.starts_with(['>', '<']) => self.say(value).map(Kind::Optional),
            "optional" => Err(self.error("`optional` is followed by a `<` or `>` line")),
            "anyorder" if value.is_empty() => self.any_order(),
            "anyorder" => Err(self.error("the lines of an `anyorder` block begin on the next line")),
            "end" => Err(self.error("`end` without `anyorder`")),
            _ => {
                Err(self
                    .error(format!("unknown word {word:?}; a step begins with {WORDS}; a head is {HEADS}")))
            }
        }
    }

    fn verbatim(&self, word: &str, value: &str) -> Result<String, NotationError> {
        if value.is_empty() {
            return Err(self.error(format!("`{word}` needs something after it")));
        }
        Ok(value.to_owned())
    }

    fn time(&self, text: &str) -> Result<Millis, NotationError> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = text.split_at(digits);
        let scale = match unit {
            "ms" => Some(1),
            "s" => Some(1000),
            "m" => Some(60_000),
            "h" => Some(3_600_000),
            _ => None,
        };
        let millis = count.parse::<u64>().ok().zip(scale).and_then(|(count, scale)| count.checked_mul(scale));
        millis
            .map(Millis)
            .ok_or_else(|| self.error(format!("{text:?} is not a time such as `250ms`, `30s`, `2m`")))
    }

    fn leave(&self, how: Leaving, value: &str) -> Result<Kind, NotationError> {
        let side = match value {
            "" => None,
            ">" => Some(Side::Ui),
            "<" => Some(Side::Runtime),
            _ => return Err(self.error(format!("{value:?} is no side: `>` is the UI, `<` the runtime"))),
        };
        Ok(Kind::Leave(Leave { how, side }))
    }

    /// `@1` at the beginning of a text, and what follows.
    fn lane(&self, text: &'t str) -> Result<(u8, &'t str), NotationError> {
        let Some(text) = text.strip_prefix('@') else { return Ok((0, text)) };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (lane, rest) = text.split_at(digits);
        let lane =
            lane.parse().map_err(|_| self.error("a lane is a number from 0 to 255, as in `>@1 {…}`"))?;
        Ok((lane, rest))
    }

    /// `> {…}` where the value may go on over the next lines.
    fn say(&mut self, body: &'t str) -> Result<Say, NotationError> {
        let side = if body.starts_with('>') { Side::Ui } else { Side::Runtime };
        let (lane, value) = self.lane(body.get(1..).unwrap_or_default())?;
        let value = value.trim_start();
        if value.is_empty() {
            return Err(self.error("the value must begin on this line"));
        }
        let first = self.line_no;
        // The value is what the line ends with, so it begins that far before the line's end.
        let start = self.line_at + self.line.trim_end().len().saturating_sub(value.len());
        let text = self.text.get(start..).unwrap_or_default();
        let (pattern, length) = Pattern::parse_prefix(text).map_err(|error| {
            let before = text.get(..error.at).unwrap_or_default();
            let line = first + before.matches('\n').count();
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let place = if line == first {
                format!("character {column} of the value")
            } else {
                format!("character {column}, in the value that began on line {first}")
            };
            NotationError { line, what: format!("{} ({place})", error.what) }
        })?;
        for _ in 0..text.get(..length).unwrap_or_default().matches('\n').count() {
            self.line();
        }
        let tail = text.get(length..).and_then(|tail| tail.lines().next()).unwrap_or_default();
        if !tail.trim().is_empty() {
            return Err(
                self.error(format!("{:?} after the value; comments have their own line", tail.trim()))
            );
        }
        Ok(Say { side, lane, pattern })
    }

    fn raw(&self, text: &'t str) -> Result<Raw, NotationError> {
        let (side, text) = match text.strip_prefix('<') {
            Some(text) => (Side::Runtime, text),
            None => (Side::Ui, text),
        };
        let (hex, text) = match text.strip_prefix("hex") {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (lane, text) = self.lane(text)?;
        let text = match text.strip_prefix(' ') {
            Some(text) => text,
            None if text.is_empty() => text,
            None => return Err(self.error("a raw line is written `! text`, `!< text` or `!hex 00ff0a`")),
        };
        let bytes = if hex {
            RawBytes::Exact(self.hex(text)?)
        } else if text.contains('\r') {
            return Err(self.error("a carriage return in a raw line is written with `!hex`"));
        } else {
            RawBytes::Line(text.to_owned())
        };
        Ok(Raw { side, lane, bytes })
    }

    fn hex(&self, text: &str) -> Result<Vec<u8>, NotationError> {
        let digits: Option<Vec<u8>> = text
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .map(|byte| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect();
        match digits {
            Some(digits) if digits.len().is_multiple_of(2) => Ok(digits
                .chunks(2)
                .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
                .collect()),
            _ => Err(self.error("`!hex` takes pairs of hex digits: `!hex 00ff0a`")),
        }
    }

    fn screen(&mut self, value: &str) -> Result<Kind, NotationError> {
        let size = match value {
            "" => None,
            value => {
                let size = value
                    .split_once('x')
                    .and_then(|(columns, rows)| columns.parse::<u16>().ok().zip(rows.parse::<u16>().ok()));
                let fits = |side: u16| (1..=MAX_SCREEN).contains(&side);
                let size = size.filter(|(columns, rows)| fits(*columns) && fits(*rows));
                Some(size.ok_or_else(|| self.error(format!("{value:?} is not a size such as `80x24`")))?)
            }
        };
        let mut lines = Vec::new();
        while self.rest().starts_with([' ', '\t']) {
            let next = self.rest().split('\n').next().unwrap_or_default();
            let Some(text) = next.trim_start().strip_prefix('|') else { break };
            lines.push(text.trim_end().to_owned());
            self.line();
        }
        Ok(Kind::Screen(Screen { size, lines }))
    }

    fn any_order(&mut self) -> Result<Kind, NotationError> {
        let began = self.line_no;
        let mut steps: Vec<Step> = Vec::new();
        let mut block_side = None;
        while let Some(line) = self.line() {
            if line.trim() == "end" {
                return Ok(Kind::AnyOrder(steps));
            }
            if line.trim() == "anyorder" {
                return Err(self.error("an `anyorder` block cannot hold another"));
            }
            let step = self.step(line)?;
            match step.say() {
                Some(say) if block_side.is_some_and(|side| side != say.side) => {
                    return Err(NotationError {
                        line: step.line_no,
                        what: "the lines of an `anyorder` block are all of one side".to_owned(),
                    });
                }
                Some(say) => block_side = Some(say.side),
                None if matches!(step.kind, Kind::Note(_)) => {}
                None => {
                    return Err(NotationError {
                        line: step.line_no,
                        what: "an `anyorder` block holds only `<` or `>` lines".to_owned(),
                    });
                }
            }
            steps.push(step);
        }
        Err(NotationError { line: began, what: "this `anyorder` has no `end`".to_owned() })
    }
}

/// The first word and the rest, without the space between.
fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}
