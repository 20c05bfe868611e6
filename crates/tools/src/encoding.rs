//! How the text of a file is written down: UTF-8, UTF-16 with its mark, or one byte a character as older programs do.
//!
//! What is read in one way is written in the same. Nothing is guessed that could not be written back byte by byte.

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes below a blank that stand in text: tab, the ends of lines and pages, escape.
const IN_TEXT: &[u8] = b"\t\n\r\x0c\x1b";

/// A way to write text down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    /// The low byte first, after its mark.
    Utf16Le,
    /// The high byte first, after its mark.
    Utf16Be,
    /// Latin-1 as it is found in files: windows-1252.
    Latin,
}

impl Encoding {
    /// Its usual name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le | Encoding::Utf16Be => "UTF-16",
            Encoding::Latin => "Latin-1 (windows-1252)",
        }
    }

    /// Writes text down; the character that cannot be written in this way, if there is one.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        match self {
            Encoding::Utf8 => Ok(text.as_bytes().to_vec()),
            Encoding::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Encoding::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Encoding::Latin => {
                let (bytes, _, failed) = WINDOWS_1252.encode(text);
                if !failed {
                    return Ok(bytes.into_owned());
                }
                let foreign = |c: &char| WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])).2;
                Err(text.chars().find(foreign).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
        }
    }
}

/// The text that bytes hold, and how; the bytes themselves where they are no text.
pub(crate) fn decode(bytes: Vec<u8>) -> Result<(String, Encoding), Vec<u8>> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, Encoding::Utf8)),
        Err(error) => {
            let bytes = error.into_bytes();
            older(&bytes).ok_or(bytes)
        }
    }
}

fn older(bytes: &[u8]) -> Option<(String, Encoding)> {
    let (encoding, label) = match bytes {
        [0xff, 0xfe, ..] => (Encoding::Utf16Le, UTF_16LE),
        [0xfe, 0xff, ..] => (Encoding::Utf16Be, UTF_16BE),
        plain if plain.iter().all(|byte| *byte >= b' ' || IN_TEXT.contains(byte)) => {
            (Encoding::Latin, WINDOWS_1252)
        }
        _ => return None,
    };
    // The mark stays in the text, as that of UTF-8 does: it is written again without being thought of.
    let text = label.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned();
    (encoding.encode(&text).as_deref() == Ok(bytes)).then_some((text, encoding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_back_byte_by_byte() {
        let texts: [(&[u8], &str, Encoding); 5] = [
            (b"caf\xc3\xa9", "café", Encoding::Utf8),
            (b"\xef\xbb\xbfx", "\u{feff}x", Encoding::Utf8),
            (b"caf\xe9 \x80 \x81\r\n", "café € \u{81}\r\n", Encoding::Latin),
            (b"\xff\xfea\0\xe9\0", "\u{feff}aé", Encoding::Utf16Le),
            (b"\xfe\xff\0a\x20\xac", "\u{feff}a€", Encoding::Utf16Be),
        ];
        for (bytes, text, encoding) in texts {
            assert_eq!(decode(bytes.to_vec()), Ok((text.to_owned(), encoding)));
            assert_eq!(encoding.encode(text).as_deref(), Ok(bytes));
        }
        let every: Vec<u8> = (b' '..=255).collect();
        assert_eq!(decode(every.clone()).map(|(text, kind)| kind.encode(&text)), Ok(Ok(every)));
    }

    #[test]
    fn what_is_no_text_is_none_and_what_cannot_be_written_is_named() {
        for bytes in [&b"\x89PNG\r\n\x1a\n\0\xff"[..], b"\xff\xfea", b"\xff\xfe\0\xd8", b"\xe9\x07"] {
            assert_eq!(decode(bytes.to_vec()), Err(bytes.to_vec()));
        }
        assert_eq!(Encoding::Latin.encode("naïve → x"), Err('→'));
    }
}
