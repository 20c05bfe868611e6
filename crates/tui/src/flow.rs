//! How fast text comes in.

use domain::ids::Millis;
use std::collections::VecDeque;

/// How fast text came in lately.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow(VecDeque<(Millis, usize)>);

impl Flow {
    /// The time looked back.
    const BACK_MS: u64 = 3_000;
    /// Bytes of a token, about.
    const TOKEN: u64 = 4;

    /// Counts text that came; what is too old for the speed is forgotten.
    pub(crate) fn add(&mut self, now: Millis, bytes: usize) {
        while self.0.front().is_some_and(|(at, _)| now.since(*at) > Flow::BACK_MS) {
            self.0.pop_front();
        }
        match self.0.back_mut().filter(|(at, _)| *at == now) {
            Some((_, sum)) => *sum += bytes,
            None => self.0.push_back((now, bytes)),
        }
    }

    /// Tokens per second, about; zero when it is too early to tell.
    pub(crate) fn rate(&self, now: Millis) -> u64 {
        let recent = self.0.iter().filter(|(at, _)| now.since(*at) <= Flow::BACK_MS);
        let bytes: usize = recent.clone().map(|(_, bytes)| bytes).sum();
        let since = recent.clone().next().map_or(0, |(at, _)| now.since(*at));
        if since < 1_000 { 0 } else { bytes as u64 * 1_000 / Flow::TOKEN / since }
    }
}
