//! What a headless run says: words, what goes along with them, and the form that is wanted of the answer.

use super::form::Form;
use super::{Run, attachments};
use domain::content::Input;
use host::launch::Launch;
use host::{paths, settings};

/// What is said, and of what form the answer must be.
pub(crate) struct PromptRequest {
    pub(super) input: Input,
    pub(super) form: Option<Form>,
}

impl PromptRequest {
    /// Words, and nothing else.
    pub(crate) fn text(words: String) -> PromptRequest {
        PromptRequest { input: Input::text(words), form: None }
    }

    /// Words with what the command line sends along.
    pub(crate) fn of(words: String, launch: &Launch, run: &Run) -> anyhow::Result<PromptRequest> {
        let form = run.output_schema.as_deref().map(Form::read).transpose()?;
        let cwd = paths::work_dir(launch, &mut settings::read().config)?.cwd;
        let attachments = attachments::read(&run.image, &run.file, &cwd)?;
        let text = form.as_ref().map_or_else(|| words.clone(), |form| form.told_with(&words));
        Ok(PromptRequest { input: Input { text, attachments }, form })
    }
}
