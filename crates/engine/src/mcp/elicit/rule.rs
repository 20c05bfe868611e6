//! What a written value must be like to fit its field. Pure.

use chrono::{DateTime, NaiveDate};
use serde_json::{Number, Value};

/// What a text must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Date,
    DateTime,
    Email,
    Uri,
}

impl Format {
    /// `None` for one that nothing is known of.
    pub(super) fn named(name: &str) -> Option<Format> {
        match name {
            "date" => Some(Format::Date),
            "date-time" => Some(Format::DateTime),
            "email" => Some(Format::Email),
            "uri" => Some(Format::Uri),
            _ => None,
        }
    }

    /// What such a text looks like.
    fn looks(self) -> &'static str {
        match self {
            Format::Date => "2026-01-31",
            Format::DateTime => "2026-01-31T14:30:00Z",
            Format::Email => "name@example.org",
            Format::Uri => "https://example.org/page",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Format::Date => "a date",
            Format::DateTime => "a date with a time and its zone",
            Format::Email => "an email address",
            Format::Uri => "an address with its scheme",
        }
    }

    fn fits(self, text: &str) -> bool {
        match self {
            // In exactly these places: `2026-1-31` is read by some and not by others.
            Format::Date => text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok(),
            Format::DateTime => {
                text.as_bytes().get(10) != Some(&b' ') && DateTime::parse_from_rfc3339(text).is_ok()
            }
            Format::Email => is_email(text),
            Format::Uri => {
                let plain = |byte: u8| byte.is_ascii_graphic() && !br#"<>"{}|\^`"#.contains(&byte);
                text.bytes().all(plain) && reqwest::Url::parse(text).is_ok()
            }
        }
    }
}

/// Whether it can be one: who it reaches is the server's matter.
fn is_email(text: &str) -> bool {
    let Some((who, host)) = text.rsplit_once('@') else { return false };
    let plain =
        |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control());
    let label = |label: &str| {
        plain(label) && !label.starts_with('-') && !label.ends_with('-') && !label.contains(['@', '_', ','])
    };
    plain(who) && !who.contains('@') && host.split('.').all(label)
}

/// Least and most of something; both count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
}

impl Limits {
    /// The limits that a schema names with these two words.
    pub(super) fn of(schema: &Value, least: &str, most: &str) -> Limits {
        Limits { least: schema[least].as_f64(), most: schema[most].as_f64() }
    }

    /// What is wrong with so many, in words that go on after "it must".
    pub(super) fn misses(self, count: f64) -> Option<String> {
        match (self.least, self.most) {
            (Some(least), _) if count < least => Some(format!("at least {least}")),
            (_, Some(most)) if count > most => Some(format!("at most {most}")),
            _ => None,
        }
    }

    /// `1 to 10`; nothing where there is no limit.
    pub(super) fn words(self) -> Option<String> {
        match (self.least, self.most) {
            (Some(least), Some(most)) => Some(format!("{least} to {most}")),
            (Some(least), None) => Some(format!("at least {least}")),
            (None, Some(most)) => Some(format!("at most {most}")),
            (None, None) => None,
        }
    }
}

/// What is written into a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FieldInput {
    Text { length: Limits, format: Option<Format> },
    Number(Limits),
    Integer(Limits),
}

impl FieldInput {
    /// What to show in an empty field.
    pub(super) fn hint(self) -> Option<String> {
        match self {
            FieldInput::Text { format: Some(format), .. } => Some(format.looks().to_owned()),
            FieldInput::Text { length, .. } => length.words().map(|words| format!("{words} characters")),
            FieldInput::Number(range) | FieldInput::Integer(range) => range.words(),
        }
    }

