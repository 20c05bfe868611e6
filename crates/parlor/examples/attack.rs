//! What a hostile command does: the program that the tests in `tests/terminal/hostile` let an agent run. It says what it got and ends with 0
//! when it got something, with 1 when it was stopped.

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::{Pid, ioctl_tiocsctty, setsid};
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// How long a runtime may take to greet.
const GREETING: Duration = Duration::from_secs(60);

/// How long a connection is in nobody's hands.
const UNHELD: Duration = Duration::from_millis(500);

const HELLO: &[u8] =
    b"{\"hello\":{\"protocol\":1,\"name\":\"evil\",\"version\":\"0\",\"capabilities\":[\"answers\"]}}\n";

const WELCOME: &[u8] =
    b"{\"hello\":{\"protocol\":1,\"name\":\"evil\",\"version\":\"0\",\"capabilities\":[]}}\n";

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let got = match words.as_slice() {
        ["enter", path] => UnixStream::connect(path).and_then(greeted),
        ["lower-and-enter", path] => lower_and_enter(path),
        ["enter-and-die", path, tries] => enter_and_die(path, tries.parse().unwrap_or(1)),
        ["connect-on-stdin", path] => connect_on_stdin(path),
        ["listen-instead", path] => listen_instead(path).and_then(|listener| pretend(&listener)),
        ["listen-instead-and-die", path] => listen_instead(path).and_then(hand_on),
        ["pretend-on-stdin", parent] => process(parent).and_then(|parent| {
            until_gone(parent);
            let listener = std::io::stdin().as_fd().try_clone_to_owned()?;
            pretend(&UnixListener::from(listener))
        }),
        ["ask", how, kind, address, host, path] => ask(how, *kind == "page", address, host, path),
        ["first-words-on-stdin", kind] => {
            let socket = std::io::stdin().as_fd().try_clone_to_owned();
            socket.and_then(|fd| first_words(TcpStream::from(fd), *kind == "page"))
        }
        ["keep", path] => keep(path),
        ["hide", file] => hide().and_then(|()| stay(file)),
        ["confirm", path] => UnixStream::connect(path).and_then(confirm),
        ["trace", pid] => trace(pid),
        ["read-memory", pid] => read_memory(pid),
        ["on-terminal", program, rest @ ..] => Err(on_terminal(program, rest)),
        _ => Err(Error::other("what attack?")),
    };
    match got {
        Ok(said) => {
            say(&said);
            ExitCode::SUCCESS
        }
        Err(why) => {
            say(&format!("stopped: {why}"));
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Greets as a UI of the native wire does; an error when nobody greets back.
fn greeted(mut stream: UnixStream) -> Result<String> {
    stream.set_read_timeout(Some(GREETING))?;
    // Whoever refuses may have closed already, and what it said can still be read.
    let _ = stream.write_all(HELLO);
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    if line.starts_with("{\"hello\"") {
        Ok("let in".to_owned())
    } else {
        Err(Error::other(line.trim().to_owned()))
    }
}

/// Children connect sockets that they share with us and are gone before the runtime looks who they are. Says `died` by a file of that
/// name, so that a test can keep the runtime from looking until then.
fn enter_and_die(path: &str, tries: usize) -> Result<String> {
    let mut connections = Vec::new();
    let mut zombies = Vec::new();
    for attempt in 0..tries {
        let shared: OwnedFd = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["connect-on-stdin", path])
            .stdin(Stdio::from(shared.try_clone()?))
            .stdout(Stdio::null())
            .spawn()?;
        // Gone without a trace every other time, else still there as a zombie.
        if attempt % 2 == 0 {
            child.wait()?;
        } else {
            while !std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?.contains(") Z ") {
                std::thread::yield_now();
            }
            zombies.push(child);
        }
        connections.push(UnixStream::from(shared));
    }
    std::fs::write("died", "")?;
    let mut entered = 0;
    let mut words = String::new();
    for connection in connections {
        match greeted(connection) {
            Ok(_) => entered += 1,
            Err(why) if words.is_empty() => words = why.to_string(),
            Err(_) => {}
        }
    }
    for mut zombie in zombies {
        zombie.wait()?;
    }
    let told = format!("let in {entered} of {tries} times; {words}");
    if entered > 0 { Ok(told) } else { Err(Error::other(told)) }
}

/// Has a lower limit than whoever listens, as every command has, but not one that the sandbox gave it.
fn lower_and_enter(path: &str) -> Result<String> {
    lower()?;
    greeted(UnixStream::connect(path)?)
}

fn lower() -> Result<()> {
    let limit = rustix::process::Rlimit { current: Some(1_000_000), maximum: Some(1_000_000) };
    Ok(rustix::process::setrlimit(rustix::process::Resource::Rttime, limit)?)
}

/// Asks a server over TCP for a WebSocket, as a page of its own would or as a program, and in a way that it does not like to see.
fn ask(how: &str, is_page: bool, address: &str, host: &str, path: &str) -> Result<String> {
    let origin = if is_page { format!("Origin: http://{host}\r\n") } else { String::new() };
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    match how {
        "lowered" => lower()?,
        "hidden" => hide()?,
        "apart" => return apart(|| ask("plain", is_page, address, host, path)),
        _ => {}
    }
    // Whoever looks at all processes finds it, and nothing of it.
    let zombie = if how == "beside-a-zombie" { Some(zombie()?) } else { None };
    let mut stream = match how {
        "kept" | "kept-and-hidden" => kept(address, how == "kept-and-hidden")?,
        _ => TcpStream::connect(address)?,
    };
    stream.set_read_timeout(Some(GREETING))?;
    if how == "leaderless" {
        return Err(leaderless(stream, is_page, &request));
    }
    stream.write_all(request.as_bytes())?;
    let stream = if matches!(how, "unheld" | "beside-a-zombie") { unheld(stream)? } else { stream };
    let said = first_words(stream, is_page);
    if let Some(mut zombie) = zombie {
        zombie.wait()?;
    }
    said
}

/// Does something in a thread that has open files of its own: none of them is among those of the process.
#[cfg(target_os = "linux")]
fn apart(does: impl FnOnce() -> Result<String> + Send) -> Result<String> {
    let alone = || {
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_FILES)?;
        does()
    };
    std::thread::scope(|scope| scope.spawn(alone).join()).map_err(|_| Error::other("the thread broke"))?
}

