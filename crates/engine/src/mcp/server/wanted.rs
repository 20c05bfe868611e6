//! What a person wants of a project's servers by name: a prompt behind a slash, a resource behind an `@`; and what UIs list of both.

use super::{Project, Server};
use crate::config::{Config, WorkDir};
use crate::mcp::beside::{self, BesideTools, OfferedPrompt};
use crate::mcp::book;
use crate::mcp::card::CardFile;
use crate::mcp::client::{Client, Values};
use crate::mcp::link::Link;
use domain::port::menu::AgentCommand;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most resources of which one session hears that they changed.
const MAX_WATCHED: usize = 32;
/// Most resources that are offered behind an `@`.
const MAX_MENTIONS: usize = 512;

/// What servers offer to UIs: commands, and what can be named behind an `@`.
pub(crate) type Offers = (Vec<AgentCommand>, Vec<AgentCommand>);

/// A prompt that was named, and the arguments behind it.
pub(crate) struct NamedPrompt {
    server: Arc<Server>,
    pub(crate) prompt: OfferedPrompt,
    pub(crate) given: Vec<(String, String)>,
}

/// What stands behind an `@` and is no file: it is asked of the server, never read here.
pub(crate) struct NamedResource {
    server: Arc<Server>,
    pub(crate) uri: String,
}

/// What one session knows of servers. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerNotes(Arc<SharedNotes>);

#[derive(Debug, Default)]
struct SharedNotes {
    /// Whether the model finds their tools by a search.
    searches: AtomicBool,
    /// Resources that the person named: server, address, how often it had changed when that was told last.
    watched: Mutex<Vec<(String, String, u64)>>,
}

impl ServerNotes {
    /// Whether the model finds tools of servers by a search, as it did before.
    pub(crate) fn searches(&self) -> bool {
        self.0.searches.load(Ordering::Relaxed)
    }

    /// From here on the model finds tools by a search.
    pub(crate) fn search(&self) {
        self.0.searches.store(true, Ordering::Relaxed);
    }
}

/// What servers of the person and of approved projects offered when they ran last, as UIs list it before the first turn: commands, and
/// what can be named. Reads files.
pub(crate) fn offered_before(config: &Config, data: &Path, work_dir: &WorkDir) -> Offers {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = work_dir.workspace.as_deref().ok().map(real);
    let (listed, _) = book::servers(config, data, work_dir);
    let (mut commands, mut mentions) = (Vec::new(), Vec::new());
    for one in listed.iter().filter(|one| one.approved && !one.entry.disabled) {
        let project = root.as_deref().filter(|_| one.from_project);
        if let Some(card) = CardFile::of(data, project, &one.entry.digest).read() {
            list(&one.entry.name, &card.beside, &mut commands, &mut mentions);
        }
    }
    (commands, mentions)
}

fn list(
    server: &str,
    beside: &BesideTools,
    commands: &mut Vec<AgentCommand>,
    mentions: &mut Vec<AgentCommand>,
) {
    commands.extend(beside.prompts.iter().map(|prompt| prompt.command(server)));
    let room = MAX_MENTIONS.saturating_sub(mentions.len());
    let resources = beside.resources.iter().filter(|one| !one.is_form).take(room);
    mentions.extend(resources.map(|resource| resource.mention(server)));
}

impl Project {
    /// What UIs list: commands, and what can be named behind an `@`.
    pub(crate) fn offers(&self) -> Offers {
        let (mut commands, mut mentions) = (Vec::new(), Vec::new());
        for server in self.servers().iter().filter(|server| server.may_start()) {
            list(&server.listed.entry.name, &server.status().beside, &mut commands, &mut mentions);
        }
        (commands, mentions)
    }

    /// The prompt of a server that a text begins with.
    pub(crate) fn prompt_in(&self, text: &str) -> Option<NamedPrompt> {
        let line = text.trim_start().strip_prefix('/')?;
        let (name, behind) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (server, typed) = name.split_once(':')?;
        let server = self.server(server)?;
        let prompt = server.status().beside.prompts.iter().find(|prompt| prompt.typed == typed).cloned()?;
        let given = prompt.arguments_in(behind.trim());
        Some(NamedPrompt { server, prompt, given })
    }

