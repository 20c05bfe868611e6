//! The reader: from characters to simple commands. Anything that is not plain ends the reading with a doubt.
//!
//! It over-reads on purpose: where bash would refuse a line, it may still find commands in it, which does no harm.

use super::{BareExpansion, Loop, Script, Simple, Word};

/// Deepest nesting of substitutions and subshells.
const MAX_DEPTH: usize = 16;
/// Commands in one line.
pub(super) const MAX_COMMANDS: usize = 200;

/// Words that only give structure: what follows them is a command again.
const STRUCTURE: &[&str] =
    &["if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "!"];
/// Words that open what we do not read.
const UNREAD: &[&str] = &["case", "esac", "select", "function", "coproc", "[[", "]]"];

type Odd<T> = Result<T, String>;

/// Reads a command line into its simple commands; what it does not understand becomes a doubt.
pub(super) fn parse(line: &str) -> Script {
    let mut script = Script::default();
    if line.chars().any(|c| domain::harmless::is_harmful(c) && c != '\n' && c != '\t') {
        script.doubts.push("it holds control characters".to_owned());
        return script;
    }
    if let Err(doubt) = nested(line, 0, &mut script) {
        script.doubts.push(doubt);
    }
    script
}

fn nested(text: &str, depth: usize, script: &mut Script) -> Odd<()> {
    // A line that goes on is plain only between words: anywhere else it could hide what two characters mean together.
    let mut before = [None, None];
    for c in text.chars() {
        if c == '\n' && before == [before[0], Some('\\')] && !matches!(before[0], Some(' ' | '\t')) {
            return Err("a line is broken in the middle of a word".to_owned());
        }
        before = [before[1], Some(c)];
    }
    let mut parser = Parser::new(text, depth, script);
    parser.list(Close::End)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Close {
    End,
    Paren,
}

/// A here-document whose text has not come yet.
struct Here {
    end: String,
    tabs: bool,
    verbatim: bool,
    depth: usize,
}

struct Parser<'s> {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    here: Vec<Here>,
    /// The loop whose `do` must come next.
    head: Option<Loop>,
    /// Every `do` that has no `done` yet, with its loop where that sets a variable.
    bodies: Vec<Option<Loop>>,
    script: &'s mut Script,
}

impl<'s> Parser<'s> {
    fn new(text: &str, depth: usize, script: &'s mut Script) -> Parser<'s> {
        let chars = text.chars().collect();
        Parser { chars, at: 0, depth, here: Vec::new(), head: None, bodies: Vec::new(), script }
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn ahead(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let fits = wanted.chars().enumerate().all(|(by, c)| self.ahead(by) == Some(c));
        if fits {
            self.at += wanted.chars().count();
        }
        fits
    }

    /// Commands until the end or the closing parenthesis.
    fn list(&mut self, close: Close) -> Odd<()> {
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        loop {
            self.blanks();
            match self.peek() {
                None if close == Close::End => return self.no_open_here(),
                None => return Err("a parenthesis is not closed".to_owned()),
                Some(')') if close == Close::Paren => {
                    self.at += 1;
                    return self.no_open_here();
                }
                Some(')') => return Err("a parenthesis is not opened".to_owned()),
                Some('\n') => self.newline()?,
                Some(';') if self.ahead(1) == Some(';') => return Err("it has `;;`".to_owned()),
                Some(';' | '|') => self.at += 1,
                Some('&') if self.ahead(1) != Some('>') => self.at += 1,
                Some('(') if self.ahead(1) == Some('(') => return Err("it computes with `((`".to_owned()),
                Some('(') => {
                    self.at += 1;
                    self.deeper(|parser| parser.list(Close::Paren))?;
                }
                Some(_) => self.simple()?,
            }
        }
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Odd<()>) -> Odd<()> {
        self.depth += 1;
        // What parentheses open or close stays in them, also where they are not balanced.
        let bodies = self.bodies.clone();
        let result = read(self);
        self.bodies = bodies;
        self.head = None;
        self.depth -= 1;
        result
    }

    fn no_open_here(&self) -> Odd<()> {
        if self.here.iter().any(|here| here.depth == self.depth) {
            return Err("a here-document has no end".to_owned());
        }
        Ok(())
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) || self.take("\\\n") {
            if matches!(self.peek(), Some(' ' | '\t')) {
                self.at += 1;
            }
        }
    }

    fn simple(&mut self) -> Odd<()> {
        let mut command = Simple::default();
        let mut looping = false;
        let mut split = false;
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                    break;
                }
                Some('&') if self.ahead(1) != Some('>') => break,
                Some('(') => return Err("it defines a function or an array".to_owned()),
                Some('<' | '>') if self.ahead(1) == Some('(') && !split => command.words.push(self.word()?),
                Some('&' | '<' | '>') => split |= self.redirection(&mut command)?,
                Some(_) => {
                    let word = self.word()?;
                    let number = !word.raw.is_empty() && word.raw.chars().all(|c| c.is_ascii_digit());
                    if number && matches!(self.peek(), Some('<' | '>')) {
                        continue;
                    }
                    if word.raw.ends_with('}') && matches!(self.peek(), Some('<' | '>')) {
                        return Err("a redirection may set a variable".to_owned());
                    }
                    if split {
                        return Err("words follow `&>`, which shells read in two ways".to_owned());
                    }
                    if !command.words.is_empty() {
                        command.words.push(word);
                    } else if UNREAD.contains(&word.raw.as_str()) {
                        return Err(format!("it uses `{}`", word.raw));
                    } else if STRUCTURE.contains(&word.raw.as_str()) && command == Simple::default() {
                        self.structure(&word.raw);
                        return Ok(());
                    } else if let Some((name, value)) = assignment(&word)? {
                        if self.peek() == Some('(') {
                            return Err("it fills an array".to_owned());
                        }
                        command.assigns.push((name, value));
                    } else {
                        looping = word.raw == "for" && command.assigns.is_empty();
                        command.words.push(word);
                    }
                }
            }
        }
        self.head = None;
        if looping {
            command = the_loop(command)?;
            self.head.clone_from(&command.looped);
        }
        if command != Simple::default() {
            command.inside = self.bodies.iter().flatten().cloned().collect();
            self.script.commands.push(command);
        }
        if self.script.commands.len() > MAX_COMMANDS {
            return Err("it holds too many commands".to_owned());
        }
        Ok(())
    }

    /// A word that gives structure. The body of a loop begins right after its head or, for the reader, nowhere.
    fn structure(&mut self, word: &str) {
        let head = self.head.take();
        match word {
            "do" => self.bodies.push(head),
            "done" => {
                self.bodies.pop();
            }
            _ => {}
        }
    }

    fn redirection(&mut self, command: &mut Simple) -> Odd<bool> {
        if self.take("<<<") {
            self.blanks();
            self.word()?;
            return Ok(false);
        }
        if self.take("<<") {
            let tabs = self.take("-");
            self.blanks();
            let word = self.word()?;
            let Some(end) = word.text.filter(|end| !end.is_empty()) else {
                return Err("a here-document's end is not plain".to_owned());
            };
            let verbatim = end != word.raw;
            self.here.push(Here { end, tabs, verbatim, depth: self.depth });
            return Ok(false);
        }
        // To a plain sh this is `&` and then `>`: the same, unless more words follow.
        let split = self.peek() == Some('&');
        let reads = !self.take("&>>") && !self.take("&>") && self.take("<") && !self.take(">");
        let copies = if reads {
            self.take("&")
        } else {
            self.take(">");
            self.take(">");
            self.take("|");
            self.take("&")
        };
        self.blanks();
        let target = self.word()?;
        if target.raw.is_empty() {
            return Err("a redirection without a target".to_owned());
        }
        let channel = target.text.as_deref().is_some_and(|text| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            digits.chars().all(|c| c.is_ascii_digit())
        });
        if copies && channel {
            return Ok(false);
        }
        // Bash expands the name after `>&` twice, quotes or not.
        let plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
        if copies && !target.raw.chars().all(plain) {
            return Err("the name after `>&` is not plain".to_owned());
        }
        if reads {
            command.reads.push(target);
        } else {
            command.writes.push(target);
        }
        Ok(split)
    }

    /// A newline outside of quotes: here-documents that wait begin after it.
    fn newline(&mut self) -> Odd<()> {
        self.at += 1;
        for here in std::mem::take(&mut self.here) {
            if here.depth != self.depth {
                return Err("a here-document is torn".to_owned());
            }
            self.here_text(&here)?;
        }
        Ok(())
    }

    fn here_text(&mut self, here: &Here) -> Odd<()> {
        let mut body = String::new();
        loop {
            if self.peek().is_none() {
                return Err("a here-document has no end".to_owned());
            }
            let mut line = String::new();
            while let Some(c) = self.next() {
                if c == '\n' {
                    break;
                }
                line.push(c);
            }
            let text = if here.tabs { line.trim_start_matches('\t') } else { &line };
            if text == here.end {
                break;
            }
            if !here.verbatim && line.ends_with('\\') {
                return Err("a here-document joins lines".to_owned());
            }
            body.push_str(&line);
            body.push('\n');
        }
        if here.verbatim {
            return Ok(());
        }
        let mut inner = Parser::new(&body, self.depth + 1, self.script);
        while let Some(c) = inner.next() {
            match c {
                '\\' => inner.at += 1,
                '`' => inner.backticks()?,
                '$' => {
                    inner.dollar(true, &mut String::new())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Odd<Word> {
        let start = self.at;
        let mut word = Word::default();
        let mut text = String::new();
        let mut known = true;
        while let Some(c) = self.peek() {
            let first = self.at == start;
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' => break,
                '<' | '>' if first && self.ahead(1) == Some('(') => {
                    self.at += 2;
                    self.deeper(|parser| parser.list(Close::Paren))?;
                    known = false;
                    continue;
                }
                '<' | '>' => break,
                _ => {}
            }
            self.at += 1;
            match c {
                '\\' => match self.next() {
                    None => return Err("it ends in a backslash".to_owned()),
                    Some('\n') => {}
                    Some(c) => text.push(c),
                },
                '\'' => self.single(&mut text)?,
                '"' => known &= self.double(&mut text)?,
                '`' => {
                    self.backticks()?;
                    word.spills.push(BareExpansion::Anything);
                    known = false;
                }
                '$' => {
                    let start = self.at;
                    if !self.dollar(false, &mut text)? {
                        known = false;
                        let said: String =
                            self.chars.get(start..self.at).unwrap_or_default().iter().collect();
                        word.spills.extend(spill(&said));
                    }
                }
                '*' | '?' | '[' => {
                    word.glob = true;
                    text.push(c);
                }
                // `{}` alone is plain; anything else in braces may become several words.
                '{' if self.take("}") => text.push_str("{}"),
                '{' => {
                    known &= first && matches!(self.peek(), None | Some(' ' | '\t' | '\n'));
                    text.push(c);
                }
                '~' => {
                    let before = self.at.checked_sub(2).and_then(|at| self.chars.get(at));
                    word.tilde |= first || matches!(before, Some('=' | ':'));
                    text.push(c);
                }
                _ => text.push(c),
            }
        }
        word.raw = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        // After other characters `{}` may open a list all the same: `x{},y}`.
        known &= !word.raw.contains("{}") || !(word.raw.contains(',') || word.raw.contains(".."));
        word.text = known.then_some(text);
        Ok(word)
    }

    fn single(&mut self, text: &mut String) -> Odd<()> {
        loop {
            match self.next() {
                None => return Err("a quote is not closed".to_owned()),
                Some('\'') => return Ok(()),
                Some('\n') if !self.here.is_empty() => return Err("a here-document is torn".to_owned()),
                Some(c) => text.push(c),
            }
        }
    }

    /// The rest of a double-quoted text; tells whether it is known.
    fn double(&mut self, text: &mut String) -> Odd<bool> {
        let mut known = true;
        loop {
            match self.next() {
                None => return Err("a quote is not closed".to_owned()),
                Some('"') => return Ok(known),
                Some('\n') if !self.here.is_empty() => return Err("a here-document is torn".to_owned()),
                Some('\\') => match self.next() {
                    None => return Err("a quote is not closed".to_owned()),
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                    Some(c) => {
                        text.push('\\');
                        text.push(c);
                    }
                },
                Some('`') => {
                    self.backticks()?;
                    known = false;
                }
                Some('$') => known &= self.dollar(true, text)?,
                Some(c) => text.push(c),
            }
        }
    }

    fn backticks(&mut self) -> Odd<()> {
        let mut inner = String::new();
        loop {
            match self.next() {
                None => return Err("a backtick is not closed".to_owned()),
                Some('`') => break,
                Some('\\') => match self.next() {
                    None => return Err("a backtick is not closed".to_owned()),
                    Some(c @ ('$' | '`' | '\\')) => inner.push(c),
                    // Inside double quotes bash also takes `\"` apart here; both readings cannot be followed at once.
                    Some('"') => return Err("a quote is escaped inside backticks".to_owned()),
                    Some(c) => {
                        inner.push('\\');
                        inner.push(c);
                    }
                },
                Some('\n') if !self.here.is_empty() => return Err("a here-document is torn".to_owned()),
                Some(c) => inner.push(c),
            }
        }
        nested(&inner, self.depth + 1, self.script)
    }

    /// What follows a dollar sign; tells whether it is plain text after all.
    fn dollar(&mut self, quoted: bool, text: &mut String) -> Odd<bool> {
        match self.peek() {
            Some('(') if self.ahead(1) == Some('(') => self.arithmetic()?,
            Some('(') => {
                self.at += 1;
                self.deeper(|parser| parser.list(Close::Paren))?;
            }
            Some('{') => self.parameter()?,
            Some('[') => return Err("it computes with `$[`".to_owned()),
            Some('\'') if !quoted => {
                self.at += 1;
                loop {
                    match self.next() {
                        None => return Err("a quote is not closed".to_owned()),
                        Some('\'') => break,
                        // A plain sh would see the end of the quote here.
                        Some('\\') => return Err("a quote holds an escape".to_owned()),
                        Some('\n') if !self.here.is_empty() => {
                            return Err("a here-document is torn".to_owned());
                        }
                        Some(_) => {}
                    }
                }
            }
            Some('"') if !quoted => {
                self.at += 1;
                self.double(&mut String::new())?;
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => self.at += 1,
            Some(_) | None => {
                text.push('$');
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `$((…))` with numbers only: names in it could run commands, by way of what they hold.
    fn arithmetic(&mut self) -> Odd<()> {
        self.at += 2;
        let mut open = 2;
        while open > 0 {
            match self.next() {
                Some('(') => open += 1,
                Some(')') => open -= 1,
                Some(c) if c.is_ascii_digit() || " +-*/%<>=!&|^~?:".contains(c) => {}
                Some(_) | None => return Err("it computes with names".to_owned()),
            }
        }
        Ok(())
    }

    /// `${NAME}` and its plain forms; the others can run commands or set variables.
    fn parameter(&mut self) -> Odd<()> {
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.next() {
                None => return Err("a brace is not closed".to_owned()),
                Some('}') => break,
                Some(c) if c.is_ascii_alphanumeric() || " _-+./:,%#@*?=".contains(c) => inner.push(c),
                Some(_) => return Err("a variable is expanded in an odd way".to_owned()),
            }
        }
        let name = inner.trim_start_matches('#');
        let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let plain = ["", "@", "*", "?"].contains(&rest)
            || [":-", ":+", "-", "+", "%", "#"].iter().any(|op| rest.starts_with(op));
        if plain { Ok(()) } else { Err("a variable is expanded in an odd way".to_owned()) }
    }
}

/// What an expansion outside of quotes may become more than one plain word by; `said` is what follows the dollar sign.
fn spill(said: &str) -> Option<BareExpansion> {
    let inner = said.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(said);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match said.chars().next() {
        // Numbers, and what is quoted after all.
        Some('?' | '#' | '$' | '!' | '-' | '\'' | '"') => None,
        _ if said.starts_with("((") => None,
        _ if inner.strip_prefix('#').is_some_and(|name| name.chars().all(plain)) => None,
        _ if inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && inner.chars().all(plain) => {
            Some(BareExpansion::Variable(inner.to_owned()))
        }
        _ => Some(BareExpansion::Anything),
    }
}

/// `NAME=value` or `NAME+=value`, when the word is one.
fn assignment(word: &Word) -> Odd<Option<(String, Word)>> {
    let name: String = word.raw.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let rest = word.raw.get(name.len()..).unwrap_or_default();
    if rest.starts_with('[') && rest.contains('=') {
        return Err("it fills an array".to_owned());
    }
    let Some(raw) = rest.strip_prefix('=').or_else(|| rest.strip_prefix("+=")) else { return Ok(None) };
    let skip = word.raw.len() - raw.len();
    let text = word.text.as_ref().map(|text| text.get(skip..).unwrap_or_default().to_owned());
    let raw = raw.to_owned();
    Ok(Some((name, Word { text, raw, ..word.clone() })))
}

/// What a loop goes over. It may only set a variable that nothing else reads.
fn the_loop(command: Simple) -> Odd<Simple> {
    // Without a list the body may follow at once: `for x do …`.
    if command.words.get(2).is_some_and(|word| word.raw != "in") {
        return Err("a loop has no list".to_owned());
    }
    let name = command.words.get(1).map_or("", |word| word.raw.as_str());
    if !private(name) {
        return Err(format!("a loop sets `{name}`"));
    }
    let name = name.to_owned();
    let mut list: Vec<Word> = command.words.into_iter().skip(3).collect();
    if list.is_empty() {
        // Then it goes over what the shell was given.
        list.push(Word { raw: "$@".to_owned(), spills: vec![BareExpansion::Anything], ..Word::default() });
    }
    Ok(Simple { words: Vec::new(), looped: Some((name, list)), ..command })
}

/// Whether a name is surely not one that programs look at.
pub(super) fn private(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    !name.is_empty() && plain && !name.ends_with("_proxy")
}
