//! Arguments as models really write them: other names for the same thing, numbers as text, one thing where a list was
//! wanted. Lenient about form, never about meaning.

use crate::error::ToolError;
use serde_json::Value;

/// Other names for the file.
pub const PATH: &[&str] = &["path", "file_path", "file", "filename", "filepath"];
/// Other names for the directory to look in.
pub const DIR: &[&str] = &["path", "dir", "directory", "file_path", "cwd"];
/// Other names for the command line.
pub const COMMAND: &[&str] = &["command", "cmd", "script"];

/// The arguments of one call, and the tool's name for its complaints.
#[derive(Debug, Clone, Copy)]
pub struct Args<'a> {
    tool: &'a str,
    value: &'a Value,
}

impl<'a> Args<'a> {
    /// Looks at `value`, which may be anything.
    pub fn new(tool: &'a str, value: &'a Value) -> Args<'a> {
        Args { tool, value }
    }

    /// All arguments, for a tool that reads them by itself.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// A complaint about these arguments.
    pub fn wrong(&self, why: impl Into<String>) -> ToolError {
        ToolError::Args { tool: self.tool.to_owned(), why: why.into() }
    }

    /// What stands under one of `names`; `null` counts as absent. Two that say different things are refused.
    pub fn one(&self, names: &[&str]) -> Result<Option<&'a Value>, ToolError> {
        let all = names.iter().filter_map(|name| Some((*name, self.value.get(*name)?)));
        let mut all = all.filter(|(_, value)| !value.is_null());
        let Some((name, first)) = all.next() else { return Ok(None) };
        match all.find(|(_, value)| *value != first) {
            None => Ok(Some(first)),
            Some((other, _)) => {
                Err(self.wrong(format!("`{name}` and `{other}` say different things: give one of them")))
            }
        }
    }

    /// Text that must be there.
    pub fn text(&self, names: &[&str]) -> Result<&'a str, ToolError> {
        self.text_opt(names)?.ok_or_else(|| self.wrong(format!("`{}` is missing", first(names))))
    }

    /// Text that may be there.
    pub fn text_opt(&self, names: &[&str]) -> Result<Option<&'a str>, ToolError> {
        match self.one(names)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(format!("`{}` must be text", first(names)))),
        }
    }

    /// A whole number that may be there; `"12"` and `12.0` count.
    pub fn count_opt(&self, names: &[&str]) -> Result<Option<u64>, ToolError> {
        let Some(value) = self.one(names)? else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(format!("`{}` must be a whole number, 0 or more", first(names)))),
        }
    }

    /// Yes or no; absent is no; `"true"` counts.
    pub fn flag(&self, names: &[&str]) -> Result<bool, ToolError> {
        match self.one(names)? {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(self.wrong(format!("`{}` must be true or false", first(names)))),
        }
    }
}

fn first<'n>(names: &[&'n str]) -> &'n str {
    names.first().copied().unwrap_or_default()
}

fn whole(number: f64) -> Option<u64> {
    // Past 2^53 a float no longer names one whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: whole, in range")]
    let converted = (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64);
    converted
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn aliases_and_loose_forms_are_understood() {
        let value = json!({"file_path": "a", "limit": "12", "offset": 3.0, "all": "true", "path": null});
        let args = Args::new("read", &value);
        assert_eq!(args.text(PATH).unwrap(), "a");
        assert_eq!(args.count_opt(&["limit"]).unwrap(), Some(12));
        assert_eq!(args.count_opt(&["offset"]).unwrap(), Some(3));
        assert!(args.flag(&["all"]).unwrap());
    }

    #[test]
    fn two_names_that_say_different_things_are_refused() {
        let value = json!({"path": "a", "file_path": "b", "dir": "a"});
        let args = Args::new("read", &value);
        let why = args.text(PATH).unwrap_err().to_string();
        assert_eq!(why, "read: `path` and `file_path` say different things: give one of them");
        assert_eq!(args.text(&["path", "dir"]).unwrap(), "a");
    }

    #[test]
    fn a_float_counts_only_while_it_names_one_whole_number() {
        let value = json!({"exact": 9_007_199_254_740_991.0, "vague": 9_007_199_254_740_992.0, "half": 0.5});
        let args = Args::new("read", &value);
        assert_eq!(args.count_opt(&["exact"]).unwrap(), Some(9_007_199_254_740_991));
        assert!(args.count_opt(&["vague"]).is_err());
        assert!(args.count_opt(&["half"]).is_err());
    }

    #[test]
    fn wrong_kinds_are_told_by_name() {
        let value = json!({"path": 7, "limit": -1, "all": "maybe"});
        let args = Args::new("read", &value);
        assert_eq!(args.text(PATH).unwrap_err().to_string(), "read: `path` must be text");
        assert!(args.count_opt(&["limit"]).is_err());
        assert!(args.flag(&["all"]).is_err());
        for value in [json!(null), json!([]), json!("x"), json!(3)] {
            assert!(Args::new("read", &value).text(PATH).is_err());
        }
    }
}
