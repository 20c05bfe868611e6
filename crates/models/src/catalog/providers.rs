//! The providers: what they speak, where they live, which variables of the environment belong to them. Pure.

use std::collections::BTreeMap;

use super::known::Maker;
use super::{CatalogError, KeptKey, KeyFrom};
use crate::Secret;
use crate::provider::{House, Login, Target, Wire};

/// What was handed in: the variables of the environment, and the keys that the person has kept, by provider.
#[derive(Default)]
pub(super) struct Environment {
    variables: BTreeMap<String, String>,
    pub(super) kept: BTreeMap<String, KeptKey>,
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self { variables: variables.into_iter().collect(), kept: BTreeMap::new() }
    }
}

/// A provider that we know: where it is, how it is asked, and what its key is called.
#[derive(Debug)]
pub(super) struct Provider {
    /// The name before the slash.
    pub(super) id: &'static str,
    pub(super) speaks: Speaks,
    pub(super) house: House,
    pub(super) maker: Option<Maker>,
    /// Variables that may hold the key, first wins.
    pub(super) keys: &'static [&'static str],
    /// Variables that may hold the base URL, first wins.
    pub(super) bases: &'static [&'static str],
    pub(super) default_base: &'static str,
    /// What is taken when only the provider is named.
    pub(super) default_model: Option<&'static str>,
    /// When it counts as offered by the environment.
    pub(super) offered: Offered,
}

/// The wire on which a provider is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    Anthropic,
    /// Responses at OpenAI itself, Chat Completions anywhere else: compatible servers rarely know the former.
    OpenAi,
    Chat,
    Responses,
    Gemini,
    /// OpenAI's Chat Completions at Azure's addresses.
    Azure,
}

/// When a provider's models are offered without being named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offered {
    /// With a key, or with an address of its own (a gateway may ask for none).
    WithKey,
    /// A local server that answers at its usual address.
    IfAnswers,
    /// A local server whose address is set. Its usual port is too common to knock at unasked.
    IfSet,
    /// Only by name.
    ByName,
}

const OPENAI: &str = "https://api.openai.com/v1";
/// Say which version of its API a provider is to speak.
const VERSIONS: &[&str] = &["AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"];
const OPENAI_KEYS: &[&str] = &["OPENAI_API_KEY"];
const OPENAI_BASES: &[&str] = &["OPENAI_BASE_URL", "OPENAI_API_BASE"];

const fn compatible(
    id: &'static str,
    house: House,
    keys: &'static [&'static str],
    bases: &'static [&'static str],
    default_base: &'static str,
    offered: Offered,
) -> Provider {
    Provider {
        id,
        speaks: Speaks::Chat,
        house,
        maker: None,
        keys,
        bases,
        default_base,
        default_model: None,
        offered,
    }
}

