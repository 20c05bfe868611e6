//! Tables: environment → choice, name → model, variables → addresses.

use expect_test::expect;

use super::*;

type Variables<'a> = &'a [(&'a str, &'a str)];

fn catalog(env: Variables<'_>) -> Catalog {
    Catalog::new(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

#[test]
fn the_environment_decides() {
    let table: [(Variables<'_>, Option<&str>); 7] = [
        (&[], None),
        (&[("ANTHROPIC_API_KEY", "  ")], None),
        (&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")], Some("anthropic/claude-sonnet-4-5")),
        (&[("OPENAI_API_KEY", "k")], Some("openai/gpt-5")),
        (&[("GOOGLE_API_KEY", "k")], Some("gemini/gemini-2.5-pro")),
        (&[("ANTHROPIC_AUTH_TOKEN", "k")], Some("anthropic/claude-sonnet-4-5")),
        (&[("OLLAMA_HOST", "localhost")], None),
    ];
    for (env, want) in table {
        assert_eq!(catalog(env).configured().map(|name| name.to_string()).as_deref(), want, "{env:?}");
    }
}

#[test]
fn variables_with_keys_are_known() {
    let all = key_variables();
    for name in
        ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"]
    {
        assert!(all.contains(&name), "{name}");
    }
}

#[test]
fn names_are_resolved() {
    let catalog = catalog(&[]);
    let line = |text: &str| match catalog.resolve(text) {
        Ok(name) => format!("{text} -> {name}\n"),
        Err(error) => format!("{text} -> {error} ({})\n", error.hint()),
    };
    let texts = [
        "offline",
        "offline/offline",
        "anthropic",
        "claude-opus-4-5",
        "google/gemini-2.5-flash",
        "openrouter/meta/llama-3",
        "nobody/x",
        "gibberish",
        "",
    ];
    expect![[r#"
        offline -> offline/offline
        offline/offline -> offline/offline
        anthropic -> anthropic/claude-sonnet-4-5
        claude-opus-4-5 -> anthropic/claude-opus-4-5
        google/gemini-2.5-flash -> gemini/gemini-2.5-flash
        openrouter/meta/llama-3 -> openrouter/meta/llama-3
        nobody/x -> there is no provider `nobody` (known are offline, anthropic, openai, gemini, openrouter, groq, deepseek, mistral, xai, moonshot, zai, qwen, ollama, llamacpp, vllm, lmstudio, openai-chat, azure, openai-responses)
        gibberish -> `gibberish` is no model: write it as provider/name (`parlor models` lists what is there)
         -> `` is no model: write it as provider/name (`parlor models` lists what is there)
    "#]].assert_eq(&texts.map(line).concat());
}

#[test]
fn addresses_and_keys() {
    let table: [(&str, Variables<'_>); 12] = [
        ("anthropic", &[("ANTHROPIC_API_KEY", "topsecret")]),
        ("anthropic", &[("ANTHROPIC_AUTH_TOKEN", "topsecret"), ("ANTHROPIC_BASE_URL", "http://proxy:1/v1/")]),
        ("openai", &[("OPENAI_API_KEY", "topsecret")]),
        ("openai", &[("OPENAI_BASE_URL", "http://localhost:9/v1")]),
        ("openai-responses", &[("OPENAI_BASE_URL", "http://localhost:9/v1")]),
        ("openai", &[("OPENAI_API_KEY", "topsecret"), ("OPENAI_BASE_URL", "localhost")]),
        ("gemini", &[("GEMINI_API_KEY", "topsecret"), ("GEMINI_BASE_URL", "http://h:1")]),
        ("gemini", &[]),
        ("ollama", &[]),
        ("ollama", &[("OLLAMA_HOST", "0.0.0.0:1234")]),
        ("ollama", &[("OLLAMA_HOST", "https://far.example")]),
        ("vllm", &[("VLLM_BASE_URL", "http://me:topsecret@h:8000/v1?key=topsecret")]),
    ];
    let lines = table.map(|(id, env)| {
        let env: Environment = env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        match providers::find(id).unwrap().target(&env) {
            Ok(target) => {
                format!("{id}: {:?} {} {:?}\n", target.wire, providers::shown(&target.base_url), target.login)
            }
            Err(error) => format!("{id}: {error} ({})\n", error.hint()),
        }
    });
    let text = lines.concat();
    assert!(!text.contains("topsecret"), "{text}");
    expect![[r#"
        anthropic: Anthropic https://api.anthropic.com Key(Secret(***))
        anthropic: Anthropic http://proxy:1 Bearer(Secret(***))
        openai: OpenAiResponses https://api.openai.com/v1 Key(Secret(***))
        openai: OpenAiChat { official: false } http://localhost:9/v1 Open
        openai-responses: OpenAiResponses http://localhost:9/v1 Open
        openai: OPENAI_BASE_URL is not a URL (set OPENAI_BASE_URL to something like http://localhost:8000/v1)
        gemini: Gemini http://h:1/v1beta Key(Secret(***))
        gemini: gemini needs a key: GEMINI_API_KEY is not set (`parlor login` adds one, or set GEMINI_API_KEY; `--model offline/offline` tries everything without a key)
        ollama: OpenAiChat { official: false } http://127.0.0.1:11434/v1 Open
        ollama: OpenAiChat { official: false } http://127.0.0.1:1234/v1 Open
        ollama: OpenAiChat { official: false } https://far.example:443/v1 Open
        vllm: OpenAiChat { official: false } http://h:8000/v1 Open
    "#]].assert_eq(&text);
}

#[test]
fn models_open_without_asking_anybody() {
    let catalog = catalog(&[("ANTHROPIC_API_KEY", "topsecret")]);
    assert_eq!(catalog.open("offline").unwrap().name().to_string(), "offline/offline");
    let model = catalog.open("anthropic/claude-sonnet-4-5").unwrap();
    assert_eq!(model.info().context_window, Some(200_000));
    assert!(matches!(
        catalog.open("openai/gpt-5"),
        Err(CatalogError::NoKey { variable: "OPENAI_API_KEY", .. })
    ));
    assert!(!format!("{catalog:?}").contains("topsecret"));
}

#[test]
fn scripts_open_by_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("demo.txt");
    std::fs::write(&path, "model text \"hi\"").unwrap();
    let name = format!("scripted/{}", path.display());
    assert_eq!(catalog(&[]).open(&name).unwrap().name().to_string(), name);
    std::fs::write(&path, "model oops").unwrap();
    let error = catalog(&[]).open(&name).err().unwrap();
    assert!(error.to_string().contains("line 1: unknown cue"), "{error}");
    assert!(matches!(catalog(&[]).open("scripted/nowhere.txt"), Err(CatalogError::NoScript { .. })));
}

fn kept(account: &str, address: &str) -> BTreeMap<String, KeptKey> {
    let key = KeptKey { key: Secret::new("kept-secret"), address: address.to_owned() };
    BTreeMap::from([(account.to_owned(), key)])
}

#[test]
fn a_kept_key_is_used_where_the_environment_has_none_and_goes_nowhere_else() {
    const OWN: &str = "https://api.openai.com/v1";
    let from = |env: Variables<'_>, address: &str, provider: &str| {
        let catalog = catalog(env).keeping(kept("openai", address));
        let state = catalog.providers().into_iter().find(|state| state.provider == provider).unwrap();
        (state.key_from, state.kept_for)
    };
    let variable = Some(KeyFrom::Variable("OPENAI_API_KEY"));
    for provider in ["openai", "openai-chat", "openai-responses"] {
        assert_eq!(from(&[], OWN, provider), (Some(KeyFrom::Kept), None), "{provider}");
        assert_eq!(from(&[("OPENAI_API_KEY", "k")], OWN, provider), (variable, None));
        assert_eq!(from(&[("OPENAI_API_KEY", " ")], OWN, provider), (Some(KeyFrom::Kept), None));
        // Whoever sets the address must not get a key that was meant for another.
        let elsewhere = [("OPENAI_BASE_URL", "http://evil.example/v1")];
        assert_eq!(from(&elsewhere, OWN, provider), (None, Some(OWN.to_owned())));
        assert_eq!(from(&elsewhere, "http://evil.example/v1", provider), (Some(KeyFrom::Kept), None));
    }
    assert_eq!(from(&[], OWN, "anthropic"), (None, None));
    // One that was tried elsewhere goes there without any variable; a key of the environment, tried nowhere, does not.
    let at = |env: Variables<'_>| {
        let catalog = catalog(env).keeping(kept("openai", "http://own.example/v1"));
        catalog.providers().into_iter().find(|state| state.provider == "openai").unwrap()
    };
    assert_eq!(at(&[]).address, Ok("http://own.example/v1".to_owned()));
    assert_eq!((at(&[]).key_from, at(&[]).offered), (Some(KeyFrom::Kept), true));
    assert_eq!(at(&[("OPENAI_API_KEY", "k")]).address, Ok(OWN.to_owned()));
    assert_eq!(at(&[("OPENAI_API_KEY", "k")]).key_from, variable);
    assert_eq!(at(&[("OPENAI_BASE_URL", "http://other.example/v1")]).key_from, None);
    let catalog = catalog(&[]).keeping(kept("openai", OWN));
    assert_eq!(catalog.configured().unwrap().to_string(), "openai/gpt-5");
    assert!(catalog.open("openai/gpt-5").is_ok());
    assert!(!format!("{catalog:?} {:?}", catalog.providers()).contains("kept-secret"));
}

#[test]
fn a_login_to_a_gateway_that_was_kept_is_shown_without_its_password() {
    let address = "http://me:pass@h:1/v1";
    let own = catalog(&[]).keeping(kept("openai", address));
    let state = own.providers().into_iter().find(|state| state.provider == "openai").unwrap();
    assert_eq!((state.kept_for, state.address), (None, Ok("http://h:1/v1".to_owned())));
    let elsewhere = catalog(&[("OPENAI_BASE_URL", "http://other/v1")]).keeping(kept("openai", address));
    let state = elsewhere.providers().into_iter().find(|state| state.provider == "openai").unwrap();
    assert_eq!(state.kept_for.as_deref(), Some("http://h:1/v1"));
}

#[test]
fn keys_of_one_maker_are_kept_once() {
    for (text, want) in [
        ("openai-responses", Some("openai")),
        ("claude", Some("anthropic")),
        ("google", Some("gemini")),
        ("kimi", Some("moonshot")),
        ("grok", Some("xai")),
        ("glm", Some("zai")),
        ("vllm", Some("vllm")),
        ("offline", None),
        ("nobody", None),
    ] {
        assert_eq!(account(text), want, "{text}");
    }
}
