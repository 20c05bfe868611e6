//! One probe for each item of the vocabulary: it lets the item happen, and looks at what arrives at the other end.
//!
//! A probe is written in words of the vocabulary and knows no wire. It is played twice, with the item and without: what is the same
//! both times is not of the item's doing.

mod asks;
mod commands;
mod lists;
mod sessions;
mod shown;
mod signals;

use super::scene::Scene;
use super::trace;
use domain::command::Refusal;
use roles::Item;
use std::fmt::Debug;

/// What came of a play.
pub(crate) struct Found {
    /// The command was refused.
    pub(crate) refused: Option<Refusal>,
    /// What should arrive.
    pub(crate) meant: String,
    /// The same, as it arrived.
    pub(crate) arrived: String,
    /// Everything that was seen where it should arrive: tells what arrives changed from what does not arrive.
    pub(crate) trace: String,
}

impl Found {
    /// Something that the UI should be shown.
    fn shown<T: Debug>(scene: &Scene, meant: T, arrived: T) -> Found {
        Found::seen(meant, arrived, trace::of_ui(&scene.ui))
    }

    /// Something that the engine should hear.
    fn heard<T: Debug>(scene: &Scene, refused: Option<Refusal>, meant: T, arrived: T) -> Found {
        let found = Found::seen(meant, arrived, trace::of_engine(scene));
        Found { refused, ..found }
    }

    /// Something that shows in one place only.
    fn only<T: Debug>(refused: Option<Refusal>, meant: T, arrived: T) -> Found {
        let trace = trace::plain(&format!("{arrived:?}"));
        Found { refused, ..Found::seen(meant, arrived, trace) }
    }

    fn seen<T: Debug>(meant: T, arrived: T, trace: String) -> Found {
        Found { refused: None, meant: format!("{meant:?}"), arrived: format!("{arrived:?}"), trace }
    }
}

/// Plays an item, or the same scene without it.
pub(crate) async fn play(item: Item, scene: &mut Scene, with: bool) -> Found {
    match item {
        Item::Prompt => commands::prompt(scene, with).await,
        Item::Steer => commands::steer(scene, with).await,
        Item::FollowUp => commands::follow_up(scene, with).await,
        Item::QueueModes => commands::queue_modes(scene, with).await,
        Item::Cancel => commands::cancel(scene, with).await,
        Item::Answer => asks::answer(scene, with).await,
        Item::ContextUpdate => commands::context_update(scene, with).await,
        Item::SessionNew => sessions::new(scene, with).await,
        Item::SessionOpen => sessions::open(scene, with).await,
        Item::SessionList => sessions::list(scene, with).await,
        Item::SessionBranch => sessions::branch(scene, with).await,
        Item::SessionClose => sessions::close(scene, with).await,
        Item::SessionClear => sessions::clear(scene, with).await,
        Item::SessionSave => sessions::save(scene, with).await,
        Item::History => sessions::history(scene, with).await,
        Item::Leaf => sessions::leaf(scene, with).await,
        Item::Tree => sessions::tree(scene, with).await,
        Item::Compact => commands::compact(scene, with).await,
        Item::Stats => lists::stats(scene, with).await,
        Item::ModelList => lists::models(scene, with).await,
        Item::ModelSet => commands::model_set(scene, with).await,
        Item::Policy => commands::policy(scene, with).await,
        Item::McpList => lists::servers(scene, with).await,
        Item::SkillsList => lists::skills(scene, with).await,
        Item::Tools => commands::tools(scene, with).await,
        Item::Extension => commands::extension(scene, with).await,
        Item::Attachments => commands::attachments(scene, with).await,
        Item::RunLifecycle => shown::run_lifecycle(scene, with).await,
        Item::RunOutcome => shown::run_outcome(scene, with).await,
        Item::Turn => shown::turn(scene, with).await,
        Item::Step => shown::step(scene, with).await,
        Item::MessageText => shown::message_text(scene, with).await,
        Item::TextDeltas => shown::text_deltas(scene, with).await,
        Item::Thought => shown::thought(scene, with).await,
        Item::Image => shown::image(scene, with).await,
        Item::Code => shown::code(scene, with).await,
        Item::Diff => shown::diff(scene, with).await,
        Item::ToolLifecycle => shown::tool_lifecycle(scene, with).await,
        Item::ToolProgress => shown::tool_progress(scene, with).await,
        Item::ToolResult => shown::tool_result(scene, with).await,
        Item::Decision => shown::decision(scene, with).await,
        Item::Consent => asks::consent(scene, with).await,
        Item::ConsentScope => asks::consent_scope(scene, with).await,
        Item::DenialReason => asks::denial_reason(scene, with).await,
        Item::Confirm => asks::confirm(scene, with).await,
        Item::Choose => asks::choose(scene, with).await,
        Item::TextAsk => asks::text(scene, with).await,
        Item::EditAsk => asks::edit(scene, with).await,
        Item::AskWithdrawn => asks::withdrawn(scene, with).await,
        Item::Deadline => asks::deadline(scene, with).await,
        Item::QueueChanges => shown::queue_changes(scene, with).await,
        Item::ContextLeft => shown::context_left(scene, with).await,
        Item::Usage => shown::usage(scene, with).await,
        Item::Compaction => shown::compaction(scene, with).await,
        Item::Plan => shown::plan(scene, with).await,
        Item::Retry => shown::retry(scene, with).await,
        Item::Notice => shown::notice(scene, with).await,
        Item::Notify => signals::notify(scene, with).await,
        Item::Status => signals::status(scene, with).await,
        Item::Working => signals::working(scene, with).await,
        Item::Widget => signals::widget(scene, with).await,
        Item::Title => signals::title(scene, with).await,
        Item::EditorText => signals::editor_text(scene, with).await,
        Item::Suggestion => signals::suggestion(scene, with).await,
        Item::Resume => sessions::resume(scene, with).await,
    }
}
