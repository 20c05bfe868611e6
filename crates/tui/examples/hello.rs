//! The least that a ratatui program does: a screen with a word on it, until a key. What `cargo bench` measures our start against.

#![allow(clippy::print_stderr, reason = "an example tells why it ended")]

use ratatui::crossterm::event;

fn main() -> std::io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    terminal.draw(|frame| frame.render_widget("hello, world", frame.area()))?;
    let read = event::read();
    ratatui::restore();
    read.map(drop)
}
