//! `read`: a text file with line numbers, a page at a time, or a picture. Remembers what the file held.

use crate::args::{Args, PATH};
use crate::context::ToolContext;
use crate::encoding::{self, Encoding};
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError, blocking};
use crate::write::MAX_WRITE;
use crate::{digest, exact};
use base64::Engine as _;
use domain::content::Part;
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::path::Path;

/// Lines of one page unless the call says otherwise.
pub const PAGE_LINES: u64 = 2000;
pub const PAGE_BYTES: usize = 50 * 1024;
/// Characters of one line; the rest is cut and said so.
pub const MAX_LINE: usize = 2000;
/// Largest picture, in bytes of the file.
pub const MAX_IMAGE: u64 = 5 * 1024 * 1024;
/// How far into a file we look for bytes that text never holds.
const PROBE: usize = 8 * 1024;

const NAME: &str = "read";

/// The tool that reads a file, page by page.
#[derive(Debug, Clone, Copy)]
pub struct Read;

impl Tool for Read {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description: format!(
                "Read a file. Text comes with line numbers, at most {PAGE_LINES} lines or {} KB at a time: use `offset` \
                 (first line, from 1) and `limit` for the rest. Pictures (png, jpeg, gif, webp) are shown. Relative \
                 paths start at the working directory.",
                PAGE_BYTES / 1024
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
                    "limit": {"type": "integer", "minimum": 1, "description": "How many lines"}
                },
                "required": ["path"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let wanted = ReadArgs::parse(args)?;
        let path = place.resolve(wanted.path)?;
        let mut plan = Plan::reading(NAME, args, place, format!("read {}", place.show(&path)));
        plan.digest = digest::action(NAME, args, place.workdir(), &[(path.clone(), None)]);
        plan.reads(&path);
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        blocking(plan.place.clone(), port, move || {
            let wanted = ReadArgs::parse(&plan.args)?;
            let path = plan.path_again(wanted.path)?;
            read(&path, &wanted, &plan.place)
        })
    }
}

struct ReadArgs<'a> {
    path: &'a str,
    offset: u64,
    limit: u64,
}

impl<'a> ReadArgs<'a> {
    fn parse(args: &'a Value) -> Result<ReadArgs<'a>, ToolError> {
        let args = Args::new(NAME, args);
        Ok(ReadArgs {
            path: args.text(PATH)?,
            offset: args.count_opt(&["offset", "start", "start_line"])?.unwrap_or(1).max(1),
            limit: args.count_opt(&["limit", "lines", "line_count"])?.unwrap_or(PAGE_LINES).max(1),
        })
    }
}

fn read(path: &Path, wanted: &ReadArgs<'_>, place: &ToolContext) -> Result<ToolResult, ToolError> {
    let failed = ToolError::at_path(NAME, path);
    let mut file = match exact::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // One that was never saved is only there.
            return match place.held_only(path) {
                Some(text) => page_of(&text?, path, wanted, place),
                None => Err(match place.near(path) {
                    Some(near) => ToolError::path(path, format!("there is no such file; {near}")),
                    None => failed(error),
                }),
            };
        }
        Err(error) => return Err(failed(error)),
    };
    let meta = file.metadata().map_err(&failed)?;
    if meta.is_dir() {
        return Err(ToolError::path(path, "is a directory: use ls"));
    }
    if !meta.is_file() {
        // A pipe or a device could block for ever.
        return Err(ToolError::path(path, "is not a plain file"));
    }
    let mut probe = Vec::with_capacity(PROBE);
    file.by_ref().take(PROBE as u64).read_to_end(&mut probe).map_err(&failed)?;
    if let Some(mime) = picture(&probe) {
        return image(file, path, mime);
    }
    let marked = probe.starts_with(&[0xff, 0xfe]) || probe.starts_with(&[0xfe, 0xff]);
    if probe.contains(&0) && !marked {
        let why = format!(
            "holds binary data ({} bytes): look at it with a command such as `file` or `xxd`",
            meta.len()
        );
        return Err(ToolError::path(path, why));
    }
    if let Some(held) = place.held(path) {
        return page_of(&held?, path, wanted, place);
    }
    if meta.len() > MAX_WRITE as u64 {
        place.saw(path, digest::of_open(&mut file).map_err(&failed)?);
        return file.rewind().and_then(|()| page(BufReader::new(file), wanted)).map_err(failed);
    }
    // One read for both, so that the digest is the digest of what was shown.
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(&failed)?;
    place.saw(path, digest::hex(&bytes));
    match encoding::decode(bytes) {
        Ok((text, Encoding::Utf8)) => page(text.as_bytes(), wanted).map_err(failed),
        Ok((text, encoding)) => {
            let mut page = page(text.trim_start_matches('\u{feff}').as_bytes(), wanted).map_err(failed)?;
            let _ = write!(page.text, "\n(written in {}: edit and write keep that)", encoding.name());
            Ok(page)
        }
        Err(bytes) => page(bytes.as_slice(), wanted).map_err(failed),
    }
}

