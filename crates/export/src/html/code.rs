//! Code in the page: the tokens of [`crate::code`] as spans with a class each. Everything is escaped.

use crate::code::{Lexer, Token};

/// The code as HTML.
pub(super) fn coloured(fence: &str, code: &str) -> String {
    let mut lexer = Lexer::new(fence);
    let mut pieces: Vec<(Token, String)> = Vec::new();
    for full in code.split_inclusive('\n') {
        let line = full.strip_suffix('\n').unwrap_or(full);
        let tokens = lexer.line(line);
        let end = (lexer.line_end(&tokens), &full[line.len()..]);
        for (token, text) in tokens.into_iter().chain([end]) {
            match pieces.last_mut() {
                Some((last, piece)) if *last == token => piece.push_str(text),
                _ => pieces.push((token, text.to_owned())),
            }
        }
    }
    pieces.iter().map(|(token, text)| span(*token, text)).collect()
}

fn span(token: Token, text: &str) -> String {
    let class = match token {
        Token::Plain => return super::escaped(text),
        Token::Comment => "c",
        Token::Literal => "s",
        Token::Number => "n",
        Token::Keyword => "w",
        Token::Type => "t",
        Token::Call => "f",
        Token::Added => "plus",
        Token::Removed => "minus",
        Token::Hunk => "at",
    };
    format!("<span class=\"{class}\">{}</span>", super::escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn code_is_coloured_and_escaped() {
        for (language, code, page) in [
            ("rust", "let x = 1;", "<span class=\"w\">let</span> x = <span class=\"n\">1</span>;"),
            ("py", "# a<b", "<span class=\"c\"># a&lt;b</span>"),
            ("py", "# a\nb", "<span class=\"c\"># a</span>\nb"),
            ("js", "`a\nb`", "<span class=\"s\">`a\nb`</span>"),
            ("c", "/*\n\n*/\n", "<span class=\"c\">/*\n\n*/</span>\n"),
            ("diff", "+a\n b\n", "<span class=\"plus\">+a\n</span> b\n"),
            ("", "<script>", "&lt;script&gt;"),
        ] {
            assert_eq!(coloured(language, code), page);
        }
    }

    #[test]
    fn every_class_has_a_colour() {
        let page = include_str!("page.css");
        for token in [
            Token::Comment,
            Token::Literal,
            Token::Number,
            Token::Keyword,
            Token::Type,
            Token::Call,
            Token::Added,
            Token::Removed,
            Token::Hunk,
        ] {
            let class = span(token, "x").split('"').nth(1).unwrap().to_owned();
            assert!(page.contains(&format!(".{class} {{ ")), "{token:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_escapes(code in "(\\PC|\n){0,200}", language in "(rust|py|js|sql|html|json|diff|x)") {
            let page = coloured(&language, &code);
            let mut plain = String::new();
            let mut rest = page.as_str();
            while let Some(at) = rest.find('<') {
                plain.push_str(&rest[..at]);
                let end = rest[at..].find('>').unwrap() + at + 1;
                prop_assert!(rest[at..end].starts_with("<span class=") || &rest[at..end] == "</span>");
                rest = &rest[end..];
            }
            plain.push_str(rest);
            let back = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
            prop_assert_eq!(back, code);
        }
    }
}