#[cfg(not(target_os = "linux"))]
fn apart(_: impl FnOnce() -> Result<String> + Send) -> Result<String> {
    Err(Error::other("there is no way here"))
}

/// A child that has ended and that nobody has taken leave of.
fn zombie() -> Result<std::process::Child> {
    let child = Command::new("true").spawn()?;
    while !std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?.contains(") Z ") {
        std::thread::yield_now();
    }
    Ok(child)
}

/// The number of the call that ends one thread.
const EXIT: u32 = if cfg!(target_arch = "x86_64") { 60 } else { 93 };

/// Says what is on stdin's socket once the first thread has ended, and has the answer read when the server has looked.
const LEADERLESS: &str = r#"
    my ($exit, $page, $request, @reader) = @ARGV;
    open(my $socket, "+<&=", 0) or die;
    threads->create(sub {
        my $stat = "";
        until ($stat =~ /\) Z /) { open(my $file, "<", "/proc/$$/stat"); $stat = <$file> }
        syswrite($socket, $request);
        my $said = "-";
        while ($said ne "" && $said !~ ($page ? qr/challenge|refused/ : qr/\r\n\r\n/)) {
            defined recv($socket, $said, 4096, MSG_PEEK) or last;
            select(undef, undef, undef, 0.01);
        }
        exec @reader;
    })->detach;
    syscall($exit, 0);
