//! How soon the built program is of use, and what that costs: each figure beside a program that does nothing, or beside the least that a
//! ratatui program does, in the same run. Ends with a failure when a bar is missed. `cargo bench -p parlor --bench start`, or only
//! `-- version`, `wires`, `screen`, `text`, `servers`, `memory` or `calls`; `--short` measures each once and judges counts only.

#![allow(clippy::expect_used, reason = "a bench that cannot measure ends")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Bars, Counted, Depth, Home, Lines, Program, Terminal, instructions, median, resident_kib};

/// Starts of each program.
const STARTS: usize = 31;
/// `--version` beside a program that does nothing.
const VERSION_BAR: f64 = 3.0;
/// Start to handshake beside `--version`.
const HANDSHAKE_BAR: f64 = 2.0;
/// Start to usable screen beside a bare ratatui program, unless it is this soon anyway.
const SCREEN_BAR: f64 = 4.0;
const SCREEN_SOON: Duration = Duration::from_millis(25);
/// The first text of a session beside that of a later prompt.
const TEXT_BAR: f64 = 1.5;
/// The first text of a run with MCP servers configured, beside one without any.
const SERVERS_BAR: f64 = 1.2;
const SERVERS: usize = 25;
/// Memory of a program that has greeted and does nothing.
const MEMORY_BAR_KIB: u64 = 20 * 1024;
/// System calls, with room for those that wait more or less often.
const CALLS_TO_HANDSHAKE: u64 = 1_300;
const CALLS_TO_FRAME: u64 = 1_100;
const CALLS_TO_SCREEN: u64 = 1_500;
/// Instructions of the program as it is built for this bench, in thousands, with room for another compiler and a home with more in it.
const DEBUG: bool = cfg!(debug_assertions);
const INSTRUCTIONS_OF_VERSION: u64 = if DEBUG { 6_500 } else { 4_000 };
const INSTRUCTIONS_TO_HANDSHAKE: u64 = if DEBUG { 44_000 } else { 14_000 };

/// What the screen shows first, and what it shows once it can be used.
const FRAME: &str = "parlor";
const USABLE: &str = "ask anything";