/// All of them, in the order in which the environment is searched.
pub(super) static PROVIDERS: [Provider; 18] = [
    Provider {
        id: "anthropic",
        speaks: Speaks::Anthropic,
        house: House::Anthropic,
        maker: Some(Maker::Anthropic),
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        bases: &["ANTHROPIC_BASE_URL"],
        default_base: "https://api.anthropic.com",
        default_model: Some("claude-sonnet-4-5"),
        offered: Offered::WithKey,
    },
    Provider {
        id: "openai",
        speaks: Speaks::OpenAi,
        house: House::OpenAi,
        maker: Some(Maker::OpenAi),
        keys: OPENAI_KEYS,
        bases: OPENAI_BASES,
        default_base: OPENAI,
        default_model: Some("gpt-5"),
        offered: Offered::WithKey,
    },
    Provider {
        id: "gemini",
        speaks: Speaks::Gemini,
        house: House::Google,
        maker: Some(Maker::Google),
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        bases: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
        default_base: "https://generativelanguage.googleapis.com",
        default_model: Some("gemini-2.5-pro"),
        offered: Offered::WithKey,
    },
    compatible(
        "openrouter",
        House::OpenRouter,
        &["OPENROUTER_API_KEY"],
        &["OPENROUTER_BASE_URL"],
        "https://openrouter.ai/api/v1",
        Offered::WithKey,
    ),
    compatible(
        "groq",
        House::Groq,
        &["GROQ_API_KEY"],
        &["GROQ_BASE_URL"],
        "https://api.groq.com/openai/v1",
        Offered::WithKey,
    ),
    compatible(
        "deepseek",
        House::DeepSeek,
        &["DEEPSEEK_API_KEY"],
        &["DEEPSEEK_BASE_URL"],
        "https://api.deepseek.com/v1",
        Offered::WithKey,
    ),
    compatible(
        "mistral",
        House::Mistral,
        &["MISTRAL_API_KEY"],
        &["MISTRAL_BASE_URL"],
        "https://api.mistral.ai/v1",
        Offered::WithKey,
    ),
    Provider {
        // Its Chat Completions are deprecated and have no place for what the model thought.
        speaks: Speaks::Responses,
        ..compatible(
            "xai",
            House::Xai,
            &["XAI_API_KEY"],
            &["XAI_BASE_URL"],
            "https://api.x.ai/v1",
            Offered::WithKey,
        )
    },
    compatible(
        "moonshot",
        House::Moonshot,
        &["MOONSHOT_API_KEY"],
        &["MOONSHOT_BASE_URL"],
        "https://api.moonshot.ai/v1",
        Offered::WithKey,
    ),
    compatible(
        "zai",
        House::Zai,
        &["ZAI_API_KEY"],
        &["ZAI_BASE_URL"],
        "https://api.z.ai/api/paas/v4",
        Offered::WithKey,
    ),
    compatible(
        "qwen",
        House::Qwen,
        &["DASHSCOPE_API_KEY"],
        &["DASHSCOPE_BASE_URL"],
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        Offered::WithKey,
    ),
    compatible(
        "ollama",
        House::Other,
        &["OLLAMA_API_KEY"],
        &["OLLAMA_HOST", "OLLAMA_BASE_URL"],
        "http://127.0.0.1:11434",
        Offered::IfAnswers,
    ),
    compatible(
        "llamacpp",
        House::Other,
        &["LLAMACPP_API_KEY"],
        &["LLAMACPP_BASE_URL"],
        "http://127.0.0.1:8080/v1",
        Offered::IfSet,
    ),
    compatible(
        "vllm",
        House::Other,
        &["VLLM_API_KEY"],
        &["VLLM_BASE_URL"],
        "http://127.0.0.1:8000/v1",
        Offered::IfSet,
    ),
    compatible(
        "lmstudio",
        House::Other,
        &["LMSTUDIO_API_KEY"],
        &["LMSTUDIO_BASE_URL"],
        "http://127.0.0.1:1234/v1",
        Offered::IfSet,
    ),
    Provider {
        id: "openai-chat",
        speaks: Speaks::Chat,
        house: House::OpenAi,
        maker: Some(Maker::OpenAi),
        keys: OPENAI_KEYS,
        bases: OPENAI_BASES,
        default_base: OPENAI,
        default_model: Some("gpt-5"),
        offered: Offered::ByName,
    },
    Provider {
        id: "azure",
        speaks: Speaks::Azure,
        house: House::OpenAi,
        maker: Some(Maker::OpenAi),
        keys: &["AZURE_OPENAI_API_KEY"],
        bases: &["AZURE_OPENAI_ENDPOINT"],
        // Everybody has one of their own.
        default_base: "",
        default_model: None,
        offered: Offered::ByName,
    },
    Provider {
        id: "openai-responses",
        speaks: Speaks::Responses,
        house: House::OpenAi,
        maker: Some(Maker::OpenAi),
        keys: OPENAI_KEYS,
        bases: OPENAI_BASES,
        default_base: OPENAI,
        default_model: Some("gpt-5"),
        offered: Offered::ByName,
    },
];

/// All variables that may hold a key.
pub(super) fn key_variables() -> Vec<&'static str> {
    let mut all: Vec<&str> = PROVIDERS.iter().flat_map(|provider| provider.keys).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// All variables that are read here.
