//! The built program over pipes and sockets, as other programs use it.

mod clients;
mod conformance;
mod faults;
mod flooded;
mod found;
mod last_words;
mod release;
