//! How many colours a terminal shows, and the nearest one it has for any other.

use ratatui_core::style::Color;

/// How many colours there are. More are after fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) enum Depth {
    Mono,
    /// The terminal's own sixteen.
    Sixteen,
    /// Those, a cube of colours and greys.
    Indexed,
    #[default]
    All,
}

/// Terminals that show all colours, by `TERM`: over ssh `COLORTERM` is lost, and `TERM` is not.
const ALL: &[&str] = &["alacritty", "contour", "foot", "ghostty", "kitty", "wezterm"];
/// Terminals without colours, by the beginning of `TERM`.
const MONO: &[&str] = &["vt1", "vt2", "vt3", "vt4", "vt5", "dumb", "xterm-mono"];
/// What each step of the cube of colours is worth.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];
/// The sixteen as most terminals have them: the first eight, and the bright ones.
const SIXTEEN: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 49, 49),
    (13, 188, 121),
    (229, 229, 16),
    (36, 114, 200),
    (188, 63, 188),
    (17, 168, 205),
    (229, 229, 229),
    (102, 102, 102),
    (241, 76, 76),
    (35, 209, 139),
    (245, 245, 67),
    (59, 142, 234),
    (214, 112, 214),
    (41, 184, 219),
    (255, 255, 255),
];

impl Depth {
    /// What the environment says about the terminal.
    pub(crate) fn told(variable: impl Fn(&str) -> String) -> Depth {
        let (term, colours) = (variable("TERM"), variable("COLORTERM"));
        let depth = match term.as_str() {
            _ if colours == "truecolor" || colours == "24bit" => Depth::All,
            term if term.ends_with("-direct") || term.split('-').any(|word| ALL.contains(&word)) => {
                Depth::All
            }
            term if term.contains("256color") => Depth::Indexed,
            term if MONO.iter().any(|mono| term.starts_with(mono)) => Depth::Mono,
            _ => Depth::Sixteen,
        };
        // GNU screen hands the variables of the terminal around it on, but not its colours.
        if variable("STY").is_empty() { depth } else { depth.min(Depth::Indexed) }
    }

    /// The nearest colour that there is.
    pub(crate) fn reduce(self, colour: Color) -> Color {
        match (self, colour) {
            (_, Color::Reset) | (Depth::All, _) => colour,
            (Depth::Mono, _) => Color::Reset,
            (Depth::Indexed, Color::Rgb(red, green, blue)) => Color::Indexed(indexed((red, green, blue))),
            (Depth::Sixteen, Color::Rgb(red, green, blue)) => Color::Indexed(sixteen((red, green, blue))),
            (Depth::Sixteen, Color::Indexed(number)) if number >= 16 => {
                Color::Indexed(sixteen(value(number)))
            }
            (Depth::Indexed | Depth::Sixteen, _) => colour,
        }
    }
}

/// How far two colours are apart.
fn apart(one: (u8, u8, u8), other: (u8, u8, u8)) -> u32 {
    let of = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    // Eyes see green best and blue least.
    3 * of(one.0, other.0) + 6 * of(one.1, other.1) + of(one.2, other.2)
}

/// The nearest of the cube and the greys. The first sixteen are whatever the person made of them.
fn indexed(colour: (u8, u8, u8)) -> u8 {
    if let Some(chosen) = super::chosen(colour) {
        return chosen;
    }
    (16..=255).min_by_key(|number| apart(value(*number), colour)).unwrap_or(16)
}

fn sixteen(colour: (u8, u8, u8)) -> u8 {
    (0..16).min_by_key(|number| apart(value(*number), colour)).unwrap_or(7)
}

/// What a colour of the 256 is made of.
fn value(number: u8) -> (u8, u8, u8) {
    match number {
        0..16 => SIXTEEN[usize::from(number)],
        16..232 => {
            let at = |step: u8| CUBE[usize::from((number - 16) / step % 6)];
            (at(36), at(6), at(1))
        }
        232..=255 => {
            let grey = 8 + 10 * (number - 232);
            (grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{Role, Theme};

    #[test]
    fn the_environment_tells_how_many_colours_there_are() {
        for (term, colours, session, depth) in [
            ("xterm-256color", "truecolor", "", Depth::All),
            ("xterm-256color", "", "", Depth::Indexed),
            ("xterm", "", "", Depth::Sixteen),
            ("linux", "", "", Depth::Sixteen),
            ("screen", "", "", Depth::Sixteen),
            ("vt100", "", "", Depth::Mono),
            ("dumb", "", "", Depth::Mono),
            ("xterm-kitty", "", "", Depth::All),
            ("alacritty", "", "", Depth::All),
            ("xterm-direct", "", "", Depth::All),
            ("screen-256color", "truecolor", "1.pts", Depth::Indexed),
        ] {
            let said = |name: &str| match name {
                "TERM" => term.to_owned(),
                "COLORTERM" => colours.to_owned(),
                _ => session.to_owned(),
            };
            assert_eq!(Depth::told(said), depth, "{term} {colours} {session}");
        }
    }

    #[test]
    fn colours_become_the_nearest_there_are() {
        let green = Color::Rgb(0x98, 0xc3, 0x79);
        assert_eq!(Depth::All.reduce(green), green);
        assert_eq!(Depth::Indexed.reduce(green), Color::Indexed(108));
        assert_eq!(Depth::Sixteen.reduce(Color::Rgb(250, 10, 10)), Color::Indexed(1));
        assert_eq!(Depth::Sixteen.reduce(Color::Indexed(231)), Color::Indexed(15));
        assert_eq!(Depth::Sixteen.reduce(Color::Indexed(3)), Color::Indexed(3));
        assert_eq!(Depth::Mono.reduce(Color::Cyan), Color::Reset);
        for role in [Role::Added, Role::AddedWord, Role::Removed, Role::RemovedWord] {
            for theme in [Theme::Dark, Theme::Light] {
                let Color::Indexed(ground) = Depth::Indexed.reduce(theme.style(role).bg.unwrap()) else {
                    panic!()
                };
                assert!(ground < 232, "{role:?} stands on grey");
            }
        }
        assert_eq!(Depth::Indexed.reduce(Color::Rgb(0, 0, 0)), Color::Indexed(16));
    }
}
