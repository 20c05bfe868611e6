//! Our numbers are unsigned, SQLite's are not.

/// As SQLite keeps it; what is too large becomes the largest.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// As we keep it.
pub(super) fn nat(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
