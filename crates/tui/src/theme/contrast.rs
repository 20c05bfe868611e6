//! How well a colour is read on another, as the Web Content Accessibility Guidelines measure it.

/// What text must have at least.
pub(super) const LEGIBLE: f64 = 4.5;
/// Steps in which a colour is brought nearer to the text's.
const STEPS: u32 = 16;

/// Between 1 (the same) and 21 (black on white).
pub(super) fn contrast(one: u32, other: u32) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(colour: u32) -> f64 {
    let [_, red, green, blue] = colour.to_be_bytes().map(|byte| {
        let share = f64::from(byte) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// The colour, brought as near to the text's as it must be to be read on the ground.
pub(super) fn legible(ink: u32, text: u32, ground: u32) -> u32 {
    let mixed = (0..=STEPS).map(|step| mix(ink, text, step));
    mixed.into_iter().find(|ink| contrast(*ink, ground) >= LEGIBLE).unwrap_or(text)
}

fn mix(from: u32, to: u32, step: u32) -> u32 {
    [16, 8, 0].into_iter().fold(0, |mixed, shift| {
        let (from, to) = ((from >> shift) & 0xff, (to >> shift) & 0xff);
        mixed | ((from * (STEPS - step) + to * step) / STEPS) << shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_measured_as_the_guidelines_do() {
        for (one, other, ratio) in
            [(0x000000, 0xffffff, 21.0), (0x777777, 0xffffff, 4.48), (0x123456, 0x123456, 1.0)]
        {
            assert!((contrast(one, other) - ratio).abs() < 0.005, "{one:06x} on {other:06x}");
            assert!((contrast(other, one) - ratio).abs() < 0.005);
        }
    }

    #[test]
    fn a_colour_stays_as_it_is_where_it_can_be_read() {
        assert_eq!(legible(0x7fd1c7, 0xffffff, 0x000000), 0x7fd1c7);
        let lifted = legible(0x8a94a6, 0xd8dee9, 0x37404f);
        assert!(contrast(lifted, 0x37404f) >= LEGIBLE && lifted != 0xd8dee9, "{lifted:06x}");
    }
}
