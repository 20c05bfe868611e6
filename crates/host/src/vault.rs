//! Brings the ledger of files (`tools`) and the store of contents together: neither knows the other.

use std::path::Path;
use std::sync::Arc;
use store::{Contents, StoreError, StoredPrint};
use tools::checkpoint::{MemoryVault, Print, TakePrint, Vault};

/// Contents on disk.
#[derive(Debug)]
struct StoreVault(Contents);

/// The vault of a data folder; without one, a vault that ends with the program.
///
/// # Errors
/// When it cannot be used: then nothing can be taken back, and everything else goes on.
pub fn open(data: Option<&Path>) -> Result<Arc<dyn Vault>, StoreError> {
    Ok(match data {
        Some(data) => Arc::new(StoreVault(Contents::at(data)?)),
        None => Arc::new(MemoryVault::default()),
    })
}

fn words<T>(done: Result<T, StoreError>) -> Result<T, String> {
    done.map_err(|why| why.to_string())
}

impl Vault for StoreVault {
    fn keep(&self, contents: Vec<(String, Vec<u8>)>) -> Result<(), String> {
        words(self.0.keep(contents))
    }

    fn content(&self, digest: &str) -> Result<Option<Vec<u8>>, String> {
        words(self.0.content(digest))
    }

    fn prints(&self, root: &[u8], take: TakePrint<'_>) -> Result<(), String> {
        words(self.0.prints(root, take))
    }

    fn set_prints(&self, root: &[u8], seen: Vec<Print>, gone: Vec<Vec<u8>>) -> Result<(), String> {
        let print = |Print { path, stamp, image, digest }| StoredPrint { path, stamp, image, digest };
        words(self.0.set_prints(root, seen.into_iter().map(print).collect(), gone))
    }

    fn steps(&self, session: &str) -> Result<Vec<String>, String> {
        words(self.0.steps(session))
    }

    fn put_step(&self, session: &str, name: &str, step: &str, uses: &[&str]) -> Result<(), String> {
        words(self.0.put_step(session, name, step, uses))
    }
}
