//! A network where there are none of a session's own: nothing of this exists.

use crate::sandbox::Guard;
use std::convert::Infallible;
use std::io::{ErrorKind, Result};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::process::Stdio;

/// None there can be.
#[derive(Debug)]
pub(super) struct Nowhere(Infallible);

impl Nowhere {
    /// It cannot be made.
    pub(super) fn by(_: &Guard) -> Result<Nowhere> {
        Err(ErrorKind::Unsupported.into())
    }

    /// As where there are some; so are the others.
    pub(super) fn listen(&self, _: IpAddr, _: u16) -> Result<TcpListener> {
        match self.0 {}
    }

    /// As `listen`.
    pub(super) fn connect(&self, _: u16) -> Result<TcpStream> {
        match self.0 {}
    }

    /// As `listen`.
    pub(super) fn ports(&self) -> Vec<u16> {
        match self.0 {}
    }

    /// As `listen`.
    pub(super) fn is_kept(&self) -> bool {
        match self.0 {}
    }

    /// As `listen`.
    pub(super) fn pid(&self) -> u32 {
        match self.0 {}
    }

    /// As `listen`.
    pub(super) fn pass(&self) -> Result<Stdio> {
        match self.0 {}
    }

    /// As `listen`.
    pub(super) fn pass_with(&self, _: std::os::fd::BorrowedFd<'_>) -> Result<Stdio> {
        match self.0 {}
    }
}
