//! What commands take behind their names, as far as it is known.

use crate::clean::clean_line;
use crate::commands::{Parsed, SlashAction, parse};
use crate::policy::asks_when;
use crate::settings::Setting;
use crate::theme::THEMES;
use domain::port::menu::{AgentMenu, OptionKind};
use domain::session::{Effort, Policy};

/// What is known of the runtime and the session, for values that come from there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ValueSources<'a> {
    /// Models with what is told of them.
    pub(crate) models: &'a [(String, String)],
    /// Whether the runtime keeps our policy modes.
    pub(crate) policy: bool,
    /// What the agent offers in words of its own.
    pub(crate) menu: Option<&'a AgentMenu>,
}

/// Values of one place in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Words(&'static [(&'static str, &'static str)]),
    Themes,
    Policies,
    Models,
    Efforts,
    /// The modes of whoever is the agent.
    Modes,
    /// Names of the agent's options.
    Options,
}

/// What may stand next in a line that begins with a command; `None` when anything may, or nothing.
pub(super) fn of(before: &str) -> Option<Values> {
    if !before.ends_with(char::is_whitespace) {
        return None;
    }
    let Some(Parsed::Command(command, argument)) = parse(before) else { return None };
    let words: Vec<&str> = argument.split_whitespace().collect();
    match (command.does, words.as_slice()) {
        (SlashAction::Theme, []) => Some(Values::Themes),
        (SlashAction::Policy, []) => Some(Values::Policies),
        (SlashAction::Model, []) => Some(Values::Models),
        (SlashAction::Effort, []) => Some(Values::Efforts),
        (SlashAction::Rules, []) => {
            Some(Values::Words(&[("narrow", "a command with more words, or exactly these")]))
        }
        (SlashAction::Ports, []) => Some(Values::Words(&[("close", "what was opened on this machine")])),
        (SlashAction::Devices, []) => Some(Values::Words(&[
            ("allow", "the browser that shows this code"),
            ("deny", "the browser that asks"),
            ("revoke", "the device of this id"),
        ])),
        (SlashAction::Diff, []) => Some(Values::Words(&[
            ("all", "since the start of this session"),
            ("git", "since the last commit"),
        ])),
        (SlashAction::Undo | SlashAction::Redo, []) => {
            Some(Values::Words(&[("rest", "leaves out files that cannot be merged")]))
        }
        (SlashAction::Mode, []) => Some(Values::Modes),
        (SlashAction::Options, []) => Some(Values::Options),
        (SlashAction::Queue, []) => Some(Values::Words(&[
            ("one", "one prompt is sent at a time"),
            ("all", "all that is queued is sent together"),
            ("steer", "only what steers the run"),
            ("follow-up", "only what is queued for its end"),
        ])),
        (SlashAction::Queue, ["steer" | "follow-up"]) => {
            Some(Values::Words(&[("one", "one prompt at a time"), ("all", "all of them together")]))
        }
        (SlashAction::Copy, []) => Some(Values::Words(&[
            ("answer", "the last answer"),
            ("code", "the last block of code"),
            ("output", "what the last command printed"),
            ("all", "the whole conversation"),
        ])),
        (SlashAction::Export, []) => Some(Values::Words(&[
            ("md", "readable text"),
            ("html", "one page"),
            ("jsonl", "lossless records"),
        ])),
        (SlashAction::Budget, []) => Some(Values::Words(&[
            ("cost", "dollars"),
            ("steps", "answers of the model"),
            ("time", "how long"),
            ("off", "no bound"),
        ])),
        _ => None,
    }
}

impl Values {
    /// Whether the runtime must be asked for them.
    pub(super) fn are_models(self) -> bool {
        self == Values::Models
    }

    /// The values with what each means.
    pub(super) fn list(self, known: &ValueSources<'_>) -> Vec<(String, String)> {
        let pair = |name: &str, about: &str| (name.to_owned(), about.to_owned());
        match self {
            Values::Words(words) => words.iter().map(|(name, about)| pair(name, about)).collect(),
            Values::Themes => {
                let about = |name: &str| {
                    THEMES.iter().find(|(known, _, _)| *known == name).map_or("", |(_, _, about)| about)
                };
                Setting::Theme.values().into_iter().map(|name| pair(name, about(name))).collect()
            }
            Values::Modes => match known.menu.and_then(|menu| menu.of_kind(OptionKind::Mode)) {
                Some(option) => {
                    let told = |about: &Option<String>| about.as_deref().map(clean_line).unwrap_or_default();
                    let modes = option.choices.iter();
                    modes.map(|mode| (clean_line(&mode.value), told(&mode.about))).collect()
                }
                None => Values::Policies.list(known),
            },
            // A foreign runtime takes one word or none: what each means is told by the list.
            Values::Policies if !known.policy => Vec::new(),
            Values::Policies => {
                Policy::ALL.into_iter().map(|policy| pair(policy.name(), asks_when(policy))).collect()
            }
            Values::Options => {
                let options = known.menu.map(|menu| menu.options.as_slice()).unwrap_or_default().iter();
                options.map(|option| (clean_line(&option.id), clean_line(&option.name))).collect()
            }
            Values::Models => known.models.to_vec(),
            Values::Efforts => {
                let names = Effort::ALL.map(|effort| pair(effort.name(), ""));
                names.into_iter().chain([pair("auto", "the provider decides")]).collect()
            }
        }
    }
}
