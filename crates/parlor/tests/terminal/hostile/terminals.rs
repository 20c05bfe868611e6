//! A command against the person's terminal: typing on it, painting on it, reading from it.

use crate::hostile::bench::as_each_user;
use testkit::Screen;

/// Types a `y` on the terminal that it opens, in what is there to say it with.
fn type_on(terminal: &str) -> String {
    let perl = format!("open(T, '+<', '{terminal}') or die \\$!; ioctl(T, 0x5412, 'y') or die \\$!");
    let python = format!("import fcntl, os; fcntl.ioctl(os.open('{terminal}', os.O_RDWR), 0x5412, b'y')");
    format!("if command -v perl; then perl -e \"{perl}\"; else python3 -c \"{python}\"; fi && echo typed")
}

#[test]
fn a_command_can_neither_type_nor_paint_on_the_terminal() {
    as_each_user(|world| {
        let on_terminal = world.attack();
        let typing = type_on("/dev/tty");
        world.put("project/type.sh", &typing);
        world.put("project/paint.sh", "printf PAINTED > /dev/tty && echo painted");
        for script in ["type", "paint"] {
            for free in [false, true] {
                let parlor = world.parlor(&["--policy", "full"]);
                let mut command = world.program(&on_terminal);
                command.arg("on-terminal").arg(parlor.get_program()).args(parlor.get_args());
                let mut terminal = Screen::start(&mut command);
                terminal.shows(&["offline"]);
                // What it says on the way goes to a file: the screen shows the line as well as what came of it.
                let said = format!("said-{script}-{free}");
                let line = format!("sh {script}.sh > {said} 2>&1; echo over-$((40 + 2))-{script}-{free}");
                let reason = "to see what stops it";
                terminal.send(&format!(
                    "call bash {{\"command\": \"{line}\", \"unsandboxed\": {free}, \"reason\": \"{reason}\"}}\r"
                ));
                if free {
                    terminal.shows(&["▌", reason]);
                    terminal.send("\t");
                    terminal.asks(&[reason]);
                    terminal.send("y");
                }
                terminal.shows(&[&format!("over-42-{script}-{free}")]);
                let said = world.get(&format!("project/{said}"));
                assert!(!said.contains("typed") && !said.contains("painted"), "{script} {free}: {said}");
                // Free of the sandbox there is still no terminal; inside it there is not even the way to one.
                let why = ["No such device or address", "Permission denied", "No such file or directory"];
                assert!(
                    why.iter().take(if free { 1 } else { 3 }).any(|why| said.contains(why)),
                    "{script} {free}: {said}"
                );
                assert!(!terminal.said("PAINTED"));
            }
        }
    });
}
