//! A number of a pattern: its spelling as written, compared by value. Not arithmetic.

use std::fmt;

/// A JSON number as it was written. `1`, `1.0` and `1e0` are spelled differently and match the same values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    spelling: String,
}

/// The largest float whose whole part still fits an `i128` with room to spare.
const WHOLE_LIMIT: f64 = 1e30;

impl Number {
    /// The number at the beginning of a text by the grammar of JSON, and the bytes it took.
    pub fn parse_prefix(text: &str) -> Option<(Self, usize)> {
        let bytes = text.as_bytes();
        let digits = |from: usize| {
            bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let mut at = usize::from(bytes.first() == Some(&b'-'));
        let whole = if bytes.get(at) == Some(&b'0') { 1 } else { digits(at) };
        if whole == 0 {
            return None;
        }
        at += whole;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            if fraction == 0 {
                return None;
            }
            at += 1 + fraction;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at + 1 + sign);
            if exponent == 0 {
                return None;
            }
            at += 1 + sign + exponent;
        }
        Some((Self { spelling: text[..at].to_owned() }, at))
    }

    /// The number as written.
    pub fn spelling(&self) -> &str {
        &self.spelling
    }

    /// Whether a value is this number.
    pub fn is(&self, got: &serde_json::Number) -> bool {
        if let Some(got) = whole(got) {
            if let Ok(ours) = self.spelling.parse::<i128>() {
                return ours == got;
            }
            return self.float().is_some_and(|ours| float_is_whole(ours, got));
        }
        let Some(got) = got.as_f64() else { return false };
        if let Ok(ours) = self.spelling.parse::<i128>() {
            return float_is_whole(got, ours);
        }
        // The JSON reader may round the last bit of a long fraction differently from the exact reading, and a value
        // may come from either, so both readings are right.
        let as_json = serde_json::from_str::<f64>(&self.spelling).ok();
        self.float() == Some(got) || as_json == Some(got)
    }

    fn float(&self) -> Option<f64> {
        self.spelling.parse().ok()
    }
}

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        Self { spelling: number.to_string() }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling)
    }
}

fn whole(number: &serde_json::Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn float_is_whole(float: f64, whole: i128) -> bool {
    float.abs() < WHOLE_LIMIT && float.fract() == 0.0 && float as i128 == whole
}
