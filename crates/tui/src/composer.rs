//! The composer: where the person writes. Pure text editing with undo, folded pastes and earlier prompts; drawing is in `view`.

mod edit;
mod history;
mod layout;
#[cfg(test)]
mod tests;

pub use edit::Editor;
pub use history::History;
pub use layout::{Caret, Laid, lay_out};
