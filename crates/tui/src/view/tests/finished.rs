//! What people who saw only the pictures found unfinished, and that it stays mended.

use super::gallery::*;
use crate::theme::Theme;
use crate::update::tests::AttachedUi;
use domain::event::{Failure, Outcome};
use ratatui_core::buffer::Cell;
use ratatui_core::style::{Color, Modifier};

/// What the keys do is told at every width: the way out and what Enter does, on every list, page and board.
#[test]
fn the_way_out_and_the_main_key_are_told_at_every_width() {
    let with_enter = [
        "fleet", "ports", "servers", "sessions", "search", "models", "rules", "devices", "themes", "settings",
    ];
    for (name, scene) in SCENES {
        for columns in [34, 40, 50, 60, 80, 200] {
            let mut stage = stage(columns, 30);
            scene(&mut stage);
            if !stage.ui.model.screen.over.is_open() {
                continue;
            }
            let screen = stage.ui.screen();
            // More rows where one is not enough, three at most.
            let lines: Vec<&str> = screen.lines().collect();
            let first = lines.iter().rev().take(3).position(|line| line.starts_with(" Esc ")).unwrap() + 1;
            let last = lines[lines.len() - first..].join(" ·");
            assert!(last.starts_with(" Esc closes"), "{name} at {columns}:\n{screen}");
            assert_eq!(last.contains("Enter "), with_enter.contains(name), "{name} at {columns}:\n{screen}");
            assert!(!last.contains('…'), "{name} at {columns}:\n{screen}");
            let deletes = ["rules", "sessions", "devices"].contains(name);
            assert_eq!(last.contains("Del twice "), deletes, "{name} at {columns}:\n{screen}");
            assert!(!last.contains("back") && !last.contains("remove"), "one word for one thing:\n{screen}");
        }
    }
}

#[test]
fn a_narrow_screen_tells_whole_what_matters() {
    for (scene, words) in [
        (working as fn(&mut AttachedUi), &["…sonnet-4-5 · asks first  ctx 87% left", "Esc stops"][..]),
        (conversation, &["ask anything · / commands · ? keys", "ctx 87% left"]),
        (models, &["anthropic/claude-sonnet-4-5", "$3.00 in, $15.00 out"]),
        (
            |stage| {
                models(stage);
                stage.ui.keys("<end>");
            },
            &["offline/offline", "100k context\n free: built in, needs no key"],
        ),
        (rules, &["run cargo test with any arguments", "for this session"]),
        (question_choose, &["a server; several", "programs at once"]),
        (
            fleet,
            &["2 waiting for you · 2 running\n", "mend the bridge to codelia", "overwrite src/bridge.rs"],
        ),
        (
            lost,
            &[
                "  /restart starts it again\n   (Ctrl-D quits)",
                ">  /restart to go on",
                "runtime gone  context 87% left · $0.09",
            ],
        ),
    ] {
        let mut stage = stage(40, 30);
        scene(&mut stage);
        let screen = stage.ui.screen();
        for words in words {
            assert!(screen.contains(words), "{words}:\n{screen}");
        }
    }
    for (keys, words) in [
        ("<ctrl-f>total", "find: total   6/6 · Enter older · Esc"),
        ("<ctrl-f>", "find:    type words · Esc closes"),
        ("?/steers", "find: steers   1/1 · Enter next · Esc"),
    ] {
        let mut stage = stage(40, 30);
        conversation(&mut stage);
        stage.ui.keys(keys);
        let screen = stage.ui.screen();
        assert!(screen.contains(words), "{words}:\n{screen}");
    }
    let mut stage = stage(40, 30);
    stage.ui.keys("/theme<enter>");
    assert!(!stage.ui.screen().contains('…'), "{}", stage.ui.screen());
}

/// A scene on a screen of this size.
fn drawn(scene: fn(&mut AttachedUi), (columns, rows): (u16, u16)) -> String {
    let mut stage = stage(columns, rows);
    scene(&mut stage);
    stage.ui.screen()
}

