//! What is asked of a server beside calls of tools: its prompts and resources, what an argument could be, to be told of changes.

use super::{CONNECT, Client, MAX_PAGES, Trouble, challenge};
use crate::mcp::beside::{self, BesideTools, MAX_PROMPTS, MAX_RESOURCES, OfferedPrompt, OfferedResource};
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, CompletionContext, GetPromptRequestParams, PaginatedRequestParams,
    ReadResourceRequestParams, Reference, Role, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter,
};
use rmcp::service::{ServiceError, Subscription};
use std::collections::HashMap;
use std::time::Duration;

/// How long it may take to tell what an argument could be: a person waits for it.
const COMPLETE: Duration = Duration::from_secs(3);
/// How long it may take to begin a stream of changes.
const LISTEN: Duration = Duration::from_millis(1_500);
/// Most values of an argument that are offered.
const MAX_VALUES: usize = 20;
/// Longest value that is offered, in characters.
const MAX_VALUE: usize = 200;

/// What an argument could be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) values: Vec<String>,
    /// Whether there are more than these.
    pub(crate) more: bool,
}

impl Client {
    fn can(&self) -> rmcp::model::ServerCapabilities {
        self.service.peer().peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
    }

    /// Its prompts and resources, within [`CONNECT`]; nothing where it has none. What it cannot tell of them is left out: its tools
    /// count all the same.
    pub(crate) async fn beside(&self) -> Result<BesideTools, Trouble> {
        let can = self.can();
        let listing = async {
            let mut offered = BesideTools::default();
            let mut page = PaginatedRequestParams::default();
            for _ in 0..if can.prompts.is_some() { MAX_PAGES } else { 0 } {
                let Some(listed) = told(self.service.list_prompts(Some(page.clone())).await)? else { break };
                offered.prompts.extend(listed.prompts.iter().take(MAX_PROMPTS).filter_map(OfferedPrompt::of));
                page.cursor = listed.next_cursor;
                if page.cursor.is_none() || offered.prompts.len() >= MAX_PROMPTS {
                    break;
                }
            }
            page.cursor = None;
            for _ in 0..if can.resources.is_some() { MAX_PAGES } else { 0 } {
                let Some(listed) = told(self.service.list_resources(Some(page.clone())).await)? else {
                    break;
                };
                let all = listed.resources.iter().take(MAX_RESOURCES);
                offered.resources.extend(all.filter_map(OfferedResource::of));
                page.cursor = listed.next_cursor;
                if page.cursor.is_none() || offered.resources.len() >= MAX_RESOURCES {
                    break;
                }
            }
            page.cursor = None;
            for _ in 0..if can.resources.is_some() { MAX_PAGES } else { 0 } {
                let Some(listed) = told(self.service.list_resource_templates(Some(page.clone())).await)?
                else {
                    break;
                };
                let all = listed.resource_templates.iter().take(MAX_RESOURCES);
                offered.resources.extend(all.filter_map(OfferedResource::of_form));
                page.cursor = listed.next_cursor;
                if page.cursor.is_none() || offered.resources.len() >= MAX_RESOURCES {
                    break;
                }
            }
            offered.prompts.truncate(MAX_PROMPTS);
            offered.resources.truncate(MAX_RESOURCES);
            Ok::<_, ServiceError>(offered)
        };
        match tokio::time::timeout(CONNECT, listing).await {
            Ok(listed) => listed.map_err(|why| match challenge(&why) {
                Some(challenge) => Trouble::Login(challenge),
                None => Trouble::Broken(self.words(&why)),
            }),
            Err(_) => Err(Trouble::Broken("it did not tell its prompts and resources in time".to_owned())),
        }
    }

