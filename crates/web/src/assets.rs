//! The built page, inside of the program.

/// Its files, by their paths.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The page itself.
pub(crate) const INDEX: &str = "index.html";
/// Files under here have a digest in their names: they never change.
pub(crate) const HASHED: &str = "assets/";

/// What is served at a path, byte for byte.
pub(crate) fn file(path: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}

/// The digest of the sources that the page was built from: a page that was loaded from an older program sees that it is older. A page
/// knows that of its own sources only, since nothing can hold the digest of itself.
pub(crate) fn digest() -> &'static str {
    let digests = file("digest.txt").and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
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
