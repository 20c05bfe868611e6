//! What must hold on every wire: its requests, what a person is shown of a question, and what gets into a log.

#[cfg(test)]
mod exchanges;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod shown;