    /// The value of a text that is not blank; an error says what would fit.
    pub(super) fn read(self, text: &str) -> Result<Value, String> {
        match self {
            FieldInput::Text { length, format } => {
                // A blank around a date is a slip; in a plain text it may be meant.
                let text = if format.is_some() { text.trim() } else { text };
                if let Some(format) = format.filter(|format| !format.fits(text)) {
                    return Err(format!("it must be {}, like {}", format.word(), format.looks()));
                }
                #[expect(clippy::cast_precision_loss, reason = "no text is that long")]
                let count = text.chars().count() as f64;
                match length.misses(count) {
                    Some(limit) => Err(format!("it must have {limit} characters, and has {count}")),
                    None => Ok(Value::from(text)),
                }
            }
            FieldInput::Integer(range) => {
                let number =
                    text.trim().parse::<i64>().map_err(|_| "it must be a whole number".to_owned())?;
                #[expect(clippy::cast_precision_loss, reason = "limits are told as such numbers too")]
                within(range, number as f64)?;
                Ok(Value::from(number))
            }
            FieldInput::Number(range) => {
                let text = text.trim();
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
                let number = number.ok_or("it must be a number")?;
                within(range, number)?;
                // As it was written: 7 and not 7.0.
                let whole = text.parse::<i64>().ok().map(Number::from);
                let number = whole.or_else(|| Number::from_f64(number)).ok_or("it must be a number")?;
                Ok(Value::Number(number))
            }
        }
    }
}

fn within(range: Limits, number: f64) -> Result<(), String> {
    range.misses(number).map_or(Ok(()), |limit| Err(format!("it must be {limit}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_held_against_what_is_written() {
        let table: [(Format, &[&str], &[&str]); 4] = [
            (
                Format::Date,
                &["2026-02-28", " 2024-02-29 "],
                &["tomorrow", "2026-02-29", "2026-2-28", "28.02.2026", "2026-02-28T00:00:00Z", "+2026-1-1"],
            ),
            (
                Format::DateTime,
                &["2026-01-31T14:30:00Z", "2026-01-31T14:30:00.5+02:00"],
                &["2026-01-31", "2026-01-31T14:30:00", "2026-01-31 14:30:00Z", "2026-01-31T25:00:00Z", "now"],
            ),
            (
                Format::Email,
                &["a@b.org", "a.b+c@localhost"],
                &["a", "@b.org", "a@", "a b@c.org", "a@b..org", "a@b@c.org", "a@-b.org"],
            ),
            (
                Format::Uri,
                &["https://a.org/x?y=1#z", "mailto:a@b.org", "urn:isbn:1"],
                &["a.org", "/x", "https://a b.org", "https://ä.org", "http://", "x"],
            ),
        ];
        for (format, right, wrong) in table {
            let field = FieldInput::Text { length: Limits { least: None, most: None }, format: Some(format) };
            for text in right {
                assert_eq!(field.read(text), Ok(Value::from(text.trim())), "{format:?} {text}");
            }
            for text in wrong {
                let why = field.read(text).unwrap_err();
                assert!(why.contains(format.looks()), "{format:?} {text}: {why}");
            }
            assert!(format.fits(format.looks()));
        }
    }

    #[test]
    fn limits_count_both_ends_and_whole_signs() {
        let few = Limits { least: Some(2.0), most: Some(3.0) };
        let text = FieldInput::Text { length: few, format: None };
        assert_eq!(text.read("äö"), Ok(Value::from("äö")));
        assert_eq!(text.read("ä"), Err("it must have at least 2 characters, and has 1".to_owned()));
        assert_eq!(text.read("abcd"), Err("it must have at most 3 characters, and has 4".to_owned()));
        for (kind, words) in [
            (FieldInput::Integer(few), ["2", " 3 ", "1", "4", "2.5", "", "99999999999999999999"]),
            (FieldInput::Number(few), ["2", "2.5", "1.999", "3.1", "inf", "NaN", "two"]),
        ] {
            let fits: Vec<bool> = words.iter().map(|word| kind.read(word).is_ok()).collect();
            assert_eq!(fits, [true, true, false, false, false, false, false], "{kind:?}");
        }
        assert_eq!(FieldInput::Number(few).read("1"), Err("it must be at least 2".to_owned()));
        assert_eq!(FieldInput::Number(few).read("3").unwrap().to_string(), "3");
        assert_eq!(FieldInput::Number(few).hint().as_deref(), Some("2 to 3"));
    }
}
