//! A vault that ends with the program, for conversations that are not kept. Bounded: past it nothing new is kept, and that is said.

use super::{Print, TakePrint, Vault};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of contents.
pub const MAX_IN_MEMORY: usize = 256 * 1024 * 1024;

/// Contents and steps in memory.
#[derive(Debug, Default)]
pub struct MemoryVault(Mutex<VaultMemory>);

#[derive(Debug, Default)]
struct VaultMemory {
    contents: BTreeMap<String, Vec<u8>>,
    size: usize,
    prints: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Print>>,
    /// Session, name and text.
    steps: Vec<(String, String, String)>,
    /// Contents that were handed in, also those that were there.
    handed: usize,
}

impl MemoryVault {
    fn lock(&self) -> MutexGuard<'_, VaultMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many contents were handed in, also those that were there: each was read from a file.
    #[cfg(test)]
    pub(crate) fn handed(&self) -> usize {
        self.lock().handed
    }
}

impl Vault for MemoryVault {
    fn keep(&self, contents: Vec<(String, Vec<u8>)>) -> Result<(), String> {
        let mut held = self.lock();
        for (digest, content) in contents {
            held.handed += 1;
            if held.contents.contains_key(&digest) {
                continue;
            }
            held.size += content.len();
            if held.size > MAX_IN_MEMORY {
                held.size -= content.len();
                return Err(format!("{} MB are kept in memory already", MAX_IN_MEMORY / 1024 / 1024));
            }
            held.contents.insert(digest, content);
        }
        Ok(())
    }

    fn content(&self, digest: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.lock().contents.get(digest).cloned())
    }

    fn prints(&self, root: &[u8], take: TakePrint<'_>) -> Result<(), String> {
        let held = self.lock();
        let prints = held.prints.get(root).into_iter().flat_map(BTreeMap::values);
        prints.for_each(|print| take(&print.path, &print.stamp, &print.image));
        Ok(())
    }

    fn set_prints(&self, root: &[u8], seen: Vec<Print>, gone: Vec<Vec<u8>>) -> Result<(), String> {
        let mut held = self.lock();
        let prints = held.prints.entry(root.to_vec()).or_default();
        for path in gone {
            prints.remove(&path);
        }
        prints.extend(seen.into_iter().map(|print| (print.path.clone(), print)));
        Ok(())
    }

    fn steps(&self, session: &str) -> Result<Vec<String>, String> {
        let held = self.lock();
        Ok(held.steps.iter().filter(|(of, ..)| of == session).map(|(.., step)| step.clone()).collect())
    }

    fn put_step(&self, session: &str, name: &str, step: &str, uses: &[&str]) -> Result<(), String> {
        let mut held = self.lock();
        if let Some(missing) = uses.iter().find(|digest| !held.contents.contains_key(**digest)) {
            return Err(format!("{missing} is not kept"));
        }
        match held.steps.iter_mut().find(|(of, known, _)| of == session && known == name) {
            Some((.., known)) => *known = step.to_owned(),
            None => held.steps.push((session.to_owned(), name.to_owned(), step.to_owned())),
        }
        Ok(())
    }
}