/// How each wire is greeted, and what an answer has.
const WIRES: &[(&str, Option<&str>, &str)] = &[
    ("native", Some(r#"{"hello":{"protocol":1,"revision":0,"name":"start","version":"0"}}"#), r#""hello""#),
    (
        "codelia",
        Some(
            r#"{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocol_version":"0","client":{"name":"start","version":"0"}}}"#,
        ),
        r#""result""#,
    ),
    ("nous", Some(r#"{"v":"1","id":"1","type":"ping","payload":{}}"#), r#""pong""#),
    ("lemon", None, r#""ready""#),
    (
        "openagent",
        Some(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"client_info":{"name":"start","version":"0"}}}"#,
        ),
        r#""result""#,
    ),
    ("asst", None, r#""ready""#),
    ("acp", Some(ACP_HELLO), r#""protocolVersion""#),
];
const ACP_HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#;

fn main() {
    let (depth, parts) = Depth::from_args();
    let stage = Stage { program: Program::find(), home: Home::new(), depth };
    let mut bars = Bars::new(depth);
    let wants = |name: &str| parts.is_empty() || parts.iter().any(|part| part == name);
    // The first start makes the store.
    stage.handshake(WIRES.last().copied());
    if wants("version") || wants("wires") {
        let version = version(&stage, &mut bars);
        if wants("wires") {
            wires(&stage, version, &mut bars);
        }
    }
    for (name, measure) in [
        ("screen", screen as fn(&Stage, &mut Bars)),
        ("text", text),
        ("servers", servers),
        ("memory", memory),
        ("calls", calls),
    ] {
        if wants(name) {
            measure(&stage, &mut bars);
        }
    }
    bars.end();
}

/// What is measured, where, and how often.
struct Stage {
    program: Program,
    home: Home,
    depth: Depth,
}

impl Stage {
    /// The program with a provider configured that nobody asks anything.
    fn parlor(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.start(self.program.path(), arguments);
        command.env("OPENAI_API_KEY", "nobody-is-asked").env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
        command
    }

    fn serve(&self, wire: &str) -> Command {
        self.parlor(&["serve", "--dialect", wire, "--stdio"])
    }

    fn handshake(&self, wire: Option<(&str, Option<&str>, &str)>) -> Duration {
        let Some((wire, hello, answer)) = wire else { return Duration::ZERO };
        let begin = Instant::now();
        let mut lines = Lines::start(&mut self.serve(wire));
        if let Some(hello) = hello {
            lines.say(hello);
        }
        lines.until(answer);
        begin.elapsed()
    }

    fn often(&self, measure: impl Fn() -> Duration) -> Duration {
        median((0..self.depth.times(STARTS)).map(|_| measure()).collect())
    }
}

/// From the start of a command to its end.
fn whole(command: &mut Command) -> Duration {
    let begin = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?} did not end well");
    begin.elapsed()
}

fn version(stage: &Stage, bars: &mut Bars) -> Duration {
    let nothing = stage.often(|| whole(&mut stage.home.start(Path::new("/bin/true"), &[])));
    let version = stage.often(|| whole(&mut stage.parlor(&["--version"])));
    bars.ratio("--version beside a program that does nothing", (version, nothing), VERSION_BAR);
    version
}

/// From the start to the answer to the first line, on every wire.
fn wires(stage: &Stage, version: Duration, bars: &mut Bars) {
    let mut slowest = Duration::ZERO;
    for wire in WIRES {
        let took = stage.often(|| stage.handshake(Some(*wire)));
        slowest = slowest.max(took);
        bars.ratio(
            &format!("start to handshake, {}, beside --version", wire.0),
            (took, version),
            HANDSHAKE_BAR,
        );
    }
    if let Some(goose) = on_path("goose") {
        let theirs = stage.often(|| {
            let begin = Instant::now();
            let mut lines = Lines::start(&mut stage.home.start(&goose, &["acp"]));
            lines.say(ACP_HELLO);
            lines.until("protocolVersion");
            begin.elapsed()
        });
        bars.ratio("start to handshake, the slowest wire, beside goose", (slowest, theirs), 1.0);
    }
}

/// From the start to a first frame, and to a screen that can be used.
fn screen(stage: &Stage, bars: &mut Bars) {
    let hello = Program::example("tui", "hello");
    let timed = |command: &mut Command, text: &str| {
        let begin = Instant::now();
        Terminal::start(command).until(0, text);
        begin.elapsed()
    };
    let bare = stage.often(|| timed(&mut stage.home.start(&hello, &[]), "hello,"));
    for mode in ["--full-screen", "--inline"] {
        let shown = |text: &str| {
            stage.often(|| timed(&mut stage.parlor(&["--model", "offline/offline", mode]), text))
        };
        bars.note(&format!("start to first frame, {mode}"), &format!("{:.2?}", shown(FRAME)));
        let usable = shown(USABLE);
        let ratio = usable.as_secs_f64() / bare.as_secs_f64();
        bars.timed(
            &format!("start to usable screen, {mode}"),
            &format!("{usable:.2?}, {ratio:.2} × a bare ratatui program ({bare:.2?})"),
            &format!("{SCREEN_SOON:?} or {SCREEN_BAR} ×"),
            usable <= SCREEN_SOON || ratio <= SCREEN_BAR,
        );
    }
}

/// From a prompt to its first text, the first of a process and a later one.
fn text(stage: &Stage, bars: &mut Bars) {
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for _ in 0..stage.depth.times(STARTS) {
        let mut lines = Lines::start(&mut stage.parlor(&[
            "--model",
            "offline/offline",
            "serve",
            "--dialect",
            "acp",
            "--stdio",
        ]));
        lines.say(ACP_HELLO);
        lines.until("protocolVersion");
        let folder = stage.home.path("work").display().to_string();
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"session/new","params":{{"cwd":"{folder}","mcpServers":[]}}}}"#
        ));
        let made = lines.until(r#""sessionId""#);
        let session = made.split(r#""sessionId":""#).nth(1).and_then(|rest| rest.split('"').next());
        let session = session.unwrap_or_default().to_owned();
        for (id, times) in [(3, &mut first), (4, &mut later)] {
            let begin = Instant::now();
            lines.say(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[{{"type":"text","text":"hello"}}]}}}}"#
            ));
            lines.until("agent_message_chunk");
            times.push(begin.elapsed());
            lines.until(&format!(r#""id":{id},"#));
        }
    }
    bars.ratio(
        "prompt to first text, the first beside a later one",
        (median(first), median(later)),
        TEXT_BAR,
    );
}

