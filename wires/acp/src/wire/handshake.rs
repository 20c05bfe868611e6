//! Greeting: versions, what both sides can do, and logging in.

use super::open::object;
use super::own::{ClientMeta, Meta};
use std::collections::BTreeMap;
use wire::lenient::{null_as_default, or_default, whole_u64};

object! {
    struct InitializeParams {
        #[serde(deserialize_with = "whole_u64")]
        protocol_version: u64,
        #[serde(default, deserialize_with = "null_as_default")]
        client_capabilities: ClientCapabilities,
        opt client_info: Implementation,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    struct InitializeResult {
        #[serde(deserialize_with = "whole_u64")]
        protocol_version: u64,
        #[serde(default, deserialize_with = "null_as_default")]
        agent_capabilities: AgentCapabilities,
        #[serde(default, deserialize_with = "null_as_default")]
        auth_methods: Vec<AuthMethod>,
        opt agent_info: Implementation,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    /// A program by its name.
    struct Implementation {
        name: String,
        opt title: String,
        #[serde(default, deserialize_with = "null_as_default")]
        version: String,
    }
}

object! {
    /// Something that is offered by being there.
    struct Offered {}
}

object! {
    struct ClientCapabilities {
        #[serde(default, deserialize_with = "null_as_default")]
        fs: FileCapabilities,
        flag terminal,
        #[serde(deserialize_with = "or_default")]
        opt session: ClientSessionCapabilities,
        #[serde(deserialize_with = "or_default")]
        opt auth: AuthCapabilities,
        #[serde(deserialize_with = "or_default")]
        opt elicitation: ElicitationCapabilities,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: ClientMeta,
    }
}

object! {
    struct FileCapabilities {
        flag read_text_file,
        flag write_text_file,
    }
}

object! {
    /// What a client shows of a session; each is offered by being there.
    struct ClientSessionCapabilities {
        opt compaction: Offered,
        opt config_options: ConfigOptionsCapabilities,
        opt notices: Offered,
    }
}

object! {
    struct ConfigOptionsCapabilities {
        opt boolean: Offered,
    }
}

object! {
    struct AuthCapabilities {
        flag terminal,
    }
}

object! {
    struct ElicitationCapabilities {
        opt form: Offered,
        opt url: Offered,
    }
}

object! {
    struct AgentCapabilities {
        flag load_session,
        #[serde(default, deserialize_with = "null_as_default")]
        prompt_capabilities: PromptCapabilities,
        #[serde(default, deserialize_with = "null_as_default")]
        mcp_capabilities: McpCapabilities,
        #[serde(default, deserialize_with = "null_as_default")]
        session_capabilities: SessionCapabilities,
        #[serde(default, deserialize_with = "null_as_default")]
        auth: AgentAuthCapabilities,
    }
}

object! {
    struct PromptCapabilities {
        flag image,
        flag audio,
        flag embedded_context,
    }
}

object! {
    struct McpCapabilities {
        flag http,
        flag sse,
    }
}

object! {
    /// Objects, never `true`: strict clients fail the handshake on it.
    struct SessionCapabilities {
        #[serde(deserialize_with = "or_default")]
        opt list: Offered,
        #[serde(deserialize_with = "or_default")]
        opt delete: Offered,
        #[serde(deserialize_with = "or_default")]
        opt additional_directories: Offered,
        #[serde(deserialize_with = "or_default")]
        opt resume: Offered,
        #[serde(deserialize_with = "or_default")]
        opt close: Offered,
        /// Of the draft, as the next.
        #[serde(deserialize_with = "or_default")]
        opt fork: Offered,
        #[serde(deserialize_with = "or_default")]
        opt title: Offered,
    }
}

object! {
    struct AgentAuthCapabilities {
        #[serde(deserialize_with = "or_default")]
        opt logout: Offered,
    }
}

object! {
    /// A way to log in. Without a type the agent does it; of type `terminal` its own command does, in a terminal.
    struct AuthMethod {
        #[serde(rename = "type")]
        opt kind: String,
        id: String,
        #[serde(default)]
        name: String,
        opt description: String,
        list args: String,
        opt env: BTreeMap<String, String>,
    }
}

object! {
    struct AuthenticateParams {
        method_id: String,
    }
}

object! {
    struct LogoutParams {}
}

object! {
    /// A result that says nothing but that it was done.
    struct Nothing {
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}
