//! What the program prints: `output/stream.rs` is the only place that writes to stdout and stderr.

mod canvas;
mod carrier;
mod reader;
mod screen;
mod stream;

pub(crate) use canvas::Canvas;
pub(crate) use carrier::{Carrier, carrier};
pub(crate) use reader::reader_gone;
pub(crate) use stream::{
    Stream, columns, is_heard, print, print_error, print_line, print_report, print_to, terminal_size,
    unwritten,
};

use hub::Log;
use std::sync::Arc;

/// Every line on stderr as it comes.
pub(crate) fn stderr_log() -> Log {
    Arc::new(print_error)
}