/// From the start of a run to its first text, with many MCP servers and with none, in turns. Each server is a process of its own.
fn servers(stage: &Stage, bars: &mut Bars) {
    let echo = Program::example("engine", "mcp_echo");
    let (none, many) = (Home::new(), Home::new());
    let entry = format!(r#"{{"command":{:?}}}"#, echo.display().to_string());
    let entries: Vec<String> = (0..SERVERS).map(|number| format!(r#""s{number}":{entry}"#)).collect();
    let written = format!(r#"{{"mcpServers":{{{}}}}}"#, entries.join(","));
    std::fs::create_dir(many.path("config")).expect("a folder");
    std::fs::write(many.path("config/mcp.json"), written).expect("the settings can be written");
    let first_text = |home: &Home| {
        let begin = Instant::now();
        let arguments = ["--model", "offline/offline", "run", "--json", "hello"];
        let mut command = home.start(stage.program.path(), &arguments);
        // A pipe that says nothing would be waited for.
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let said = BufReader::new(child.stdout.take().expect("it has a stdout"));
        let mut lines = said.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains(r#""message_delta""#)), "it says something");
        let took = begin.elapsed();
        assert!(lines.any(|line| line.contains(r#""exit_code":0"#)), "it ends well");
        child.wait().expect("it has ended");
        took
    };
    first_text(&none);
    // Nobody knows their tools yet: here they are waited for.
    bars.note(
        &format!("start to first text with {SERVERS} servers that never ran"),
        &format!("{:.2?}", first_text(&many)),
    );
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..stage.depth.times(STARTS) {
        without.push(first_text(&none));
        with.push(first_text(&many));
    }
    bars.ratio(
        &format!("start to first text with {SERVERS} MCP servers beside none"),
        (median(with), median(without)),
        SERVERS_BAR,
    );
}

fn memory(stage: &Stage, bars: &mut Bars) {
    let mut lines = Lines::start(&mut stage.serve("acp"));
    lines.say(ACP_HELLO);
    lines.until("protocolVersion");
    let kib = resident_kib(lines.id());
    bars.timed(
        "memory at rest",
        &format!("{kib} KiB"),
        &format!("{MEMORY_BAR_KIB} KiB"),
        kib <= MEMORY_BAR_KIB,
    );
}

/// System calls and instructions of a whole start.
fn calls(stage: &Stage, bars: &mut Bars) {
    let list = stage.home.path("calls");
    for (wire, hello, answer) in WIRES {
        let cost = Counted::until_answered(&stage.serve(wire), &list, *hello, answer);
        bars.counted(&format!("system calls to handshake, {wire}"), cost.calls, CALLS_TO_HANDSHAKE);
    }
    for (what, text, bar) in
        [("first frame", FRAME, CALLS_TO_FRAME), ("usable screen", USABLE, CALLS_TO_SCREEN)]
    {
        let command = stage.parlor(&["--model", "offline/offline", "--full-screen"]);
        let cost = Counted::until_shown(&command, &list, text);
        bars.counted(&format!("system calls to {what}"), cost.calls, bar);
    }
    let hello = stage.home.path("hello");
    let written = std::fs::write(&hello, format!("{ACP_HELLO}\n"));
    assert!(written.is_ok(), "{}: {written:?}", hello.display());
    for (what, command, stdin, bar) in [
        ("of --version", stage.parlor(&["--version"]), None, INSTRUCTIONS_OF_VERSION),
        ("to handshake and end, acp", stage.serve("acp"), Some(hello.as_path()), INSTRUCTIONS_TO_HANDSHAKE),
    ] {
        let thousands = instructions(&command, stdin, &list) / 1_000;
        bars.counted(&format!("thousands of instructions {what}"), thousands, bar);
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}
