//! Earlier prompts: walked with the arrows, searched with Ctrl-R. What was being written is kept while walking, and pastes stay folded.

use super::edit::FoldedText;

/// Most prompts kept.
const MAX_HISTORY: usize = 2_000;

/// Earlier prompts, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    prompts: Vec<FoldedText>,
    walk: Option<(usize, FoldedText)>,
}

impl History {
    /// What was read from disk comes before what was said since.
    pub(crate) fn load(&mut self, earlier: Vec<String>) {
        let said = std::mem::take(&mut self.prompts);
        for prompt in earlier.into_iter().map(FoldedText::plain).chain(said) {
            self.remember(prompt);
        }
    }

    /// Keeps a prompt; a repeated one only moves to the end.
    pub(crate) fn remember(&mut self, prompt: FoldedText) {
        self.walk = None;
        if prompt.is_blank() || self.prompts.last() == Some(&prompt) {
            return;
        }
        self.prompts.push(prompt);
        if self.prompts.len() > MAX_HISTORY {
            self.prompts.remove(0);
        }
    }

    /// The prompt before the one shown; `draft` is kept for the way back.
    pub(crate) fn earlier(&mut self, draft: FoldedText) -> Option<FoldedText> {
        let (at, draft) = match self.walk.take() {
            Some((at, kept)) => (at, kept),
            None => (self.prompts.len(), draft),
        };
        let next = at.checked_sub(1).filter(|next| *next < self.prompts.len());
        self.walk = Some((next.unwrap_or(at), draft));
        next.map(|next| self.prompts[next].clone())
    }

    /// The prompt after the one shown, at last the draft.
    pub(crate) fn later(&mut self) -> Option<FoldedText> {
        let (at, draft) = self.walk.take()?;
        match self.prompts.get(at + 1) {
            Some(prompt) => {
                self.walk = Some((at + 1, draft));
                Some(prompt.clone())
            }
            None => Some(draft),
        }
    }

    /// Whether an earlier prompt is shown.
    pub(crate) fn is_walking(&self) -> bool {
        self.walk.is_some()
    }

    /// Stops walking: what is shown is the draft now.
    pub(crate) fn stay(&mut self) {
        self.walk = None;
    }

    /// The newest prompt with this text, as it was written.
    pub(crate) fn written(&self, text: &str) -> Option<FoldedText> {
        self.prompts.iter().rev().find(|prompt| prompt.unfolded() == text).cloned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }

    /// All prompts, newest first, each once.
    pub(crate) fn newest_first(&self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        let whole = self.prompts.iter().rev().map(FoldedText::unfolded);
        whole.filter(|prompt| seen.insert(prompt.clone())).collect()
    }
}
