//! What the system says of a file, by which it is known again without being read, and what was found at a path then.

use super::image::Image;
use crate::tree::{ObjectId, Stat};
use sha1::{Digest as _, Sha1};
use std::time::Duration;

/// A file that changed less than this before it was read may have changed again without looking other.
const SETTLED: Duration = Duration::from_secs(2);

/// What stands at a path, and what the system said of it then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StampedImage {
    pub(crate) image: Image,
    pub(crate) stamp: Stamp,
    /// The object of git's that is its content, where the vault does not have it.
    pub(crate) blob: Option<ObjectId>,
}

impl StampedImage {
    /// What the vault holds, as far as it has a content.
    pub(crate) fn new(image: Image, stamp: Stamp) -> StampedImage {
        StampedImage { image, stamp, blob: None }
    }

    /// Whether it may change without looking other, or be seen better the next time.
    pub(crate) fn is_unsure(&self) -> bool {
        match &self.image {
            Image::File { .. } => !self.stamp.settled,
            Image::Link { .. } | Image::Unkept { .. } => true,
            Image::Absent | Image::Folder { .. } => false,
        }
    }

    /// The written form of what is known beside the image.
    pub(crate) fn write_stamp(&self) -> String {
        let blob = self.blob.iter().map(|blob| format!(":{}", crate::own_git::hex(blob)));
        self.stamp.write() + &blob.collect::<String>()
    }

    /// Reads what was written.
    pub(crate) fn read(stamp: &str, image: &str) -> Option<StampedImage> {
        let mut fields = stamp.split(':');
        let stamp = Stamp::read(&mut fields)?;
        let blob = match fields.next() {
            Some(blob) => Some(super::image::unspell(blob)?.try_into().ok()?),
            None => None,
        };
        fields.next().is_none().then_some(StampedImage { image: Image::read(image)?, stamp, blob })
    }
}

/// The name that git gives to a content.
pub(crate) fn blob_id(content: &[u8]) -> ObjectId {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", content.len()));
    hasher.update(content);
    hasher.finalize().into()
}

/// What the system says of a file: another one of these is another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    changed: i128,
    status: i128,
    /// Whether it had been as it was for a while when it was read.
    pub(crate) settled: bool,
}

impl Stamp {
    /// What a look says, of a file that was not read.
    pub(crate) fn of(stat: &Stat) -> Stamp {
        let Stat { device, inode, size, changed, status, .. } = *stat;
        Stamp { device, inode, size, changed, status, settled: false }
    }

    /// Whether they are of the same file in the same state.
    pub(crate) fn is_same(&self, other: &Stamp) -> bool {
        Stamp { settled: true, ..*self } == Stamp { settled: true, ..*other }
    }

    /// Whether a file that looked like this before it was read and like `after` behind it cannot change without looking other: it had
    /// been as it was for a while. `now` is in nanoseconds since 1970.
    pub(crate) fn is_settled(&self, after: &Stamp, now: i128) -> bool {
        let calm = now - self.status.max(self.changed);
        self.is_same(after) && calm > i128::try_from(SETTLED.as_nanos()).unwrap_or(i128::MAX)
    }

    /// Its written form.
    pub(crate) fn write(&self) -> String {
        let Stamp { device, inode, size, changed, status, settled } = self;
        format!("{device}:{inode}:{size}:{changed}:{status}:{}", u8::from(*settled))
    }

    fn read<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<Stamp> {
        Some(Stamp {
            device: fields.next()?.parse().ok()?,
            inode: fields.next()?.parse().ok()?,
            size: fields.next()?.parse().ok()?,
            // A look at a large tree reads many of these, and the small number is read twice as fast.
            changed: fields.next()?.parse::<i64>().ok()?.into(),
            status: fields.next()?.parse::<i64>().ok()?.into(),
            settled: fields.next()? == "1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_settled_when_it_was_left_alone_for_a_while() {
        let second = 1_000_000_000;
        let one = Stamp { device: 1, inode: 2, size: 3, changed: 0, status: 100 * second, settled: false };
        let other = Stamp { changed: 1, ..one };
        for (after, now, settled) in
            [(one, 101, false), (one, 103, true), (other, 103, false), (one, 90, false)]
        {
            assert_eq!(one.is_settled(&after, now * second), settled, "{now}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let stamp = Stamp { device: 1, inode: 2, size: 3, changed: -4, status: 5, settled: true };
        let image = Image::File { digest: "ab".into(), mode: 0o644 };
        for blob in [None, Some(blob_id(b"x"))] {
            let seen = StampedImage { image: image.clone(), stamp, blob };
            assert_eq!(StampedImage::read(&seen.write_stamp(), &image.to_string()), Some(seen));
        }
        for wrong in ["1:2:3:4:5", "1:2:3:4:5:1:", "1:2:3:4:5:1:ab", "1:2:3:4:5:1:ab:1"] {
            assert_eq!(StampedImage::read(wrong, &image.to_string()), None, "{wrong}");
        }
    }

    #[test]
    fn a_content_has_the_name_that_git_gives_it() {
        assert_eq!(crate::own_git::hex(&blob_id(b"hello\n")), "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