#[test]
fn screens_say_what_they_mean() {
    for (scene, size, is, is_not) in [
        // One key stops, one word views all of it, and it is told why there is no rule.
        (
            question_command as fn(&mut AttachedUi),
            (80, 24),
            &["n deny and stop", "no rule is offered"][..],
            &["Esc", "allow:", "v view all"][..],
        ),
        (question_command, (40, 30), &["HIGH RISK,", "no rule is offered\n"], &["·\n"]),
        (
            question_write,
            (80, 24),
            &[
                "s and a would also allow: write files under /w/shop\n",
                "y allow once   s allow for this session   a always allow in this project\n▌n deny",
            ],
            &["only be allowed once", "Tab type", "v view all"],
        ),
        (
            question_write,
            (40, 30),
            &["y allow once", "medium risk", ".nth(1)\n", ".unwrap_or(\"friend\"\n"],
            &["shows all", "more lines"],
        ),
        (question_choose, (80, 24), &["Tab to queue a prompt", "Esc no answer"], &["type to"]),
        // What goes on is not told as if it were over.
        (
            fleet,
            (80, 24),
            &["for 14 min", "55 min ago", "make the total… (here)", "Esc closes", "lang · main · codex\n"],
            &["14 min ago", "› "],
        ),
        (fleet, (120, 36), &["▌Overwrite src/bridge.rs?  +3 −1", "▌41 +         let Some(line)"], &[]),
        (fleet, (80, 24), &["· closed   2 days ago"], &["kept"]),
        // What is told of a row stands right above the keys.
        (fleet, (120, 36), &["sess-000000000005\n Esc closes"], &[]),
        (fleet, (40, 30), &["sess-000000000005\n Esc closes"], &[]),
        (
            fleet,
            (40, 30),
            &[
                "Fleet · 2 waiting for you · 2 running\n",
                "? waiting  mend the bridge to codelia\n",
                "Esc closes · Enter shows the question\n s writes to it · x stops it",
            ],
            &["of 8", "·\n"],
        ),
        // One session stands in the fleet and in the list as the same.
        (fleet, (80, 24), &["? waiting  for 3 min   a till for the shop"], &[]),
        (
            sessions,
            (80, 24),
            &[
                "✓ make the total readable (here)              done     just now    2 messages",
                "? a till for the shop (open)                  waiting  3 min ago   8 messages",
                "● [codex] port the parser (open)              running  6 min ago   6 messages",
                "✓ release notes for 0.3 (open)                done     55 min ago  28 messages",
                "✗ translate the manual (open)                 failed   2 h ago     2 messages",
                "· une aide en français                        closed   2 days ago  16 messages",
                "2 of 8",
            ],
            &["…\n    "],
        ),
        (
            sessions,
            (40, 30),
            &[
                "✓ make the total… (here)       done",
                "● why does make check fail…    running",
                "12 messages",
                "Del twice deletes",
            ],
            &["Del Del"],
        ),
        // No group is torn between two columns or screens, and one column is read without gaps.
        (
            |stage| stage.ui.keys("?"),
            (80, 24),
            &["lines 1–20 of ", "Reading", "Shift-↑↓     a line up, a line down", "Ctrl-F       finds words"],
            &["Sessions and"],
        ),
        (
            |stage| stage.ui.keys("?"),
            (40, 30),
            &["1–26 of 65", "↑ ↓          your earlier prompts", "idle: edits last prompt\n", "Esc closes"],
            &["/keys tells more", "\n\n\n"],
        ),
        (lost, (80, 24), &["it said last:\n   │ boom: no config", "giving up\n   /restart starts"], &[]),
        (
            rules,
            (80, 24),
            &["What you have allowed\n", "for this session"],
            &["for good", "`", "\n · ", "──"],
        ),
        (
            first_told,
            (80, 24),
            &[
                "(did you mean dark?), so it is auto;",
                "/settings changes what is saved in",
                "/home/ann/.config/parlor/config.toml",
            ],
            &["Try one"],
        ),
        (
            models,
            (80, 24),
            &[
                "Models · prices per 1M tokens\n",
                "◆ anthropic/claude-sonnet-4-5  in use · 200k context · $3.00 in, $15.00 out\n",
                "32k context · price not known\n",
            ],
            &["per 1M\n"],
        ),
        (
            models,
            (80, 24),
            &["offline/offline              100k context · free: built in, needs no key\n"],
            &[],
        ),
        (first_told, (40, 30), &["! theme cannot be drak", " … /notices shows all\n"], &["……", "… …"]),
        (error, (40, 30), &[">  ↑ brings your prompt back\n"], &["ask anything"]),
        (error, (80, 24), &[">  ↑ brings your prompt back · / commands · ? keys\n"], &["ask for"]),
        (error, (80, 24), &["overloaded\n   wait a minute", "/model\n\n ── failed after 4.2s"], &["`"]),
        (working, (120, 36), &["context ▰▰▰▰▰▰▰▱ 87% left", "queued: then", "Enter queues"], &["waits: "]),
        (working, (40, 30), &["● bash cargo test -p shop…  running\n"], &[]),
        (working, (80, 24), &["context 87% left · $0.09", "Plan  2 of 3 done", "✓ read the cart"], &[]),
        (
            working,
            (40, 30),
            &["working · 14s   Esc stops\n   Enter queues · Ctrl-S steers\n", "…sonnet-4-5 · "],
            &["claude-s"],
        ),
        (
            |stage| stage.ui.keys("/settings<enter>"),
            (80, 24),
            &[
                "1 of 10",
                "auto               colours; auto: those",
                "see /keys          opens the keys, and how",
                "Settings · saved in /home/ann/.config/parlor/config.toml\n",
            ],
            &["…"],
        ),
        (
            |stage| stage.ui.keys("/settings<enter><end>"),
            (40, 30),
            &["Enter opens /tools", "saved in\n /home/ann/.config/parlor/config.toml\n"],
            &["…"],
        ),
        (
            |stage| stage.ui.keys("/theme<enter>"),
            (80, 24),
            &["◆ auto      in use · fits the terminal"],
            &["terminal here", "› auto", "●"],
        ),
        (|stage| stage.ui.keys("/"), (120, 36), &["and 34 more", "try     "], &[]),
        (|stage| stage.ui.keys("/ses"), (80, 24), &["/sessions [id]", "Tab inserts · Enter runs"], &[]),
        (|stage| stage.ui.keys("/rena"), (80, 24), &["/rename TITLE", "Tab inserts"], &["Enter runs"]),
    ] {
        let screen = drawn(scene, size);
        is.iter().for_each(|words| assert!(screen.contains(words), "{words}:\n{screen}"));
        is_not.iter().for_each(|words| assert!(!screen.contains(words), "not {words}:\n{screen}"));
    }
}

