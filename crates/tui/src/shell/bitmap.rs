//! A picture as pixels: decoded within bounds, and made smaller. Of one that moves it is the first frame. Colours are taken as they
//! stand there: no colour profile is looked at, for half blocks and small copies would hardly show it.
//!
//! Not the gallery: which picture is wanted, when and for what, is not known here.

#[cfg(test)]
pub(super) mod tests;

use std::io::Cursor;
use std::ops::Range;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Pixels across and down that are decoded at most.
const MAX_SIDE: usize = 10_000;
/// Memory that the pixels may take.
const MAX_MEMORY: usize = 128 * 1024 * 1024;
/// Bytes of a pixel of a small copy: red, green, blue, and how opaque it is.
const RGBA: usize = 4;

/// The pixels of a picture, row by row.
#[derive(Debug)]
pub(super) struct Bitmap {
    width: usize,
    height: usize,
    /// Bytes of a pixel: one for grey or three for red, green and blue, and one more if it tells how opaque it is.
    channels: usize,
    bytes: Vec<u8>,
}

/// A small copy of a picture.
#[derive(Debug)]
pub(super) struct Thumbnail {
    pub(super) width: u32,
    pub(super) height: u32,
    rgba: Vec<u8>,
}

impl Bitmap {
    /// `None` for what is neither PNG nor JPEG, GIF or WebP, is broken, or is past the bounds.
    pub(super) fn decode(bytes: &[u8]) -> Option<Bitmap> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => png(bytes),
            [0xff, 0xd8, 0xff, ..] => jpeg(bytes),
            [b'G', b'I', b'F', b'8', ..] => gif(bytes),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => webp(bytes),
            _ => None,
        }
    }

    /// Empty pixels to decode into; `None` past the bounds.
    fn blank(width: usize, height: usize, channels: usize) -> Option<Bitmap> {
        let sides = 1..=MAX_SIDE;
        let size = width.checked_mul(height)?.checked_mul(channels)?;
        let fits = sides.contains(&width) && sides.contains(&height) && size <= MAX_MEMORY;
        fits.then(|| Bitmap { width, height, channels, bytes: vec![0; size] })
    }

    /// A copy of at most this width and height, in the same proportions. Each of its pixels is the mean of those it stands for; each of
    /// these counts once.
    pub(super) fn thumbnail(&self, most: (u32, u32)) -> Option<Thumbnail> {
        let (width, height) = self.size_within(most)?;
        let mut rgba = Vec::with_capacity(width * height * RGBA);
        for y in 0..height {
            let down = span(y, height, self.height);
            for x in 0..width {
                rgba.extend(self.mean(span(x, width, self.width), down.clone()));
            }
        }
        Some(Thumbnail { width: u32::try_from(width).ok()?, height: u32::try_from(height).ok()?, rgba })
    }

    fn size_within(&self, (width, height): (u32, u32)) -> Option<(usize, usize)> {
        let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
        // To the nearest whole pixel, and at least one.
        let scaled = |side: usize, by: usize, of: usize| ((2 * side * by + of) / (2 * of)).max(1);
        Some(if self.width <= width && self.height <= height {
            (self.width, self.height)
        } else if self.width * height >= self.height * width {
            (width, scaled(self.height, width, self.width))
        } else {
            (scaled(self.width, height, self.height), height)
        })
    }

    /// The mean of a block, in red, green, blue and how opaque it is.
    fn mean(&self, across: Range<usize>, down: Range<usize>) -> [u8; RGBA] {
        let mut sums = [0; RGBA];
        for y in down.clone() {
            let row = y * self.width;
            let block = &self.bytes[(row + across.start) * self.channels..(row + across.end) * self.channels];
            for pixel in block.chunks_exact(self.channels) {
                sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += usize::from(*value));
            }
        }
        let count = across.len() * down.len();
        let [one, two, three, four] =
            sums.map(|sum| u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX));
        match self.channels {
            1 => [one, one, one, u8::MAX],
            2 => [one, one, one, two],
            3 => [one, two, three, u8::MAX],
            _ => [one, two, three, four],
        }
    }

    /// Lays a smaller picture of the same kind over this one; what does not fit is cut off.
    fn lay(&mut self, other: &Bitmap, left: usize, top: usize) {
        let Some(room) = self.width.checked_sub(left) else { return };
        let wide = other.width.min(room) * self.channels;
        let rows = self.bytes.chunks_exact_mut(self.width * self.channels).skip(top);
        for (row, laid) in rows.zip(other.bytes.chunks_exact(other.width * other.channels)) {
            row[left * self.channels..][..wide].copy_from_slice(&laid[..wide]);
        }
    }
}

impl Thumbnail {
    /// Red, green and blue of each pixel, whether it is opaque or not.
    pub(super) fn rgb(&self) -> Vec<u8> {
        self.rgba.chunks_exact(RGBA).flat_map(|pixel| &pixel[..3]).copied().collect()
    }

    /// In the one form that is sent to a terminal.
    pub(super) fn png(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_filter(png::Filter::Adaptive);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(&self.rgba).ok()?;
        writer.finish().ok()?;
        Some(out)
    }
}

/// Which of `all` pixels in a line the one at `at` of `of` stands for.
fn span(at: usize, of: usize, all: usize) -> Range<usize> {
    (at * all).div_ceil(of)..((at + 1) * all).div_ceil(of)
}

fn png(bytes: &[u8]) -> Option<Bitmap> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MAX_MEMORY });
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    // Nobody reads them, and they may be large.
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().ok()?;
    let (width, height) = reader.info().size();
    let channels = reader.output_color_type().0.samples();
    let mut bitmap = Bitmap::blank(usize::try_from(width).ok()?, usize::try_from(height).ok()?, channels)?;
    reader.next_frame(&mut bitmap.bytes).ok()?;
    Some(bitmap)
}

fn jpeg(bytes: &[u8]) -> Option<Bitmap> {
    let bounds = DecoderOptions::default().set_max_width(MAX_SIDE).set_max_height(MAX_SIDE);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), bounds);
    decoder.decode_headers().ok()?;
    let grey = decoder.input_colorspace()? == ColorSpace::Luma;
    let colours = if grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(bounds.jpeg_set_out_colorspace(colours));
    let (width, height) = decoder.dimensions()?;
    let mut bitmap = Bitmap::blank(width, height, colours.num_components())?;
    decoder.decode_into(&mut bitmap.bytes).ok()?;
    Some(bitmap)
}

fn gif(bytes: &[u8]) -> Option<Bitmap> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes).ok()?;
    let mut screen = Bitmap::blank(decoder.width().into(), decoder.height().into(), RGBA)?;
    let frame = decoder.next_frame_info().ok()??;
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let mut first = Bitmap::blank(frame.width.into(), frame.height.into(), RGBA)?;
    let covers = (left, top, first.width, first.height) == (0, 0, screen.width, screen.height);
    if !covers && screen.bytes.len() + first.bytes.len() > MAX_MEMORY {
        return None;
    }
    decoder.read_into_buffer(&mut first.bytes).ok()?;
    if covers {
        return Some(first);
    }
    screen.lay(&first, left, top);
    Some(screen)
}

fn webp(bytes: &[u8]) -> Option<Bitmap> {
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).ok()?;
    let (width, height) = decoder.dimensions();
    let channels = if decoder.has_alpha() { RGBA } else { 3 };
    let mut bitmap = Bitmap::blank(usize::try_from(width).ok()?, usize::try_from(height).ok()?, channels)?;
    decoder.read_image(&mut bitmap.bytes).ok()?;
    Some(bitmap)
}
