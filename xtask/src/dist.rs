//! The program as it is published: the heavy profile, stripped, and small enough.
//!
//! What it is not: the build of the first README command, which must be quick and leaves this out.

use anyhow::{Result, bail};

use crate::shell::Shell;
use crate::suite::binary;

/// What the file may weigh.
const MOST_BYTES: u64 = 30_000_000;
/// Functions that came out alike are kept once; on this system the toolchain links with lld, which can do that. (A trace of calls may then
/// name the twin, so only what is stripped anyway is linked so.)
const FOLDED: (&str, &[&str]) = ("x86_64-unknown-linux-gnu", &["--", "-C", "link-arg=-Wl,--icf=all"]);

/// Builds it, and says what it weighs.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let mut args = vec!["rustc", "--profile", "dist", "--package", "parlor", "--bin", "parlor"];
    if shell.host()? == FOLDED.0 {
        args.extend(FOLDED.1);
    }
    shell.cargo(&args, &[])?;
    let file = binary(shell, "dist")?;
    let bytes = std::fs::metadata(&file)?.len();
    println!("{file}: {bytes} bytes (at most {MOST_BYTES})");
    if bytes > MOST_BYTES {
        bail!("it grew too large: find what came in by `nm --size-sort`")
    } else {
        Ok(())
    }
}