    /// The resources that a text names: what a server lists, and what fits one of its forms.
    pub(crate) fn resources_in(&self, text: &str, most: usize) -> Vec<NamedResource> {
        let mut found: Vec<NamedResource> = Vec::new();
        for word in text.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
            let word = word.trim_matches('"');
            for word in [word, word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')'])] {
                let Some((name, uri)) = word.split_once(':') else { continue };
                let Some(server) = self.server(name) else { continue };
                let is_offered = server.status().beside.resources.iter().any(|one| match one.is_form {
                    true => fits(&one.uri, uri),
                    false => one.uri == uri,
                });
                let is_new = !found.iter().any(|one| one.uri == uri && Arc::ptr_eq(&one.server, &server));
                if is_offered && is_new && found.len() < most {
                    found.push(NamedResource { server, uri: uri.to_owned() });
                    break;
                }
            }
        }
        found
    }

    fn server(&self, name: &str) -> Option<Arc<Server>> {
        self.servers().into_iter().find(|server| server.listed.entry.name == name && server.may_start())
    }

    /// What the person named before and has changed since it was told last.
    pub(crate) fn news_of(&self, notes: &ServerNotes) -> Vec<String> {
        let mut watched = notes.0.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let mut news = Vec::new();
        for (name, uri, seen) in watched.iter_mut() {
            let count = self.server(name).map_or(*seen, |server| server.heard.count(uri));
            if count != *seen {
                *seen = count;
                news.push(format!(
                    "The resource {name}:{uri}, which the person named before, has changed since."
                ));
            }
        }
        news
    }
}

/// Whether an address has a form: what stands in braces may be anything.
fn fits(form: &str, uri: &str) -> bool {
    let mut rest = uri;
    let mut parts = form.split('{').map(|part| part.split_once('}').map_or(part, |(_, fixed)| fixed));
    let Some(first) = parts.next() else { return false };
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let mut open = false;
    for fixed in parts {
        open = fixed.is_empty();
        match rest.find(fixed).filter(|_| !fixed.is_empty()) {
            Some(at) => rest = &rest[at + fixed.len()..],
            None if open => {}
            None => return false,
        }
    }
    (open || rest.is_empty())
        && form.contains('{')
        && beside::variables(form).iter().all(|name| !name.is_empty())
}

impl Server {
    /// The way to it, once it is there. It must have been started.
    async fn client(&self) -> Result<Arc<Client>, String> {
        Link::reach(self.link.subscribe()).await
    }
}

impl NamedPrompt {
    /// Named as its tools are: by what the file calls it.
    pub(crate) fn server(&self) -> &str {
        &self.server.listed.entry.name
    }

    /// How a person writes it, without the sign before it.
    pub(crate) fn typed(&self) -> String {
        format!("{}:{}", self.server(), self.prompt.typed)
    }

    /// The arguments that it needs and that were not given.
    pub(crate) fn missing(&self) -> Vec<String> {
        let needed = self.prompt.arguments.iter().filter(|one| one.required);
        let open = needed.filter(|one| !self.given.iter().any(|(name, _)| *name == one.name));
        open.map(|one| one.name.clone()).collect()
    }

    /// What an argument could be, as far as the server tells.
    pub(crate) async fn values(&self, argument: &str) -> Values {
        match self.server.client().await {
            Ok(client) => client.values(&self.prompt.name, argument, &self.given).await,
            Err(_) => Values::default(),
        }
    }

    /// Its text, with what was given.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) async fn text(&self) -> Result<String, String> {
        self.server.client().await?.prompt(&self.prompt.name, &self.given).await
    }
}

impl NamedResource {
    /// How a person writes it, without the sign before it.
    pub(crate) fn typed(&self) -> String {
        format!("{}:{}", self.server.listed.entry.name, self.uri)
    }

    /// Named as its tools are: by what the file calls it.
    pub(crate) fn server(&self) -> &str {
        &self.server.listed.entry.name
    }

    /// What it holds; from here on the session hears when it changes, where its server tells that.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub(crate) async fn read(&self, notes: &ServerNotes) -> Result<String, String> {
        let client = self.server.client().await?;
        let text = client.resource(&self.uri).await?;
        self.watch(&client, notes).await;
        Ok(text)
    }

    async fn watch(&self, client: &Client, notes: &ServerNotes) {
        let name = self.server().to_owned();
        let knows = {
            let watched = notes.0.watched.lock().unwrap_or_else(PoisonError::into_inner);
            watched.iter().any(|(server, uri, _)| *server == name && *uri == self.uri)
                || watched.len() >= MAX_WATCHED
        };
        if knows {
            return;
        }
        // Before it is asked for, so that no change is missed.
        let Some(seen) = self.server.heard.listen(&self.uri) else { return };
        if client.subscribe(&self.uri).await {
            let mut watched = notes.0.watched.lock().unwrap_or_else(PoisonError::into_inner);
            watched.push((name, self.uri.clone(), seen));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn an_address_has_a_form_or_not() {
        for (form, uri, does) in [
            ("note://{name}", "note://a", true),
            ("note://{name}/x", "note://a/x", true),
            ("note://{name}/x", "note://a/y", false),
            ("note://{a}/{b}", "note://1/2", true),
            ("note://{a}/{b}", "file:///etc/passwd", false),
            ("note://a", "note://a", false),
        ] {
            assert_eq!(fits(form, uri), does, "{form} {uri}");
        }
    }
}