"#;

/// Becomes a process whose first thread has ended while another one goes on with the connection.
fn leaderless(stream: TcpStream, is_page: bool, request: &str) -> Error {
    let reader = match std::env::current_exe() {
        Ok(reader) => reader,
        Err(why) => return why,
    };
    let (exit, kind) = (EXIT.to_string(), if is_page { "page" } else { "program" });
    let page = if is_page { "1" } else { "" };
    let mut perl = Command::new("perl");
    perl.args(["-Mthreads", "-MSocket", "-e", LEADERLESS, &exit, page, request]);
    perl.arg(reader).args(["first-words-on-stdin", kind]).stdin(Stdio::from(OwnedFd::from(stream))).exec()
}

/// Where a program listens that keeps the sockets which it is given.
const KEEPER: &str = "keeper.sock";

/// A connection that a program of the person's has as well, from before it is one: some servers look as soon as somebody comes.
fn kept(address: &str, hidden: bool) -> Result<TcpStream> {
    let socket: OwnedFd = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    let mut keeper = UnixStream::connect(KEEPER)?;
    hand_over(&keeper, &socket)?;
    keeper.read_exact(&mut [0])?;
    if hidden {
        hide()?;
    }
    let address: std::net::SocketAddr = address.parse().map_err(Error::other)?;
    connect(&socket, &address)?;
    Ok(TcpStream::from(socket))
}

/// Keeps every socket that it is given. Not an attack: other programs do so, for good reasons.
fn keep(path: &str) -> Result<String> {
    let listener = UnixListener::bind(path)?;
    let mut kept = Vec::new();
    loop {
        let (mut giver, _) = listener.accept()?;
        kept.push(taken(&giver)?);
        giver.write_all(b"x")?;
    }
}

/// Says by a file that it is there, and stays. Not an attack.
fn stay(file: &str) -> Result<String> {
    std::fs::write(file, "")?;
    loop {
        std::thread::park();
    }
}

/// Says yes to the first browser that the server asks about, as `parlor web` does.
fn confirm(mut stream: UnixStream) -> Result<String> {
    stream.set_read_timeout(Some(GREETING))?;
    let _ = stream.write_all(b"{\"pair\":{\"id\":1,\"allow\":true}}\n");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    if line.starts_with("{\"pair\"") {
        Ok("let in".to_owned())
    } else {
        Err(Error::other(line.trim().to_owned()))
    }
}

/// Whether a server lets us in: a page is asked who it is, a program is upgraded.
fn first_words(mut stream: TcpStream, is_page: bool) -> Result<String> {
    let mut said = Vec::new();
    let mut some = [0; 4096];
    loop {
        let count = stream.read(&mut some)?;
        said.extend_from_slice(&some[..count]);
        let text = String::from_utf8_lossy(&said).into_owned();
        let Some((head, words)) = text.split_once("\r\n\r\n").filter(|_| count > 0) else {
            if count == 0 {
                return Err(Error::other(format!("closed after {text:?}")));
            }
            continue;
        };
        if !head.starts_with("HTTP/1.1 101") || words.contains("refused") {
            return Err(Error::other(text));
        }
        if !is_page || words.contains("challenge") {
            return Ok("let in".to_owned());
        }
    }
}

/// Other programs of this user cannot see our open files any more.
fn hide() -> Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}

/// Keeps the connection on its way from us to us, so that no process has it open while the server looks.
fn unheld(stream: TcpStream) -> Result<TcpStream> {
    let (one, two) = UnixStream::pair()?;
    hand_over(&one, &stream)?;
    drop(stream);
    // The server looks meanwhile. One that looks later sees who has it then, which is a command as well.
    std::thread::sleep(UNHELD);
    taken(&two).map(TcpStream::from)
}

