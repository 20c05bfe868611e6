//! Pictures and text files that go along with a prompt of `parlor run`.

use crate::task::story::Say;
use crate::task::{Project, Server, Wire};
use std::io::Write;
use std::process::{Output, Stdio};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest of it";
const PNG_BASE64: &str = "iVBORw0KGgpyZXN0IG9mIGl0";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0rest";
const JPEG_BASE64: &str = "/9j/4HJlc3Q=";

/// Runs the program with something on its stdin.
fn with_stdin(project: &Project, wire: Wire, server: &Server, args: &[&str], stdin: &str) -> Output {
    let mut command = project.parlor(wire, server, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[track_caller]
fn goes_along(wire: Wire) {
    let story = vec![Say::words("I see."), Say::words("And more.")];
    let (project, server) = (Project::new(), Server::start(wire, story));
    // What a picture is, its first bytes say.
    std::fs::write(project.path("work/shot.txt"), PNG).unwrap();
    std::fs::write(project.path("elsewhere.jpg"), JPEG).unwrap();
    std::fs::write(project.path("work/notes.md"), "alpha\n```\nbeta\n```\n").unwrap();
    let args = [
        "run",
        "--image",
        "shot.txt",
        "--image",
        "../elsewhere.jpg",
        "--file",
        "notes.md",
        "--file",
        "-",
        "look",
    ];
    let output = with_stdin(&project, wire, &server, &args, "gamma of stdin");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let heard = server.last().to_string();
    for told in [PNG_BASE64, JPEG_BASE64, "image/png", "image/jpeg", "look", "stdin:", "gamma of stdin"] {
        assert!(heard.contains(told), "{told}: {heard}");
    }
    // A fence in a file does not end it.
    assert!(heard.contains(r"notes.md:\n````\nalpha\n```\nbeta\n```\n"), "{heard}");
    // The file may change: what was said stays said.
    std::fs::write(project.path("work/notes.md"), "delta").unwrap();
    let output =
        project.parlor(wire, &server, &["run", "--continue", "--file", "notes.md", "and now?"]).output();
    assert_eq!(output.unwrap().status.code(), Some(0));
    let heard = server.last().to_string();
    for told in [PNG_BASE64, JPEG_BASE64, "alpha", "gamma of stdin", "delta", "and now?"] {
        assert!(heard.contains(told), "{told}: {heard}");
    }
    assert_eq!(server.trouble(), Vec::<String>::new());
}

#[test]
fn pictures_and_files_go_along_through_anthropic_messages() {
    goes_along(Wire::Anthropic);
}

#[test]
fn pictures_and_files_go_along_through_openai_responses() {
    goes_along(Wire::OpenAiResponses);
}

#[test]
fn what_cannot_go_along_is_wrong_usage_and_nothing_is_asked() {
    let (project, server) = (Project::new(), Server::start(Wire::Anthropic, vec![Say::words("I see.")]));
    let write = |name: &str, bytes: &[u8]| std::fs::write(project.path(name), bytes).unwrap();
    write("work/text.png", b"no picture");
    write("work/large.png", &[PNG, &vec![0; 5 * 1024 * 1024]].concat());
    write("work/binary", &[b'a', 0, b'b']);
    write("work/latin", b"caf\xe9");
    write("work/large.txt", &vec![b'a'; 1024 * 1024 + 1]);
    write("work/bad.json", b"{\"type\": 3}");
    for (args, why) in [
        (&["--image", "gone.png"][..], "--image: gone.png could not be read"),
        (&["--image", "text.png"], "--image: text.png is no PNG, JPEG, GIF or WebP picture"),
        (&["--image", "large.png"], "--image: large.png is larger than 5 MB"),
        (&["--image", "/dev/zero"], "--image: /dev/zero is larger than 5 MB"),
        (&["--image", "."], "--image: . could not be read"),
        (&["--file", "gone.txt"], "--file: gone.txt could not be read"),
        (&["--file", "binary"], "--file: binary is no text in UTF-8"),
        (&["--file", "latin"], "--file: latin is no text in UTF-8"),
        (&["--file", "large.txt"], "--file: large.txt is larger than 1 MB"),
        (&["--file", "."], "--file: . could not be read"),
        (&["--file", "-", "-"], "stdin is the prompt or an attached file, not both"),
        (&["--output-schema", "gone.json"], "--output-schema: gone.json: could not be read"),
        (&["--output-schema", "sum.sh"], "--output-schema: sum.sh: is no JSON Schema"),
        (&["--output-schema", "bad.json"], "--output-schema: bad.json: is no JSON Schema"),
        (&["--output-schema", "large.txt"], "--output-schema: large.txt: is larger than 256 KB"),
    ] {
        let prompt: &[&str] = if args.contains(&"-") { &[] } else { &["hi"] };
        let args = [&["run", "--json"], args, prompt].concat();
        let output = with_stdin(&project, Wire::Anthropic, &server, &args, "hi");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?} {said}");
        assert!(said.contains(why), "{args:?} {said}");
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn what_is_piped_in_beside_a_prompt_goes_along() {
    let wire = Wire::Anthropic;
    let begin = || (Project::new(), Server::start(wire, vec![Say::words("I see.")]));
    let (project, server) = begin();
    let output = with_stdin(&project, wire, &server, &["run", "explain"], "the log of the build");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let heard = server.last().to_string();
    for told in ["explain", "stdin:", "the log of the build"] {
        assert!(heard.contains(told), "{told}: {heard}");
    }
    // A file is as good as a pipe, and one that is too long is refused, not dropped.
    for (text, code) in [("from a file".to_owned(), 0), ("a".repeat(1024 * 1024 + 1), 2)] {
        let (project, server) = begin();
        std::fs::write(project.path("log"), &text).unwrap();
        let mut command = project.parlor(wire, &server, &["run", "explain"]);
        let output = command.stdin(std::fs::File::open(project.path("log")).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(server.requests(), usize::from(code == 0));
        assert!(code != 0 || server.last().to_string().contains(&text));
    }
    // A pipe that ends without a byte is none.
    let (project, server) = begin();
    assert_eq!(with_stdin(&project, wire, &server, &["run", "nothing"], "").status.code(), Some(0));
    assert!(!server.last().to_string().contains("stdin:"));
}

#[test]
fn a_pipe_that_says_nothing_is_told_and_left_alone() {
    let wire = Wire::Anthropic;
    let (project, server) = (Project::new(), Server::start(wire, vec![Say::words("I see.")]));
    let mut command = project.parlor(wire, &server, &["run", "explain"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Held open, as programs do that start others.
    let held = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(held);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("nothing came on stdin within 3 s") && told.contains("< /dev/null"), "{told}");
}
