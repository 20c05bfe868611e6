//! Themes: the only place that knows colours. Everything else names a [`Role`].
//!
//! Every role is told apart without colour as well (words, marks, bold), so that `plain` and 16 colours stay readable.

mod contrast;
mod depth;
#[cfg(test)]
mod tests;

pub(crate) use depth::Depth;

use ratatui_core::style::{Color, Modifier, Style};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// Ordinary text.
    Text,
    /// Of less weight.
    Dim,
    /// Ours: marks, keys, the composer's sign.
    Accent,
    /// It worked; low risk.
    Ok,
    /// It did not; critical risk.
    Bad,
    /// Look out; high risk.
    Warn,
    Heading,
    /// What stands over a part of a page.
    Group,
    /// Code inside a line.
    Code,
    /// A key that can be pressed.
    Key,
    Link,
    /// What the person said.
    User,
    /// The model's thinking.
    Thought,
    /// A chosen line of a list.
    Selected,
    /// Lines around panels.
    Border,
    /// A found word.
    Found,
    /// A line that was added.
    Added,
    /// The words in it that changed.
    AddedWord,
    /// A line that was taken away.
    Removed,
    /// The words in it that changed.
    RemovedWord,
    /// In code: a word of the language.
    Keyword,
    /// In code: a text.
    Literal,
    /// In code: a number.
    Number,
    /// In code: a comment.
    Comment,
    /// In code: a type or a name with a capital.
    Type,
    /// In code: something called.
    Call,
}

/// A choice of colours for all roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Theme {
    /// The terminal's own sixteen colours: fits what the person has chosen there.
    #[default]
    Terminal,
    /// For dark screens.
    Dark,
    /// For light screens.
    Light,
    /// High contrast.
    Contrast,
    /// No colour at all.
    Plain,
}

/// All themes with their names.
pub(crate) const THEMES: &[(&str, Theme, &str)] = &[
    ("terminal", Theme::Terminal, "your terminal's 16 colours"),
    ("dark", Theme::Dark, "soft, for dark screens"),
    ("light", Theme::Light, "soft, for light screens"),
    ("contrast", Theme::Contrast, "high contrast"),
    ("plain", Theme::Plain, "no colours (as NO_COLOR)"),
];

impl Theme {
    /// Finds it by its word in the settings.
    pub fn named(name: &str) -> Option<Theme> {
        THEMES.iter().find(|(n, _, _)| *n == name).map(|(_, theme, _)| *theme)
    }

    /// Its word in the settings.
    pub fn name(self) -> &'static str {
        THEMES.iter().find(|(_, t, _)| *t == self).map_or("terminal", |(name, _, _)| name)
    }

    /// Whether changed lines stand on a ground of their own, so that their text can have the colours of code.
    pub(crate) fn has_grounds(self) -> bool {
        matches!(self, Theme::Dark | Theme::Light)
    }

    /// How text of one role looks on the ground of another: so that it can be read there. Where there are no grounds, that other leads.
    pub(crate) fn over(self, ground: Role, role: Role) -> Style {
        let palette = match self {
            Theme::Dark => &DARK,
            Theme::Light => &LIGHT,
            Theme::Terminal | Theme::Contrast | Theme::Plain => return self.style(ground),
        };
        let (ink, behind) = (self.style(role), self.style(ground).bg);
        let fg = match (ink.fg, behind) {
            (Some(Color::Rgb(red, green, blue)), Some(Color::Rgb(r, g, b))) => {
                let (ink, behind) = ([0, red, green, blue], [0, r, g, b]);
                rgb(contrast::legible(u32::from_be_bytes(ink), palette.text, u32::from_be_bytes(behind)))
            }
            (_, _) => rgb(palette.text),
        };
        Style { bg: behind, fg: Some(fg), ..ink }
    }

    /// How text looks that a program coloured itself: where there are no colours, it has none either.
    pub(crate) fn own(self, style: Style) -> Style {
        if self == Theme::Plain { Style { fg: None, bg: None, ..style } } else { style }
    }

    /// How text of this role looks.
    pub(crate) fn style(self, role: Role) -> Style {
        let weight = weight(role);
        match self {
            Theme::Plain => weight,
            Theme::Terminal => weight.patch(sixteen(role)),
            Theme::Dark => weight.patch(paint(role, &DARK)),
            Theme::Light => weight.patch(paint(role, &LIGHT)),
            Theme::Contrast => weight.patch(bright(role)),
        }
    }
}

