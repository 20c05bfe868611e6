//! Code in colours: a small lexer that knows comments, texts, numbers and the words of the usual languages. The terminal UI and the
//! HTML page draw from its tokens, so that code looks alike in both.
//!
//! What it is not: a parser, or a choice of colours. It reads line by line, remembers only an open comment or text, and never fails;
//! so it costs nothing at the start and keeps up with code that streams in.
//!
//! Invariant: the tokens of a line, put together, are the line.

mod languages;

use languages::{LANGUAGES, Language};

/// What a piece of code is to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// Nothing of the others.
    Plain,
    Comment,
    /// A text between quotes.
    Literal,
    Number,
    Keyword,
    /// A name with a capital.
    Type,
    /// A name that is called.
    Call,
    /// A line of a diff that came in.
    Added,
    /// A line of a diff that went out.
    Removed,
    /// A line of a diff that says where it is.
    Hunk,
}

/// What a line leaves open for the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Comment,
    /// A text, and what ends it.
    Text(&'static str),
}

/// Reads the lines of one block in order.
pub struct Lexer {
    language: Option<&'static Language>,
    diff: bool,
    open: Option<Open>,
}

impl Lexer {
    /// For a block whose fence says this, such as `rust` or `rust,no_run`. A language that nobody knows has plain lines.
    pub fn new(fence: &str) -> Lexer {
        let named = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '#';
        let name = fence.trim().split(|c| !named(c)).next().unwrap_or_default().to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()));
        Lexer { language, diff: matches!(name.as_str(), "diff" | "patch"), open: None }
    }

    /// The tokens of the next line (without its end), no two alike beside each other.
    pub fn line<'l>(&mut self, line: &'l str) -> Vec<(Token, &'l str)> {
        if self.diff {
            return vec![(of_diff(line), line)];
        }
        let Some(language) = self.language else { return vec![(Token::Plain, line)] };
        let mut tokens: Vec<(Token, &str)> = Vec::new();
        let (mut from, mut at) = (0, 0);
        while at < line.len() {
            let (token, length) = self.next(language, &line[at..]);
            match tokens.last_mut() {
                Some((last, text)) if *last == token => *text = &line[from..at + length],
                _ => {
                    from = at;
                    tokens.push((token, &line[at..at + length]));
                }
            }
            at += length;
        }
        tokens
    }

    /// What the end of the line that was read last belongs to: a comment or text that goes on, or the whole line of a diff.
    pub fn line_end(&self, tokens: &[(Token, &str)]) -> Token {
        match (self.open, tokens.last()) {
            (Some(Open::Comment), _) => Token::Comment,
            (Some(Open::Text(_)), _) => Token::Literal,
            (None, Some((token, _))) if self.diff => *token,
            (None, _) => Token::Plain,
        }
    }

    /// What `rest` begins with, and how many bytes of it.
    fn next(&mut self, language: &'static Language, rest: &str) -> (Token, usize) {
        if let Some(open) = self.open {
            return self.inside(language, open, rest);
        }
        if language.line_comments.iter().any(|sign| rest.starts_with(sign)) {
            return (Token::Comment, rest.len());
        }
        if let Some((begin, _)) = language.block_comment.filter(|(begin, _)| rest.starts_with(begin)) {
            self.open = Some(Open::Comment);
            return (Token::Comment, begin.len());
        }
        if let Some(quote) = language.long_texts.iter().find(|quote| rest.starts_with(**quote)) {
            self.open = Some(Open::Text(quote));
            return (Token::Literal, quote.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if language.quotes.contains(first) {
            let text = &rest[first.len_utf8()..];
            let end = end_of_text(text, first.encode_utf8(&mut [0; 4]), false);
            return (Token::Literal, end.map_or(rest.len(), |end| first.len_utf8() + end));
        }
        if let Some(length) = Some(rest).filter(|_| language.letters).and_then(letter) {
            return (Token::Literal, length);
        }
        if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            return (Token::Number, end.unwrap_or(rest.len()));
        }
        if let Some(length) = Some(rest).filter(|_| language.tags).and_then(tag) {
            return (Token::Keyword, length);
        }
        if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            return (word(language, &rest[..end], &rest[end..]), end);
        }
        (Token::Plain, first.len_utf8())
    }

    fn inside(&mut self, language: &'static Language, open: Open, rest: &str) -> (Token, usize) {
        let (token, end) = match open {
            Open::Comment => {
                let sign = language.block_comment.map_or("", |(_, end)| end);
                (Token::Comment, rest.find(sign).map(|at| at + sign.len()))
            }
            Open::Text(quote) => (Token::Literal, end_of_text(rest, quote, language.raw)),
        };
        if end.is_some() {
            self.open = None;
        }
        (token, end.unwrap_or(rest.len()))
    }
}

fn of_diff(line: &str) -> Token {
    match line.as_bytes().first() {
        Some(b'+') => Token::Added,
        Some(b'-') => Token::Removed,
        Some(b'@') => Token::Hunk,
        Some(_) | None => Token::Plain,
    }
}

