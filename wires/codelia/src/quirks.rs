//! Where codelia's programs differ from codelia's document, and what we do. Each has a test of the same name in `tests/quirks.rs`.

use roles::fidelity::Quirk;

const fn quirk(name: &'static str, what: &'static str, ours: &'static str) -> Quirk {
    Quirk { name, what, ours }
}

/// Where the existing programs of this wire leave its document.
pub const QUIRKS: &[Quirk] = &[
    quirk(
        "string_ids_only",
        "the terminal UI reads ids as strings; an answer with a number is lost to it",
        "an id is echoed as it came; ids of ours are strings; numbers in answers to us are understood",
    ),
    quirk(
        "no_version_negotiation",
        "the runtime answers \"0\" to any version, without an error",
        "so do we; a runtime that says another version is reported and used",
    ),
    quirk(
        "requests_before_initialize",
        "the terminal UI sends requests without waiting for the answer to initialize",
        "requests are served from the first line on",
    ),
    quirk(
        "result_of_run_start_alone",
        "the command line drops notifications that it reads together with the result of run.start",
        "to a UI of that name the result is flushed alone and nothing follows for 150 ms; nobody else waits",
    ),
    quirk(
        "absent_session_is_current",
        "the terminal UI names no session and expects its conversation to go on",
        "a missing session_id means the link's current session",
    ),
    quirk(
        "terminal_status_always",
        "the document calls run.status optional, but the terminal UI runs for ever without it",
        "a terminal status is always sent, once, as the last word of a run",
    ),
    quirk(
        "one_question_at_a_time",
        "a second question replaces the first on the terminal UI's screen, and the first is never answered",
        "one question is open at a time, the others wait",
    ),
    quirk(
        "final_repeats_text",
        "a plain answer is a final without a text; after tools it may repeat the last text",
        "a text is sent only when something follows it; a final equal to the last text is not shown twice",
    ),
    quirk(
        "cancel_of_a_finished_run",
        "the runtime says run not found; the document has ok:false and the status",
        "the document's form is sent, both are understood",
    ),
    quirk(
        "stale_yes_executes",
        "the runtime runs a tool that is allowed after the run was cancelled, and hangs until the question is answered",
        "questions are withdrawn before a run is stopped; a late answer does nothing; to a runtime we say no at once",
    ),
    quirk(
        "busy_after_the_end",
        "the runtime refuses run.start for a moment after the terminal status",
        "a refused start is tried again five times, 200 ms apart",
    ),
    quirk(
        "deny_with_and_without_reason",
        "a no without a reason stops the turn; with a reason the model goes on; an error or null is a no",
        "the reason is handed over, or its absence; an unreadable answer is a no",
    ),
    quirk(
        "a_no_has_a_last_word",
        "a run that a no without a reason stops still ends with a final of fixed words",
        "where the model said nothing, a final says why the run stopped; heard from our own runtime it adds nothing",
    ),
    quirk(
        "files_by_file_path",
        "the terminal UI shows read, write and edit by their argument file_path; that of our tools is path",
        "the path is sent under both names, and heard under one",
    ),
    quirk(
        "shell_results_are_json",
        "the runtime's shell tools write an object with stdout, stderr and exit_code into their result",
        "it is shown as a terminal would show it; the object goes along",
    ),
    quirk(
        "commands_are_shown_by_shell",
        "the terminal UI shows nothing of a command that went well under the name bash, and its output under shell",
        "our bash is told as shell, with the object that codelia's own shell writes",
    ),
    quirk(
        "plans_are_todo_lists",
        "the terminal UI draws a plan as a coloured list for the tools todo_* only",
        "our todo is told as todo_new, its result as numbered lines with a box",
    ),
    quirk(
        "paragraphs_for_the_terminal_ui",
        "the terminal UI shows whole texts only, and drops a final that equals the last text",
        "to a UI of that name each finished paragraph is a text, and the final repeats the last of them",
    ),
    quirk(
        "nothing_follows_a_cancel",
        "the runtime sends no event of a run after the answer to run.cancel",
        "what the run still has to say comes first, then the answer, then the terminal status; 1.5 s at most",
    ),
    quirk(
        "stderr_is_shown",
        "the terminal UI shows lines of stderr that begin with error: beside what run.status says",
        "an error that ends its run is told by run.status alone",
    ),
    quirk(
        "typed_ahead_is_an_answer",
        "the terminal UI preselects yes, and what is typed ahead answers a question that appears meanwhile",
        "a question that no run waits for is asked when none is under way; what is dangerous or does not fit is a list with the no on top; a yes within a second is asked again, once",
    ),
    quirk(
        "numbers_with_fractions",
        "times, delays and percents are worked out and may have fractions",
        "fractions are cut off; a time of any kind spoils no message",
    ),
    quirk(
        "unknown_session_has_no_history",
        "session.history of an unknown session is empty, not an error",
        "so it is here",
    ),
    quirk(
        "tools_of_the_ui",
        "the terminal UI offers tools of its own with each run; the runtime refuses names that are odd, taken or come twice",
        "the same is refused; the model may call the tools, by policy, and the UI performs them; one that says approval never is not asked about unless the mode denies it",
    ),
    quirk(
        "remember_lines",
        "the terminal UI finds the rules by the words \"Remember (don't ask again):\"",
        "a rule is offered in exactly these words, and found by them",
    ),
    quirk(
        "context_update_as_request",
        "ui.context.update is a notification only; as a request the runtime refuses it",
        "both are taken; the request is answered with an empty object",
    ),
];
