//! Whose server it is. Many speak Chat Completions, each with rules of its own about thoughts, effort and answers of a form. Pure.

/// Whose server it is, as far as that changes what is said to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum House {
    Anthropic,
    /// OpenAI itself, or Azure.
    OpenAi,
    Google,
    DeepSeek,
    /// Kimi.
    Moonshot,
    /// GLM, of Z.ai or bigmodel.cn.
    Zai,
    /// Alibaba's Model Studio.
    Qwen,
    Xai,
    OpenRouter,
    Groq,
    Mistral,
    /// A local server, a gateway, or whoever else.
    Other,
}

/// Ends of host names that tell the house, for addresses that the person has set.
const HOSTS: [(&str, House); 12] = [
    ("deepseek.com", House::DeepSeek),
    ("moonshot.ai", House::Moonshot),
    ("moonshot.cn", House::Moonshot),
    ("kimi.com", House::Moonshot),
    ("z.ai", House::Zai),
    ("bigmodel.cn", House::Zai),
    ("aliyuncs.com", House::Qwen),
    ("x.ai", House::Xai),
    ("openrouter.ai", House::OpenRouter),
    ("groq.com", House::Groq),
    ("mistral.ai", House::Mistral),
    ("openai.azure.com", House::OpenAi),
];

impl House {
    /// The house behind an address, where its host tells it.
    pub(crate) fn at(base_url: &str) -> Self {
        let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host.split(':').next().unwrap_or_default();
        let is_of =
            |end: &str| host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        HOSTS.iter().find(|(end, _)| is_of(end)).map_or(Self::Other, |(_, house)| *house)
    }
}

/// The name of a model without the folders that routers and local servers put before it, in small letters.
pub(super) fn plain_name(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase()
}

/// The version that follows right after a prefix of a plain name: `glm-4.7-flash` is (4, 7), `gpt-5-2025-08-07` is (5, 0).
pub(super) fn version(name: &str, prefix: &str) -> Option<(u32, u32)> {
    let number = |text: &str| {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..digits].parse::<u32>().ok().map(|number| (number, digits))
    };
    let rest = name.strip_prefix(prefix)?;
    let (major, digits) = number(rest)?;
    let minor = rest[digits..].strip_prefix('.').and_then(number).map_or(0, |(minor, _)| minor);
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::{House, version};

    #[test]
    fn names_tell_versions() {
        for (name, prefix, told) in [
            ("glm-4.7-flash", "glm-", Some((4, 7))),
            ("gpt-5-2025-08-07", "gpt-", Some((5, 0))),
            ("qwen3.6-plus", "qwen", Some((3, 6))),
            ("qwen-plus", "qwen", None),
            ("gpt-99999999999", "gpt-", None),
            ("o3", "gpt-", None),
        ] {
            assert_eq!(version(name, prefix), told, "{name}");
        }
    }

    #[test]
    fn an_address_tells_the_house() {
        for (url, house) in [
            ("https://api.deepseek.com/v1", House::DeepSeek),
            ("https://api.z.ai/api/paas/v4", House::Zai),
            ("https://me:pass@dashscope-intl.aliyuncs.com:443/compatible-mode/v1", House::Qwen),
            ("https://x.ai", House::Xai),
            ("https://notx.ai/v1", House::Other),
            ("http://127.0.0.1:8000/v1", House::Other),
            ("", House::Other),
        ] {
            assert_eq!(House::at(url), house, "{url}");
        }
    }
}
