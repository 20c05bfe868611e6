//! A command against the person's terminal: typing on it, painting on it, reading from it.

use crate::bench::as_each_user;
use crate::screen::Terminal;

/// Types a `y` on the terminal that it opens, in what is there to say it with.
fn type_on(terminal: &str) -> String {
    let perl = format!("open(T, '+<', '{terminal}') or die $!; ioctl(T, 0x5412, 'y') or die $!");
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
        let parlor = world.parlor(&["--policy", "full"]);
        let mut command = world.program(on_terminal);
        command.arg("on-terminal").arg(parlor.get_program()).args(parlor.get_args());
        let mut terminal = Terminal::start(&mut command);
        terminal.shows(&["offline"]);
        for script in ["type", "paint"] {
            for free in [false, true] {
                terminal.send(&format!(
                    "call bash {{\"command\": \"sh {script}.sh 2>&1; echo over-{script}-{free}\", \"unsandboxed\": {free}}}\r"
                ));
                terminal.shows(&[&format!("over-{script}-{free}")]);
                assert_eq!(terminal.count("\ntyped") + terminal.count("PAINTED"), 0);
            }
        }
        assert!(!terminal.said("PAINTED"));
    });
}
