//! A guard and nothing else: what the tests of the sandbox run.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(2).collect();
    match tools::sandbox::run_guard(&args) {
        Ok(never) => match never {},
        Err(error) => {
            let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{error}\n").as_bytes());
            ExitCode::from(error.exit_code())
        }
    }
}
