//! What a runtime can do, as it is written.
//!
//! Invariant: what is written has every member. A reader takes what older writers sent: they had fewer members, each of which stood for
//! several of today's.

use crate::Written;
use domain::port::Abilities;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Members after `consent` came later: a writer that does not know one means what its older members say ([`AbilitiesMirror::told`]).
#[derive(Serialize, Deserialize)]
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
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    new_session: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    open_session: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    delete_session: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    rename_session: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    clear: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    go_back: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    compact: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    export: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    save: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    set_model: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    policy: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    list_tools: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    set_tools: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    extensions: Option<bool>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    session_scope: Option<bool>,
}

impl AbilitiesMirror {
    fn of(abilities: &Abilities) -> AbilitiesMirror {
        AbilitiesMirror {
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
        assert_eq!(own, Abilities::all("parlor 0.1"));
        let bridged = read(r#"{"name":"x","sessions":true,"models":true,"consent":true}"#);
        assert!(bridged.new_session && bridged.set_model && !bridged.policy && !bridged.go_back);
        let told = read(r#"{"name":"x","sessions":true,"new_session":false}"#);
        assert!(!told.new_session && told.open_session);
    }
}
