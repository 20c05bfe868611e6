//! The slash commands: their names, what they take, what they do. One table serves running, completing and the help page.

use domain::port::Abilities;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlashAction {
    /// Lists all commands.
    Help,
    /// Shows the keys.
    Keys,
    /// Begins a session.
    New,
    /// Chooses a session.
    Sessions,
    /// Shows the tree of the session.
    Tree,
    /// Takes back what the last prompt did to files.
    Undo,
    /// Does again what was taken back last.
    Redo,
    /// Shows what changed in files.
    Diff,
    /// Makes a session from here.
    Branch,
    /// Gives the session a title.
    Rename,
    /// Begins anew on an empty branch.
    Clear,
    /// Puts a summary in the place of older messages.
    Compact,
    /// Chooses a model.
    Model,
    /// Says how hard the model thinks.
    Effort,
    /// Chooses how tools get their consent.
    Policy,
    /// Lets the agent plan before it begins.
    Plan,
    /// Shows, narrows and revokes what was allowed for good.
    Rules,
    /// Shows where commands listen, and opens that on this machine.
    Ports,
    /// Shows and switches tools.
    Tools,
    /// Shows skills.
    Skills,
    /// Shows MCP servers.
    Servers,
    /// Runs a command of an extension.
    Extension,
    /// Shows numbers of the session.
    Status,
    Budget,
    /// Shows the words that came and went.
    Notices,
    /// Shows the inputs that wait in the queues, or sets how many of them a turn takes.
    Queue,
    /// Chooses among the modes of whoever is the agent.
    Mode,
    /// Shows what can be set of an agent, and sets it.
    Options,
    /// Copies what was said, code or output, from a list or by name.
    Copy,
    /// Writes the session to a file.
    Export,
    /// Lets the runtime write the session to a file of its own.
    Save,
    /// Asks the runtime whether it is there.
    Ping,
    /// Looks for words in all sessions.
    Search,
    /// Looks for words in the conversation.
    Find,
    /// Shows earlier prompts.
    History,
    /// Opens or folds all tools and thoughts.
    Fold,
    /// Writes the conversation to the scrollback once more.
    Print,
    /// Chooses colours.
    Theme,
    /// Shows and changes what the person has set.
    Settings,
    /// Switches the mouse.
    Mouse,
    /// Opens the person's editor.
    Edit,
    /// Stops the run.
    Stop,
    /// Starts the runtime again, or connects to it again.
    Restart,
    /// Takes the key of a provider.
    Login,
    /// Goes to another program's agent.
    Agents,
    /// Shows all sessions, wherever they run.
    Fleet,
    /// Shows the devices of the page: allows, denies and revokes.
    Devices,
    /// Ends the UI.
    Quit,
}

/// What can be done about a runtime that hangs or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Restart {
    /// Nothing: it is this program itself.
    #[default]
    None,
    /// It was started by this program, and can be started again.
    Start,
    /// It is behind a socket, and can be connected to again.
    Connect,
}

/// What can be done from where the screen runs, whatever the runtime can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Here {
    pub(crate) restart: Restart,
    /// Whether the person may leave for a login or for another agent.
    pub(crate) exits: bool,
    /// Whether a key can be given on the screen itself.
    pub(crate) login: bool,
    /// Where the fleet is gathered.
    pub(crate) fleet: Option<FleetHere>,
    /// Whether somebody tells of the devices of the page.
    pub(crate) devices: bool,
}

/// What can be done with the fleet from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FleetHere {
    /// The process that this screen belongs to.
    pub(crate) pid: u32,
    /// Whether the person may go to sessions of other processes.
    pub(crate) visits: bool,
}

impl Here {
    fn has(self, does: SlashAction) -> bool {
        match does {
            SlashAction::Restart => self.restart != Restart::None,
            SlashAction::Login => self.exits || self.login,
            SlashAction::Agents => self.exits,
            SlashAction::Fleet => self.fleet.is_some(),
            SlashAction::Devices => self.devices,
            _ => true,
        }
    }
}

