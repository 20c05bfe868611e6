//! Pictures of every kind, made here by hand or by the other half of each decoder, and what becomes of their pixels.

use super::*;
use gif::{Encoder, Frame};
use std::borrow::Cow;

/// What a picture is made of in these tests.
const RED: [u8; 3] = [200, 10, 20];

/// The kinds that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum Kind {
    Png,
    Jpeg,
    Gif,
    WebP,
}

/// A picture that is red all over.
pub(in crate::shell) fn red(kind: Kind, width: u16, height: u16) -> Vec<u8> {
    let pixels = usize::from(width) * usize::from(height);
    match kind {
        Kind::Png => written_png(width.into(), height.into(), png::ColorType::Rgb, &RED.repeat(pixels)),
        Kind::Jpeg => written_jpeg(width, height),
        Kind::Gif => {
            let frame = Frame { width, height, buffer: vec![0; pixels].into(), ..Frame::default() };
            written_gif(width, height, &RED, &[frame])
        }
        Kind::WebP => {
            let mut out = Vec::new();
            let encoder = image_webp::WebPEncoder::new(&mut out);
            let data = RED.repeat(pixels);
            encoder.encode(&data, width.into(), height.into(), image_webp::ColorType::Rgb8).unwrap();
            out
        }
    }
}

