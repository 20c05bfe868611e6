//! Pictures on their way to the screen: decoded one at a time beside the loop, within bounds, and made anew before anything is written.

use super::bitmap::Bitmap;
use crate::msg::Msg;
use crate::picture::{Decoded, Framed, MAX_KEPT, Pixels};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::VecDeque;
use std::fmt::Write;
use tokio::sync::mpsc;

/// The largest copy for a terminal that draws pictures itself: about what its cells show, and soon written.
const DRAWN: (u32, u32) = (640, 400);
/// The largest copy for half blocks.
const BLOCKS: (u32, u32) = (128, 128);
/// Characters of a picture in one sequence; the protocol allows no more.
const CHUNK: usize = 4_096;

/// Which pictures were asked for.
#[derive(Debug)]
pub(super) struct Gallery {
    asked: VecDeque<u32>,
    /// Each with whether the terminal draws it itself.
    work: mpsc::Sender<(Framed, bool)>,
}

impl Gallery {
    /// Begins; ends with the shell.
    pub(super) fn new(inbox: mpsc::Sender<Msg>) -> Gallery {
        let (work, mut framed) = mpsc::channel::<(Framed, bool)>(MAX_KEPT);
        tokio::task::spawn_blocking(move || {
            while let Some((framed, drawn)) = framed.blocking_recv() {
                let decoded = decode(&framed.base64, drawn);
                if inbox.blocking_send(Msg::Picture { framed, decoded }).is_err() {
                    return;
                }
            }
        });
        Gallery { asked: VecDeque::new(), work }
    }

    /// Asks for what is on the screen and not known yet; says what the terminal may forget.
    pub(super) fn want(&mut self, shown: &[Framed], drawn: bool) -> Vec<u32> {
        let mut gone = Vec::new();
        for framed in shown.iter().take(MAX_KEPT) {
            if self.asked.contains(&framed.id) {
                continue;
            }
            if self.work.try_send((framed.clone(), drawn)).is_err() {
                // The next frame asks again.
                break;
            }
            self.asked.push_back(framed.id);
            if self.asked.len() > MAX_KEPT {
                gone.extend(self.asked.pop_front());
            }
        }
        gone
    }

    /// All that the terminal knows; it is to be told again when it is shown again.
    pub(super) fn forget(&mut self) -> Vec<u32> {
        self.asked.drain(..).collect()
    }
}

fn decode(base64: &str, drawn: bool) -> Option<Decoded> {
    let picture = Bitmap::decode(&STANDARD.decode(base64).ok()?)?;
    let small = picture.thumbnail(BLOCKS)?;
    let pixels = Pixels { width: small.width, height: small.height, rgb: small.rgb().into() };
    let png = if drawn { Some(picture.thumbnail(DRAWN)?.png()?.into()) } else { None };
    Some(Decoded { pixels, png })
}

/// The sequences that make the terminal draw a picture where its placeholders stand.
pub(super) fn transmit(framed: &Framed, png: &[u8]) -> String {
    let coded = STANDARD.encode(png);
    let mut out = String::with_capacity(coded.len() + coded.len() / 64);
    let mut at = 0;
    while at < coded.len() || at == 0 {
        let end = (at + CHUNK).min(coded.len());
        let more = u8::from(end < coded.len());
        let _ = match at {
            0 => write!(
                out,
                "\x1b_Ga=T,U=1,q=2,f=100,i={},c={},r={},m={more};",
                framed.id, framed.columns, framed.rows
            ),
            _ => write!(out, "\x1b_Gq=2,m={more};"),
        };
        out.push_str(&coded[at..end]);
        out.push_str("\x1b\\");
        at = end.max(1);
    }
    out
}

/// The sequences that make the terminal forget pictures.
pub(super) fn delete(ids: &[u32]) -> String {
    ids.iter().fold(String::new(), |mut out, id| {
        let _ = write!(out, "\x1b_Ga=d,d=I,q=2,i={id}\x1b\\");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::framed;
    use crate::shell::bitmap::tests::{Kind, red};
    use std::sync::Arc;

    fn picture(width: u16, height: u16, kind: Kind) -> Arc<str> {
        STANDARD.encode(red(kind, width, height)).into()
    }

    #[test]
    fn every_kind_is_measured_and_decoded() {
        for format in [Kind::Png, Kind::Jpeg, Kind::Gif, Kind::WebP] {
            let base64 = picture(321, 123, format);
            assert_eq!(crate::picture::size(&base64), Some((321, 123)), "{format:?}");
            let decoded = decode(&base64, true).unwrap();
            assert_eq!((decoded.pixels.width, decoded.pixels.height), (128, 49));
            let red = &decoded.pixels.rgb[..3];
            assert!(red[0].abs_diff(200) < 10 && red[1].abs_diff(10) < 10, "{format:?} {red:?}");
            assert!(decoded.png.unwrap().starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn what_is_no_picture_or_too_large_is_not_decoded() {
        for text in ["", "????", "aGVsbG8=", "iVBORw0KGgo="] {
            assert_eq!(decode(text, true), None, "{text}");
        }
        let base64 = picture(10_001, 1, Kind::Png);
        assert_eq!(decode(&base64, false), None);
    }

    #[test]
    fn a_large_picture_goes_in_pieces_that_hold_nothing_but_base64() {
        let framed = framed(&picture(50, 50, Kind::Png), 40).unwrap();
        let bytes = transmit(&framed, &[7; 10_000]);
        let pieces: Vec<&str> = bytes.split_terminator("\x1b\\").collect();
        assert_eq!(pieces.len(), 4);
        assert!(pieces[0].starts_with(&format!("\x1b_Ga=T,U=1,q=2,f=100,i={},c=7,r=4,m=1;", framed.id)));
        assert!(pieces[3].starts_with("\x1b_Gq=2,m=0;"));
        let data = pieces.iter().all(|piece| {
            let (_, data) = piece.split_once(';').unwrap();
            data.len() <= CHUNK && data.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
        });
        assert!(data);
    }
}