/// One command that is typed as `/name`.
#[derive(Debug)]
pub struct Slash {
    /// Its name, without the slash.
    pub name: &'static str,
    /// What may be written behind it.
    pub takes: &'static str,
    /// What it does, in a line.
    pub help: &'static str,
    /// The same for a narrow screen, in 26 columns: as many as the longest name leaves of 40.
    pub(crate) brief: &'static str,
    pub(crate) does: SlashAction,
    /// Whether the runtime can.
    pub can: fn(&Abilities) -> bool,
}

impl Slash {
    const fn in_short(self, brief: &'static str) -> Slash {
        Slash { brief, ..self }
    }

    /// Whether it can be done here: by this runtime, with it, and by whoever runs the screen.
    pub(crate) fn is_offered(&self, abilities: &Abilities, here: Here) -> bool {
        self.is_here(here) && (self.can)(abilities)
    }

    /// Whether words are written behind its name, as a rule; lists are mostly opened without any.
    pub(crate) fn waits(&self) -> bool {
        !self.takes.is_empty()
            && !matches!(
                self.does,
                SlashAction::Sessions | SlashAction::Tools | SlashAction::Devices | SlashAction::Ports
            )
    }

    /// Whether there is such a thing here at all, whatever the runtime can.
    pub(crate) fn is_here(&self, here: Here) -> bool {
        here.has(self.does)
    }
}

const ALWAYS: fn(&Abilities) -> bool = |_| true;

const fn slash(name: &'static str, takes: &'static str, help: &'static str, does: SlashAction) -> Slash {
    Slash { name, takes, help, brief: help, does, can: ALWAYS }
}

/// Columns beside the longest name on a screen of 40.
#[cfg(test)]
const BRIEF: usize = 26;

/// A command that not every runtime can do.
const fn of_some(can: fn(&Abilities) -> bool, slash: Slash) -> Slash {
    Slash { can, ..slash }
}

