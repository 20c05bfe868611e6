//! Figures in words: times, counts, money.

use domain::content::Usage;
use domain::ids::Millis;

/// A span of time, short.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        1_000..10_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        10_000..60_000 => format!("{}s", ms / 1_000),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        _ => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// How long ago something was, in words.
pub(crate) fn ago(now: Millis, then: Millis) -> String {
    match now.since(then) / 1_000 {
        0..60 => "just now".to_owned(),
        s @ 60..3_600 => format!("{} min ago", s / 60),
        s @ 3_600..86_400 => format!("{} h ago", s / 3_600),
        s => format!("{} days ago", s / 86_400),
    }
}

/// For how long something has been so, in words.
pub(crate) fn lasting(now: Millis, since: Millis) -> String {
    let ago = ago(now, since);
    ago.strip_suffix(" ago").map_or(ago.clone(), |span| format!("for {span}"))
}

/// So many of something: `1 line`, `2500 lines`, `3 entries`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    match (number, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {what}s"),
    }
}

/// A number in short, rounded to two digits or more: `950`, `1.2k`, `26k`, `3.4M`.
pub(crate) fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..999_500 => rounded(number, 1_000, "k"),
        _ => rounded(number, 1_000_000, "M"),
    }
}

/// So many of a unit, with tenths only below ten of them: beyond that nobody reads them.
fn rounded(number: u64, unit: u64, name: &str) -> String {
    let tenths = number.saturating_add(unit / 20) / (unit / 10);
    match (tenths / 10, tenths % 10) {
        (0..10, tenth @ 1..) => format!("{}.{tenth}{name}", tenths / 10),
        (whole @ 0..10, _) => format!("{whole}{name}"),
        _ => format!("{}{name}", number.saturating_add(unit / 2) / unit),
    }
}

/// The size of a context: a power of two has the name that everybody gives it, so that 32,768 is `32k`.
pub(crate) fn window(tokens: u64) -> String {
    match tokens {
        1_024..1_048_576 if tokens.is_power_of_two() => format!("{}k", tokens / 1_024),
        1_048_576.. if tokens.is_power_of_two() => format!("{}M", tokens / 1_048_576),
        _ => count(tokens),
    }
}

/// What was paid, as far as prices are known.
pub(crate) fn cost(usage: Usage) -> String {
    format!("{}{}", mark(usage.rough), money(usage.cost_micros))
}

/// What stands before a figure that is a guess.
pub(crate) fn mark(rough: bool) -> &'static str {
    if rough { "~" } else { "" }
}

/// Dollars, with as many digits as are of use.
pub(crate) fn money(micros: u64) -> String {
    if micros > 0 && micros < 100 {
        // A sum that is there must not look like none.
        "under $0.0001".to_owned()
    } else if micros < 10_000 {
        format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
    } else {
        format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_what_they_are() {
        for (said, read) in [
            (counted(0, "line"), "0 lines"),
            (counted(1, "line"), "1 line"),
            (counted(2_500, "line"), "2500 lines"),
            (counted(3, "entry"), "3 entries"),
            (money(0), "$0.0000"),
            (money(20), "under $0.0001"),
            (money(4_200), "$0.0042"),
            (money(1_250_000), "$1.25"),
            (count(999), "999"),
            (count(1_000), "1k"),
            (count(1_320), "1.3k"),
            (count(1_960), "2k"),
            (count(9_949), "9.9k"),
            (count(9_950), "10k"),
            (count(26_220), "26k"),
            (count(26_500), "27k"),
            (count(999_499), "999k"),
            (count(999_500), "1M"),
            (count(1_250_000), "1.3M"),
            (count(u64::MAX), "18446744073709M"),
            (window(32_768), "32k"),
            (window(200_000), "200k"),
            (window(1_048_576), "1M"),
        ] {
            assert_eq!(said, read);
        }
    }
}