pub(super) fn variables() -> Vec<&'static str> {
    let bases = PROVIDERS.iter().flat_map(|provider| provider.bases).copied();
    let mut all: Vec<&str> =
        key_variables().into_iter().chain(bases).chain(VERSIONS.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A provider by its name or another name people use for it.
pub(super) fn find(id: &str) -> Option<&'static Provider> {
    let id = match id {
        "google" => "gemini",
        "claude" => "anthropic",
        "llama.cpp" => "llamacpp",
        "kimi" | "moonshotai" => "moonshot",
        "z.ai" | "glm" | "zhipu" => "zai",
        "grok" | "x.ai" => "xai",
        "dashscope" | "alibaba" => "qwen",
        other => other,
    };
    PROVIDERS.iter().find(|provider| provider.id == id)
}

impl Provider {
    /// The key, and where it comes from: the environment leads. A kept one goes only to the address that it was kept for.
    pub(super) fn key(&self, env: &Environment) -> Option<(KeyFrom, Secret)> {
        if let Some((variable, value)) = set(self.keys, env) {
            return Some((KeyFrom::Variable(variable), Secret::new(value)));
        }
        let kept = self.kept(env)?;
        (self.base_url(env).ok()? == kept.address).then(|| (KeyFrom::Kept, kept.key.clone()))
    }

    /// The key that the person has kept for it, whether it is used or not.
    pub(super) fn kept<'a>(&self, env: &'a Environment) -> Option<&'a KeptKey> {
        env.kept.get(self.account())
    }

    /// The provider under whose name its key is kept: several wires of one maker share a key.
    pub(super) fn account(&self) -> &'static str {
        let first = PROVIDERS.iter().find(|provider| provider.keys == self.keys);
        first.map_or(self.id, |provider| provider.id)
    }

    /// Where a key is tried, if its list of models is shown to everybody.
    pub(super) fn proof(&self) -> Option<&'static str> {
        (self.id == "openrouter").then_some("/key")
    }

    /// The base URL that is not the usual one, and the variable that says it: where the environment says none, a kept key goes where it
    /// was tried. A key of the environment was tried nowhere, and never goes there.
    pub(super) fn base(&self, env: &Environment) -> Option<(&'static str, String)> {
        let kept = || {
            let kept = self.kept(env).filter(|_| set(self.keys, env).is_none())?;
            (self.usual_address().as_ref() != Some(&kept.address))
                .then(|| (self.bases[0], kept.address.clone()))
        };
        set(self.bases, env).map(|(variable, value)| (variable, value.to_owned())).or_else(kept)
    }

    /// Lives on this machine unless told otherwise, and asks for no key.
    pub(super) fn is_local(&self) -> bool {
        matches!(self.offered, Offered::IfAnswers | Offered::IfSet)
    }

    /// The environment offers it; whether a local server really answers shows when it is asked.
    pub(super) fn is_offered(&self, env: &Environment) -> bool {
        match self.offered {
            Offered::WithKey => self.key(env).is_some() || self.base(env).is_some(),
            Offered::IfAnswers => true,
            Offered::IfSet => self.base(env).is_some(),
            Offered::ByName => false,
        }
    }

    /// Where and how to reach it.
    pub(super) fn target(&self, env: &Environment) -> Result<Target, CatalogError> {
        let key = self.key(env);
        if key.is_none() && self.base(env).is_none() && !self.is_local() {
            return Err(CatalogError::NoKey { provider: self.id, variable: self.keys[0] });
        }
        let login = match key {
            None => Login::Open,
            Some((KeyFrom::Variable("ANTHROPIC_AUTH_TOKEN"), key)) => Login::Bearer(key),
            Some((KeyFrom::Variable(_) | KeyFrom::Kept, key)) => Login::Key(key),
        };
        self.target_with(env, login)
    }

    /// The same with another key than the one that is there.
    pub(super) fn target_with(&self, env: &Environment, login: Login) -> Result<Target, CatalogError> {
        let base_url = self.base_url(env)?;
        let official = base_url == OPENAI;
        let wire = match self.speaks {
            Speaks::Anthropic => Wire::Anthropic,
            Speaks::OpenAi if official => Wire::OpenAiResponses,
            Speaks::OpenAi | Speaks::Chat => Wire::OpenAiChat { official },
            Speaks::Responses => Wire::OpenAiResponses,
            Speaks::Gemini => Wire::Gemini,
            Speaks::Azure => Wire::OpenAiChat { official: true },
        };
        let (login, deployments) = match login {
            login if self.speaks != Speaks::Azure => (login, None),
            Login::Key(key) => (Login::ApiKey(key), azure_version(env)),
            login => (login, azure_version(env)),
        };
        let house = match self.house {
            House::OpenAi if !official && self.speaks != Speaks::Azure => House::at(&base_url),
            House::Other => House::at(&base_url),
            house => house,
        };
        Ok(Target { wire, house, base_url, login, deployments: deployments.map(str::to_owned) })
    }

    /// Where it is: as the environment says, else at its usual address.
    fn base_url(&self, env: &Environment) -> Result<String, CatalogError> {
        match self.base(env) {
            Some((variable, text)) => {
                let address = self.address(&text).map(|address| self.within(address, env));
                address.ok_or(CatalogError::BadBaseUrl { provider: self.id, variable })
            }
            None if self.default_base.is_empty() => {
                Err(CatalogError::BadBaseUrl { provider: self.id, variable: self.bases[0] })
            }
            None => Ok(self.address(self.default_base).unwrap_or_default()),
        }
    }

    /// Where it is unless somebody says otherwise.
    pub(super) fn usual_address(&self) -> Option<String> {
        self.address(self.default_base).filter(|_| !self.default_base.is_empty())
    }

    /// Whether it tells which models can be had. Azure lists what could be deployed.
    pub(super) fn lists_models(&self) -> bool {
        self.speaks != Speaks::Azure
    }

    /// Azure's resource as a base URL: its newer interface, unless a version of the older one is named.
    fn within(&self, address: String, env: &Environment) -> String {
        if self.speaks != Speaks::Azure {
            return address;
        }
        let resource = address.strip_suffix("/v1").unwrap_or(&address);
        let resource = resource.strip_suffix("/openai").unwrap_or(resource);
        match azure_version(env) {
            Some(_) => format!("{resource}/openai"),
            None => format!("{resource}/openai/v1"),
        }
    }

    /// The base URL in the form the wire expects; `None` when it is not a URL.
    fn address(&self, text: &str) -> Option<String> {
        let text = text.trim().trim_end_matches('/');
        if self.id == "ollama" {
            return ollama_address(text);
        }
        if !(text.starts_with("http://") || text.starts_with("https://")) {
            return None;
        }
        Some(match self.speaks {
            Speaks::Anthropic => text.strip_suffix("/v1").unwrap_or(text).to_owned(),
            Speaks::Gemini if !text.rsplit('/').next().is_some_and(|last| last.starts_with("v1")) => {
                format!("{text}/v1beta")
            }
            Speaks::Gemini | Speaks::OpenAi | Speaks::Chat | Speaks::Responses | Speaks::Azure => {
                text.to_owned()
            }
        })
    }
}