pub const COMMANDS: &[Slash] = &[
    slash("help", "", "all commands", SlashAction::Help),
    slash("keys", "", "keys, and changing them", SlashAction::Keys),
    of_some(
        |a| a.new_session,
        slash("new", "[title]", "start another session; this one stays", SlashAction::New)
            .in_short("start another session"),
    ),
    of_some(switches, slash("sessions", "[id]", "go to another session", SlashAction::Sessions)),
    slash("tree", "", "all messages and branches", SlashAction::Tree),
    of_some(
        |a| a.undo,
        slash("undo", "", "undo what the last prompt did to files", SlashAction::Undo)
            .in_short("undo changes in files"),
    ),
    of_some(|a| a.undo, slash("redo", "", "redo what /undo undid", SlashAction::Redo)),
    of_some(
        |a| a.undo,
        slash("diff", "[all|git]", "changes in files: last prompt, all, or git", SlashAction::Diff)
            .in_short("changes in files"),
    ),
    of_some(
        |a| a.branch,
        slash("branch", "", "start a new session from here", SlashAction::Branch)
            .in_short("a new session from here"),
    ),
    of_some(|a| a.rename_session, slash("rename", "TITLE", "give this session a title", SlashAction::Rename)),
    of_some(
        |a| a.clear,
        slash("clear", "", "start over, in this same session", SlashAction::Clear)
            .in_short("start over in this session"),
    ),
    of_some(|a| a.clear, slash("reset", "", "the same as /clear", SlashAction::Clear)),
    of_some(
        |a| a.compact,
        slash("compact", "[what to keep]", "summarise older messages", SlashAction::Compact),
    ),
    of_some(
        |a| a.models || a.set_model,
        slash("model", "[name]", "list or switch models", SlashAction::Model)
            .in_short("list or switch models"),
    ),
    of_some(|a| a.effort, slash("effort", "LEVEL|auto", "how hard the model thinks", SlashAction::Effort)),
    of_some(
        |a| a.policy,
        slash("budget", "[cost|steps|time N|off]", "what may be spent, and what was", SlashAction::Budget)
            .in_short("what may be spent"),
    ),
    slash("mode", "[name]", "how much runs without asking", SlashAction::Mode).in_short("what runs unasked"),
    of_some(
        |a| a.policy || a.consent,
        slash("policy", "[name]", "Parlor's own modes, also where the agent has modes", SlashAction::Policy)
            .in_short("Parlor's own modes"),
    ),
    of_some(
        |a| a.policy,
        slash("plan", "[what]", "look and write a plan; begin when you agree", SlashAction::Plan)
            .in_short("plan first, then begin"),
    ),
    slash("rules", "[narrow WORDS]", "what you allowed: see, narrow, revoke", SlashAction::Rules)
        .in_short("what you allowed"),
    of_some(
        |a| a.policy,
        slash("ports", "[[close|allow] PORT]", "where commands listen: open or close", SlashAction::Ports)
            .in_short("where commands listen"),
    ),
    of_some(
        |a| a.list_tools || a.set_tools,
        slash("tools", "[name]", "the tools that the model may use", SlashAction::Tools)
            .in_short("tools the model may use"),
    ),
    of_some(|a| a.skills, slash("skills", "", "list skills", SlashAction::Skills)),
    of_some(|a| a.servers, slash("mcp", "", "list MCP servers", SlashAction::Servers)),
    of_some(
        |a| a.extensions,
        slash("extension", "NAME [json]", "run a command of an extension", SlashAction::Extension)
            .in_short("run an extension's command"),
    ),
    slash("status", "", "context, tokens, cost and where you are", SlashAction::Status)
        .in_short("context, tokens and cost"),
    slash("context", "", "how full the context is, and what it cost", SlashAction::Status)
        .in_short("how full the context is"),
    slash("notices", "", "recent messages", SlashAction::Notices),
    slash(
        "queue",
        "[one|all]",
        "see, edit or delete what is queued; send one at a time, or all",
        SlashAction::Queue,
    )
    .in_short("edit or delete the queue"),
    of_some(
        |a| !a.menu.options.is_empty(),
        slash("options", "[name value]", "what can be set of this agent", SlashAction::Options)
            .in_short("what can be set of it"),
    ),
    slash(
        "copy",
        "[answer|code|output|all]",
        "copy an answer, code, output or everything",
        SlashAction::Copy,
    )
    .in_short("copy an answer or code"),
    slash("export", "[md|html|jsonl] [file]", "write the session to a file", SlashAction::Export)
        .in_short("write it to a file"),
    of_some(
        |a| a.save,
        slash("save", "[file]", "let the runtime keep the session itself", SlashAction::Save)
            .in_short("let the runtime save it"),
    ),
    slash("search", "[words]", "search all sessions, as you type", SlashAction::Search)
        .in_short("search all sessions"),
    slash("find", "[words]", "search this conversation (also Ctrl-F)", SlashAction::Find)
        .in_short("search this conversation"),
    slash("history", "", "earlier prompts", SlashAction::History),
    slash("fold", "", "open or fold all tools and thoughts", SlashAction::Fold).in_short("open or fold all"),
    slash("print", "", "inline: write the conversation once more", SlashAction::Print)
        .in_short("inline: print all again"),
    slash("theme", "[name]", "change the colours", SlashAction::Theme),
    slash("settings", "", "theme, screen, mouse, notifications", SlashAction::Settings)
        .in_short("theme, screen, mouse, bell"),
    slash("mouse", "", "switch the mouse on or off", SlashAction::Mouse),
    slash("edit", "", "write in your own editor", SlashAction::Edit),
    slash("stop", "", "stop the run", SlashAction::Stop),
    slash("abort", "", "the same as /stop", SlashAction::Stop),
    of_some(
        |a| a.ping,
        slash("ping", "", "ask the runtime whether it is there", SlashAction::Ping)
            .in_short("is the runtime there?"),
    ),
    slash("restart", "", "start the runtime again, or connect to it again", SlashAction::Restart)
        .in_short("start the runtime again"),
    slash("login", "", "add an API key", SlashAction::Login).in_short("add an API key"),
    slash(
        "agents",
        "[NAME|parlor]",
        "go on with another program's agent, which is told what was said; back with parlor",
        SlashAction::Agents,
    )
    .in_short("go on with another agent"),
    slash("fleet", "", "all your sessions, who waits for you first", SlashAction::Fleet)
        .in_short("who waits for you, and all"),
    slash(
        "devices",
        "[allow CODE|deny|revoke ID]",
        "browsers of the page: see, allow, revoke",
        SlashAction::Devices,
    )
    .in_short("browsers of the page"),
    slash("quit", "", "leave", SlashAction::Quit),
];