/// A page of what the editor holds.
fn page_of(
    text: &str,
    path: &Path,
    wanted: &ReadArgs<'_>,
    place: &ToolContext,
) -> Result<ToolResult, ToolError> {
    place.saw(path, digest::hex(text.as_bytes()));
    page(text.as_bytes(), wanted).map_err(ToolError::at_path(NAME, path))
}

fn page(mut reader: impl std::io::BufRead, wanted: &ReadArgs<'_>) -> std::io::Result<ToolResult> {
    let mut text = String::new();
    let mut number = 0_u64;
    let mut line = Vec::new();
    let end = wanted.offset.saturating_add(wanted.limit);
    loop {
        line.clear();
        let whole = take_line(&mut reader, &mut line)?;
        if whole == 0 {
            break;
        }
        number += 1;
        if number < wanted.offset {
            continue;
        }
        if number >= end || text.len() >= PAGE_BYTES {
            let _ = write!(text, "\n(more follows: go on with offset {number})");
            return Ok(ToolResult { truncated: true, ..ToolResult::text(text) });
        }
        put_line(&mut text, number, &line, whole);
    }
    if number == 0 {
        return Ok(ToolResult::text("(the file is empty)"));
    }
    if text.is_empty() {
        text = format!("(the file has {number} lines: offset {} is past its end)", wanted.offset);
    }
    Ok(ToolResult::text(text))
}

/// Reads one line, keeps a bounded piece of it and tells how long it was, newline included; 0 at the end.
fn take_line(reader: &mut impl std::io::BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    // Four bytes make the longest character.
    const KEEP: u64 = MAX_LINE as u64 * 4 + 1;
    let mut whole = reader.by_ref().take(KEEP).read_until(b'\n', line)?;
    while whole > 0 && line.last() != Some(&b'\n') {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        let (count, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), false),
        };
        reader.consume(count);
        whole += count;
        if ended {
            break;
        }
    }
    Ok(whole)
}

fn put_line(text: &mut String, number: u64, line: &[u8], whole: usize) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    if !text.is_empty() {
        text.push('\n');
    }
    match line.char_indices().nth(MAX_LINE) {
        None => {
            let _ = write!(text, "{number:>6}\t{line}");
        }
        Some((cut, _)) => {
            let _ = write!(
                text,
                "{number:>6}\t{}… (line of {whole} bytes, cut)",
                line.get(..cut).unwrap_or_default()
            );
        }
    }
}

fn image(mut file: File, path: &Path, mime: &str) -> Result<ToolResult, ToolError> {
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.take(MAX_IMAGE + 1).read_to_end(&mut bytes));
    let length = read.map_err(ToolError::at_path(NAME, path))? as u64;
    if length > MAX_IMAGE {
        let why = format!("the picture has more than {MAX_IMAGE} bytes: make a smaller copy and read that");
        return Err(ToolError::path(path, why));
    }
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let part = Part::Image { mime: mime.into(), base64: base64.into() };
    Ok(ToolResult { parts: vec![part], ..ToolResult::text(format!("({mime}, {length} bytes)")) })
}

/// The media type of a picture, by its first bytes; the name of the file proves nothing.
fn picture(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if head.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}
