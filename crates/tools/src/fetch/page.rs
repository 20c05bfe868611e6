//! A page as text: HTML made readable, other text as it is, everything else refused. Pure.

/// Columns that a readable page is broken at.
const COLUMNS: usize = 100;
/// Bytes of HTML that are made readable; the tree of a page is many times larger than the page.
const MAX_HTML: usize = 2 * 1024 * 1024;
/// Deepest nesting that is laid out.
const MAX_DEPTH: usize = 500;
/// Elements that hold nothing, or that need not be closed and cannot hold themselves.
const FLAT: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr", "p", "li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "tfoot", "option", "rp", "rt",
];
/// Bytes that are looked at to tell text from other things.
const PROBE: usize = 1024;

/// The text of a page whose media type is `kind`; the error says why there is none.
pub(super) fn text(kind: &str, body: &[u8], raw: bool) -> Result<String, String> {
    let (media, charset) = parse(kind);
    let textual = media.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml", "x-www-form-urlencoded"]
            .iter()
            .any(|part| media.contains(part));
    let probe = body.get(..PROBE.min(body.len())).unwrap_or_default();
    if !textual && !media.is_empty() || probe.contains(&0) {
        let what = if media.is_empty() { "no text" } else { &media };
        return Err(format!("it is {what} ({} bytes), which cannot be shown as text", body.len()));
    }
    let html = media.contains("html") || media.is_empty() && probe.trim_ascii_start().starts_with(b"<");
    let text = decoded(&charset, body);
    if !html || raw {
        return Ok(text);
    }
    let mut end = MAX_HTML.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // The time it takes to lay a page out grows with the square of its depth.
    if too_deep(text.get(..end).unwrap_or_default()) {
        return Ok(text);
    }
    let read =
        html2text::config::plain().string_from_read(text.as_bytes().get(..end).unwrap_or_default(), COLUMNS);
    // A page that cannot be laid out is still worth reading.
    let read = read.unwrap_or(text);
    Ok(read.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned())
}

/// Whether elements may be nested deeper than in any page that was made to be read. Counts generously, does not parse.
fn too_deep(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some((_, tag)) = rest.split_once('<') {
        rest = tag;
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let closes = tag.starts_with('/');
        let name = tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next();
        let name = name.unwrap_or_default();
        if name.is_empty() || FLAT.iter().any(|flat| name.eq_ignore_ascii_case(flat)) {
            continue;
        }
        if !closes {
            open.push(name);
        } else if let Some(at) = open.iter().rposition(|known| known.eq_ignore_ascii_case(name)) {
            // What was opened inside it may stay open: browsers mend such pages.
            open.remove(at);
        }
        if open.len() > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// Media type and charset of a `content-type`.
fn parse(kind: &str) -> (String, String) {
    let mut parts = kind.split(';').map(|part| part.trim().to_ascii_lowercase());
    let media = parts.next().unwrap_or_default();
    let charset =
        parts.find_map(|part| part.strip_prefix("charset=").map(|name| name.trim_matches('"').to_owned()));
    (media, charset.unwrap_or_default())
}

fn decoded(charset: &str, body: &[u8]) -> String {
    let latin = matches!(charset, "iso-8859-1" | "latin1" | "windows-1252" | "us-ascii");
    if latin && std::str::from_utf8(body).is_err() {
        return body.iter().map(|byte| char::from(*byte)).collect();
    }
    String::from_utf8_lossy(body).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn html_becomes_readable() {
        let page = b"<html><head><title>T</title><style>p{}</style><script>evil()</script></head><body><h1>Head</h1>\
                     <p>One &amp; <b>two</b></p><ul><li>a<li>b</ul><pre>let  x;\n  y</pre><a href='/l'>link</a></body>";
        let read = text("text/html; charset=UTF-8", page, false).unwrap();
        for wanted in ["# Head", "One & ", "* a", "* b", "let  x;\n  y", "/l"] {
            assert!(read.contains(wanted), "{wanted}: {read}");
        }
        assert!(!read.contains("evil") && !read.contains("p{}"), "{read}");
        assert!(text("text/html", page, true).unwrap().contains("evil"));
    }

    #[test]
    fn other_text_stays_and_the_rest_is_refused() {
        assert_eq!(text("application/json", b"{\"a\":1}", false).unwrap(), "{\"a\":1}");
        assert_eq!(text("text/plain; charset=iso-8859-1", b"caf\xe9", false).unwrap(), "café");
        assert_eq!(text("", b"plain", false).unwrap(), "plain");
        assert!(text("image/png", b"\x89PNG", false).unwrap_err().contains("image/png"));
        assert!(text("text/plain", b"a\0b", false).is_err());
    }

    #[test]
    fn a_page_that_would_take_for_ever_is_not_laid_out() {
        for tag in
            ["<div>", "<b>", "<ul><li>", "<DIV\n>", "<table><tr><td>", "<div></x>", "<div><!--</div>-->"]
        {
            let page = tag.repeat(MAX_DEPTH + 1) + "text";
            assert_eq!(text("text/html", page.as_bytes(), false).unwrap(), page, "{tag}");
        }
        // What is closed, or closes itself, is not deep.
        for flat in
            ["<div>a</div>", "<p>a", "<br>", "<img src='x'>", "<meta name=x/>", "<!-- <div> --> a < b"]
        {
            assert!(!too_deep(&flat.repeat(MAX_DEPTH * 2)), "{flat}");
        }
    }

    proptest! {
        #[test]
        fn anything_can_come(kind in "(text/html|text/plain|)(;.{0,20})?", body in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = text(&kind, &body, false);
        }

        #[test]
        fn any_markup_can_come(body in "(<(/)?(table|td|tr|ul|li|ol|pre|p|div|a|img)( [a-z]+=\"[a-z0-9]{0,5}\")?>|[a-z &;#0-9]{0,6}){0,40}") {
            let _ = text("text/html", body.as_bytes(), false);
        }
    }
}
