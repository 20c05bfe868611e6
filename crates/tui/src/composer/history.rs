//! Earlier prompts: walked with the arrows, searched with Ctrl-R. What was being written is kept while walking.

/// Most prompts kept.
const MAX_HISTORY: usize = 2_000;

/// Earlier prompts, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    prompts: Vec<String>,
    walk: Option<(usize, String)>,
}

impl History {
    /// What was read from disk comes before what was said since.
    pub fn load(&mut self, earlier: Vec<String>) {
        let said = std::mem::take(&mut self.prompts);
        for prompt in earlier.into_iter().chain(said) {
            self.remember(prompt);
        }
    }

    /// Keeps a prompt; a repeated one only moves to the end.
    pub fn remember(&mut self, prompt: String) {
        self.walk = None;
        if prompt.trim().is_empty() || self.prompts.last() == Some(&prompt) {
            return;
        }
        self.prompts.push(prompt);
        if self.prompts.len() > MAX_HISTORY {
            self.prompts.remove(0);
        }
    }

    /// The prompt before the one shown; `draft` is kept for the way back.
    pub fn earlier(&mut self, draft: &str) -> Option<String> {
        let (at, draft) = match self.walk.take() {
            Some((at, kept)) => (at, kept),
            None => (self.prompts.len(), draft.to_owned()),
        };
        let next = at.checked_sub(1).filter(|next| *next < self.prompts.len());
        self.walk = Some((next.unwrap_or(at), draft));
        next.map(|next| self.prompts[next].clone())
    }

    /// The prompt after the one shown, at last the draft.
    pub fn later(&mut self) -> Option<String> {
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
    pub fn is_walking(&self) -> bool {
        self.walk.is_some()
    }

    /// Stops walking: what is shown is the draft now.
    pub fn stay(&mut self) {
        self.walk = None;
    }

    /// All prompts, newest first, each once.
    pub fn newest_first(&self) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        self.prompts.iter().rev().map(String::as_str).filter(|prompt| seen.insert(*prompt)).collect()
    }
}
