//! How many cases a property tries: `PROPTEST_CASES` says it for all of them, and the dear ones keep their share.
//!
//! `cargo xtask test` asks for few, which every change passes through, and with `--slow` for many.

use proptest::test_runner::Config;

/// What proptest tries when nobody says anything; the numbers in the tests are shares of it.
const USUAL: u32 = 256;
/// The fewest: below this the edges of a strategy are hardly met.
const FEWEST: u32 = 8;

/// A configuration that tries so many cases where others try 256, and in proportion where `PROPTEST_CASES` says otherwise.
pub fn cases(of_usual: u32) -> Config {
    let all = Config::default();
    Config { cases: share(all.cases, of_usual), ..all }
}

fn share(all: u32, of_usual: u32) -> u32 {
    let share = u64::from(all) * u64::from(of_usual) / u64::from(USUAL);
    u32::try_from(share).unwrap_or(u32::MAX).max(FEWEST.min(of_usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dear_properties_keep_their_share() {
        for (all, of_usual, expected) in
            [(256, 64, 64), (64, 64, 16), (5_000, 64, 1_250), (64, 24, 8), (64, 300, 75), (1, 4, 4)]
        {
            assert_eq!(share(all, of_usual), expected, "{of_usual} of {all}");
        }
    }
}