/// Sends a socket by another one.
fn hand_over(by: &UnixStream, socket: impl AsFd) -> Result<()> {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut buffer = SendAncillaryBuffer::new(&mut space);
    let fds = [socket.as_fd()];
    buffer.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(by, &[std::io::IoSlice::new(b"x")], &mut buffer, SendFlags::empty())?;
    Ok(())
}

/// Takes a socket that was sent by another one.
fn taken(by: &UnixStream) -> Result<OwnedFd> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut buffer = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(by, &mut [std::io::IoSliceMut::new(&mut byte)], &mut buffer, RecvFlags::empty())?;
    for message in buffer.drain() {
        if let RecvAncillaryMessage::ScmRights(mut fds) = message
            && let Some(fd) = fds.next()
        {
            return Ok(fd);
        }
    }
    Err(Error::other("no socket came"))
}

fn connect_on_stdin(path: &str) -> Result<String> {
    connect(std::io::stdin(), &SocketAddrUnix::new(path)?)?;
    Ok("connected".to_owned())
}

/// Moves a socket away and listens in its place.
fn listen_instead(path: &str) -> Result<UnixListener> {
    std::fs::rename(path, format!("{path}.moved"))?;
    UnixListener::bind(path)
}

/// Greets whoever comes as a runtime of the native wire does, and writes down in `heard` what it is told. Says `listening` by a file.
fn pretend(listener: &UnixListener) -> Result<String> {
    let mut heard = std::fs::File::create("heard")?;
    std::fs::write("listening", "")?;
    loop {
        let (stream, _) = listener.accept()?;
        let mut out = stream.try_clone()?;
        let _ = out.write_all(WELCOME);
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            writeln!(heard, "{line}")?;
        }
    }
}

/// Leaves the listening to a child and is gone.
fn hand_on(listener: UnixListener) -> Result<String> {
    let mut child = Command::new(std::env::current_exe()?);
    child
        .args(["pretend-on-stdin", &std::process::id().to_string()])
        .stdin(Stdio::from(OwnedFd::from(listener)))
        .stdout(Stdio::null())
        .spawn()?;
    Ok("handed on".to_owned())
}

/// Waits until a process is gone, also as a zombie: who looks before that finds it, and is told of something else.
fn until_gone(pid: Pid) {
    while rustix::process::test_kill_process(pid).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn process(pid: &str) -> Result<Pid> {
    pid.parse().ok().and_then(Pid::from_raw).ok_or_else(|| Error::other("no such process"))
}

#[cfg(target_os = "linux")]
fn trace(pid: &str) -> Result<String> {
    let pid = nix::unistd::Pid::from_raw(process(pid)?.as_raw_nonzero().get());
    nix::sys::ptrace::attach(pid)?;
    Ok("traced".to_owned())
}

#[cfg(target_os = "linux")]
fn read_memory(pid: &str) -> Result<String> {
    use std::os::unix::fs::FileExt;
    let pid = process(pid)?.as_raw_nonzero().get();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let start = maps.split('-').next().and_then(|text| u64::from_str_radix(text, 16).ok());
    let mut bytes = [0; 4];
    std::fs::File::open(format!("/proc/{pid}/mem"))?.read_exact_at(&mut bytes, start.unwrap_or(0))?;
    Ok(format!("read {bytes:?}"))
}

#[cfg(not(target_os = "linux"))]
fn trace(_: &str) -> Result<String> {
    Err(Error::other("there is no way here"))
}

#[cfg(not(target_os = "linux"))]
fn read_memory(_: &str) -> Result<String> {
    Err(Error::other("there is no way here"))
}

/// Becomes a program whose controlling terminal is its stdin, as a terminal emulator starts a shell. Not an attack.
fn on_terminal(program: &str, args: &[&str]) -> Error {
    let taken = setsid().and_then(|_| ioctl_tiocsctty(std::io::stdin()));
    match taken {
        Ok(()) => Command::new(program).args(args).exec(),
        Err(why) => why.into(),
    }
}
