//! How pictures stand in the conversation.

use super::*;
use crate::row::{Links, draw, width};
use ratatui_core::layout::Position;

/// The beginning of a PNG of this size: enough to be measured.
pub(crate) fn png(width: u32, height: u32) -> Arc<str> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    base64::engine::general_purpose::STANDARD.encode(bytes).into()
}

#[test]
fn pictures_keep_their_shape_within_bounds() {
    for ((wide, high), most, fits) in [
        ((640, 480), 118, (42, 16)),
        ((640, 480), 38, (38, 15)),
        ((16, 16), 118, (2, 1)),
        ((1, 1), 118, (1, 1)),
        ((10_000, 10), 118, (60, 1)),
        ((10, 10_000), 118, (1, 16)),
        ((640, 480), 0, (1, 1)),
        ((u32::MAX, u32::MAX), 60, (32, 16)),
    ] {
        assert_eq!(fitted(wide, high, most), fits, "{wide}×{high} in {most}");
    }
}

#[test]
fn nonsense_has_no_size() {
    for text in ["", "x", "????", "iVBORw0KGgo=", "/9j/", "UklGRg==", "R0lGODlh"] {
        assert_eq!(size(text), None, "{text}");
    }
    assert_eq!(size(&png(0, 5)), None);
    assert_eq!(size(&png(7, 5)), Some((7, 5)));
}

#[test]
fn each_cell_tells_which_piece_of_which_picture_it_is() {
    let framed = framed(&png(640, 480), 80).unwrap();
    let rows = rows(&framed);
    assert_eq!((rows.len(), width(&rows[0].pieces[0].text)), (16, 42));
    assert_eq!(rows[0].text(), "", "nothing of it is copied or found");
    let mut buf = Buffer::empty(Rect::new(0, 0, 50, 16));
    for (y, row) in (0..).zip(&rows) {
        draw(row, Position::new(3, y), 45, &mut buf, &mut Links::new());
    }
    for (x, y) in [(3, 0), (44, 15), (20, 7)] {
        let cell = &buf[(x, y)];
        assert_eq!(read(cell.symbol(), cell.fg), Some((framed.id, y, x - 3)));
    }
    assert_ne!(framed.id, super::framed(&png(640, 481), 80).unwrap().id);
    assert_ne!(framed.id, super::framed(&png(640, 480), 40).unwrap().id, "another size is another picture");
}

#[test]
fn placeholders_become_half_blocks_or_nothing() {
    let framed = framed(&png(16, 16), 80).unwrap();
    let area = Rect::new(0, 0, 4, 1);
    let drawn = || {
        let mut buf = Buffer::empty(area);
        draw(&rows(&framed)[0], Position::new(0, 0), 4, &mut buf, &mut Links::new());
        buf
    };
    let mut pictures = Pictures::default();
    let mut buf = drawn();
    paint(&pictures, std::slice::from_ref(&framed), area, &mut buf);
    assert_eq!(buf, Buffer::empty(area), "what is not decoded is left free");
    let rgb = [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9];
    pictures.keep(framed.id, Some(Pixels { width: 2, height: 2, rgb: rgb.to_vec().into() }));
    let mut buf = drawn();
    paint(&pictures, std::slice::from_ref(&framed), area, &mut buf);
    let (left, right) = (&buf[(0, 0)], &buf[(1, 0)]);
    assert_eq!((left.symbol(), left.fg, left.bg), ("▀", direct(255, 0, 0), direct(0, 0, 255)));
    assert_eq!((right.symbol(), right.fg, right.bg), ("▀", direct(0, 255, 0), direct(9, 9, 9)));
    for id in 0..100 {
        pictures.keep(id + 1_000, None);
    }
    assert_eq!(pictures.0.len(), MAX_KEPT);
}
