//! Reading a picture, from a file or from the desktop's clipboard.

use base64::Engine;
use domain::content::Part;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// Largest picture taken, in bytes.
const MAX_PICTURE: usize = 5 * 1024 * 1024;

/// The picture and its name, or why there is none.
pub(super) fn read(path: Option<&str>, cwd: &Path) -> Result<(String, Part), String> {
    match path {
        Some(path) => {
            let full = cwd.join(path);
            let name = full.file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned());
            Ok((name, picture_file(&full)?))
        }
        None => {
            let bytes = clipboard()
                .ok_or("there is no picture on the clipboard (wl-paste, xclip or pngpaste reads it)")?;
            let name = "picture".to_owned();
            let part = part(&name, &bytes)?;
            Ok((name, part))
        }
    }
}

/// The picture in a file, known by its first bytes, or why it cannot go along with a prompt.
///
/// # Errors
/// When it cannot be read, is too large, or is none of the pictures that models take.
pub fn picture_file(file: &Path) -> Result<Part, String> {
    let (shown, mut bytes) = (file.display().to_string(), Vec::new());
    // What a device or a pipe holds is known only once it is read.
    let read = File::open(file).and_then(|file| file.take(MAX_PICTURE as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("{shown} could not be read: {error}"))?;
    part(&shown, &bytes)
}

fn part(name: &str, bytes: &[u8]) -> Result<Part, String> {
    if bytes.len() > MAX_PICTURE {
        return Err(format!("{name} is larger than 5 MB; make it smaller first"));
    }
    let mime = kind(bytes).ok_or_else(|| format!("{name} is no PNG, JPEG, GIF or WebP picture"))?;
    let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
    Ok(Part::Image { mime: mime.to_owned(), base64: base64.into() })
}

/// What kind of picture the bytes are, by how they begin.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn clipboard() -> Option<Vec<u8>> {
    let programs: [(&str, &[&str]); 3] = [
        ("wl-paste", &["--type", "image/png"]),
        ("xclip", &["-selection", "clipboard", "-target", "image/png", "-out"]),
        ("pngpaste", &["-"]),
    ];
    programs.iter().find_map(|(program, arguments)| {
        let mut command = Command::new(program);
        let output = command.args(*arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        Some(output.stdout).filter(|bytes| output.status.success() && kind(bytes).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.png"), b"\x89PNG\r\n\x1a\nrest").unwrap();
        std::fs::write(folder.path().join("b.png"), b"no picture").unwrap();
        let (name, part) = read(Some("a.png"), folder.path()).unwrap();
        assert_eq!(name, "a.png");
        assert!(matches!(part, Part::Image { mime, .. } if mime == "image/png"));
        assert!(read(Some("b.png"), folder.path()).unwrap_err().contains("is no PNG"));
        assert!(read(Some("c.png"), folder.path()).unwrap_err().contains("could not be read"));
    }
}
