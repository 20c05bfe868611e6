//! Whether a few lines of Python only compute and print, as far as their words tell.
//!
//! This frees nothing: such a line is asked about like any other. It decides only how loud the question is, for whoever hears that
//! `print(1)` cannot be undone does not listen any more when it is true. Everything that is not known to be mild is not mild.

/// Bytes of code that are looked at; what is longer is not mild.
const MAX_CODE: usize = 2_000;
/// How deep formatted texts are followed.
const MAX_DEPTH: usize = 3;

/// Modules that do nothing but compute, or tell of themselves.
const MODULES: &[&str] = &[
    "json",
    "math",
    "cmath",
    "statistics",
    "re",
    "string",
    "datetime",
    "time",
    "calendar",
    "random",
    "decimal",
    "fractions",
    "itertools",
    "functools",
    "operator",
    "collections",
    "textwrap",
    "unicodedata",
    "sys",
    "platform",
    "hashlib",
    "base64",
    "zlib",
    "struct",
    "uuid",
    "pprint",
    "heapq",
    "bisect",
];
/// Of those: the ones of which every name is mild.
const MILD: &[&str] = &["math", "cmath", "statistics", "string", "calendar", "itertools", "heapq", "bisect"];
/// Names behind a dot, and from a module, that are mild on whatever they stand.
const NAMES: &[&str] = &[
    "append",
    "argv",
    "b64decode",
    "b64encode",
    "capitalize",
    "center",
    "choice",
    "count",
    "Counter",
    "date",
    "datetime",
    "Decimal",
    "decode",
    "dedent",
    "defaultdict",
    "digest",
    "dump",
    "dumps",
    "encode",
    "endswith",
    "executable",
    "exit",
    "extend",
    "findall",
    "format",
    "Fraction",
    "fromisoformat",
    "fromtimestamp",
    "get",
    "group",
    "groups",
    "hexdigest",
    "index",
    "indent",
    "insert",
    "isdigit",
    "isoformat",
    "items",
    "join",
    "keys",
    "load",
    "loads",
    "lower",
    "lstrip",
    "machine",
    "match",
    "maxsize",
    "md5",
    "namedtuple",
    "now",
    "node",
    "OrderedDict",
    "pop",
    "pprint",
    "randint",
    "random",
    "read",
    "readline",
    "readlines",
    "reduce",
    "replace",
    "reverse",
    "rstrip",
    "search",
    "seed",
    "sha1",
    "sha256",
    "sha512",
    "shuffle",
    "sleep",
    "sort",
    "split",
    "splitlines",
    "startswith",
    "stderr",
    "stdin",
    "stdout",
    "strftime",
    "strip",
    "strptime",
    "sub",
    "system_alias",
    "time",
    "timedelta",
    "title",
    "today",
    "total_seconds",
    "update",
    "upper",
    "utcnow",
    "uuid4",
    "values",
    "version",
    "version_info",
    "wrap",
    "write",
    "year",
    "zfill",
];
/// Names that make any code of a text, or reach what is hidden.
const REACHING: &[&str] = &[
    "eval",
    "exec",
    "compile",
    "input",
    "getattr",
    "setattr",
    "delattr",
    "globals",
    "locals",
    "vars",
    "breakpoint",
    "help",
    "memoryview",
    "super",
    "with",
    "async",
    "await",
    "class",
    "yield",
    "copyright",
    "credits",
    "license",
];

/// Whether the code only computes and prints.
pub(super) fn is_mild(code: &str) -> bool {
    code.len() <= MAX_CODE && Tokens { code, at: 0, depth: 0 }.are_mild()
}

#[derive(Debug, PartialEq)]
enum Token<'a> {
    Name(&'a str),
    /// A text, and whether its braces hold code.
    Text {
        inside: &'a str,
        formatted: bool,
    },
    Sign(u8),
    /// The end of a statement.
    Break,
}

/// What an `import` may be followed by.
#[derive(Clone, Copy, PartialEq)]
enum Import {
    No,
    /// Modules, or the names that they get.
    Modules {
        named: bool,
    },
    /// The module of a `from`.
    From,
    /// Names of a module.
    Names,
}

