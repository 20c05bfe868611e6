//! Colours for code: what [`export::code`] reads, in the colours of the theme.

use crate::row::Piece;
use crate::theme::{Role, Theme};
use export::code::{Lexer, Token};

/// The next line of a block as pieces.
pub(crate) fn pieces(lexer: &mut Lexer, line: &str, theme: Theme) -> Vec<Piece> {
    lexer.line(line).into_iter().map(|(token, text)| Piece::new(text, theme.style(role(token)))).collect()
}

/// What a token of code is drawn as.
pub(crate) fn role(token: Token) -> Role {
    match token {
        Token::Plain => Role::Text,
        Token::Comment => Role::Comment,
        Token::Literal => Role::Literal,
        Token::Number => Role::Number,
        Token::Keyword => Role::Keyword,
        Token::Type => Role::Type,
        Token::Call => Role::Call,
        Token::Added => Role::Added,
        Token::Removed => Role::Removed,
        Token::Hunk => Role::Accent,
    }
}
