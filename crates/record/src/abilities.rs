//! What a runtime can do, as it is written.
//!
//! Invariant: what the first release wrote is written today as it was. It had fewer members, each of which stood for several of today's:
//! a later member is written only where it is not what those say.

use crate::Written;
use crate::written::As;
use domain::port::Abilities;
use domain::session::ModelRef;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Members after `consent` came later: a writer that does not know one means what its older members say ([`AbilitiesMirror::told`]).
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct AbilitiesMirror {
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    new_session: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    open_session: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    delete_session: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    rename_session: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    clear: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    go_back: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    compact: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    export: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    save: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    set_model: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    policy: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    list_tools: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    set_tools: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    extensions: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    session_scope: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    effort: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    ping: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    errands: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    undo: Option<bool>,
    #[serde(with = "As::<Option<ModelRef>>", default, skip_serializing_if = "Option::is_none")]
    model: Option<ModelRef>,
}

impl AbilitiesMirror {
    fn of(abilities: &Abilities) -> AbilitiesMirror {
        let older = AbilitiesMirror {
            name: abilities.name.clone(),
            steer: abilities.steer,
            follow_up: abilities.follow_up,
            cancel: abilities.cancel,
            sessions: abilities.sessions,
            branch: abilities.branch,
            models: abilities.models,
            servers: abilities.servers,
            skills: abilities.skills,
            consent: abilities.consent,
            new_session: None,
            open_session: None,
            delete_session: None,
            rename_session: None,
            clear: None,
            go_back: None,
            compact: None,
            export: None,
            save: None,
            set_model: None,
            policy: None,
            list_tools: None,
            set_tools: None,
            extensions: None,
            session_scope: None,
            effort: None,
            ping: None,
            errands: None,
            undo: None,
            model: abilities.model.clone(),
        };
        let implied = older.clone().told();
        let said = |now: bool, before: bool| (now != before).then_some(now);
        AbilitiesMirror {
            new_session: said(abilities.new_session, implied.new_session),
            open_session: said(abilities.open_session, implied.open_session),
            delete_session: said(abilities.delete_session, implied.delete_session),
            rename_session: said(abilities.rename_session, implied.rename_session),
            clear: said(abilities.clear, implied.clear),
            go_back: said(abilities.go_back, implied.go_back),
            compact: said(abilities.compact, implied.compact),
            export: said(abilities.export, implied.export),
            save: said(abilities.save, implied.save),
            set_model: said(abilities.set_model, implied.set_model),
            policy: said(abilities.policy, implied.policy),
            list_tools: said(abilities.list_tools, implied.list_tools),
            set_tools: said(abilities.set_tools, implied.set_tools),
            extensions: said(abilities.extensions, implied.extensions),
            session_scope: said(abilities.session_scope, implied.session_scope),
            effort: said(abilities.effort, implied.effort),
            ping: said(abilities.ping, implied.ping),
            errands: said(abilities.errands, implied.errands),
            undo: said(abilities.undo, implied.undo),
            ..older
        }
    }

    /// What was told; where a member is missing, what it was a part of before it stood alone.
    fn told(self) -> Abilities {
        let (sessions, models, branch) = (self.sessions, self.models, self.branch);
        Abilities {
            name: self.name,
            steer: self.steer,
            follow_up: self.follow_up,
            cancel: self.cancel,
            sessions: self.sessions,
            branch: self.branch,
            models: self.models,
            servers: self.servers,
            skills: self.skills,
            consent: self.consent,
            new_session: self.new_session.unwrap_or(sessions),
            open_session: self.open_session.unwrap_or(sessions),
            delete_session: self.delete_session.unwrap_or(sessions),
            rename_session: self.rename_session.unwrap_or(sessions),
            clear: self.clear.unwrap_or(sessions),
            go_back: self.go_back.unwrap_or(branch),
            compact: self.compact.unwrap_or(sessions),
            export: self.export.unwrap_or(sessions),
            save: self.save.unwrap_or(sessions),
            set_model: self.set_model.unwrap_or(models),
            policy: self.policy.unwrap_or(branch && models),
            list_tools: self.list_tools.unwrap_or(models),
            set_tools: self.set_tools.unwrap_or(models),
            extensions: self.extensions.unwrap_or(models),
            session_scope: self.session_scope.unwrap_or(self.consent),
            // Who does not know the word cannot do it.
            effort: self.effort.unwrap_or(false),
            ping: self.ping.unwrap_or(false),
            errands: self.errands.unwrap_or(false),
            undo: self.undo.unwrap_or(false),
            model: self.model,
        }
    }
}

impl Written for Abilities {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AbilitiesMirror::of(self).serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Abilities, D::Error> {
        AbilitiesMirror::deserialize(deserializer).map(AbilitiesMirror::told)
    }

    #[cfg(feature = "schema")]
    const NOUN: Option<&'static str> = Some("Abilities");

    #[cfg(feature = "schema")]
    fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <AbilitiesMirror as schemars::JsonSchema>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn an_older_writer_means_by_a_member_all_that_it_stood_for() {
        let read = |text: &str| decode::<Abilities>(text).expect("it reads");
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