#[test]
fn a_free_row_below_a_question_tells_that_it_waits() {
    for scene in [question_write as fn(&mut AttachedUi), question_command, question_choose] {
        for (columns, rows) in (14..40).flat_map(|rows| [(40, rows), (80, rows)]) {
            let screen = drawn(scene, (columns, rows));
            let lines: Vec<&str> = screen.lines().map(str::trim).collect();
            let rule = lines.iter().rposition(|line| line.starts_with("────")).unwrap();
            assert_ne!(lines[rule - 1], "", "{columns}x{rows}\n{screen}");
        }
    }
}

#[test]
fn every_command_is_told_whole_at_every_width() {
    for columns in [40, 60, 80, 120] {
        let mut stage = stage(columns, 30);
        stage.ui.keys("/");
        for at in 0..crate::commands::COMMANDS.len() {
            let screen = stage.ui.screen();
            assert!(!screen.contains('…'), "{at} at {columns}\n{screen}");
            stage.ui.keys("<down>");
        }
    }
}

#[test]
fn after_a_failure_the_prompt_comes_back_as_it_is_told() {
    let mut stage = stage(80, 24);
    error(&mut stage);
    stage.ui.keys("<up>");
    assert_eq!(stage.ui.model.screen.composer.text(), "translate the manual");
    // What was never written here cannot be brought back, and is not offered.
    let mut other = super::gallery::stage(80, 24);
    other.run("translate the manual");
    other.end(Outcome::Failed(Failure::new("model_overloaded", "the model is overloaded")));
    assert!(other.ui.screen().contains(">  ask anything"), "{}", other.ui.screen());
}

#[test]
fn a_question_stands_apart_and_is_not_torn() {
    for size in [(80, 24), (40, 30), (120, 36)] {
        let screen = drawn(question_write, size);
        let lines: Vec<&str> = screen.lines().map(str::trim).collect();
        let rule = lines.iter().position(|line| line.starts_with('▌')).unwrap();
        assert_eq!((lines[rule - 1], lines[rule - 2].is_empty()), ("", false), "{screen}");
        // The last line before what is left out is whole.
        if let Some(cut) = lines.iter().position(|line| line.starts_with("… ")) {
            assert!(["house", "today() {"].iter().any(|end| lines[cut - 1].ends_with(end)), "{screen}");
        }
    }
    let lines = drawn(question_choose, (80, 24));
    let lines: Vec<&str> = lines.lines().map(str::trim).collect();
    let first = lines.iter().position(|line| line.starts_with("▌› 1 SQLite")).unwrap();
    assert_eq!(lines[first - 1], "▌", "what is asked stands apart from its answers");
}

#[test]
fn code_without_colours_keeps_its_marks() {
    let mut stage = stage(80, 24);
    conversation(&mut stage);
    assert!(!stage.ui.screen().contains('`'), "{}", stage.ui.screen());
    stage.ui.wear(Theme::Plain);
    let screen = stage.ui.screen();
    assert!(screen.contains("`src/cart.rs`:") && screen.contains("│ `Money`"), "{screen}");
}

