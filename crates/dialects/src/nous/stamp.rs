//! Points in time as this wire writes them: RFC 3339, UTC. Written only; no decision rests on a peer's clock.

use domain::ids::Millis;

const MS_PER_DAY: u64 = 86_400_000;

/// `2026-11-15T00:16:09.461Z`.
pub(super) fn write(at: Millis) -> String {
    let (days, ms) = (at.0 / MS_PER_DAY, at.0 % MS_PER_DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// Year, month and day of a day counted from 1970-01-01. Counts in eras of 400 years whose years begin in March, so that
/// the leap day comes last and every month has a length by formula.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_points_in_time() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_701_808_058, "2026-11-15T00:16:48.058Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(write(Millis(ms)), text);
        }
    }
}
