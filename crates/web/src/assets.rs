//! The built page, inside of the program.

use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// Its files, by their paths.
static FILES: &[(&str, Form)] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The page itself.
pub(crate) const INDEX: &str = "index.html";
/// Files under here have a digest in their names: they never change.
pub(crate) const HASHED: &str = "assets/";

/// How a file lies in the program.
enum Form {
    Plain(&'static [u8]),
    /// As its build compressed it, twice; who reads neither gets it unpacked.
    Packed {
        gzip: &'static [u8],
        brotli: &'static [u8],
    },
}

/// What is served at a path, and how it is compressed (`Content-Encoding`), as the browser says that it reads it (`Accept-Encoding`).
pub(crate) fn served(path: &str, accepted: &str) -> Option<(Option<&'static str>, Cow<'static, [u8]>)> {
    let (_, form) = FILES.iter().find(|(name, _)| *name == path)?;
    Some(match form {
        Form::Plain(bytes) => (None, Cow::Borrowed(*bytes)),
        Form::Packed { brotli, .. } if accepts(accepted, "br") => (Some("br"), Cow::Borrowed(*brotli)),
        Form::Packed { gzip, .. } if accepts(accepted, "gzip") => (Some("gzip"), Cow::Borrowed(*gzip)),
        Form::Packed { gzip, .. } => (None, Cow::Owned(unpacked(gzip)?)),
    })
}

fn unpacked(gzip: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether it is named, and not refused by a weight of nothing.
fn accepts(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map(str::parse::<f32>);
        named && !matches!(weight, Some(Ok(0.0) | Err(_)))
    })
}

/// The digest of the sources that the page was built from: a page that was loaded from an older program sees that it is older. A page
/// knows that of its own sources only, since nothing can hold the digest of itself.
pub(crate) fn digest() -> &'static str {
    let digests = FILES.iter().find_map(|(name, form)| match form {
        Form::Plain(bytes) if *name == "digest.txt" => std::str::from_utf8(bytes).ok(),
        Form::Plain(_) | Form::Packed { .. } => None,
    });
    let digests = digests.unwrap_or_default();
    digests.lines().find_map(|line| line.strip_prefix("sources ")).unwrap_or_default().trim()
}

/// How a browser is to read a file; what is not known is not shown.
pub(crate) fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_given_as_the_browser_reads_it() {
        for (accepted, wanted) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("gzip, deflate", Some("gzip")),
            ("br;q=0, GZIP;q=0.5", Some("gzip")),
            ("br;q=x", None),
            ("brotli", None),
            ("", None),
        ] {
            assert_eq!(served(INDEX, accepted).unwrap().0, wanted, "{accepted}");
        }
        assert!(served("nothing.html", "br").is_none());
        assert!(served("index.html.br", "").is_none() && served("index.html.gz", "gzip").is_none());
    }

    #[test]
    fn who_reads_no_compression_gets_every_file_as_the_page_was_built() {
        let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../page/dist");
        for (name, form) in FILES {
            let built = std::fs::read(dist.join(name)).unwrap();
            let (encoding, given) = served(name, "identity").unwrap();
            assert!(encoding.is_none() && *given == *built, "{name}");
            if let Form::Packed { gzip, brotli } = form {
                assert!(gzip.len().max(brotli.len()) < built.len() + 64, "{name}");
            }
            assert!(matches!(form, Form::Packed { .. }) != (*name == "digest.txt"), "{name}");
        }
    }
}
