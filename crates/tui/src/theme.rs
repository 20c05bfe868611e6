//! Themes: the only place that knows colours. Everything else names a [`Role`].
//!
//! Every role is told apart without colour as well (words, marks, bold), so that `plain` and 16 colours stay readable.

use ratatui::style::{Color, Modifier, Style};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
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
    /// Code inside a line.
    Code,
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
pub const THEMES: &[(&str, Theme, &str)] = &[
    ("terminal", Theme::Terminal, "your terminal's own 16 colours"),
    ("dark", Theme::Dark, "soft colours for dark screens"),
    ("light", Theme::Light, "soft colours for light screens"),
    ("contrast", Theme::Contrast, "high contrast"),
    ("plain", Theme::Plain, "no colours (also with NO_COLOR)"),
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

    /// How text of this role looks.
    pub fn style(self, role: Role) -> Style {
        let weight = weight(role);
        match self {
            Theme::Plain => weight,
            Theme::Terminal => weight.patch(sixteen(role)),
            Theme::Dark => weight.patch(paint(role, &DARK)),
            Theme::Light => weight.patch(paint(role, &LIGHT)),
            Theme::Contrast => weight.patch(contrast(role)),
        }
    }
}

/// What a role looks like whatever the colours.
fn weight(role: Role) -> Style {
    match role {
        Role::Dim | Role::Border | Role::Comment => Style::new().add_modifier(Modifier::DIM),
        Role::Accent | Role::Heading | Role::Warn | Role::Bad | Role::User => {
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
        Role::Text | Role::Dim | Role::Border | Role::Thought | Role::Selected | Role::Comment => style,
        Role::Accent | Role::Heading | Role::Code | Role::Type => style.fg(Color::Cyan),
        Role::Ok | Role::Added | Role::AddedWord | Role::Literal => style.fg(Color::Green),
        Role::Bad | Role::Removed | Role::RemovedWord => style.fg(Color::Red),
        Role::Warn | Role::Found | Role::Number => style.fg(Color::Yellow),
        Role::Link | Role::Call => style.fg(Color::Blue),
        Role::User | Role::Keyword => style.fg(Color::Magenta),
    }
}

fn contrast(role: Role) -> Style {
    let style = sixteen(role).remove_modifier(Modifier::DIM);
    match role {
        Role::Text | Role::Dim | Role::Border | Role::Thought | Role::Comment => style.fg(Color::White),
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
    text: u32,
    dim: u32,
    accent: u32,
    ok: u32,
    bad: u32,
    warn: u32,
    blue: u32,
    violet: u32,
    added: u32,
    removed: u32,
}

const DARK: Palette = Palette {
    text: 0xd8dee9,
    dim: 0x8a94a6,
    accent: 0x7fd1c7,
    ok: 0x98c379,
    bad: 0xef7a85,
    warn: 0xe5c07b,
    blue: 0x72b7f2,
    violet: 0xc792ea,
    added: 0x1e3a2a,
    removed: 0x41232a,
};

const LIGHT: Palette = Palette {
    text: 0x24292f,
    dim: 0x6a737d,
    accent: 0x0b7285,
    ok: 0x2b7a0b,
    bad: 0xc0182c,
    warn: 0x9a5b00,
    blue: 0x0550ae,
    violet: 0x7b2fbf,
    added: 0xd9f4de,
    removed: 0xfbdfe2,
};

fn paint(role: Role, palette: &Palette) -> Style {
    let style = Style::new().remove_modifier(Modifier::DIM);
    match role {
        Role::Text | Role::Selected => style.fg(rgb(palette.text)),
        Role::Dim | Role::Border | Role::Thought | Role::Comment => style.fg(rgb(palette.dim)),
        Role::Accent | Role::Heading | Role::Code | Role::Type => style.fg(rgb(palette.accent)),
        Role::Ok | Role::Literal => style.fg(rgb(palette.ok)),
        Role::Bad => style.fg(rgb(palette.bad)),
        Role::Warn | Role::Found | Role::Number => style.fg(rgb(palette.warn)),
        Role::Link | Role::Call => style.fg(rgb(palette.blue)),
        Role::User | Role::Keyword => style.fg(rgb(palette.violet)),
        Role::Added | Role::AddedWord => style.fg(rgb(palette.ok)).bg(rgb(palette.added)),
        Role::Removed | Role::RemovedWord => style.fg(rgb(palette.bad)).bg(rgb(palette.removed)),
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
