//! What a runtime can do, and how it is told.
//!
//! Invariant: what the first release wrote is written today as it was. It had fewer members, each of which stood for several of today's:
//! a later member is written only where it is not what those say.

use super::menu::AgentMenu;
use crate::session::ModelRef;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a runtime can do, once the handshake told; the UI greys out the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Told", into = "Told")]
pub struct Abilities {
    /// Its name and version, in words.
    pub name: String,
    /// It takes steers.
    pub steer: bool,
    /// It takes follow-ups.
    pub follow_up: bool,
    /// It can stop a run.
    pub cancel: bool,
    /// It lists its sessions.
    pub sessions: bool,
    pub branch: bool,
    /// It lists its models.
    pub models: bool,
    /// It lists MCP servers.
    pub servers: bool,
    /// It lists skills.
    pub skills: bool,
    /// It asks before tools run.
    pub consent: bool,
    /// It begins a session when it is told to.
    pub new_session: bool,
    /// It goes to a session whose id is named.
    pub open_session: bool,
    pub delete_session: bool,
    /// It takes a title for a session.
    pub rename_session: bool,
    /// It empties a session.
    pub clear: bool,
    /// It goes back to an earlier message of a session.
    pub go_back: bool,
    /// It puts a summary in the place of older messages when it is told to.
    pub compact: bool,
    /// It writes a session out as a text; where it cannot, the hub does.
    pub export: bool,
    /// It writes a session to a file of its own.
    pub save: bool,
    /// It takes another model.
    pub set_model: bool,
    /// Its policy mode is told and can be set; a runtime without it has rules of its own that nobody here knows.
    pub policy: bool,
    pub list_tools: bool,
    /// It takes the names of the tools that the model may use.
    pub set_tools: bool,
    /// It runs commands of extensions.
    pub extensions: bool,
    /// It keeps a yes for the session itself, as far as the rule reaches that it showed; where it cannot, the hub keeps a yes for the
    /// same action.
    pub session_scope: bool,
    /// It lets one say how hard the model thinks.
    pub effort: bool,
    /// Its wire has a word that only asks whether it is there, `ping`. Ours needs none: its end is told.
    pub ping: bool,
    /// It has files and commands done by our hands: our policy mode counts for those, and for nothing else that it does.
    pub errands: bool,
    /// It keeps what its tools do to files, shows it and takes it back.
    pub undo: bool,
    /// It takes nothing but text with a prompt: a picture would not reach it.
    pub text_only: bool,
    /// The model of sessions that have chosen none, where it is known: before the first answer nothing else tells it.
    pub model: Option<ModelRef>,
    /// What it offers in words of its own; shared, for it is compared at each word of the runtime.
    pub menu: Arc<AgentMenu>,
}

impl Abilities {
    /// What may be tried on a runtime that has not told yet what it can do: all that it may refuse by itself. That it has a policy of
    /// ours is nothing to try: it would be shown as a fact. That it takes files back is not either: hardly one does.
    pub fn untold() -> Abilities {
        Abilities { policy: false, undo: false, ..Abilities::all("") }
    }

    /// What our own runtime can do: everything that is asked of one.
    pub fn all(name: impl Into<String>) -> Abilities {
        Abilities {
            name: name.into(),
            steer: true,
            follow_up: true,
            cancel: true,
            sessions: true,
            branch: true,
            models: true,
            servers: true,
            skills: true,
            consent: true,
            new_session: true,
            open_session: true,
            delete_session: true,
            rename_session: true,
            clear: true,
            go_back: true,
            compact: true,
            export: true,
            save: true,
            set_model: true,
            policy: true,
            list_tools: true,
            set_tools: true,
            extensions: true,
            session_scope: true,
            effort: true,
            ping: false,
            errands: false,
            undo: true,
            text_only: false,
            model: None,
            menu: Arc::default(),
        }
    }
}

/// Abilities as they are told. Members after `consent` came later: a writer that does not know one means what its older members say.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Told {
    #[serde(default)]
    name: String,
    #[serde(default)]
    steer: bool,
    #[serde(default)]
    follow_up: bool,
    #[serde(default)]
    cancel: bool,
    #[serde(default)]
    sessions: bool,
    #[serde(default)]
    branch: bool,
    #[serde(default)]
    models: bool,
    #[serde(default)]
    servers: bool,
    #[serde(default)]
    skills: bool,
    #[serde(default)]
    consent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_session: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_session: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delete_session: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rename_session: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clear: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    go_back: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compact: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    export: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    save: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_model: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_scope: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ping: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errands: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelRef>,
    #[serde(default, skip_serializing_if = "is_empty")]
    menu: Arc<AgentMenu>,
}

