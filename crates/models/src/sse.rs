//! Server-sent events: bytes → events. Pure and linear.
//!
//! Invariants: any cut of the bytes gives the same events (also between CR and LF and inside a character); an event
//! larger than [`MAX_EVENT`] is an error, not memory; bytes that are no UTF-8 become replacement characters.

/// Bytes of the largest event.
pub const MAX_EVENT: usize = 16 * 1024 * 1024;

/// What the server sent between two empty lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The `event:` field; empty when there was none.
    pub name: String,
    /// The `data:` lines joined by newlines.
    pub data: String,
}

/// An event was larger than [`MAX_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {MAX_EVENT} bytes")]
pub struct TooLarge;

/// The parser. Feed it with [`Parser::push`], end it with [`Parser::finish`].
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    after_cr: bool,
    past_start: bool,
}

impl Parser {
    /// Takes bytes as they come and appends the events that became complete.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + piece.len() + self.data.as_ref().map_or(0, String::len) > MAX_EVENT {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { return Ok(()) };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.take_line(&line));
        }
        Ok(())
    }

    /// The end of the stream. Servers that forget the last blank line still get their event out.
    pub fn finish(mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line);
        }
        self.take_line(b"")
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let line = String::from_utf8_lossy(line);
        let line = if std::mem::replace(&mut self.past_start, true) {
            &*line
        } else {
            line.trim_start_matches('\u{feff}')
        };
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return self.data.take().map(|data| Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A comment (empty field), `id` and `retry` mean nothing here.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(bytes: &[u8]) -> Vec<Event> {
        cut(bytes, &[])
    }

    fn cut(bytes: &[u8], cuts: &[usize]) -> Vec<Event> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        let mut from = 0;
        let mut cuts: Vec<usize> = cuts.iter().map(|at| at % (bytes.len() + 1)).collect();
        cuts.sort_unstable();
        for at in cuts {
            parser.push(&bytes[from..at], &mut events).unwrap();
            from = at;
        }
        parser.push(&bytes[from..], &mut events).unwrap();
        events.extend(parser.finish());
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn the_forms_of_events() {
        let table: [(&str, Vec<Event>); 9] = [
            ("", vec![]),
            ("data: a\n\n", vec![event("", "a")]),
            ("event: x\r\ndata:a\r\ndata: b\r\n\r\n", vec![event("x", "a\nb")]),
            ("data: a\r\rdata: b\r\r", vec![event("", "a"), event("", "b")]),
            (": ping\n\nid: 7\nretry: 1\n\nevent: lonely\n\ndata: z\n\n", vec![event("", "z")]),
            ("\u{feff}data: a\n\n", vec![event("", "a")]),
            ("data: no end", vec![event("", "no end")]),
            ("data\n\n", vec![event("", "")]),
            ("data:  two blanks\n\n\n\n", vec![event("", " two blanks")]),
        ];
        for (text, want) in table {
            assert_eq!(whole(text.as_bytes()), want, "{text:?}");
        }
        assert_eq!(whole(b"data: \xff!\n\n"), vec![event("", "\u{fffd}!")]);
    }

    #[test]
    fn too_large_is_an_error() {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        let piece = vec![b'x'; MAX_EVENT / 2 + 1];
        assert_eq!(parser.push(&piece, &mut events), Ok(()));
        assert_eq!(parser.push(&piece, &mut events), Err(TooLarge));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_events(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["data: ", "event: ", "ä€😀", "\r", "\n", "\r\n", ":", "x", "\n\n", "\u{feff}"]), 0..40),
            cuts in prop::collection::vec(any::<usize>(), 0..20),
        ) {
            let bytes = pieces.concat().into_bytes();
            prop_assert_eq!(whole(&bytes), cut(&bytes, &cuts));
        }
    }
}