struct Tokens<'a> {
    code: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Tokens<'a> {
    fn are_mild(mut self) -> bool {
        let mut import = Import::No;
        let mut before: Option<Token<'a>> = None;
        let mut owner = "";
        loop {
            let Ok(next) = self.next() else { return false };
            let Some(token) = next else { return true };
            let mild = match (&token, import) {
                (Token::Break, _) => {
                    import = Import::No;
                    true
                }
                (Token::Name(name), _) if name.contains("__") => false,
                (Token::Name("import"), Import::No) => {
                    import = Import::Modules { named: false };
                    true
                }
                (Token::Name("import"), Import::From) => {
                    import = Import::Names;
                    true
                }
                (Token::Name("from"), Import::No) => {
                    import = Import::From;
                    true
                }
                (Token::Name("as"), Import::Modules { .. }) => {
                    import = Import::Modules { named: true };
                    true
                }
                (Token::Name(_), Import::Modules { named: true }) => {
                    import = Import::Modules { named: false };
                    true
                }
                (Token::Name(name), Import::Modules { named: false } | Import::From) => {
                    MODULES.contains(name)
                }
                (Token::Name(name), Import::Names) => NAMES.contains(name),
                (Token::Sign(b','), Import::Modules { .. } | Import::Names) => true,
                (_, Import::Modules { .. } | Import::From | Import::Names) => false,
                (Token::Name(name), Import::No) if before == Some(Token::Sign(b'.')) => {
                    NAMES.contains(name) || MILD.contains(&owner)
                }
                (Token::Name("open"), Import::No) => self.reads(),
                (Token::Name(name), Import::No) => !REACHING.contains(name),
                (Token::Text { inside, formatted: true }, Import::No) => self.braces_are_mild(inside),
                (Token::Text { .. } | Token::Sign(_), Import::No) => true,
            };
            if !mild {
                return false;
            }
            if let Token::Name(name) = token {
                owner = name;
            }
            before = Some(token);
        }
    }

    /// Whether what follows `open` reads a file of the workspace: one text, and a mode that only reads.
    fn reads(&mut self) -> bool {
        let mut next = || self.next().ok().flatten();
        let Some(Token::Sign(b'(')) = next() else { return false };
        let Some(Token::Text { inside, formatted: false }) = next() else { return false };
        if inside.starts_with(['/', '~', '\\']) || inside.contains("..") {
            return false;
        }
        match next() {
            Some(Token::Sign(b')')) => true,
            Some(Token::Sign(b',')) => {
                let mode = next();
                let reads = |inside: &str| ["r", "rb", "rt"].contains(&inside);
                matches!(mode, Some(Token::Text { inside, formatted: false }) if reads(inside))
                    && next() == Some(Token::Sign(b')'))
            }
            _ => false,
        }
    }

    fn braces_are_mild(&self, text: &str) -> bool {
        let mut rest = text.replace("{{", "").replace("}}", "");
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}').map(|close| open + close) else { return false };
            let inner = Tokens { code: &rest[open + 1..close], at: 0, depth: self.depth + 1 };
            if inner.depth > MAX_DEPTH || !inner.are_mild() {
                return false;
            }
            rest = rest[close + 1..].to_owned();
        }
        !rest.contains('}')
    }

    /// The next token; an error for what is not understood.
    fn next(&mut self) -> Result<Option<Token<'a>>, ()> {
        let bytes = self.code.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            self.at += 1;
        }
        let Some(&byte) = bytes.get(self.at) else { return Ok(None) };
        let start = self.at;
        match byte {
            b'\n' | b';' => {
                self.at += 1;
                Ok(Some(Token::Break))
            }
            b'#' => {
                let end = self.code[start..].find('\n').map_or(self.code.len(), |end| start + end);
                self.at = end;
                self.next()
            }
            b'0'..=b'9' => {
                self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                Ok(Some(Token::Sign(b'0')))
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let name = &self.code[start..self.at];
                match bytes.get(self.at) {
                    Some(b'"' | b'\'') => self.text(name),
                    _ => Ok(Some(Token::Name(name))),
                }
            }
            b'"' | b'\'' => self.text(""),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'(' | b')' | b'[' | b']' | b'{'
            | b'}' | b',' | b'.' | b':' | b'&' | b'|' | b'^' | b'~' | b'!' => {
                self.at += 1;
                Ok(Some(Token::Sign(byte)))
            }
            _ => Err(()),
        }
    }

    fn skip(&mut self, goes_on: impl Fn(u8) -> bool) {
        while self.code.as_bytes().get(self.at).is_some_and(|byte| goes_on(*byte)) {
            self.at += 1;
        }
    }

    /// A text that begins here, with what stands right before its quote.
    fn text(&mut self, prefix: &str) -> Result<Option<Token<'a>>, ()> {
        let prefix = prefix.to_ascii_lowercase();
        if !["", "r", "b", "u", "f", "rb", "br", "fr", "rf"].contains(&prefix.as_str()) {
            return Err(());
        }
        let bytes = self.code.as_bytes();
        let quote = bytes[self.at];
        let one = [quote];
        let three = [quote; 3];
        let end: &[u8] = if bytes[self.at..].starts_with(&three) { &three } else { &one };
        let from = self.at + end.len();
        let mut at = from;
        while at < bytes.len() && !bytes[at..].starts_with(end) {
            // A backslash keeps the quote behind it from ending the text, also in raw ones.
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        let inside = self.code.get(from..at).filter(|_| at < bytes.len()).ok_or(())?;
        self.at = at + end.len();
        Ok(Some(Token::Text { inside, formatted: prefix.contains('f') }))
    }
}

