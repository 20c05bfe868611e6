//! Settings that are none: whatever stands in the place of the file, every command goes on and says so.

use crate::ground::odd::EVERY;
use crate::hostile::bench::World;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use testkit::Screen;

/// What is put in the place of the file, and what is said of it.
type Stand = (&'static str, &'static str, fn(&World, &Path));

const STANDS: &[Stand] = &[
    ("no TOML", "is not TOML", |world, _| world.put("config/config.toml", "model = [\n")),
    ("wrong kinds", "compact_at", |world, _| {
        world.put("config/config.toml", "compact_at = \"x\"\nfetch = 3\n");
    }),
    ("no model", "`foo` is no model", |world, _| world.put("config/config.toml", "model = \"foo\"\n")),
    ("a folder", "is no file", |_, file| fs::create_dir(file).unwrap()),
    ("a pipe", "is no file", |_, file| {
        rustix::fs::mkfifoat(rustix::fs::CWD, file, rustix::fs::Mode::from_raw_mode(0o666)).unwrap();
    }),
    ("1 GB", "is larger than", |_, file| fs::File::create(file).unwrap().set_len(1 << 30).unwrap()),
    ("bytes", "is not UTF-8", |world, _| world.put("config/config.toml", b"model = \"\xff\"")),
    ("a loop", "cannot be read", |_, file| std::os::unix::fs::symlink("config.toml", file).unwrap()),
];

/// Commands that need the settings, and so have to say what is wrong with them.
fn reads(args: &[&str]) -> bool {
    matches!(args.first(), Some(&"run" | &"doctor" | &"mcp" | &"skills" | &"rules" | &"prompt" | &"serve"))
}

#[track_caller]
fn goes_on(what: &str, told: &str, args: &[&str], output: &Output) {
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let code = if args.first() == Some(&"doctor") { 1 } else { 0 };
    assert_eq!(output.status.code(), Some(code), "{what}, {args:?}: {said}");
    assert!(!reads(args) || said.contains(told), "{what}, {args:?}: {said}");
}

#[test]
fn whatever_stands_in_the_place_of_the_settings_is_told_and_every_command_goes_on() {
    let world = World::new(None);
    let file = world.path("config/config.toml");
    world.parlor(&["run", "say hello"]).output().unwrap();
    for (at, (what, told, stand)) in STANDS.iter().enumerate() {
        stand(&world, &file);
        for args in EVERY.iter().filter(|args| at == 0 || matches!(args.first(), Some(&"run" | &"doctor"))) {
            goes_on(what, told, args, &world.parlor(args).output().unwrap());
        }
        let mut terminal = Screen::start(&mut world.parlor(&[]));
        terminal.shows(&["config.toml"]);
        drop(terminal);
        if fs::remove_file(&file).is_err() {
            fs::remove_dir(&file).unwrap();
        }
    }
}

#[test]
fn settings_that_may_not_be_read_are_told_and_nothing_stops() {
    // Root may read everything.
    let user = rustix::process::getuid().is_root().then_some(65534);
    let world = World::new(user);
    world.put("config/config.toml", "compact_at = 50\n");
    fs::set_permissions(world.path("config/config.toml"), fs::Permissions::from_mode(0o000)).unwrap();
    for args in [&["run", "say hello"][..], &["doctor"], &["skills"]] {
        goes_on("unreadable", "cannot be read", args, &world.parlor(args).output().unwrap());
    }
}