fn is_empty(menu: &Arc<AgentMenu>) -> bool {
    **menu == AgentMenu::default()
}

impl Told {
    /// The later members, each with what it was a part of before it stood alone.
    fn later(&mut self) -> [(&mut Option<bool>, bool); 20] {
        let (sessions, models, branch) = (self.sessions, self.models, self.branch);
        [
            (&mut self.new_session, sessions),
            (&mut self.open_session, sessions),
            (&mut self.delete_session, sessions),
            (&mut self.rename_session, sessions),
            (&mut self.clear, sessions),
            (&mut self.go_back, branch),
            (&mut self.compact, sessions),
            (&mut self.export, sessions),
            (&mut self.save, sessions),
            (&mut self.set_model, models),
            (&mut self.policy, branch && models),
            (&mut self.list_tools, models),
            (&mut self.set_tools, models),
            (&mut self.extensions, models),
            (&mut self.session_scope, self.consent),
            // Who does not know the word cannot do it.
            (&mut self.effort, false),
            (&mut self.ping, false),
            (&mut self.errands, false),
            (&mut self.undo, false),
            (&mut self.text_only, false),
        ]
    }
}

impl From<Abilities> for Told {
    fn from(abilities: Abilities) -> Told {
        let mut told = Told {
            name: abilities.name,
            steer: abilities.steer,
            follow_up: abilities.follow_up,
            cancel: abilities.cancel,
            sessions: abilities.sessions,
            branch: abilities.branch,
            models: abilities.models,
            servers: abilities.servers,
            skills: abilities.skills,
            consent: abilities.consent,
            new_session: Some(abilities.new_session),
            open_session: Some(abilities.open_session),
            delete_session: Some(abilities.delete_session),
            rename_session: Some(abilities.rename_session),
            clear: Some(abilities.clear),
            go_back: Some(abilities.go_back),
            compact: Some(abilities.compact),
            export: Some(abilities.export),
            save: Some(abilities.save),
            set_model: Some(abilities.set_model),
            policy: Some(abilities.policy),
            list_tools: Some(abilities.list_tools),
            set_tools: Some(abilities.set_tools),
            extensions: Some(abilities.extensions),
            session_scope: Some(abilities.session_scope),
            effort: Some(abilities.effort),
            ping: Some(abilities.ping),
            errands: Some(abilities.errands),
            undo: Some(abilities.undo),
            text_only: Some(abilities.text_only),
            model: abilities.model,
            menu: abilities.menu,
        };
        for (member, implied) in told.later() {
            member.take_if(|now| *now == implied);
        }
        told
    }
}

impl From<Told> for Abilities {
    fn from(mut told: Told) -> Abilities {
        for (member, implied) in told.later() {
            member.get_or_insert(implied);
        }
        let so = |member: Option<bool>| member.unwrap_or_default();
        Abilities {
            name: told.name,
            steer: told.steer,
            follow_up: told.follow_up,
            cancel: told.cancel,
            sessions: told.sessions,
            branch: told.branch,
            models: told.models,
            servers: told.servers,
            skills: told.skills,
            consent: told.consent,
            new_session: so(told.new_session),
            open_session: so(told.open_session),
            delete_session: so(told.delete_session),
            rename_session: so(told.rename_session),
            clear: so(told.clear),
            go_back: so(told.go_back),
            compact: so(told.compact),
            export: so(told.export),
            save: so(told.save),
            set_model: so(told.set_model),
            policy: so(told.policy),
            list_tools: so(told.list_tools),
            set_tools: so(told.set_tools),
            extensions: so(told.extensions),
            session_scope: so(told.session_scope),
            effort: so(told.effort),
            ping: so(told.ping),
            errands: so(told.errands),
            undo: so(told.undo),
            text_only: so(told.text_only),
            model: told.model,
            menu: told.menu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_writer_means_by_a_member_all_that_it_stood_for() {
        let read = |text: &str| serde_json::from_str::<Abilities>(text).expect("it reads");
        let own = read(
            r#"{"name":"parlor 0.1","steer":true,"follow_up":true,"cancel":true,"sessions":true,"branch":true,
               "models":true,"servers":true,"skills":true,"consent":true}"#,
        );
        assert_eq!(own, Abilities { effort: false, undo: false, ..Abilities::all("parlor 0.1") });
        let bridged = read(r#"{"name":"x","sessions":true,"models":true,"consent":true}"#);
        assert!(bridged.new_session && bridged.set_model && !bridged.policy && !bridged.go_back);
        let told = read(r#"{"name":"x","sessions":true,"new_session":false}"#);
        assert!(!told.new_session && told.open_session);
    }
}