#[test]
fn a_page_stands_below_a_blank_row_where_there_is_room() {
    for (size, blank) in [((80, 24), true), ((80, 12), false), ((120, 36), true)] {
        let screen = drawn(|stage| stage.ui.keys("?"), size);
        assert_eq!(screen.lines().nth(1).unwrap().trim().is_empty(), blank, "{size:?}\n{screen}");
    }
}

/// Who waits and who failed have the colours of the fleet in the list of sessions.
#[test]
fn a_state_has_one_colour_in_the_fleet_and_in_the_list() {
    let colours = |scene: fn(&mut AttachedUi)| {
        let mut stage = stage(80, 24);
        scene(&mut stage);
        stage.ui.wear(Theme::Dark);
        // The row under the cursor has colours of its own.
        stage.ui.keys("<end>");
        let (buffer, _) = stage.ui.draw();
        ["?", "●", "✗", "✓"].map(|sign| {
            let found = buffer.content().iter().find(|cell| cell.symbol() == sign);
            found.map(|cell| cell.fg)
        })
    };
    let fleet = colours(fleet);
    assert!(fleet.iter().all(Option::is_some));
    assert_eq!(colours(sessions), fleet);
}

/// The word for how a session stands has the colour of its sign.
#[test]
fn a_state_is_told_in_its_colour() {
    for size in [(40, 30), (80, 24)] {
        let mut stage = stage(size.0, size.1);
        sessions(&mut stage);
        stage.ui.wear(Theme::Dark);
        let (buffer, _) = stage.ui.draw();
        let screen = stage.ui.screen();
        for (sign, word) in [("?", "waiting"), ("✗", "failed")] {
            let y = screen.lines().position(|line| line.trim_start().starts_with(sign)).unwrap();
            let line = screen.lines().nth(y).unwrap();
            let x = line[..line.find(word).unwrap()].chars().count();
            let colour = |x: usize| buffer[(u16::try_from(x).unwrap(), u16::try_from(y).unwrap())].fg;
            assert_eq!(colour(x), colour(1), "{word}\n{screen}");
        }
    }
}

/// What is said where nothing is written yet stands beside the caret, so that none of it is covered.
#[test]
fn the_caret_covers_nothing_that_is_said() {
    for (name, scene) in SCENES.iter().filter(|(name, _)| !["working", "commands"].contains(name)) {
        for columns in [40, 80] {
            let mut stage = stage(columns, 30);
            scene(&mut stage);
            let (buffer, caret) = stage.ui.draw();
            let covered = caret.map(|caret| buffer[caret].symbol().to_owned());
            assert!(covered.is_none_or(|covered| covered == " "), "{name} at {columns}");
        }
    }
}

/// A share is never told without of what it is.
#[test]
fn what_is_left_is_told_with_of_what() {
    for scene in [conversation as fn(&mut AttachedUi), working, lost, error] {
        for columns in 20..130 {
            let screen = drawn(scene, (columns, 30));
            let status = screen.lines().next_back().unwrap();
            let told = ["ctx ", "context "].iter().any(|word| status.contains(word));
            assert_eq!(status.contains("% left"), told, "{columns}: {status}");
        }
    }
}

/// Of sixteen colours none can be made faint and still be read.
#[test]
fn no_colour_of_the_terminal_is_faint() {
    for (name, scene) in SCENES {
        let mut stage = stage(80, 24);
        scene(&mut stage);
        stage.ui.wear(Theme::Terminal);
        let (buffer, _) = stage.ui.draw();
        let faint = |cell: &&Cell| cell.fg != Color::Reset && cell.modifier.contains(Modifier::DIM);
        assert_eq!(buffer.content().iter().filter(faint).count(), 0, "{name}");
    }
}

/// How a session stands is told with one sign and one word, in the fleet and in the list.
#[test]
fn a_state_has_one_sign_and_one_word() {
    let (fleet, list) = (drawn(fleet, (120, 36)), drawn(sessions, (120, 36)));
    for (title, sign, word) in [
        ("make the total readable", "✓", "done"),
        ("a till for the shop", "?", "waiting"),
        ("port the parser", "●", "running"),
        ("release notes for 0.3", "✓", "done"),
        ("translate the manual", "✗", "failed"),
        ("une aide en français", "·", "closed"),
    ] {
        for screen in [&fleet, &list] {
            let line = screen.lines().find(|line| line.contains(title)).unwrap().trim_start();
            assert!(line.starts_with(sign) && line.contains(word), "{title}\n{screen}");
        }
    }
}