#[cfg(test)]
mod tests {
    use super::is_mild;

    #[test]
    fn what_only_computes_and_prints_is_mild() {
        for code in [
            "print(1)",
            "",
            "print('a b', 2 ** 10, sum(range(5)))",
            "import json; print(json.load(open('package.json'))['version'])",
            "import json, sys\nfor k, v in json.load(sys.stdin).items():\n    print(k, len(v))",
            "import math as m; print(m)",
            "import math; print(math.tau)",
            "from datetime import datetime, timedelta; print(datetime.now() + timedelta(days=1))",
            "x = [n * n for n in range(10)]; print(f\"{sum(x):.2f} of {len(x)}\")",
            "print(open('a.txt', 'rb').read().hexdigest()) # os.remove",
            "print(\"os.remove('x')\")",
            "print('''it's\nlong''')",
        ] {
            assert!(is_mild(code), "{code}");
        }
    }

    #[test]
    fn what_may_do_more_is_not() {
        for code in [
            "import shutil; shutil.rmtree('x')",
            "import os; os.remove('x')",
            "import os.path",
            "import json.tool",
            "from os import system; system('x')",
            "from json import *",
            "__import__('os').system('x')",
            "print(().__class__)",
            "eval('1')",
            "exec(open('a.py').read())",
            "f = eval\nf('1')",
            "getattr(x, 'y')",
            "open('x', 'w').write('')",
            "open('x', mode)",
            "open('x', mode='w')",
            "open(name)",
            "open('/etc/passwd')",
            "open('../x')",
            "open('~/x')",
            "o = open",
            "print(f\"{__import__('os')}\")",
            "print(f\"{open('x', 'w')}\")",
            "print(f'{x}}')",
            "import sys; sys.modules['os'].system('x')",
            "x.unlink()",
            "import subprocess",
            "import urllib.request",
            "@f\ndef g(): pass",
            "import \\\n os",
            "x = '",
            "print('ä'); os",
            "pr\u{ed}nt(1)",
            "lambda: breakpoint()",
            "x'1'",
            "b'' f'{exec(1)}'",
        ] {
            // A bare name such as `os` is mild by itself: nothing gave it a meaning.
            let harmless = code == "print('ä'); os";
            assert_eq!(is_mild(code), harmless, "{code}");
        }
        assert!(!is_mild(&"1+".repeat(2_000)));
    }
}