/// What a role looks like whatever the colours.
fn weight(role: Role) -> Style {
    match role {
        Role::Dim | Role::Border | Role::Comment => Style::new().add_modifier(Modifier::DIM),
        Role::Accent | Role::Heading | Role::Group | Role::Key | Role::Warn | Role::Bad | Role::User => {
            Style::new().add_modifier(Modifier::BOLD)
        }
        Role::Thought => Style::new().add_modifier(Modifier::DIM).add_modifier(Modifier::ITALIC),
        Role::Link => Style::new().add_modifier(Modifier::UNDERLINED),
        Role::Selected | Role::Found => Style::new().add_modifier(Modifier::REVERSED),
        Role::AddedWord | Role::RemovedWord => {
            Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        }
        Role::Text
        | Role::Ok
        | Role::Code
        | Role::Added
        | Role::Removed
        | Role::Keyword
        | Role::Literal
        | Role::Number
        | Role::Type
        | Role::Call => Style::new(),
    }
}

fn sixteen(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Text
        | Role::Dim
        | Role::Border
        | Role::Thought
        | Role::Selected
        | Role::Comment
        | Role::Key
        | Role::Group => style,
        Role::Accent | Role::Heading | Role::Code | Role::Type => style.fg(Color::Cyan),
        Role::Ok | Role::Added | Role::AddedWord | Role::Literal => style.fg(Color::Green),
        Role::Bad | Role::Removed | Role::RemovedWord => style.fg(Color::Red),
        // Yellow cannot be read on a light ground, which nobody knows here.
        Role::Warn | Role::Found => style.fg(Color::Magenta),
        Role::Link | Role::Call | Role::Number => style.fg(Color::Blue),
        Role::User | Role::Keyword => style.fg(Color::Magenta),
    }
}

fn bright(role: Role) -> Style {
    let style = sixteen(role).remove_modifier(Modifier::DIM);
    match role {
        Role::Text | Role::Dim | Role::Border | Role::Thought | Role::Comment | Role::Key | Role::Group => {
            style.fg(Color::White)
        }
        Role::Selected | Role::Found => style.fg(Color::Yellow),
        Role::Accent | Role::Heading | Role::Code | Role::Type => style.fg(Color::LightCyan),
        Role::Ok | Role::Added | Role::AddedWord | Role::Literal => style.fg(Color::LightGreen),
        Role::Bad | Role::Removed | Role::RemovedWord => style.fg(Color::LightRed),
        Role::Warn | Role::Number => style.fg(Color::LightYellow),
        Role::Link | Role::Call => style.fg(Color::LightBlue),
        Role::User | Role::Keyword => style.fg(Color::LightMagenta),
    }
}

struct Palette {
    /// Text on a ground of ours; elsewhere it has the terminal's own colour.
    text: u32,
    dim: u32,
    /// Lines and gutters: seen, not read.
    line: u32,
    accent: u32,
    ok: u32,
    bad: u32,
    warn: u32,
    blue: u32,
    violet: u32,
    grounds: Grounds,
}

/// Colours that stand behind text. Each with the one of the 256 that stands for it: the nearest to such faint ones is a grey.
struct Grounds {
    added: (u32, u8),
    added_word: (u32, u8),
    removed: (u32, u8),
    removed_word: (u32, u8),
    /// Behind what the person said.
    said: (u32, u8),
    /// Behind the line that is chosen.
    chosen: (u32, u8),
}

impl Grounds {
    const fn all(&self) -> [(u32, u8); 6] {
        [self.added, self.added_word, self.removed, self.removed_word, self.said, self.chosen]
    }
}