/// Whether one can go from session to session.
pub(crate) fn switches(abilities: &Abilities) -> bool {
    abilities.sessions || abilities.open_session
}

/// What a line that begins with a slash means.
#[derive(Debug)]
pub(crate) enum Parsed<'a> {
    /// A command and its argument.
    Command(&'static Slash, &'a str),
    /// No such command; perhaps this one was meant.
    Unknown(&'a str, Option<&'static str>),
}

/// What a line says to an agent that announced a command: the prompt to send. A command of ours goes before one of the same name, which
/// is reached with a second slash.
pub(crate) fn to_agent(line: &str, abilities: &Abilities, here: Here) -> Option<String> {
    let rest = line.strip_prefix('/')?;
    let (rest, forced) = rest.strip_prefix('/').map_or((rest, false), |rest| (rest, true));
    let name = rest.split(char::is_whitespace).next().unwrap_or(rest);
    let announced = abilities.menu.command(name).is_some();
    (announced && (forced || !is_ours(name, abilities, here))).then(|| format!("/{rest}"))
}

/// Whether a command of ours has this name and can be done here.
pub(crate) fn is_ours(name: &str, abilities: &Abilities, here: Here) -> bool {
    COMMANDS.iter().any(|command| command.name == name && command.is_offered(abilities, here))
}

/// Other names, which people know from elsewhere; they are not offered.
const ALIASES: &[(&str, &str)] = &[("permissions", "rules")];

/// Whether a line is one of the commands.
pub(crate) fn is_command(line: &str) -> bool {
    matches!(parse(line), Some(Parsed::Command(..)))
}

/// Reads a line; `None` when it is no command (a path such as `/etc/hosts` is a prompt).
pub(crate) fn parse(line: &str) -> Option<Parsed<'_>> {
    let rest = line.strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.contains('/') || line.contains('\n') {
        return None;
    }
    let meant = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, meant)| meant);
    let known = COMMANDS.iter().find(|command| command.name == meant);
    Some(match known {
        Some(command) => Parsed::Command(command, argument.trim()),
        None => {
            let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
            let near = crate::fuzzy::rank(name, &names).first().map(|at| names[*at]);
            Parsed::Unknown(name, near)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_or_prompts() {
        assert!(
            matches!(parse("/model gpt"), Some(Parsed::Command(c, "gpt")) if c.does == SlashAction::Model)
        );
        assert!(matches!(parse("/mdl"), Some(Parsed::Unknown("mdl", Some("model")))));
        assert!(
            matches!(parse("/permissions"), Some(Parsed::Command(c, "")) if c.does == SlashAction::Rules)
        );
        assert!(parse("/etc/hosts is what?").is_none());
        assert!(parse("what is /etc").is_none());
    }

    #[test]
    fn what_each_does_fits_on_a_narrow_screen() {
        let longest = COMMANDS.iter().map(|command| command.name.len() + 1).max().unwrap();
        assert_eq!(40 - 2 - longest - 2, BRIEF);
        let long = COMMANDS.iter().filter(|command| command.brief.len() > BRIEF);
        assert_eq!(long.map(|command| command.brief).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
    }
}
