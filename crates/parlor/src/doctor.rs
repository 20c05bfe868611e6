//! `parlor doctor`: check the setup and suggest fixes, in plain words. Every trouble says what to do about it.

mod kept;

use crate::exit::Exit;
use crate::output;
use crate::ui_settings::Ui;
use domain::path_text;
use engine::{Config, WorkDir};
use host::guard;
use host::launch::Launch;
use host::mode::{Folder, Ground};
use host::model_source;
use host::model_source::Source;
use host::paths;
use host::settings::{self, AgentSettings};
use models::catalog::{KeyFrom, Listing, ProviderState, account};
use std::path::Path;

/// Prints the report; fails when something that is needed is broken.
pub(crate) async fn doctor(launch: &Launch) -> anyhow::Result<Exit> {
    output::print_line(&format!("parlor {}\n", host::version::version()));
    let mut well = true;
    let AgentSettings { mut config, told } = settings::read();
    let wanted = launch.model.clone().or_else(|| config.model.clone());
    well &= model(wanted.as_deref()).await;
    well &= set(&config, &told, launch);
    for (at, line) in launch.unread.told.iter().enumerate() {
        say(if at == 0 { "variables" } else { "" }, line);
    }
    well &= !launch.unread.ours;
    let (work_dir, refused) = paths::work_dir_to_look_at(launch, &mut config)?;
    if let Some(why) = refused {
        well = false;
        say("variables", &why);
    }
    say("works in", &path_text::write(&work_dir.cwd));
    match &work_dir.workspace {
        Ok(root) => say("workspace", &path_text::write(root)),
        Err(why) => say("workspace", &why.words()),
    }
    match paths::data() {
        Ok(data) => {
            say("data", &path_text::write(&data));
            well &= kept::place(launch, &data);
            servers(&config, &data, &work_dir);
            hooks(&config, &data, &work_dir);
            skills(&config, &work_dir);
        }
        Err(why) => {
            well = false;
            say("data", &why.to_string());
        }
    }
    for (at, line) in system(std::env::consts::OS).into_iter().enumerate() {
        say(if at == 0 { "system" } else { "" }, &line);
    }
    let guard = guard::of(&config);
    let held = guard.map_or_else(tools::sandbox::status, |guard| guard.status());
    for (at, line) in held.lines().iter().enumerate() {
        say(if at == 0 { "sandbox" } else { "" }, line);
    }
    if let Err(why) = held.can_hold() {
        say("", &why);
    }
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = tools::PROXY_VARIABLES.iter().find(is_set) {
        say(
            "",
            &format!(
                "{name} is set: commands keep that proxy and are not asked host by host; they reach it with `network` alone"
            ),
        );
    }
    let own = Launch { own_ui: true, ..launch.clone() };
    let mode = Ground::of(&own, &config, Folder::of(&work_dir, true)).mode(None);
    say("mode", &format!("new sessions of the terminal and the page begin here in {}", mode.name()));
    if rustix::process::geteuid().is_root() {
        say("", "you are root: commands own files as root does; better work as an ordinary user");
    }
    say("sockets", peers(cfg!(target_os = "linux"), link::unix::has_handles()));
    let names: Vec<&str> = dialects::DRIVEN.iter().map(|dialect| dialect.name()).collect();
    say("dialects", &names.join(", "));
    let term = std::env::var("TERM").unwrap_or_else(|_| "not set".to_owned());
    say("terminal", &format!("TERM={term}"));
    Ok(if well { Exit::Done } else { Exit::Failed })
}

/// What is to be known of a system that the program is not tested on; nothing for Linux, where the lines of the sandbox say what holds.
fn system(os: &str) -> Vec<String> {
    let known = match os {
        "linux" => return Vec::new(),
        "macos" => "macOS: there is no sandbox here, and Parlor is tested on Linux only".to_owned(),
        other => format!("{other}: nobody has tried Parlor here, and there is no sandbox"),
    };
    vec![
        known,
        "what you allow runs with all your rights: keep to mode ask, or use a virtual machine with Linux"
            .to_owned(),
        "`parlor help systems` says what holds where".to_owned(),
    ]
}