const DARK: Palette = Palette {
    text: 0xd8dee9,
    dim: 0x8a94a6,
    line: 0x4a5364,
    accent: 0x7fd1c7,
    ok: 0x98c379,
    bad: 0xef7a85,
    warn: 0xe5c07b,
    blue: 0x72b7f2,
    violet: 0xc792ea,
    grounds: Grounds {
        added: (0x1b3326, 22),
        added_word: (0x2f6144, 28),
        removed: (0x3f2127, 52),
        removed_word: (0x7a3440, 88),
        said: (0x282d38, 236),
        chosen: (0x37404f, 238),
    },
};

const LIGHT: Palette = Palette {
    text: 0x24292f,
    dim: 0x6a737d,
    line: 0xc3cad3,
    accent: 0x0b7285,
    ok: 0x2b7a0b,
    bad: 0xc0182c,
    warn: 0x9a5b00,
    blue: 0x0550ae,
    violet: 0x7b2fbf,
    grounds: Grounds {
        added: (0xdcf5e1, 194),
        added_word: (0xa5e3b5, 157),
        removed: (0xfce2e5, 224),
        removed_word: (0xf6b4bd, 217),
        said: (0xeceff3, 255),
        chosen: (0xd9e0e8, 254),
    },
};

/// The colour of the 256 that was chosen for one of ours.
fn chosen(colour: (u8, u8, u8)) -> Option<u8> {
    let number = u32::from_be_bytes([0, colour.0, colour.1, colour.2]);
    let grounds = DARK.grounds.all().into_iter().chain(LIGHT.grounds.all());
    grounds.into_iter().find(|(own, _)| *own == number).map(|(_, index)| index)
}

fn paint(role: Role, palette: &Palette) -> Style {
    // What stands on a ground needs no other mark.
    let style = Style::new().remove_modifier(Modifier::DIM);
    let ground = |style: Style, (ground, _): (u32, u8)| style.bg(rgb(ground));
    let marks = Modifier::BOLD | Modifier::UNDERLINED | Modifier::REVERSED;
    let (grounds, text) = (&palette.grounds, style.remove_modifier(marks).fg(rgb(palette.text)));
    match role {
        // The terminal's own colour is legible on its own background, whatever that is.
        Role::Text | Role::Group => style,
        Role::Selected => ground(text, grounds.chosen),
        Role::User => ground(text, grounds.said),
        Role::Dim | Role::Thought | Role::Comment => style.fg(rgb(palette.dim)),
        Role::Border => style.fg(rgb(palette.line)),
        Role::Accent | Role::Heading | Role::Type => style.fg(rgb(palette.accent)),
        Role::Code => style.fg(rgb(palette.violet)),
        Role::Ok | Role::Literal => style.fg(rgb(palette.ok)),
        Role::Bad => style.fg(rgb(palette.bad)),
        Role::Warn | Role::Found | Role::Number => style.fg(rgb(palette.warn)),
        Role::Link | Role::Call | Role::Key => style.fg(rgb(palette.blue)),
        Role::Keyword => style.fg(rgb(palette.violet)),
        Role::Added => ground(style.fg(rgb(palette.ok)), grounds.added),
        Role::AddedWord => ground(text, grounds.added_word),
        Role::Removed => ground(style.fg(rgb(palette.bad)), grounds.removed),
        Role::RemovedWord => ground(text, grounds.removed_word),
    }
}

fn rgb(number: u32) -> Color {
    let byte = |shift: u32| u8::try_from((number >> shift) & 0xff).unwrap_or(0);
    Color::Rgb(byte(16), byte(8), byte(0))
}

/// A colour that a program wrote into its output, by its number of the 256.
pub(crate) fn indexed(number: u8) -> Color {
    Color::Indexed(number)
}

/// A colour that a program wrote into its output.
pub(crate) fn direct(red: u8, green: u8, blue: u8) -> Color {
    Color::Rgb(red, green, blue)
}
