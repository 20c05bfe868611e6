//! Every text can be read on whatever may stand behind it.

use super::contrast::{LEGIBLE, contrast};
use super::*;

/// All that text is written in; lines and gutters are seen, not read.
const INKS: &[Role] = &[
    Role::Text,
    Role::Dim,
    Role::Accent,
    Role::Key,
    Role::Ok,
    Role::Bad,
    Role::Warn,
    Role::Heading,
    Role::Group,
    Role::Code,
    Role::Link,
    Role::Thought,
    Role::Keyword,
    Role::Literal,
    Role::Number,
    Role::Comment,
    Role::Type,
    Role::Call,
];
const GROUNDS: &[Role] =
    &[Role::Selected, Role::User, Role::Added, Role::AddedWord, Role::Removed, Role::RemovedWord];

fn number(colour: Color) -> u32 {
    match colour {
        Color::Rgb(red, green, blue) => u32::from_be_bytes([0, red, green, blue]),
        other => panic!("{other:?} is the terminal's own"),
    }
}

#[test]
fn every_text_can_be_read_on_every_ground() {
    for theme in [Theme::Dark, Theme::Light] {
        for ground in GROUNDS {
            let own = theme.style(*ground);
            let behind = number(own.bg.unwrap());
            assert!(contrast(number(own.fg.unwrap()), behind) >= LEGIBLE, "{ground:?} in {}", theme.name());
            for ink in INKS {
                let style = theme.over(*ground, *ink);
                assert_eq!(style.bg, own.bg);
                let ratio = contrast(number(style.fg.unwrap()), behind);
                assert!(ratio >= LEGIBLE, "{ink:?} on {ground:?} in {}: {ratio:.2}", theme.name());
            }
        }
    }
}

#[test]
fn every_text_can_be_read_on_the_screens_that_a_theme_is_for() {
    for (theme, papers) in
        [(Theme::Dark, [0x00_0000, 0x14_161b, 0x1e_1e2e]), (Theme::Light, [0xff_ffff, 0xfd_fdfc, 0xfa_fafa])]
    {
        for paper in papers {
            for ink in INKS.iter().filter(|ink| theme.style(**ink).fg.is_some()) {
                let ratio = contrast(number(theme.style(*ink).fg.unwrap()), paper);
                assert!(ratio >= LEGIBLE, "{ink:?} on {paper:06x} in {}: {ratio:.2}", theme.name());
            }
        }
    }
}

#[test]
fn the_terminals_own_colours_stand_on_its_own_screen() {
    for theme in [Theme::Terminal, Theme::Contrast, Theme::Plain] {
        for ground in GROUNDS {
            assert_eq!(theme.style(*ground).bg, None, "{ground:?} in {}", theme.name());
            for ink in INKS {
                assert_eq!(
                    theme.over(*ground, *ink),
                    theme.style(*ground),
                    "one colour, or it may not be read"
                );
            }
        }
    }
}
