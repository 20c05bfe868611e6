//! The argument `file_path` of codelia's file tools beside our `path`: written for the existing UI, which shows a file tool by it,
//! and taken out again when we hear our own words. Pure; the text of the arguments stays as it was otherwise.

use serde::Deserialize;

#[derive(Deserialize)]
struct Paths {
    path: Option<String>,
    file_path: Option<serde_json::Value>,
}

/// The arguments with the path under both names; `None` when there is no path, or when both names are there.
pub(super) fn add(args: &str) -> Option<String> {
    let paths: Paths = serde_json::from_str(args).ok()?;
    let (Some(path), None) = (paths.path, paths.file_path) else { return None };
    let inner = args.trim_end().strip_suffix('}')?.trim_end();
    Some(format!("{inner}{}", tail(&path)))
}

/// The arguments without what [`add`] added; `None` when it added nothing.
pub(super) fn remove(args: &str) -> Option<String> {
    let path = serde_json::from_str::<Paths>(args).ok()?.path?;
    let inner = args.trim_end().strip_suffix(&tail(&path))?;
    Some(format!("{inner}}}"))
}

fn tail(path: &str) -> String {
    format!(",\"file_path\":{}}}", serde_json::Value::String(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_names_and_back() {
        let ours = r#"{"content":"hi","path":"a \"b\".txt"}"#;
        let both = add(ours).unwrap();
        assert_eq!(both, r#"{"content":"hi","path":"a \"b\".txt","file_path":"a \"b\".txt"}"#);
        assert_eq!(remove(&both).as_deref(), Some(ours));
        for alone in
            ["{}", r#"{"file_path":"a"}"#, r#"{"path":"a","file_path":"b"}"#, r#"{"path":1}"#, "[]", "x"]
        {
            assert_eq!(add(alone), None, "{alone}");
            assert_eq!(remove(alone), None, "{alone}");
        }
    }

    proptest! {
        #[test]
        fn any_path_comes_back(path in ".{0,20}", content in ".{0,20}") {
            let ours = serde_json::json!({ "content": content, "path": path }).to_string();
            let both = add(&ours);
            prop_assert!(both.is_some());
            prop_assert_eq!(remove(&both.unwrap_or_default()), Some(ours));
        }
    }
}
