//! Who may come in by which door: one decision for all of them. Pure: who is there is found out elsewhere (`peer.rs` for the processes
//! of a connection, the sandbox for where a process came from).
//!
//! Always: what came from a command that an agent runs comes in by no door, whatever key it shows. The whole table is in
//! docs/security.md, and a test holds that page to it.

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// A Unix socket of a process that has sessions.
    Socket,
    /// The control socket of the server in the background; `parlor relay` comes in here too.
    Control,
    /// A window of the desktop shell, and each command that comes from one.
    Window,
    /// `parlor serve --listen`.
    Listen,
    /// Clients of the Agent Client Protocol at the server (`parlor up --acp`).
    Clients,
    /// The page's `/enrol`: a browser becomes a device.
    Enrol,
    /// The page's `/wire`: a device connects.
    Wire,
    /// An answer of a device that is connected, where it allows something.
    Allow,
}

impl Door {
    /// In the order of the table.
    pub const ALL: [Door; 8] = [
        Door::Socket,
        Door::Control,
        Door::Window,
        Door::Listen,
        Door::Clients,
        Door::Enrol,
        Door::Wire,
        Door::Allow,
    ];

    /// Whether somebody who cannot be proven to be the person can show that they are: by a code that the person compares, or by a key
    /// that was enrolled with one.
    fn has_room_for_a_code(self) -> bool {
        match self {
            Door::Socket | Door::Control | Door::Window | Door::Listen | Door::Clients => false,
            Door::Enrol | Door::Wire | Door::Allow => true,
        }
    }
}

/// What is known of whoever is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A program of the person's own: their shell, a browser that was running before.
    Person,
    /// Below a Parlor, but neither behind a guard nor marked: a browser that `parlor web` opened, or what the person began with `!`.
    Inside(i32),
    /// A command of an agent, an MCP server, or what one of them started: behind a guard, or marked.
    Command,
    /// Another user of this machine.
    OtherUser,
    /// It has a lower limit than we have, as our mark is one, but not ours: sound servers make browsers do that.
    LowerLimit,
    /// It, or who stands above it, cannot be seen: a container, `hidepid`, a forwarded port, another machine.
    Unseen,
    /// A proxy that the person said stands before us.
    Proxy,
    /// Nobody holds the other end any more.
    Gone,
    /// It could not be looked who holds the other end, and somebody may have seen to that.
    NotLookedAt,
}

/// The decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    LetIn,
    /// Only with a code that the person compares, or a key that was enrolled with one.
    Unproven,
    /// Nothing lets it in, no key either.
    Refused,
}

/// The one decision.
pub fn decide(door: Door, origin: Origin) -> Entry {
    let proven = match origin {
        Origin::Command | Origin::OtherUser | Origin::Gone | Origin::NotLookedAt => return Entry::Refused,
        Origin::Person => true,
        // At a socket it cannot be told from a command of an agent without a guard; a page has a key besides.
        Origin::Inside(_) => door.has_room_for_a_code(),
        Origin::LowerLimit | Origin::Unseen | Origin::Proxy => false,
    };
    match (proven, door.has_room_for_a_code()) {
        (true, _) => Entry::LetIn,
        (false, true) => Entry::Unproven,
        (false, false) => Entry::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who may stand at a door, as docs/security.md names them, and as what they are seen.
    const WHO: [(&str, Origin); 14] = [
        ("the person's shell", Origin::Person),
        ("a desktop shell that the person started", Origin::Person),
        ("a browser that was running before", Origin::Person),
        ("a browser that `parlor web` opened", Origin::Inside(7)),
        ("a browser that a command opened", Origin::Command),
        ("a desktop shell that a command started", Origin::Command),
        ("a command in the sandbox", Origin::Command),
        ("a command with network", Origin::Command),
        ("a command free of the sandbox", Origin::Command),
        ("an MCP server", Origin::Command),
        ("a program with a lower limit", Origin::LowerLimit),
        ("another user", Origin::OtherUser),
        ("a peer that cannot be seen", Origin::Unseen),
        ("your proxy (`--behind-proxy`)", Origin::Proxy),
    ];

    fn word(entry: Entry) -> &'static str {
        match entry {
            Entry::LetIn => "let in",
            Entry::Unproven => "code",
            Entry::Refused => "refused",
        }
    }

    /// The table as the page has to show it.
    fn table() -> String {
        let mut table = String::from(
            "| who | Unix sockets | control socket, relay | window | `serve --listen` | `up --acp` | `/enrol` | `/wire` | an answer that allows |\n|---|---|---|---|---|---|---|---|---|\n",
        );
        for (who, origin) in WHO {
            let cells = Door::ALL.map(|door| word(decide(door, origin)));
            table += &format!("| {who} | {} |\n", cells.join(" | "));
        }
        table
    }

    #[test]
    fn the_table_of_doors_in_the_docs_is_the_decision() {
        let page = include_str!("../../../docs/security.md");
        let table = table();
        assert!(page.contains(&table), "docs/security.md has another table than:\n{table}");
    }

    #[test]
    fn what_came_from_a_command_comes_in_nowhere_and_nobody_unproven_where_no_code_can_be_shown() {
        for door in Door::ALL {
            for origin in [Origin::Command, Origin::OtherUser, Origin::Gone, Origin::NotLookedAt] {
                assert_eq!(decide(door, origin), Entry::Refused, "{door:?} {origin:?}");
            }
            for origin in [Origin::LowerLimit, Origin::Unseen, Origin::Proxy] {
                assert_ne!(decide(door, origin), Entry::LetIn, "{door:?} {origin:?}");
            }
            assert_eq!(decide(door, Origin::Person), Entry::LetIn);
        }
        for door in [Door::Socket, Door::Control, Door::Window, Door::Listen, Door::Clients] {
            assert_eq!(decide(door, Origin::Unseen), Entry::Refused);
            assert_eq!(decide(door, Origin::Inside(1)), Entry::Refused);
        }
    }
}
