//! Where existing clients and agents leave the protocol, and what we do. Each has a test of the same name.

use roles::fidelity::Quirk;

/// The deviations.
pub const QUIRKS: &[Quirk] = &[
    Quirk {
        name: "nothing_before_the_answer",
        what: "a client wedges when something of a session is told before the answer that gives it",
        ours: "what happens meanwhile waits for the answer; only what session/load tells again goes before it",
    },
    Quirk {
        name: "set_model_is_taken",
        what: "clients send session/set_model, which no schema has",
        ours: "we take it and never send it",
    },
    Quirk {
        name: "mode_by_another_name",
        what: "some programs write and read `modeId` in current_mode_update",
        ours: "we write the schema's name and read both; a change of mode is told as an option too",
    },
    Quirk {
        name: "question_without_call",
        what: "two agents ask for permission without a tool_call before",
        ours: "we take title, kind and input from the question; as an agent we always tell the call first",
    },
    Quirk {
        name: "question_after_in_progress",
        what: "an agent says that a call is in progress and asks about it afterwards",
        ours: "we take a call as running only when a question about it would have come",
    },
    Quirk {
        name: "late_yes_runs_the_tool",
        what: "an agent runs a tool when an old question is allowed after the cancel",
        ours: "we answer every open question as cancelled before anything else and never answer one afterwards; as an agent a late yes does nothing",
    },
    Quirk {
        name: "result_in_raw_output",
        what: "an agent tells what a call gave in rawOutput only",
        ours: "we show rawOutput where content is empty",
    },
    Quirk {
        name: "calls_left_open",
        what: "two agents leave calls open when a prompt is cancelled",
        ours: "a call ends with its prompt at the latest",
    },
    Quirk {
        name: "prompts_wait",
        what: "a second prompt is refused, held, taken for a cancel, or never answered",
        ours: "as an agent we queue it and answer each once; as a client we never send one before the first is answered",
    },
    Quirk {
        name: "command_names_its_session",
        what: "an agent sets a variable with the name of its session for each command that it has run",
        ours: "we leave that variable out, so that the command that is shown is the command that runs",
    },
    Quirk {
        name: "reads_what_it_makes",
        what: "an agent reads a file before it makes it, and gives up whatever error says that it is not there",
        ours: "a file that is not there is empty to that agent, and to no other",
    },
    Quirk {
        name: "other_versions",
        what: "an agent answers any version with the same number",
        ours: "as an agent we answer 1 whatever is asked; as a client we go on with 1 only, and say which number came",
    },
    Quirk {
        name: "ids_from_zero",
        what: "ids begin at 0, or are texts",
        ours: "an id comes back as it was sent",
    },
    Quirk {
        name: "errors_without_id",
        what: "an agent answers a notification with an error that has no id",
        ours: "we pass over it and count it",
    },
];