    /// The text of a prompt with these arguments.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) async fn prompt(&self, name: &str, arguments: &[(String, String)]) -> Result<String, String> {
        let mut params = GetPromptRequestParams::new(name);
        let given = arguments.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        params.arguments = (!arguments.is_empty()).then_some(given);
        let said = self.within(self.service.get_prompt(params)).await?;
        let several = said.messages.len() > 1;
        let pieces = said.messages.iter().map(|message| {
            let text = beside::piece(&message.content);
            match message.role {
                _ if !several => text,
                Role::User => format!("user: {text}"),
                _ => format!("assistant: {text}"),
            }
        });
        Ok(pieces.collect::<Vec<_>>().join("\n\n"))
    }

    /// What a resource holds.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub(crate) async fn resource(&self, uri: &str) -> Result<String, String> {
        let said = self.within(self.service.read_resource(ReadResourceRequestParams::new(uri))).await?;
        Ok(beside::contents(&said.contents))
    }

    /// What an argument of a prompt could be, given the others; nothing where the server does not tell.
    pub(crate) async fn values(&self, prompt: &str, argument: &str, known: &[(String, String)]) -> Values {
        if self.can().completions.is_none() {
            return Values::default();
        }
        let mut params = CompleteRequestParams::new(
            Reference::for_prompt(prompt),
            ArgumentInfo::new(argument, String::new()),
        );
        let known: HashMap<String, String> = known.iter().cloned().collect();
        params.context = (!known.is_empty()).then(|| CompletionContext::with_arguments(known));
        let Ok(Ok(told)) = tokio::time::timeout(COMPLETE, self.service.complete(params)).await else {
            return Values::default();
        };
        let told = told.completion;
        let fits = |value: &String| {
            let plain =
                !value.chars().any(|c| domain::harmless::is_harmful(c) || domain::harmless::is_hidden(c));
            plain && !value.trim().is_empty() && value.chars().count() <= MAX_VALUE
        };
        let more = told.has_more == Some(true) || told.values.len() > MAX_VALUES;
        let values: Vec<String> = told.values.into_iter().filter(fits).take(MAX_VALUES).collect();
        Values { values, more }
    }

    /// Wants to hear when a resource changes; `false` where the server does not tell.
    pub(crate) async fn subscribe(&self, uri: &str) -> bool {
        let tells = self.can().resources.is_some_and(|resources| resources.subscribe == Some(true));
        if !tells || !self.has_handshake() {
            return tells;
        }
        #[expect(deprecated, reason = "it is how versions with a greeting do it")]
        let asking = self.service.subscribe(SubscribeRequestParams::new(uri));
        matches!(tokio::time::timeout(COMPLETE, asking).await, Ok(Ok(())))
    }

    /// Whether it was greeted in the older way, in which changes are told unasked.
    fn has_handshake(&self) -> bool {
        self.service.peer().peer_info().is_none_or(|info| info.protocol_version.has_initialize())
    }

    /// A stream of what changes, where a server tells that only when it is asked (versions without a greeting); `uris` are the resources
    /// that somebody wants to hear of.
    pub(crate) async fn listen(&self, uris: &[String]) -> Option<Subscription> {
        if self.has_handshake() {
            return None;
        }
        let mut filter = SubscriptionFilter::default();
        let can = self.can();
        filter.tools_list_changed = can.tools.map(|_| true);
        filter.prompts_list_changed = can.prompts.map(|_| true);
        filter.resources_list_changed = can.resources.as_ref().map(|_| true);
        filter.resource_subscriptions = (!uris.is_empty()).then(|| uris.to_vec());
        tokio::time::timeout(LISTEN, self.service.listen(filter)).await.ok()?.ok()
    }

    /// Hears the next of a stream; `false` at its end.
    pub(crate) async fn hear(&self, stream: &mut Subscription) -> bool {
        let ear = self.service.service();
        match stream.next().await {
            Ok(Some(ServerNotification::ResourceUpdatedNotification(told))) => {
                ear.heard.updated(&told.params.uri);
            }
            Ok(Some(
                ServerNotification::ToolListChangedNotification(_)
                | ServerNotification::PromptListChangedNotification(_)
                | ServerNotification::ResourceListChangedNotification(_),
            )) => ear.changed.notify_one(),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
        true
    }

    async fn within<T>(&self, asking: impl Future<Output = Result<T, ServiceError>>) -> Result<T, String> {
        match tokio::time::timeout(CONNECT, asking).await {
            Ok(told) => told.map_err(|why| self.words(&why)),
            Err(_) => Err(format!("it did not answer within {} seconds", CONNECT.as_secs())),
        }
    }
}

/// What was told of a list; a server that says it has one and does not know the request has none.
fn told<T>(listed: Result<T, ServiceError>) -> Result<Option<T>, ServiceError> {
    match listed {
        Ok(listed) => Ok(Some(listed)),
        Err(ServiceError::McpError(_)) => Ok(None),
        Err(why) => Err(why),
    }
}
