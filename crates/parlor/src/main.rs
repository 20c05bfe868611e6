//! `parlor`: the program. Everything meets here; what can be tested without a process lives in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    parlor::main(option_env!("PARLOR_COMMIT"))
}
