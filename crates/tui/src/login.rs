//! The form in which a person gives the key of a provider, without leaving the screen.
//!
//! States: writing it (`Typing`), being asked for by the provider (`Trying`), a key that is refused or could not be tried (`Unsure`).
//! Invariants: no character of a key is shown, kept among earlier prompts or left in a message that can be printed; what the provider
//! does not accept is saved only when the person says so.

use crate::key::{Code, Key};
use std::fmt;

/// Bytes that a key takes at most.
const MAX_KEY: usize = 4 * 1024;

/// A key as it was typed. What prints a message does not print it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TypedKey(String);

impl TypedKey {
    /// The key itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TypedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypedKey({} characters)", self.0.chars().count())
    }
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoginState {
    /// The key is being written; what was wrong with the one before.
    Typing(Option<String>),
    /// The provider is asked.
    Trying,
    /// Why it is not saved yet.
    Unsure(String),
}

/// What comes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoginStep {
    Nothing,
    /// This is to be tried and saved, whatever comes of it if so.
    Try(TypedKey, bool),
    /// What is under way is to end.
    Stop,
    /// The form is closed.
    Close,
}

/// A form for one provider's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoginForm {
    provider: String,
    key: TypedKey,
    state: LoginState,
}

impl LoginForm {
    pub(crate) fn new(provider: String) -> LoginForm {
        LoginForm { provider, key: TypedKey::default(), state: LoginState::Typing(None) }
    }

    /// Whose key it is.
    pub(crate) fn provider(&self) -> &str {
        &self.provider
    }

    /// How far the person has come.
    pub(crate) fn state(&self) -> &LoginState {
        &self.state
    }

    /// How many characters were written.
    pub(crate) fn len(&self) -> usize {
        self.key.0.chars().count()
    }

    /// Text from the clipboard: keys are mostly pasted.
    pub(crate) fn paste(&mut self, text: &str) {
        if matches!(self.state, LoginState::Typing(_)) {
            text.trim().chars().filter(|c| !c.is_control()).for_each(|c| self.push(c));
        }
    }

    fn push(&mut self, c: char) {
        if self.key.0.len() + c.len_utf8() <= MAX_KEY {
            self.key.0.push(c);
        }
    }

    /// Writes, asks for a try or closes the form.
    pub(crate) fn key(&mut self, key: Key) -> LoginStep {
        match (&self.state, key.code, key.ctrl, key.alt) {
            (LoginState::Trying, Code::Esc, ..) => {
                self.state = LoginState::Typing(None);
                LoginStep::Stop
            }
            (LoginState::Trying, ..) => LoginStep::Nothing,
            (_, Code::Esc, ..) => LoginStep::Close,
            (LoginState::Unsure(_), Code::Char('s'), false, false) => self.tries(true),
            (LoginState::Unsure(_), Code::Enter, ..) => {
                *self = LoginForm::new(std::mem::take(&mut self.provider));
                LoginStep::Nothing
            }
            (LoginState::Unsure(_), ..) => LoginStep::Nothing,
            (LoginState::Typing(_), Code::Enter, ..) if self.key.0.is_empty() => LoginStep::Nothing,
            (LoginState::Typing(_), Code::Enter, ..) => self.tries(false),
            (LoginState::Typing(_), Code::Backspace, ..) => {
                self.key.0.pop();
                LoginStep::Nothing
            }
            (LoginState::Typing(_), Code::Char('u'), true, false) => {
                self.key.0.clear();
                LoginStep::Nothing
            }
            (LoginState::Typing(_), Code::Char(c), false, false) => {
                self.push(c);
                LoginStep::Nothing
            }
            (LoginState::Typing(_), ..) => LoginStep::Nothing,
        }
    }

    fn tries(&mut self, keep: bool) -> LoginStep {
        self.state = LoginState::Trying;
        LoginStep::Try(self.key.clone(), keep)
    }

    /// It cannot be saved, or is none: another one is asked for.
    pub(crate) fn failed(&mut self, why: String) {
        *self = LoginForm { state: LoginState::Typing(Some(why)), ..LoginForm::new(self.provider.clone()) };
    }

    /// The provider does not accept it, or could not be asked.
    pub(crate) fn unsure(&mut self, why: String) {
        self.state = LoginState::Unsure(why);
    }
}
