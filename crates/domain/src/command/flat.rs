//! Commands as they are written: flat, whatever group holds one.

use super::Command;
use crate::written::{Flat, FlatReading};
use serde::de::VariantAccess;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Command::Run(command) => command.serialize(serializer),
            Command::Queue(command) => command.serialize(serializer),
            Command::Library(command) => command.serialize(serializer),
            Command::Session(command) => command.serialize(serializer),
            Command::List(command) => command.serialize(serializer),
            Command::Shell(command) => command.serialize(serializer),
            Command::Files(command) => command.serialize(serializer),
            Command::Performed { .. }
            | Command::Answer { .. }
            | Command::UpdateContext(_)
            | Command::Extension { .. } => Command::serialize(self, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Command, D::Error> {
        Command::read_flat(deserializer)
    }
}

impl Flat for Command {
    const NOUN: &'static str = "a Command";

    fn read<'de, A: VariantAccess<'de>>(
        reading: FlatReading<'de, Command, A>,
    ) -> FlatReading<'de, Command, A> {
        reading
            .group(Command::Run)
            .group(Command::Queue)
            .group(Command::Library)
            .group(Command::Session)
            .group(Command::List)
            .group(Command::Shell)
            .group(Command::Files)
            .group(|LoneCommand(command)| command)
    }
}

/// A command that is in no group.
struct LoneCommand(Command);

impl<'de> Deserialize<'de> for LoneCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LoneCommand, D::Error> {
        Command::deserialize(deserializer).map(LoneCommand)
    }
}