/// How well it is known who connects to our sockets.
fn peers(looked_at: bool, handles: bool) -> &'static str {
    match (looked_at, handles) {
        (false, _) => {
            "any process of your user may connect: on this system nobody can tell what came from a command"
        }
        (true, true) => "who connects is known by the kernel's handle; what came from a command is refused",
        (true, false) => {
            "no handle on who connects (Linux 6.5 has it): a command that connects and dies is refused, unless its \
             number is given to another program before Parlor looks"
        }
    }
}

/// One line; an empty label goes on with the one before.
fn say(label: &str, text: &str) {
    output::print_line(&format!("{label:<10} {text}"));
}

async fn model(wanted: Option<&str>) -> bool {
    let catalog = model_source::catalog();
    let well = match Source::new(wanted).await {
        Ok(source) if wanted.is_none() && source.default_model().provider == "offline" => {
            say(
                "model",
                "offline: it needs no key and understands a few plain requests, such as \"list files\"",
            );
            say(
                "",
                "for a real one `parlor login`, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or start a server such as Ollama",
            );
            true
        }
        Ok(source) => {
            say("model", &source.default_model().to_string());
            true
        }
        Err(why) => {
            say("model", &why.to_string());
            say("", &why.hint());
            false
        }
    };
    let listing = catalog.list().await;
    let (there, missing): (Vec<_>, Vec<_>) =
        catalog.providers().into_iter().partition(|state| state.offered && !silent(state, &listing));
    for (at, state) in there.iter().enumerate() {
        say(
            if at == 0 { "providers" } else { "" },
            &format!("{:<12} {}", state.provider, found(state, &listing)),
        );
    }
    let needs = |state: &&ProviderState| !state.local && !state.offered;
    let keyless: Vec<&str> = missing.iter().filter(needs).map(|state| state.provider).collect();
    let local: Vec<&str> = missing.iter().filter(|state| state.local).map(|state| state.provider).collect();
    if let Some(first) = missing.iter().find(needs) {
        let words = format!("{}: `parlor login`, or set e.g. {}", keyless.join(", "), first.variable);
        say("no key", &words);
    }
    // Several names of one provider share its key.
    let own = |state: &ProviderState| account(state.provider) == Some(state.provider);
    for state in catalog.providers().into_iter().filter(own) {
        if let Some(address) = &state.kept_for {
            let provider = state.provider;
            let words = format!(
                "the kept key of {provider} is for {address}, and not used elsewhere; `parlor login {provider}` adds another"
            );
            say("", &words);
        }
    }
    if !local.is_empty() {
        say(
            "no server",
            &format!("{}: start one, or set e.g. VLLM_BASE_URL to where it is", local.join(", ")),
        );
    }
    well
}

/// A local server that is looked for at its usual address and is not there.
fn silent(state: &ProviderState, listing: &Listing) -> bool {
    state.local
        && !listing.models.iter().any(|model| model.name.provider == state.provider)
        && !listing.troubles.iter().any(|trouble| trouble.source_name == state.provider)
}

fn found(state: &ProviderState, listing: &Listing) -> String {
    let address = match &state.address {
        Ok(address) => address.clone(),
        Err(why) => return format!("{why}; {}", why.hint()),
    };
    let key = match state.key_from {
        Some(KeyFrom::Variable(variable)) => format!("key from {variable}"),
        Some(KeyFrom::Kept) => "kept key (parlor login)".to_owned(),
        None => "no key".to_owned(),
    };
    let count = listing
        .models
        .iter()
        .filter(|model| model.confirmed && model.name.provider == state.provider)
        .count();
    match listing.troubles.iter().find(|trouble| trouble.source_name == state.provider) {
        Some(trouble) => format!("{key}, {address}, but: {trouble}; {}", trouble.hint()),
        None => format!("{key}, {address}, answers with {count} models"),
    }
}

