//! `parlor skills`: what can be pulled into a prompt with `$name`.

use crate::aloud;
use crate::exit::Exit;
use crate::output;
use host::launch::Launch;

/// Prints the skills and what could not be read.
pub(crate) fn list(launch: &Launch) -> anyhow::Result<Exit> {
    let mut config = aloud::settings();
    let work_dir = aloud::work_dir(launch, &mut config)?;
    let found = engine::list_skills(&config, &work_dir);
    for skill in &found.skills {
        let from = if skill.from_project { "project" } else { "yours" };
        output::print_line(&format!("{:<24} {from:<8} {}", skill.name, skill.description));
    }
    for (path, why) in &found.errors {
        output::print_error(&format!("{path}: {why}"));
    }
    if found.skills.is_empty() && found.errors.is_empty() {
        output::print_line(
            "no skills\n\nhint: put a SKILL.md into .parlor/skills/NAME/ of the project or of your home",
        );
    }
    Ok(Exit::Done)
}
