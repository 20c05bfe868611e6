//! What a program costs in instructions, counted by valgrind: the same in every run of the same program, on a busy machine too.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// The instructions of a whole run, threads included; not those of programs that it starts. `stdin` is a file that it reads to the end.
pub fn instructions(command: &Command, stdin: Option<&Path>, list: &Path) -> u64 {
    let mut counted = Command::new("valgrind");
    counted.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    counted.arg(format!("--log-file={}", list.display()));
    counted.arg(command.get_program()).args(command.get_args()).env_clear();
    counted.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        counted.current_dir(folder);
    }
    counted.stdin(stdin.map_or_else(Stdio::null, |file| File::open(file).expect("it was written").into()));
    let status = counted.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{counted:?} did not end well");
    let told = std::fs::read_to_string(list).expect("valgrind wrote its list");
    read(&told).unwrap_or_else(|| panic!("valgrind told no count: {told}"))
}

/// The count in what valgrind tells: `==12== I   refs:      4,095,663`.
fn read(told: &str) -> Option<u64> {
    let count = told.lines().find_map(|line| line.split_once("refs:"))?.1;
    count.chars().filter(|letter| *letter != ',').collect::<String>().trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_read_with_its_commas() {
        assert_eq!(read("==1== \n==1== I   refs:      4,095,663\n"), Some(4_095_663));
        assert_eq!(read("valgrind: no such tool"), None);
    }
}