fn set(config: &Config, told: &[String], launch: &Launch) -> bool {
    let file = settings::file()
        .map_or_else(|| "no folder: set PARLOR_CONFIG_DIR".to_owned(), |file| path_text::write(&file));
    let there = settings::file().is_some_and(|file| file.exists());
    say("settings", &if there { file } else { format!("{file} (not there, and not needed)") });
    // What is wrong for the screen alone costs nothing but looks.
    let of_screen = Ui::read(settings::file().as_deref()).told;
    for what in told.iter().chain(&of_screen) {
        say("", what);
    }
    let fetch = match (config.fetch.enabled || launch.fetch, config.fetch.private) {
        (false, _) => "off (--fetch, or `enabled = true` under [fetch] in the settings, turns it on)",
        (true, false) => "on; you are asked per host, this machine and its network are refused",
        (true, true) => "on; you are asked per host, also on this machine and its network",
    };
    say("fetch", fetch);
    told.is_empty()
}

fn servers(config: &Config, data: &Path, work_dir: &WorkDir) {
    let (servers, troubles) = engine::mcp::servers(config, data, work_dir);
    if servers.is_empty() && troubles.is_empty() {
        say("mcp", "no servers (`parlor mcp add` adds one)");
    }
    let mut label = "mcp";
    for listed in &servers {
        let name = &listed.entry.name;
        let state = match (listed.entry.disabled, listed.approved) {
            (true, _) => "switched off".to_owned(),
            (false, true) => format!("starts with the first prompt; `parlor mcp test {name}` tries it"),
            (false, false) => format!("of this project, waits for you: `parlor mcp approve {name}`"),
        };
        say(std::mem::take(&mut label), &format!("{name}: {state}"));
    }
    for (file, trouble) in &troubles {
        let name = trouble.name.as_deref().unwrap_or("the file");
        say(std::mem::take(&mut label), &format!("{}: {name}: {}", file.display(), trouble.why));
    }
}

fn hooks(config: &Config, data: &Path, work_dir: &WorkDir) {
    let (hooks, told) = engine::hooks(config, data, work_dir.workspace.as_deref().ok());
    let waiting = hooks.iter().filter(|one| !one.approved).count();
    if !hooks.is_empty() {
        let waits = match waiting {
            0 => String::new(),
            waiting => format!("; {waiting} of this project wait for you: `parlor hooks approve`"),
        };
        say("hooks", &format!("{} run{waits}", hooks.len() - waiting));
    }
    for (file, why) in &told {
        say("", &format!("{}: {why}", file.display()));
    }
}

fn skills(config: &Config, work_dir: &WorkDir) {
    let list = engine::list_skills(config, work_dir);
    say(
        "skills",
        &match list.skills.len() {
            0 => "none".to_owned(),
            count => format!("{count} (`parlor skills` lists them)"),
        },
    );
    for (path, why) in &list.errors {
        say("", &format!("{path}: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_does_not_hold_where_it_is_not_tested() {
        assert_eq!(system("linux"), Vec::<String>::new());
        for os in ["macos", "freebsd"] {
            let told = system(os).join("\n");
            assert!(told.contains("no sandbox") && told.contains("all your rights"), "{told}");
            let page = ["parlor", "help", "systems"].map(std::ffi::OsString::from);
            assert!(
                told.contains("`parlor help systems`")
                    && crate::topics::asked(&page).is_some_and(|page| page.is_ok())
            );
        }
        assert!(system("macos")[0].starts_with("macOS: "));
    }

    #[test]
    fn it_says_how_well_it_is_known_who_connects() {
        assert!(peers(true, true).contains("by the kernel's handle"));
        assert!(peers(true, false).contains("Linux 6.5 has it"));
        assert!(peers(false, false).contains("nobody can tell"));
    }
}