fn written_png(width: u32, height: u32, colour: png::ColorType, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(colour);
    let deep = data.len() > usize::try_from(width * height).unwrap() * colour.samples();
    encoder.set_depth(if deep { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
    encoder.write_header().unwrap().write_image_data(data).unwrap();
    out
}

fn written_gif(width: u16, height: u16, colours: &[u8], frames: &[Frame<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, width, height, colours).unwrap();
    frames.iter().for_each(|frame| encoder.write_frame(frame).unwrap());
    drop(encoder);
    out
}

/// The plainest JPEG: no colour is subsampled, and every block but the first says that nothing changes, with bits that are all zero.
fn written_jpeg(width: u16, height: u16) -> Vec<u8> {
    let [high, wide] = [height.to_be_bytes(), width.to_be_bytes()];
    let mut out = vec![0xff, 0xd8];
    // What a step of the first coefficient is worth: eight, so that it counts in whole levels.
    out.extend([0xff, 0xdb, 0, 67, 0]);
    out.extend([8; 64]);
    out.extend([0xff, 0xc0, 0, 17, 8, high[0], high[1], wide[0], wide[1], 3]);
    out.extend([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
    // The first coefficient changes by nothing (`0`), or by 5, 6 or 7 bits (`10`, `110`, `1110`); the others are all zero (`0`).
    out.extend([0xff, 0xc4, 0, 23, 0, 1, 1, 1, 1]);
    out.extend([0; 12]);
    out.extend([0, 5, 6, 7]);
    out.extend([0xff, 0xc4, 0, 20, 0x10, 1]);
    out.extend([0; 16]);
    out.extend([0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
    // The red: 60 darker, 27 less blue, 94 more red than the middle.
    out.extend([0b1100_0001, 0b1010_0010, 0b0011_1010, 0b1111_0000]);
    let blocks = usize::from(width.div_ceil(8)) * usize::from(height.div_ceil(8));
    out.resize(out.len() + (blocks * 6).div_ceil(8), 0);
    out.extend([0xff, 0xd9]);
    out
}

/// Every pixel of a picture, as red, green, blue and how opaque it is.
fn pixels(bytes: &[u8]) -> Vec<[u8; 4]> {
    let bitmap = Bitmap::decode(bytes).unwrap();
    let whole = bitmap.thumbnail((u32::MAX, u32::MAX)).unwrap();
    whole.rgba.chunks_exact(4).map(|pixel| pixel.try_into().unwrap()).collect()
}

#[test]
fn every_kind_of_colour_is_understood() {
    use png::ColorType::{Grayscale, GrayscaleAlpha, Rgb, Rgba};
    for (colour, data, want) in [
        (Grayscale, &[7, 200][..], [[7, 7, 7, 255], [200, 200, 200, 255]]),
        (GrayscaleAlpha, &[7, 0, 200, 90], [[7, 7, 7, 0], [200, 200, 200, 90]]),
        (Rgb, &[1, 2, 3, 4, 5, 6], [[1, 2, 3, 255], [4, 5, 6, 255]]),
        (Rgba, &[1, 2, 3, 0, 4, 5, 6, 9], [[1, 2, 3, 0], [4, 5, 6, 9]]),
        // Of sixteen bits the upper eight.
        (Grayscale, &[7, 1, 200, 99], [[7, 7, 7, 255], [200, 200, 200, 255]]),
    ] {
        assert_eq!(pixels(&written_png(2, 1, colour, data)), want, "{colour:?} {data:?}");
    }
}

#[test]
fn a_pixel_of_a_small_copy_is_the_mean_of_those_it_stands_for() {
    let columns: Vec<u8> = vec![0, 10, 20, 31, 100, 100, 255, 254];
    let picture = [columns.as_slice(), &columns].concat();
    let bitmap = Bitmap::decode(&written_png(8, 2, png::ColorType::Grayscale, &picture)).unwrap();
    let small = bitmap.thumbnail((4, 4)).unwrap();
    assert_eq!((small.width, small.height), (4, 1));
    assert_eq!(small.rgb(), [[5; 3], [26; 3], [100; 3], [255; 3]].concat());
    // Of eight: three, three and two, and none twice.
    let small = bitmap.thumbnail((3, 4)).unwrap();
    assert_eq!(small.rgb(), [[10; 3], [77; 3], [255; 3]].concat());
    let png = small.png().unwrap();
    assert_eq!(pixels(&png), [[10, 10, 10, 255], [77, 77, 77, 255], [255; 4]]);
}

#[test]
fn a_small_copy_has_the_proportions_of_the_picture() {
    for (size, want) in [
        ((128, 128), (128, 128)),
        ((5, 3), (5, 3)),
        ((321, 123), (128, 49)),
        ((123, 321), (49, 128)),
        ((10_000, 1), (128, 1)),
        ((1, 10_000), (1, 128)),
        ((129, 128), (128, 127)),
    ] {
        let bitmap = Bitmap::blank(size.0, size.1, 1).unwrap();
        assert_eq!(bitmap.size_within((128, 128)), Some(want), "{size:?}");
    }
}

#[test]
fn of_a_picture_that_moves_the_first_frame_stands_where_it_belongs() {
    let frame = |left, top, width, height, of| Frame {
        left,
        top,
        width,
        height,
        buffer: Cow::Owned(vec![of; usize::from(width * height)]),
        ..Frame::default()
    };
    let colours = [RED, [0, 0, 255]].concat();
    let (red, none) = ([RED[0], RED[1], RED[2], 255], [0; 4]);
    let small = written_gif(3, 2, &colours, &[frame(1, 1, 1, 1, 0), frame(0, 0, 3, 2, 1)]);
    assert_eq!(pixels(&small), [none, none, none, none, red, none]);
    let partly_outside = written_gif(3, 2, &colours, &[frame(2, 1, 2, 2, 0)]);
    assert_eq!(pixels(&partly_outside), [none, none, none, none, none, red]);
    let outside = written_gif(3, 2, &colours, &[frame(9, 9, 1, 1, 0)]);
    assert_eq!(pixels(&outside), [none; 6]);
}

#[test]
fn what_would_take_too_much_memory_is_not_decoded() {
    let dot = |screen: (u16, u16)| {
        let frame = Frame { width: 1, height: 1, buffer: vec![0].into(), ..Frame::default() };
        written_gif(screen.0, screen.1, &RED, &[frame])
    };
    assert!(Bitmap::decode(&dot((800, 500))).is_some());
    // One dot in a file of some bytes, and 160 MB of pixels.
    assert!(Bitmap::decode(&dot((8_000, 5_000))).is_none());
    assert!(Bitmap::decode(&dot((10_001, 1))).is_none());
    // A frame that says to be far larger than the screen.
    let mut huge = dot((1, 1));
    let frame = huge.windows(9).position(|bytes| bytes == [0x2c, 0, 0, 0, 0, 1, 0, 1, 0]).unwrap();
    huge[frame + 5..frame + 9].copy_from_slice(&[0x40, 0x1f, 0x88, 0x13]);
    assert!(Bitmap::decode(&huge).is_none());
    assert!(Bitmap::blank(10_000, 10_000, 1).is_some());
    for past in [(10_000, 10_000, 3), (10_001, 1, 1), (1, 10_001, 1), (0, 1, 1), (usize::MAX, 2, 4)] {
        assert!(Bitmap::blank(past.0, past.1, past.2).is_none(), "{past:?}");
    }
}