/// The version of Azure's older interface, where every deployment has a path; `None` for the newer one.
fn azure_version(env: &Environment) -> Option<&str> {
    set(VERSIONS, env).map(|(_, version)| version).filter(|version| {
        version.starts_with(|c: char| c.is_ascii_digit())
            && version.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

/// `OLLAMA_HOST` is what the server listens on: a host, a port, both, or a URL.
fn ollama_address(text: &str) -> Option<String> {
    let text = text.strip_suffix("/v1").unwrap_or(text);
    let (scheme, host) = text.split_once("://").unwrap_or(("http", text));
    if !matches!(scheme, "http" | "https") || host.contains(char::is_whitespace) {
        return None;
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) && !port.is_empty() => (name, port),
        _ if scheme == "https" => (host, "443"),
        _ => (host, "11434"),
    };
    // Listening everywhere means: reachable here.
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    Some(format!("{scheme}://{name}:{port}/v1"))
}

fn set<'a>(variables: &'static [&'static str], env: &'a Environment) -> Option<(&'static str, &'a str)> {
    variables.iter().find_map(|variable| {
        let value = env.variables.get(*variable)?.trim();
        (!value.is_empty()).then_some((*variable, value))
    })
}

/// An address for people: without user name, password and query, each of which may hold a key.
pub(super) fn shown(base_url: &str) -> String {
    let base_url = base_url.split(['?', '#']).next().unwrap_or_default();
    match base_url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) =
                rest.split_once('/').map_or((rest, String::new()), |(h, p)| (h, format!("/{p}")));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => base_url.to_owned(),
    }
}
