//! Contents that git holds, by the names of their objects, as git itself gives them: no filter runs on the way, and nothing takes another
//! object's place.

use super::{Does, OwnGit};
use crate::tree::ObjectId;
use std::fmt::Write as _;
use std::io::{Seek as _, Write as _};

/// Bytes that git says of an object beside its content, or more.
const LEAD: u64 = 128;

impl OwnGit {
    /// Whether git has each of these as the content of a file.
    ///
    /// # Errors
    /// When git is not there, says no or takes too long.
    pub(crate) fn has_blobs(&self, names: &[ObjectId]) -> Result<Vec<bool>, String> {
        let most = LEAD * names.len() as u64;
        let said = self.objects("--batch-check=%(objecttype)", names.iter(), most)?;
        let found: Vec<bool> =
            said.split(|byte| *byte == b'\n').take(names.len()).map(|line| line == b"blob").collect();
        if found.len() == names.len() { Ok(found) } else { Err("git did not answer".to_owned()) }
    }

    /// The contents of these, each of which is known to be so long; nothing for one that git does not have.
    ///
    /// # Errors
    /// When git is not there, says no or takes too long.
    pub(crate) fn blobs(&self, names: &[(ObjectId, u64)]) -> Result<Vec<Option<Vec<u8>>>, String> {
        let most = names.iter().map(|(_, size)| LEAD + size).sum();
        let said = self.objects("--batch", names.iter().map(|(name, _)| name), most)?;
        let mut rest = said.as_slice();
        Ok(names.iter().map(|_| next(&mut rest)).collect())
    }

    fn objects<'a>(
        &self,
        how: &str,
        names: impl Iterator<Item = &'a ObjectId>,
        most: u64,
    ) -> Result<Vec<u8>, String> {
        let asked = || {
            let mut asked = tempfile::tempfile()?;
            let lines: String = names.map(|name| hex(name) + "\n").collect();
            asked.write_all(lines.as_bytes())?;
            asked.rewind()?;
            Ok(asked)
        };
        let asked = asked().map_err(|why: std::io::Error| format!("git could not be asked ({why})"))?;
        self.said(Does::Looks, &["--no-replace-objects", "cat-file", "--buffer", how], asked.into(), most)
    }
}

/// The name of an object as git writes it.
pub(crate) fn hex(name: &ObjectId) -> String {
    name.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Takes the next content off what git said: a line with its size, the content, the end of a line.
fn next(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, behind) = (std::str::from_utf8(rest.get(..end)?).ok()?, rest.get(end + 1..)?);
    *rest = behind;
    let mut words = line.split(' ').skip(1);
    let is_blob = match words.next()? {
        "missing" => return None,
        kind => kind == "blob",
    };
    let size: usize = words.next()?.parse().ok()?;
    let content = behind.get(..size)?.to_vec();
    *rest = behind.get(size + 1..)?;
    is_blob.then_some(content)
}
