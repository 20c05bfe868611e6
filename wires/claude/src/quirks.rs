//! Where Claude Code does what the types of its SDK do not tell, and what we do. Each has a test of the same name.

use roles::fidelity::Quirk;

/// The deviations.
pub const QUIRKS: &[Quirk] = &[
    Quirk {
        name: "no_name_before_the_first_turn",
        what: "the program names its session with the first turn, not in its answer to initialize",
        ours: "a session has no name of its own before; it is gone on with by --resume, which we add to the command",
    },
    Quirk {
        name: "a_mode_of_no_meaning_is_taken",
        what: "set_permission_mode says yes to any word, also to one that is no mode",
        ours: "we send the words of --permission-mode alone, and refuse others",
    },
    Quirk {
        name: "default_is_no_model",
        what: "the list of models begins with default, which is one of the others",
        ours: "the model in use is shown by the other's name",
    },
    Quirk {
        name: "told_again_after_a_summary",
        what: "messages that are kept beside a summary are written once more, with the same uuid",
        ours: "we pass over the uuids that the summary's own line names",
    },
];
