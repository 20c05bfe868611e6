//! Names of sessions on wires whose clients show only the first characters of a name. Our ids begin alike, with `sess-` and the time;
//! such a name begins with what varies, so that six characters tell two sessions apart.
//!
//! It is not a table: a name is made from the id alone. Invariant: `read(write(session))` gives the session back.

use domain::ids::SessionId;

/// What our session ids begin with; left out of the name.
const USUAL: &str = "sess-";
/// Digits of the number behind it. The last of them vary most, so the name has them first.
const DIGITS: usize = 12;
/// Marks an id of another program that would be taken for a name of ours.
const WHOLE: &str = "id-";

fn is_number(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// `3b2a104f0e81` for session `sess-18e0f401a2b3`; ids of other programs stay as they are.
pub fn write(session: &SessionId) -> String {
    let id = session.as_str();
    match id.strip_prefix(USUAL).filter(|number| is_number(number)) {
        Some(number) => number.chars().rev().collect(),
        None if is_number(id) || id.starts_with(WHOLE) => format!("{WHOLE}{id}"),
        None => id.to_owned(),
    }
}

/// The session that a name stands for; our own ids are taken as they are.
pub fn read(name: &str) -> Option<SessionId> {
    if let Some(whole) = name.strip_prefix(WHOLE) {
        return SessionId::parse(whole);
    }
    if is_number(name) {
        let number: String = name.chars().rev().collect();
        return SessionId::parse(&format!("{USUAL}{number}"));
    }
    SessionId::parse(name)
}

/// The same for a name or an id of ours that is whole: any beginning of a name could be an id of another program.
pub fn read_whole(name: &str) -> Option<SessionId> {
    read(name).filter(|session| session.as_str().starts_with(USUAL))
}

/// The one of these sessions that is meant: by its name, its id, or a beginning of its name that no other has.
pub fn find<'a>(name: &str, among: impl Iterator<Item = &'a SessionId> + Clone) -> Option<SessionId> {
    let exact = read(name).filter(|session| among.clone().any(|known| known == session));
    exact.or_else(|| {
        let mut alike = among.filter(|known| !name.is_empty() && write(known).starts_with(name));
        let first = alike.next()?;
        alike.all(|other| other == first).then(|| first.clone())
    })
}

/// A text for a client, with sessions by the names that it knows them by.
pub fn in_words(text: &str) -> String {
    let mut parts = text.split(USUAL);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        match is_number(number) {
            true => told.extend(number.chars().rev()),
            false => told.extend([USUAL, number]),
        }
        told.push_str(rest);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn parsed(id: &str) -> SessionId {
        SessionId::parse(id).unwrap_or_else(|| panic!("{id} is no id"))
    }

    #[test]
    fn sessions_made_one_after_the_other_differ_in_the_first_characters() {
        // As the hub makes them: the time above, a number of this process and a counter below.
        let (now, salt) = (1_794_702_264_887_u64, 0x9e37_79b9_7f4a_7c15_u64.rotate_left(7));
        let ids = (1..=200).map(|count| ((now + count / 3) << 20) ^ salt ^ count);
        let names: Vec<String> =
            ids.map(|number| write(&SessionId::from_number(number & 0xffff_ffff_ffff))).collect();
        assert!(names.iter().all(|name| !name.contains("sess")));
        let shown: BTreeSet<&str> = names.iter().map(|name| &name[..6]).collect();
        assert_eq!(shown.len(), names.len(), "six characters are what one client shows");
    }

    #[test]
    fn a_beginning_is_enough_where_no_other_session_has_it() {
        let known = [parsed("sess-0000000000ab"), parsed("sess-0000000001ab"), parsed("conv-nightly")];
        let meant = |name: &str| find(name, known.iter());
        assert_eq!(meant("ba0000000000"), Some(known[0].clone()));
        assert_eq!(meant("sess-0000000000ab"), Some(known[0].clone()), "by its id");
        assert_eq!(meant("ba1"), Some(known[1].clone()));
        assert_eq!(meant("conv"), Some(known[2].clone()));
        assert_eq!(meant("ba"), None, "two begin so");
        assert_eq!(meant(""), None);
        assert_eq!(find("ba0", [&known[0], &known[0]].into_iter()), Some(known[0].clone()), "named twice");
    }

    proptest! {
        #[test]
        fn a_name_tells_its_session(id in "(sess-|id-)?([0-9a-f]{12}|[a-zA-Z0-9_-]{8,20})") {
            let session = parsed(&id);
            prop_assert_eq!(read(&write(&session)), Some(session));
        }
    }

    #[test]
    fn a_text_has_the_names_that_a_client_knows() {
        let told = in_words("session sess-18e0f401a2b3 is open (sess-x, sess-18E0F401A2B3), not sess-");
        assert_eq!(told, "session 3b2a104f0e81 is open (sess-x, sess-18E0F401A2B3), not sess-");
    }
}
