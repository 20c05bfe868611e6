//! Points in time as the wire writes them (RFC 3339, UTC, milliseconds) and back. Not a calendar: only what lists of sessions need.

use domain::ids::Millis;

const MS_PER_DAY: u64 = 86_400_000;

/// `2026-11-15T00:16:48.058Z`.
pub(super) fn write(at: Millis) -> String {
    let (days, ms) = (at.0 / MS_PER_DAY, at.0 % MS_PER_DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second, milli) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Reads what [`write`] wrote and its usual variations: no fraction, another number of digits, an offset. `None` for anything else.
pub(super) fn read(text: &str) -> Option<Millis> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse::<u64>().ok())?
    };
    let sign =
        |at: usize, wanted: &[u8]| text.as_bytes().get(at).filter(|byte| wanted.contains(byte)).copied();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    sign(4, b"-").and(sign(7, b"-")).and(sign(10, b"Tt ")).and(sign(13, b":")).and(sign(16, b":"))?;
    if year < 1970
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let rest = text.get(19..)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("0", rest),
    };
    let milli: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let ms = day_number(year, month, day)? * MS_PER_DAY
        + hour * 3_600_000
        + minute * 60_000
        + second * 1000
        + milli;
    let offset = offset_ms(zone)?;
    u64::try_from(i64::try_from(ms).ok()? - offset).ok().map(Millis)
}

/// What to take off the local time.
fn offset_ms(zone: &str) -> Option<i64> {
    if zone == "Z" || zone == "z" {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    ((0..24).contains(&hours) && (0..60).contains(&minutes)).then_some(sign * (hours * 60 + minutes) * 60_000)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn month_days(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Leap years before `year`, counted from the year 1.
fn leaps(year: u64) -> u64 {
    let before = year - 1;
    before / 4 - before / 100 + before / 400
}

fn day_number(year: u64, month: u64, day: u64) -> Option<u64> {
    if day > month_days(year, month) {
        return None;
    }
    let years = (year - 1970) * 365 + leaps(year) - leaps(1970);
    let months: u64 = (1..month).map(|month| month_days(year, month)).sum();
    Some(years + months + day - 1)
}

fn date(days: u64) -> (u64, u64, u64) {
    // A first guess that is never too late; at most a few years are stepped over.
    let mut year = 1970 + days / 366;
    let length = |year: u64| if is_leap(year) { 366 } else { 365 };
    let mut left = days - ((year - 1970) * 365 + leaps(year) - leaps(1970));
    while left >= length(year) {
        left -= length(year);
        year += 1;
    }
    let mut month = 1;
    while left >= month_days(year, month) {
        left -= month_days(year, month);
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_points_in_time() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_701_808_058, "2026-11-15T00:16:48.058Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] {
            assert_eq!(write(Millis(ms)), text);
            assert_eq!(read(text), Some(Millis(ms)));
        }
        assert_eq!(read("1970-01-01T01:00:00+01:00"), Some(Millis(0)));
        assert_eq!(read("1970-01-01 00:00:01.5Z"), Some(Millis(1500)));
        for bad in [
            "",
            "now",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-01-01T00:00:00",
            "1969-12-31T00:00:00Z",
            "२०२६",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(ms in 0u64..250_000_000_000_000) {
            prop_assert_eq!(read(&write(Millis(ms))), Some(Millis(ms)));
        }

        #[test]
        fn nothing_panics(text in ".{0,40}") {
            let _ = read(&text);
        }
    }
}
