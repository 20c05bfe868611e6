//! Values that flags of several commands take, read from what was typed.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use domain::rights::Standing;
use domain::session::Policy;
use tools::policy::Allowance;

/// A mode of consent by its name; shells complete it.
pub(crate) fn policy() -> impl TypedValueParser<Value = Policy> {
    let told = Policy::ALL.map(|policy| {
        PossibleValue::new(policy.name()).help(match policy {
            Policy::ReadOnly => "Nothing that changes anything",
            Policy::Plan => "Look and write a plan; nothing that changes anything before you agree to it",
            Policy::Ask => "Read; everything else is asked",
            Policy::AutoEdit => "Edit files of the project; everything else is asked",
            Policy::Sandboxed => {
                "Run commands too, inside the sandbox; leaving it is asked. Only where the kernel can hold them there"
            }
            Policy::Full => {
                "All that stays inside the sandbox; the network, leaving it and what cannot be undone are asked"
            }
        })
    });
    PossibleValuesParser::new(told).try_map(|name| Policy::named(&name).ok_or("no mode of that name"))
}

/// What a UI may do, by its name; shells complete it.
pub(crate) fn role() -> impl TypedValueParser<Value = Standing> {
    let told = Standing::ALL.map(|standing| {
        PossibleValue::new(standing.name()).help(match standing {
            Standing::Controller => "Do everything: prompt, answer, change settings",
            Standing::Approver => "Look, allow once and deny",
            Standing::Observer => "Look, and change nothing",
        })
    });
    PossibleValuesParser::new(told).try_map(|name| Standing::named(&name).ok_or("no role of that name"))
}

/// A tool that may run without asking, as typed.
pub(crate) fn allowance(text: &str) -> Result<Allowance, String> {
    let toolbox = tools::Toolbox::standard();
    let mut names: Vec<&str> = toolbox.names().collect();
    // They come with settings, skills and certain models; naming one that is not there allows nothing.
    names.extend(["fetch", "skill", "apply_patch"]);
    Allowance::parse(text, &names).map_err(|why| why.to_string())
}

/// A tool of somebody else's runtime, whatever it is called there.
pub(crate) fn granted(text: &str) -> Result<Allowance, String> {
    let names = [text];
    let known = if text.is_empty() { &[] } else { &names[..] };
    Allowance::parse(text, known).map_err(|_| "name a tool of the runtime, or all".to_owned())
}

/// A wire whose runtimes are driven, by its name; shells complete it.
pub(crate) fn driven() -> impl TypedValueParser<Value = dialects::Dialect> {
    let names = dialects::DRIVEN.iter().map(|dialect| dialect.name());
    PossibleValuesParser::new(names).try_map(|name| dialects::driven(&name))
}

/// A wire by its name; shells complete it.
pub(crate) fn dialect() -> impl TypedValueParser<Value = dialects::Dialect> {
    let names = dialects::ALL.iter().map(|dialect| dialect.name());
    PossibleValuesParser::new(names).try_map(|name| dialects::named(&name))
}

/// A time as people write it, in seconds: `90`, `90s`, `5m`, `1h30m`.
pub(crate) fn seconds(text: &str) -> Result<u64, String> {
    const WRITE: &str = "write a time such as 90, 90s, 5m or 1h30m";
    let (mut seconds, mut number) = (0_u64, String::new());
    let of = |number: &str, unit: u64| number.parse::<u64>().ok()?.checked_mul(unit);
    for c in text.trim().chars() {
        let unit = match c {
            '0'..='9' => {
                number.push(c);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => return Err(WRITE.to_owned()),
        };
        let more = of(&std::mem::take(&mut number), unit).and_then(|more| seconds.checked_add(more));
        seconds = more.ok_or(WRITE)?;
    }
    if !number.is_empty() {
        // A bare number is seconds, and alone.
        seconds = (seconds == 0).then(|| of(&number, 1)).flatten().ok_or(WRITE)?;
    }
    if seconds == 0 { Err(WRITE.to_owned()) } else { Ok(seconds) }
}

/// An option of a dialect, as typed.
pub(crate) fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "true"));
    if name.is_empty() {
        return Err("write it as NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, read) in [("5", 5), ("5s", 5), ("2m", 120), ("1h", 3600), ("1h30m", 5400), ("1m5s", 65)] {
            assert_eq!(seconds(text), Ok(read), "{text}");
        }
        for bad in ["", "0", "0s", "s", "5x", "-1", "1.5m", "5 m", "1h30", "99999999999999999h", "now"] {
            assert!(seconds(bad).is_err_and(|why| why.contains("5m")), "{bad}");
        }
    }

    #[test]
    fn options_of_a_dialect_are_pairs() {
        assert_eq!(option("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(option("no-ui"), Ok(("no-ui".to_owned(), "true".to_owned())));
        assert!(option("=x").is_err());
    }
}
