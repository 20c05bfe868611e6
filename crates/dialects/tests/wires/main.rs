//! What must hold on every wire: its requests, what a person is shown of a question, and what gets into a log.

mod exchanges;
mod logs;
mod shown;
