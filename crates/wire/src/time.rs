//! Points in time as wires write them: RFC 3339 in UTC with milliseconds, and back. Not a calendar; time zones are offsets only.
//!
//! Invariant: reading what was written gives the same millisecond.

const MS_PER_DAY: u64 = 86_400_000;
/// Days from the first of March of the year 0 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;
/// Days of 400 years.
const ERA_DAYS: i64 = 146_097;

/// `2026-11-15T00:16:48.058Z`, from milliseconds since the Unix epoch.
pub fn write(unix_ms: u64) -> String {
    let (days, ms) = (unix_ms / MS_PER_DAY, unix_ms % MS_PER_DAY);
    let (year, month, day) = date(i64::try_from(days).unwrap_or(i64::MAX / 2));
    let (hour, minute, second, milli) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Milliseconds since the Unix epoch. Takes any number of fraction digits, `Z` or an offset; a time without a zone is taken as UTC,
/// since some peers write local times without saying so. `None` for anything else and for times before 1970.
pub fn read(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| {
        let digits = bytes.get(from..to)?;
        digits.iter().try_fold(0i64, |sum, b| b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0')))
    };
    let is = |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|byte| wanted.contains(byte));
    if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days = days(year, month, day);
    if date(days) != (year, month, day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let (milli, zone) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(rest) => {
            let (digits, zone) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
            if digits.is_empty() {
                return None;
            }
            (format!("{digits:0<3}").get(..3)?.parse().ok()?, zone)
        }
    };
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - offset(zone)?;
    u64::try_from(seconds * 1000 + milli).ok()
}

/// Seconds that the zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':')?;
    let two = |text: &str| {
        (text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse::<i64>().ok())?
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

/// Days since the epoch. Years begin in March, so that the leap day is the last one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAYS
}

fn date(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_times() {
        for (text, ms) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:30:00.500Z", 951_827_400_500),
            ("2026-11-15T00:16:48.058Z", 1_794_701_808_058),
        ] {
            assert_eq!(write(ms), text);
            assert_eq!(read(text), Some(ms));
        }
    }

    #[test]
    fn variations_are_read() {
        for text in [
            "2026-11-15T00:16:48.058024",
            "2026-11-15 00:16:48.058",
            "2026-11-15t01:16:48.058+01:00",
            "2026-11-14T19:46:48.058-04:30",
        ] {
            assert_eq!(read(text), Some(1_794_701_808_058), "{text}");
        }
        assert_eq!(read("2026-11-15T00:16:48Z"), Some(1_794_701_808_000));
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "now",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T00:16:48.Z",
            "2026-11-15T00:16:48+1",
            "1969-12-31T23:59:59Z",
            "2026-11-15T00:16:4é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_reads_back(ms in 0u64..253_402_300_800_000) {
            prop_assert_eq!(read(&write(ms)), Some(ms));
        }

        #[test]
        fn nothing_panics(text in "[0-9TZ:.+é-]{0,30}", ms in any::<u64>()) {
            let _ = (read(&text), write(ms));
        }
    }
}
