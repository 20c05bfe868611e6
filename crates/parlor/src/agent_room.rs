//! A room with another program's agent behind it: the program is started here, and everything else is as in a room of ours. It outlives the
//! terminal that began it, is found by its session's id, and several stand side by side.
//!
//! Invariant: nothing is started here that the person has not agreed to before: nobody could be asked.

use crate::attach::{self, KeptSession};
use crate::exit::Exit;
use crate::output;
use crate::{agent_list, aloud};
use host::announcement::Announcement;
use host::guests::Host;
use host::launch::Launch;
use host::paths;
use host::rooms::room::{Room, Standing};
use host::stop::Over;
use remote::agents;
use remote::elsewhere::KeptElsewhere;
use remote::front::{Approach, Begin, Front, Person};
use remote::origin::{self, RuntimeAddress};

/// One begins a session, the other is started again for it.
pub(crate) enum RoomAgent {
    /// One that is listed, with a new session.
    Listed(String),
    /// The one that a kept session was with.
    Kept(KeptElsewhere),
}

/// Is a room until nobody needs it, it is told to end, or its agent is gone.
pub(crate) async fn run(launch: Launch, room: Room, behind: RoomAgent) -> anyhow::Result<Exit> {
    let standing = Standing::take()?;
    let (dialect, place, kept, named) = match behind {
        RoomAgent::Listed(name) => {
            let agent = agents::find(&name, &[], output::print_error)?;
            anyhow::ensure!(
                agent_list::is_agreed(&agent),
                "{name} was never agreed to here, or is another file by now; start it once in a terminal: `parlor attach {name}`"
            );
            let place = RuntimeAddress::Command(agent.command.iter().map(Into::into).collect());
            (agent.dialect, place, KeptSession::default(), None)
        }
        RoomAgent::Kept(KeptElsewhere { session, origin, .. }) => {
            anyhow::ensure!(
                origin::is_typed(&origin),
                "its command was never typed here; go on in a terminal, where you can be asked: parlor --here --resume {session}"
            );
            let dialect = dialects::driven(&origin.dialect).map_err(|why| anyhow::anyhow!("{why}"))?;
            let (place, folder) = origin::address(&origin)?;
            (dialect, place, KeptSession { session: Some(session), folder }, origin.session)
        }
    };
    let keep = attach::keep_as(dialect, &place, kept)?;
    let begin = Begin { session: named.as_deref(), last: named.as_deref() };
    let (person, size) = (Person::There, None);
    let approach =
        Approach { dialect, begin, person, size, judged: false, leash: None, listening: None, in_room: true };
    let front = Front::open(&launch, place, approach, Some(keep), aloud::log()).await?;
    let (cwd, said) = (paths::working_directory(&launch)?, output::stderr_log());
    let host = Host::in_front(&cwd, Vec::new(), Vec::new(), None, said.clone());
    let serving = format!("room on {dialect}");
    let announcement = Announcement::try_open(&front.hub, &host, &cwd, serving, None).await?;
    let told = standing.until_told(&front.hub, &announcement, &room, &said).await;
    drop(announcement);
    let is_well = matches!(told, Ok(Over::UiGone | Over::Told));
    front.close(is_well).await.iter().for_each(aloud::last_words);
    if is_well {
        standing.leave(&room);
    }
    told.map(|over| if over == Over::RuntimeLost { Exit::Failed } else { Exit::Done })
}
