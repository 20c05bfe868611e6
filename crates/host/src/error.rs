//! Why something cannot be done, in words for the person: whether it was asked for wrongly, and all causes in one line.

/// What was asked for cannot be done as it was asked.
#[derive(Debug)]
pub struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// What is said about something that cannot be done as it was asked.
pub fn usage(words: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(words.into()))
}

/// An error with its causes; a cause that was named already is not said twice.
pub fn in_words(why: &anyhow::Error) -> String {
    why.chain().skip(1).fold(why.to_string(), |said, cause| {
        let cause = cause.to_string();
        if said.contains(&cause) { said } else { format!("{said}: {cause}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_is_said_once() {
        let source = std::io::Error::from_raw_os_error(2);
        let within = std::time::Duration::from_secs(5);
        let lost = link::LinkError::Connect { path: "/tmp/s".into(), within, source };
        let said = in_words(&anyhow::Error::new(lost));
        assert!(said.ends_with("; is the runtime running?"), "{said}");
        assert_eq!(said.matches("No such file or directory").count(), 1, "{said}");
        let deeper = std::fs::read("/no/such/file").context("cannot read the settings").unwrap_err();
        assert_eq!(in_words(&deeper), "cannot read the settings: No such file or directory (os error 2)");
    }
}
