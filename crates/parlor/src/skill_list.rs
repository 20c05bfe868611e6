//! `parlor skills`: what can be pulled into a prompt with `$name`.

use crate::exit::{self, Exit};
use crate::launch::Launch;
use crate::{places, settings};

/// Prints the skills and what could not be read.
pub(crate) fn list(launch: &Launch) -> anyhow::Result<Exit> {
    let mut config = settings::read_aloud();
    let ground = places::ground_aloud(launch, &mut config)?;
    let found = engine::list_skills(&config, &ground);
    for skill in &found.skills {
        let from = if skill.from_project { "project" } else { "yours" };
        exit::say(&format!("{:<24} {from:<8} {}", skill.name, skill.description));
    }
    for (path, why) in &found.errors {
        exit::complain(&format!("{path}: {why}"));
    }
    if found.skills.is_empty() && found.errors.is_empty() {
        exit::say(
            "no skills\n\nhint: put a SKILL.md into .parlor/skills/NAME/ of the project or of your home",
        );
    }
    Ok(Exit::Done)
}
