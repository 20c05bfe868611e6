//! Going out by host: the person is asked while the command runs, the rule is kept, shown and taken back, and no trick leads past it.

use crate::hostile::bench::{Ran, Ui, World, as_each_user};
use serde_json::{Value, json};

/// Whether the program gets a network for its commands here, as `doctor` says.
fn has_networks(world: &World) -> bool {
    let said = world.parlor(&["doctor"]).output().unwrap();
    String::from_utf8_lossy(&said.stdout).contains("a network of their own: what they start")
}

/// Says this to the command's own proxy, in bash alone, and prints the first line of the answer.
fn saying(request: &str) -> String {
    format!(
        "login=${{https_proxy#http://}}; login=$(printf %s \"${{login%@*}}\" | base64); exec 3<>/dev/tcp/127.0.0.1/${{https_proxy##*:}}; \
         printf '{request}\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n' \"$login\" >&3; head -n 1 <&3"
    )
}

/// Runs a line; the question that it must lead to is answered with a choice.
fn choosing(ui: &mut Ui, line: &str, choice: &str) -> (Value, Ran) {
    ui.begin("bash", &json!({"command": line}));
    let ask = ui.asked();
    let answer = json!({"chosen": [choice]});
    ui.command(json!({"answer": {"ask": ask["id"], "answer": answer}}));
    (ask, ui.end(false))
}

fn printed(world: &World, args: &[&str]) -> String {
    let said = world.parlor(args).output().unwrap();
    assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn a_host_is_asked_for_once_and_kept_shown_and_taken_back() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        // A name that nobody has: what is allowed is looked up, and found nowhere.
        let line = saying("CONNECT registry.invalid:443 HTTP/1.1");
        let (ask, ran) = choosing(&mut ui, &line, "always");
        assert!(ask["title"].as_str().unwrap().ends_with("wants to reach registry.invalid"), "{ask}");
        assert!(
            ask["kind"]["choose"]["message"].as_str().unwrap().contains("reach registry.invalid?"),
            "{ask}"
        );
        assert!(ran.text.starts_with("HTTP/1.1 502"), "{}", ran.text);
        let ran = ui.bash(&line, false);
        assert!(ran.text.starts_with("HTTP/1.1 502") && ran.asked.is_none(), "{}", ran.text);
        let listed = printed(world, &["rules"]);
        assert!(listed.contains("let commands reach registry.invalid"), "{listed}");

        printed(world, &["rules", "revoke", "1"]);
        let (_, ran) = choosing(&mut ui, &line, "deny");
        assert!(ran.text.starts_with("HTTP/1.1 403"), "{}", ran.text);
        assert!(ran.text.contains("(refused: the person did not allow registry.invalid"), "{}", ran.text);
        let (_, ran) = choosing(&mut ui, &line, "session");
        assert!(ran.text.starts_with("HTTP/1.1 502"), "{}", ran.text);
        assert!(ui.bash(&line, false).asked.is_none());
        assert!(!printed(world, &["rules"]).contains("registry.invalid"), "it holds for the session alone");
    });
}

#[test]
fn no_trick_leads_past_the_question_or_into_the_machine() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for (request, status) in [
            (format!("CONNECT 127.0.0.1:{port} HTTP/1.1"), "403"),
            (format!("CONNECT localhost:{port} HTTP/1.1"), "403"),
            (format!("CONNECT [::ffff:7f00:1]:{port} HTTP/1.1"), "403"),
            (format!("CONNECT 2130706433:{port} HTTP/1.1"), "400"),
            (format!("CONNECT 127.1:{port} HTTP/1.1"), "400"),
            (format!("CONNECT example.com@127.0.0.1:{port} HTTP/1.1"), "400"),
            (format!("GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: example.com"), "403"),
            (format!("GET / HTTP/1.1\\r\\nHost: 127.0.0.1:{port}"), "400"),
            ("CONNECT 169.254.169.254:80 HTTP/1.1".to_owned(), "403"),
            ("CONNECT metadata.google.internal:80 HTTP/1.1".to_owned(), "403"),
        ] {
            let ran = ui.bash(&saying(&request), false);
            assert!(ran.text.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {}", ran.text);
            assert!(ran.asked.is_none(), "{request}");
        }
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "somebody came in");
        // A rule lets a host be reached by the proxy, and nothing else.
        let (_, ran) = choosing(&mut ui, &saying("CONNECT a.invalid:443 HTTP/1.1"), "always");
        assert!(ran.text.starts_with("HTTP/1.1 502"), "{}", ran.text);
        for other in ["CONNECT b.a.invalid:443 HTTP/1.1", "CONNECT a.invalid:22 HTTP/1.1"] {
            let (_, ran) = choosing(&mut ui, &saying(other), "deny");
            assert!(ran.text.starts_with("HTTP/1.1 403"), "{other}: {}", ran.text);
        }
        let network = json!({"command": "true", "network": true, "reason": "x"});
        assert!(ui.call("bash", &network, false).asked.is_some());
        // And a mode that denies the network denies it in a session that had a yes.
        ui.settled(json!({"set_policy": {"policy": "read_only"}}));
        let ran = ui.bash(&saying("CONNECT a.invalid:443 HTTP/1.1"), false);
        assert_eq!((ran.outcome.as_str(), ran.asked.is_none()), ("denied", true), "{}", ran.text);
    });
}

#[test]
fn without_a_person_a_word_on_the_command_line_names_the_host() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let args = json!({"command": saying("CONNECT a.invalid:443 HTTP/1.1")});
        let prompt = format!("call bash {args}");
        for (allow, told) in [
            (&["bash"][..], "--allow host:a.invalid"),
            (&["bash", "host:b.invalid"], "--allow host:a.invalid"),
            (&["bash", "host:a.invalid"], "502"),
            (&["bash:network"], "502"),
        ] {
            let allows = allow.iter().flat_map(|word| ["--allow", word]);
            let all: Vec<&str> =
                ["run", "--json"].into_iter().chain(allows).chain([prompt.as_str()]).collect();
            let said = world.parlor(&all).output().unwrap();
            let text = String::from_utf8_lossy(&said.stdout);
            assert!(text.contains(told), "{allow:?}: {text} {}", String::from_utf8_lossy(&said.stderr));
        }
    });
}
