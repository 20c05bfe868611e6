//! A transcript of each kind, and what it tells.

use super::*;
use expect_test::expect;

const CONSENT: &str = r#"dialect codelia
title a command is asked about

> {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"},"ui_capabilities":{"supports_confirm":true}}}
@+5ms < {"jsonrpc":"2.0","id":"a","result":{"protocol_version":"0","server":{"name":"x","version":"1"},"server_capabilities":{"supports_run_cancel":true,"supports_ui_requests":true}}}
@+100ms > {"jsonrpc":"2.0","id":"b","method":"run.start","params":{"input":{"type":"text","text":"run it"}}}
@+2ms < {"jsonrpc":"2.0","id":"b","result":{"run_id":"r1","session_id":"s1"}}
< {"jsonrpc":"2.0","method":"run.status","params":{"run_id":"r1","status":"running"}}
@+300ms < {"jsonrpc":"2.0","method":"agent.event","params":{"run_id":"r1","seq":0,"event":{"type":"step_start","step_id":"c1","title":"bash","step_number":1}}}
< {"jsonrpc":"2.0","method":"agent.event","params":{"run_id":"r1","seq":1,"event":{"type":"tool_call","tool":"bash","args":{"command":"ls"},"tool_call_id":"c1"}}}
< {"jsonrpc":"2.0","id":"ui_1","method":"ui.confirm.request","params":{"run_id":"r1","title":"Run command?","message":"ls","allow_reason":true}}
@+2s > {"jsonrpc":"2.0","id":"ui_1","result":{"ok":true,"remember":false,"reason":null}}
@+50ms < {"jsonrpc":"2.0","method":"agent.event","params":{"run_id":"r1","seq":2,"event":{"type":"tool_result","tool":"bash","result":"a.txt","tool_call_id":"c1"}}}
< {"jsonrpc":"2.0","method":"agent.event","params":{"run_id":"r1","seq":3,"event":{"type":"step_complete","step_id":"c1","status":"completed"}}}
@+400ms < {"jsonrpc":"2.0","method":"agent.event","params":{"run_id":"r1","seq":4,"event":{"type":"final","content":"One </script> file."}}}
@+1ms < {"jsonrpc":"2.0","method":"run.status","params":{"run_id":"r1","status":"completed"}}
!< some noise
"#;

fn trace() -> Trace {
    Trace::of(&Transcript::parse(CONSENT).unwrap(), dialects::codelia::DIALECT)
}

#[test]
fn runs_tools_asks_and_waiting_are_told() {
    expect![[r#"
        codelia · a command is asked about
        lasted 2.858 s · runs 1 · turns 1 · steps 2 · tools 1 · asks 1 · waited for the model 0.700 s · waited for the person 2.000 s · tools took 0.050 s · UI said 3 lines, 344 bytes · runtime said 11 lines, 1311 bytes

            0.000  >  initialize
            0.005  <  initialize: {"protocol_version":"0","server":{"name":"x","version":"1"},… (79 more bytes)
            0.105  >  prompt "run it"
            0.107  <  run-started · turn-started prompt · message user · text "run it" · message-ended complete
            0.107  <      run.status running
            0.407  <      agent.event step_start
            0.407  <      step-started · message assistant · tool-proposed bash {"command":"ls"}
            0.407  <        ask consent bash
            2.407  >        answer
            2.457  <        tool-decided allowed · tool-started · tool-ended done "a.txt"
            2.457  <        agent.event step_complete
            2.857  <        message-ended complete · step-ended · step-started · message assistant · text "One </script> file." · message-ended complete
            2.858  <  step-ended · turn-ended · run-ended done
            2.858  <  unknown: not JSON: expected value at line 1 column 1; send one JSON object per line

          2.050 s  tool done        bash {"command":"ls"}
          2.000 s  ask  answered    Run command?
    "#]].assert_eq(&trace().to_string());
}

/// Requests that our own UI role would not make: there is no run to cancel, and it has not chosen a session.
#[test]
fn answers_are_told_by_the_request_whichever_side_made_it() {
    let recorded = r#"dialect codelia
> {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocol_version":"0","client":{"name":"t","version":"0"},"ui_capabilities":{"supports_pick":true}}}
< {"jsonrpc":"2.0","id":"a","result":{"protocol_version":"0","server":{"name":"x","version":"1"},"server_capabilities":{}}}
> {"jsonrpc":"2.0","id":"b","method":"run.cancel","params":{"run_id":"r9"}}
< {"jsonrpc":"2.0","id":"b","error":{"code":-32002,"message":"run not found"}}
> {"jsonrpc":"2.0","id":"c","method":"session.history","params":{"session_id":"s1"}}
< {"jsonrpc":"2.0","id":"c","result":{"runs":0,"events_sent":0}}
< {"jsonrpc":"2.0","id":"c","method":"client.tool","params":{}}
> {"jsonrpc":"2.0","id":"c","error":{"code":-32601,"message":"method not found"}}
< {"jsonrpc":"2.0","id":"z","result":{}}
"#;
    let trace = Trace::of(&Transcript::parse(recorded).unwrap(), dialects::codelia::DIALECT);
    let words = |line: usize| trace.lines[line].words.join(" · ");
    assert_eq!(words(3), "run.cancel: error -32002 run not found");
    assert!(words(5).starts_with("session.history: {"), "{}", words(5));
    assert_eq!(words(7), "client.tool: error -32601 method not found");
    assert_eq!(words(8), "unknown: an answer to nothing that we asked", "nobody asked for it");
}

/// Files and terminals by the editor's hands, in a recording of which the beginning is missing: each is told in words, both ways.
#[test]
fn what_an_agent_has_its_editor_do_is_told_in_words() {
    let recorded = r#"dialect acp
title files and commands by the hands of the editor

> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}
> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"mend it"}]}}
< {"jsonrpc":"2.0","id":10,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/w/a.rs","line":3,"limit":10}}
> {"jsonrpc":"2.0","id":10,"result":{"content":"fn main() {}\n"}}
< {"jsonrpc":"2.0","id":11,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/w/a.rs","content":"fn main() { go() }\n"}}
> {"jsonrpc":"2.0","id":11,"result":null}
< {"jsonrpc":"2.0","id":12,"method":"terminal/create","params":{"sessionId":"s1","command":"cargo","args":["test"],"cwd":"/w"}}
> {"jsonrpc":"2.0","id":12,"result":{"terminalId":"term-1"}}
< {"jsonrpc":"2.0","id":13,"method":"terminal/output","params":{"sessionId":"s1","terminalId":"term-1"}}
> {"jsonrpc":"2.0","id":13,"result":{"output":"ok. 3 passed","truncated":false,"exitStatus":null}}
< {"jsonrpc":"2.0","id":14,"method":"terminal/wait_for_exit","params":{"sessionId":"s1","terminalId":"term-1"}}
> {"jsonrpc":"2.0","id":14,"result":{"exitCode":0,"signal":null}}
< {"jsonrpc":"2.0","id":15,"method":"terminal/kill","params":{"sessionId":"s1","terminalId":"term-1"}}
> {"jsonrpc":"2.0","id":15,"result":{}}
< {"jsonrpc":"2.0","id":16,"method":"terminal/release","params":{"sessionId":"s1","terminalId":"term-1"}}
> {"jsonrpc":"2.0","id":16,"error":{"code":-32603,"message":"no such terminal"}}
< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
"#;
    let trace = Trace::of(&Transcript::parse(recorded).unwrap(), dialects::acp::DIALECT);
    let told: Vec<String> = trace.lines[5..19].iter().map(|line| line.words.join(" · ")).collect();
    expect![[r#"
        wants the file /w/a.rs
        fs/read_text_file: the file has 13 bytes
        wants to write /w/a.rs (19 bytes)
        fs/write_text_file: written
        wants to run cargo test
        terminal/create: runs as term-1
        wants what term-1 printed
        terminal/output: printed "ok. 3 passed"
        waits for the end of term-1
        terminal/wait_for_exit: ended with code 0
        wants term-1 ended
        terminal/kill: ended by force
        wants term-1 ended and forgotten
        terminal/release: error -32603 no such terminal
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
}

#[test]
fn the_question_lasts_until_it_is_answered() {
    let trace = trace();
    let ask = trace.spans.iter().find(|span| span.kind == SpanKind::Ask).unwrap();
    assert_eq!((ask.to.unwrap() - ask.from, ask.outcome.as_str()), (2000, "answered"));
    assert_eq!(trace.totals.person_millis, 2000);
    assert!(trace.spans.iter().all(|span| span.to.is_some()), "{:?}", trace.spans);
}

#[test]
fn the_page_stands_alone_and_data_stays_data() {
    let page = trace().to_html();
    assert!(!page.contains("__DATA__") && !page.contains("__TITLE__"));
    assert!(!page.contains("One </script>"));
    for elsewhere in ["http://", "https://", "src=", "@import"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}

#[test]
fn every_transcript_of_ours_can_be_traced() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../transcripts");
    let mut seen = 0;
    for dialect in dialects::ALL {
        for side in ["runtime", "ui"] {
            let Ok(files) = std::fs::read_dir(format!("{root}/{dialect}/{side}")) else { continue };
            for file in files {
                let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
                let Ok(transcript) = Transcript::parse(&text) else { continue };
                let trace = Trace::of(&transcript, *dialect);
                assert!(trace.lines.iter().all(|line| !line.words.is_empty()));
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}
