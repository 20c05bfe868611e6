//! `parlor login` and `parlor logout`: a key from a pipe and from a person, taken, refused and untried; where it goes afterwards.

use crate::task::project::KEY;
use crate::task::story::Say;
use crate::task::{Project, Server, Wire};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use testkit::Screen;

/// Another key than the right one.
const WRONG: &str = "wrongsecret-9876543210";

/// A provider that lists its models for the right key, and refuses everything else. Remembers which keys came.
struct Lister {
    url: String,
    keys: Arc<Mutex<Vec<String>>>,
}

impl Lister {
    fn start() -> Lister {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(Vec::new()));
        let seen = keys.clone();
        std::thread::spawn(move || {
            for mut socket in listener.incoming().flatten() {
                let mut key = String::new();
                for line in BufReader::new(&socket).lines().map_while(Result::ok) {
                    if let Some((name, value)) = line.split_once(": ")
                        && matches!(name, "authorization" | "x-api-key" | "x-goog-api-key")
                    {
                        value.trim_start_matches("Bearer ").clone_into(&mut key);
                    }
                    if line.is_empty() {
                        break;
                    }
                }
                let (status, body) = match key == KEY {
                    true => ("200 OK", r#"{"data":[{"id":"gpt-5"},{"id":"other"}]}"#.to_owned()),
                    false => {
                        ("401 Unauthorized", format!(r#"{{"error":{{"message":"no such key: {key}"}}}}"#))
                    }
                };
                seen.lock().unwrap().push(key);
                let _ = write!(
                    socket,
                    "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        Lister { url, keys }
    }

    fn keys(&self) -> Vec<String> {
        self.keys.lock().unwrap().clone()
    }
}

/// The program with the provider at this address.
fn parlor(project: &Project, url: &str, args: &[&str]) -> Command {
    let mut command = project.bare(args);
    command.env("OPENAI_BASE_URL", url).env_remove("PARLOR_MODEL");
    command
}

/// Lets it read this on stdin.
fn piped(mut command: Command, text: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that asks for nothing does not read it.
    let _ = child.stdin.take().unwrap().write_all(text);
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    let all =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!all.contains(KEY) && !all.contains(WRONG), "a key has got out: {all}");
    all
}

fn kept(project: &Project) -> String {
    std::fs::read_to_string(project.path("data/keys.json")).unwrap_or_default()
}

#[test]
fn a_key_from_a_pipe_is_tried_kept_for_the_person_alone_and_forgotten() {
    let (project, server) = (Project::new(), Lister::start());
    let login = piped(parlor(&project, &server.url, &["login", "openai"]), format!("{KEY}\n").as_bytes());
    let words = said(&login);
    assert_eq!(login.status.code(), Some(0), "{words}");
    assert!(
        words.contains("accepts it and lists 2 models") && words.contains("kept the key of openai"),
        "{words}"
    );
    assert!(words.contains("speaks with openai/gpt-5 now"), "{words}");
    assert_eq!(server.keys(), [KEY, "", KEY], "with the key, once without, and then what it has");
    assert!(kept(&project).contains(KEY));
    let mode = std::fs::metadata(project.path("data/keys.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let doctor = said(&parlor(&project, &server.url, &["doctor"]).output().unwrap());
    assert!(doctor.contains("openai       kept key (parlor login)"), "{doctor}");
    let logout = parlor(&project, &server.url, &["logout"]).output().unwrap();
    assert!(said(&logout).contains("forgot the key of openai"), "{}", said(&logout));
    assert!(!project.kept_anywhere(KEY));
    let again = parlor(&project, &server.url, &["logout", "openai"]).output().unwrap();
    assert_eq!((again.status.code(), said(&again).contains("no key of openai is kept")), (Some(0), true));
}

#[test]
fn a_key_that_is_refused_or_cannot_be_tried_is_kept_only_when_that_is_said() {
    let (project, server) = (Project::new(), Lister::start());
    for url in [server.url.as_str(), "http://127.0.0.1:1"] {
        let no = piped(parlor(&project, url, &["login", "openai"]), WRONG.as_bytes());
        let words = said(&no);
        assert_eq!(no.status.code(), Some(1), "{words}");
        assert!(words.contains("nothing was kept") && words.contains("--keep"), "{words}");
        assert!(!project.kept_anywhere(WRONG));
        let yes = piped(parlor(&project, url, &["login", "openai", "--keep"]), WRONG.as_bytes());
        assert_eq!(yes.status.code(), Some(0), "{}", said(&yes));
        assert!(kept(&project).contains(WRONG));
        std::fs::remove_file(project.path("data/keys.json")).unwrap();
    }
}

#[test]
fn what_is_no_key_or_no_provider_is_refused_before_anybody_is_asked() {
    let (project, server) = (Project::new(), Lister::start());
    let long = vec![b'k'; 20_000];
    for bad in [&b""[..], b"two words", b"one\ntwo\n", b"\xff\xfe\xfd", b"a\x1b[2Jb", &long] {
        let login = piped(parlor(&project, &server.url, &["login", "openai"]), bad);
        assert_eq!(login.status.code(), Some(1), "{bad:?}");
        assert!(said(&login).contains("that is no key: "), "{}", said(&login));
    }
    for (args, hint) in [
        (&["login"][..], "parlor login PROVIDER < FILE"),
        (&["login", "antropic"], "providers are anthropic"),
        (&["login", KEY], "providers are anthropic"),
        (&["login", "openai", "--ephemeral"], "nothing is to be kept"),
        (&["logout", "nobody"], "providers are anthropic"),
    ] {
        let login = piped(parlor(&project, &server.url, args), KEY.as_bytes());
        assert_eq!(login.status.code(), Some(2), "{args:?}: {}", said(&login));
        assert!(said(&login).contains(hint), "{args:?}: {}", said(&login));
    }
    assert_eq!((server.keys(), kept(&project)), (Vec::new(), String::new()));
}

#[test]
fn a_disk_that_says_no_and_a_file_that_is_none_are_told_with_what_to_do() {
    let (project, server) = (Project::new(), Lister::start());
    let file = project.path("data/keys.json");
    std::fs::create_dir(&file).unwrap();
    let login = piped(parlor(&project, &server.url, &["login", "openai"]), KEY.as_bytes());
    assert!(login.status.code() == Some(1) && said(&login).contains("is no file"), "{}", said(&login));
    std::fs::remove_dir(&file).unwrap();
    for rubbish in ["{", "[]", "{\"version\":9,\"keys\":{}}", "\u{0}", KEY] {
        std::fs::write(&file, rubbish).unwrap();
        let login = piped(parlor(&project, &server.url, &["login", "openai"]), KEY.as_bytes());
        assert_eq!(login.status.code(), Some(1), "{rubbish}");
        assert!(said(&login).contains("parlor logout --all"), "{}", said(&login));
        assert_eq!(kept(&project), rubbish, "it is not written over");
        let run = said(&project.bare(&["run", "say hello"]).output().unwrap());
        assert!(run.contains("hello") && run.contains("keys.json"), "everything else goes on: {run}");
    }
    assert_eq!(project.bare(&["logout", "--all"]).output().unwrap().status.code(), Some(0));
    assert!(!file.exists());
    // Something stands where the data folder would be.
    let mut nowhere = parlor(&project, &server.url, &["login", "openai"]);
    nowhere.env("PARLOR_DATA_DIR", project.path("work/sum.sh"));
    let nowhere = piped(nowhere, KEY.as_bytes());
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(said(&nowhere).contains("sum.sh"), "{}", said(&nowhere));
}

#[test]
fn members_that_are_not_known_and_other_keys_stay_and_a_wide_file_is_told() {
    let (project, server) = (Project::new(), Lister::start());
    let file = project.path("data/keys.json");
    let before = r#"{"version":1,"later":[1],"keys":{"groq":{"key":"g","address":"https://x","since":7}}}"#;
    std::fs::write(&file, before).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let wide = said(&project.bare(&["run", "say hello"]).output().unwrap());
    assert!(wide.contains("can be read by others: chmod 600"), "{wide}");
    piped(parlor(&project, &server.url, &["login", "openai"]), KEY.as_bytes());
    let after: serde_json::Value = serde_json::from_str(&kept(&project)).unwrap();
    assert_eq!((&after["later"][0], &after["keys"]["groq"]["since"]), (&1.into(), &7.into()));
    assert_eq!(after["keys"]["openai"]["key"], KEY);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let several = project.bare(&["logout"]).output().unwrap();
    assert!(
        several.status.code() == Some(2) && said(&several).contains("groq, openai"),
        "{}",
        said(&several)
    );
}

#[test]
fn logins_at_the_same_time_lose_none() {
    let (project, server) = (Project::new(), Lister::start());
    let accounts = ["openai", "groq", "mistral", "xai"];
    std::thread::scope(|scope| {
        for account in accounts {
            let (project, url) = (&project, &server.url);
            scope.spawn(move || {
                let mut command = project.bare(&["login", account]);
                for variable in ["OPENAI_BASE_URL", "GROQ_BASE_URL", "MISTRAL_BASE_URL", "XAI_BASE_URL"] {
                    command.env(variable, url);
                }
                assert_eq!(piped(command, KEY.as_bytes()).status.code(), Some(0));
            });
        }
    });
    for account in accounts {
        assert!(kept(&project).contains(&format!("\"{account}\"")), "{account}");
    }
}

#[test]
fn the_agent_uses_the_kept_key_unless_the_environment_has_one() {
    let wire = Wire::OpenAiChat;
    let story = || vec![Say::words("Good day.")];
    let (project, server) = (Project::new(), Server::start(wire, story()));
    // This one knows no list.
    let login = piped(parlor(&project, &server.url, &["login", "openai", "--keep"]), KEY.as_bytes());
    assert_eq!(login.status.code(), Some(0), "{}", said(&login));
    let run = parlor(&project, &server.url, &["--model", wire.model(), "run", "hello"]).output().unwrap();
    assert!(said(&run).contains("Good day."), "{}", said(&run));
    assert_eq!(server.trouble(), Vec::<String>::new());
    // Another address does not get it.
    let other = Server::start(wire, story());
    parlor(&project, &other.url, &["--model", wire.model(), "run", "hello"]).output().unwrap();
    assert_eq!(other.trouble(), ["the key is not where it belongs"]);
    let doctor = said(&parlor(&project, &other.url, &["doctor"]).output().unwrap());
    assert!(
        doctor.contains("the kept key of openai is for") && doctor.contains("not used elsewhere"),
        "{doctor}"
    );
    // The environment leads.
    let third = Server::start(wire, story());
    piped(parlor(&project, &third.url, &["login", "openai", "--keep"]), WRONG.as_bytes());
    let mut run = parlor(&project, &third.url, &["--model", wire.model(), "run", "hello"]);
    assert!(said(&run.env("OPENAI_API_KEY", KEY).output().unwrap()).contains("Good day."));
    assert_eq!(third.trouble(), Vec::<String>::new());
    let mut logout = parlor(&project, &third.url, &["logout", "openai"]);
    let logout = said(&logout.env("OPENAI_API_KEY", KEY).output().unwrap());
    assert!(logout.contains("OPENAI_API_KEY is set in the environment"), "{logout}");
}

#[test]
fn a_person_chooses_and_types_a_key_that_is_never_seen() {
    let (project, server) = (Project::new(), Lister::start());
    let mut terminal = Screen::start(&mut parlor(&project, &server.url, &["login"]));
    terminal.shows(&["Whose key do you have?", "1  anthropic", "2  openai", "or a name"]);
    terminal.send("nobody\r");
    terminal.shows(&["that is none of them"]);
    terminal.send("2\r");
    terminal.shows(&["The key of openai (it is not shown"]);
    terminal.send(&format!("x\u{15}\u{1b}[200~{KEY}\u{1b}[201~\r"));
    terminal.shows(&["accepts it and lists 2 models", "kept the key of openai"]);
    assert!(terminal.finish());
    assert!(!terminal.said(KEY), "it was on the screen");
    assert!(terminal.echoes(), "the terminal is as it was");
}

#[test]
fn a_person_is_asked_whether_a_refused_key_is_kept_all_the_same() {
    for (answer, code) in [("\r", 1), ("n\r", 1), ("y\r", 0)] {
        let (project, server) = (Project::new(), Lister::start());
        let mut terminal = Screen::start(&mut parlor(&project, &server.url, &["login", "openai"]));
        terminal.shows(&["The key of openai"]);
        terminal.send(&format!("{WRONG}\r"));
        terminal.shows(&["does not accept this key", "Keep it all the same? [y/N]"]);
        terminal.send(answer);
        assert_eq!(terminal.code(), Some(code), "{answer:?}");
        assert_eq!(kept(&project).contains(WRONG), code == 0, "{answer:?}");
        assert!(!terminal.said(WRONG), "it was on the screen");
    }
}

#[test]
fn whatever_ends_it_in_the_middle_keeps_nothing_and_gives_the_terminal_back() {
    let project = Project::new();
    for stop in ["\u{3}", "\u{4}", "TERM", "INT", "HUP"] {
        let mut terminal = Screen::start(&mut project.bare(&["login", "openai"]));
        terminal.shows(&["The key of openai"]);
        assert!(!terminal.echoes(), "from the first letter of the question on");
        if stop.len() == 1 {
            terminal.send(if stop == "\u{3}" { "half-a-key\u{3}" } else { stop });
        } else {
            terminal.send("half-a-key");
            let signal = match stop {
                "TERM" => Signal::TERM,
                "INT" => Signal::INT,
                _ => Signal::HUP,
            };
            kill_process(Pid::from_child(terminal.child()), signal).unwrap();
        }
        let code = match stop {
            "TERM" => 143,
            "HUP" => 129,
            _ => 130,
        };
        assert_eq!(terminal.code(), Some(code), "{stop:?}");
        assert!(terminal.echoes(), "{stop:?}");
        assert!(terminal.said("nothing was kept") && !terminal.said("half-a-key"), "{stop:?}");
        assert_eq!(kept(&project), "");
    }
}

#[test]
fn the_first_screen_offers_a_login_and_comes_back_with_a_real_model() {
    let (project, server) = (Project::new(), Lister::start());
    // Where nothing is configured, nobody is asked for a model.
    let mut terminal = Screen::start(&mut project.bare(&[]));
    terminal.shows(&["offline", "/login adds an API key"]);
    terminal.send("say howdy\r");
    terminal.shows(&["howdy"]);
    terminal.settles();
    terminal.send("/login\r");
    terminal.shows(&["Whose API key do you have?", "anthropic"]);
    terminal.send("openai\r");
    terminal.shows(&["The API key of openai"]);
    terminal.send("half\u{3}");
    terminal.shows(&["nothing was saved", "howdy"]);
    // The first key after it is not lost, and what was said is still there.
    terminal.send("say again\r");
    terminal.shows(&["again"]);
    terminal.settles();
    terminal.send("\u{4}");
    assert!(terminal.finish());
    let mut terminal = Screen::start(&mut parlor(&project, &server.url, &[]));
    terminal.shows(&["/login adds an API key"]);
    terminal.send("/login\r");
    terminal.shows(&["Whose API key do you have?", "anthropic"]);
    terminal.send("openai\r");
    terminal.shows(&["The API key of openai"]);
    terminal.send(&format!("{KEY}\r"));
    // The same screen goes on with a real model.
    terminal.shows(&["saved the key of openai", "model   openai/gpt-5"]);
    terminal.settles();
    terminal.send("\u{4}");
    assert!(terminal.finish());
    assert!(!terminal.said(KEY), "it was on the screen");
    // Nothing is kept where nothing is to be kept.
    let other = Project::new();
    let mut terminal = Screen::start(&mut other.bare(&["--ephemeral"]));
    terminal.shows(&["`parlor login` adds an API key"]);
    terminal.send("/login\r");
    terminal.shows(&["this runtime cannot do /login"]);
}

#[test]
fn the_login_that_editors_start_behind_our_command_is_the_same() {
    let (project, server) = (Project::new(), Lister::start());
    for args in [&["acp", "login"][..], &["acp", "--policy", "ask", "login"]] {
        let mut terminal = Screen::start(&mut parlor(&project, &server.url, args));
        terminal.shows(&["or a name"]);
        terminal.send("\u{3}");
        assert_eq!(terminal.code(), Some(130), "{args:?}");
    }
}
