//! Questions to the person: permissions and forms.

use super::open::{Raw, object, union, words};
use super::own::Meta;
use super::update::ToolCallUpdate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire::WireId;
use wire::lenient::or_default;

object! {
    struct RequestPermissionParams {
        session_id: String,
        tool_call: ToolCallUpdate,
        options: Vec<PermissionOption>,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: Meta,
    }
}

object! {
    struct PermissionOption {
        option_id: String,
        name: String,
        kind: PermissionKind,
    }
}

words! {
    enum PermissionKind {
        "allow_once" => AllowOnce,
        "allow_always" => AllowAlways,
        #[default]
        "reject_once" => RejectOnce,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "reject_always" => RejectAlways,
    }
}

object! {
    struct RequestPermissionResult {
        outcome: PermissionOutcome,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: Meta,
    }
}

union! {
    enum PermissionOutcome by "outcome" {
        "selected" => Selected(SelectedOption),
        "cancelled" => Cancelled(Withdrawn),
    }
}

object! {
    struct SelectedOption {
        option_id: String,
    }
}

object! {
    /// Nothing was chosen.
    struct Withdrawn {}
}

/// A form, or a page to open. Belongs to a session, or to a request before there is one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateElicitationParams {
    pub message: String,
    pub mode: ElicitationMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[cfg_attr(feature = "schema", schemars(skip))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<WireId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<FormSchema>,
    #[cfg_attr(feature = "schema", schemars(skip))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    #[cfg_attr(feature = "schema", schemars(skip))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
    #[cfg_attr(feature = "schema", schemars(skip))]
    #[serde(flatten)]
    pub rest: super::open::Rest,
}

words! {
    enum ElicitationMode {
        #[default]
        "form" => Form,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "url" => Url,
    }
}

object! {
    /// A flat form.
    struct FormSchema {
        #[serde(rename = "type", default = "object_word")]
        kind: String,
        opt title: String,
        opt description: String,
        #[serde(default)]
        properties: BTreeMap<String, FormField>,
        list required: String,
    }
}

fn object_word() -> String {
    "object".to_owned()
}

object! {
    /// One field: a text, a number, a switch, one of several, or several of several.
    struct FormField {
        #[serde(rename = "type")]
        kind: String,
        opt title: String,
        opt description: String,
        opt default: Raw,
        #[serde(rename = "enum")]
        opt words: Vec<String>,
        #[serde(rename = "oneOf")]
        opt one_of: Vec<FormChoice>,
        opt items: FormItems,
    }
}

object! {
    struct FormItems {
        #[serde(rename = "type")]
        opt kind: String,
        #[serde(rename = "enum")]
        opt words: Vec<String>,
        #[serde(rename = "anyOf")]
        opt any_of: Vec<FormChoice>,
    }
}

object! {
    struct FormChoice {
        #[serde(rename = "const")]
        value: String,
        title: String,
        opt description: String,
    }
}

object! {
    struct CreateElicitationResult {
        action: ElicitationAction,
        /// The fields by their names.
        opt content: BTreeMap<String, Raw>,
    }
}

words! {
    enum ElicitationAction {
        "accept" => Accept,
        "decline" => Decline,
        #[default]
        "cancel" => Cancel,
    }
}

object! {
    struct CompleteElicitationParams {
        elicitation_id: String,
    }
}