/// Where the text behind its opening quote ends, the closing one included. A backslash takes the next character along, unless `raw`.
fn end_of_text(text: &str, quote: &str, raw: bool) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if !raw => escaped = true,
            _ if text[at..].starts_with(quote) => return Some(at + quote.len()),
            _ => {}
        }
    }
    None
}

/// How long a letter between single quotes is, if there is one: `'a'`, `'\\n'`, `'\\u{e9}'`, and no lifetime.
fn letter(rest: &str) -> Option<usize> {
    const LONGEST: usize = "\\u{10ffff}'".len();
    let inner = rest.strip_prefix('\'')?;
    let first = inner.chars().next().filter(|first| *first != '\'')?;
    let end = match first {
        '\\' => end_of_text(inner, "'", false).filter(|end| *end <= LONGEST)?,
        first => inner[first.len_utf8()..].starts_with('\'').then_some(first.len_utf8() + 1)?,
    };
    Some(1 + end)
}

/// How long the beginning of a tag is, if there is one: `<p`, `</p`.
fn tag(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('<')?;
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let name = inner.find(|c: char| !c.is_alphanumeric() && c != '-' && c != ':').unwrap_or(inner.len());
    (name > 0).then_some(rest.len() - inner.len() + name)
}

fn word(language: &Language, word: &str, after: &str) -> Token {
    let lower = language.any_case.then(|| word.to_lowercase());
    let spelt = lower.as_deref().unwrap_or(word);
    if language.words.split(' ').any(|known| known == spelt) {
        Token::Keyword
    } else if after.starts_with('(') || after.starts_with("!(") {
        Token::Call
    } else if word.starts_with(char::is_uppercase) {
        Token::Type
    } else {
        Token::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The block in its own notation: one letter for each token that is not plain, then its text in brackets.
    fn read(fence: &str, code: &str) -> String {
        let mut lexer = Lexer::new(fence);
        let mut out = Vec::new();
        for line in code.split('\n') {
            let tokens = lexer.line(line).into_iter().map(|(token, text)| match token {
                Token::Plain => text.to_owned(),
                other => format!("{}[{text}]", format!("{other:?}").chars().next().unwrap().to_lowercase()),
            });
            out.push(tokens.collect::<String>());
        }
        out.join("\n")
    }

    #[test]
    fn languages_are_read_by_their_own_rules() {
        for (fence, code, expected) in [
            ("rust", "let x = f(1); // a", "k[let] x = c[f](n[1]); c[// a]"),
            ("rust", "f('\"', '\\'') + 1", "c[f](l['\"'], l['\\'']) + n[1]"),
            ("rust", "fn a<'b>(c: &'b D)", "k[fn] a<'b>(c: &'b t[D])"),
            ("rust,no_run", "use Foo;", "k[use] t[Foo];"),
            ("c#", "new A()", "k[new] c[A]()"),
            ("py", "x = 'a\\'b' # c", "x = l['a\\'b'] c[# c]"),
            ("py", "\"\"\"a\nb\\\"\"\" c\"\"\" d", "l[\"\"\"a]\nl[b\\\"\"\" c\"\"\"] d"),
            ("js", "`a\\`\nb` c", "l[`a\\`]\nl[b`] c"),
            ("go", "`a\\` b", "l[`a\\`] b"),
            ("c", "/* a\nb */ x", "c[/* a]\nc[b */] x"),
            ("js", "don't\nlet x", "donl['t]\nk[let] x"),
            ("sql", "Select a FROM b -- c", "k[Select] a k[FROM] b c[-- c]"),
            ("lua", "/* a */", "/* a */"),
            ("ini", "; a", "c[; a]"),
            ("html", "<p class=\"a\">a title</p>", "k[<p] class=l[\"a\"]>a titlek[</p]>"),
            ("diff", "@@ a\n+b\n-c\n d", "h[@@ a]\na[+b]\nr[-c]\n d"),
            ("whatever", "let 1", "let 1"),
            ("", "<script>", "<script>"),
        ] {
            assert_eq!(read(fence, code), expected, "{fence}: {code}");
        }
    }

    #[test]
    fn names_are_of_one_language_and_in_small_letters() {
        let mut names: Vec<&str> = LANGUAGES.iter().flat_map(|language| language.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| *name == name.to_lowercase()), "{names:?}");
    }

    proptest! {
        #[test]
        fn the_tokens_of_a_line_are_the_line(
            code in "(\\PC|[\"'`*/<#\\\\\n-]){0,200}",
            fence in "(rust|py|js|go|sql|html|json|css|diff|x)",
        ) {
            let mut lexer = Lexer::new(&fence);
            for line in code.split('\n') {
                let tokens = lexer.line(line);
                prop_assert_eq!(tokens.iter().map(|(_, text)| *text).collect::<String>(), line);
                prop_assert!(tokens.windows(2).all(|two| two[0].0 != two[1].0));
            }
        }
    }
}
