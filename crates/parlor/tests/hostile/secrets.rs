//! What a person types into a question for a secret, and whoever reads the log of the wire afterwards.

use crate::bench::as_each_user;
use serde_json::json;
use std::io::Read;

#[test]
fn a_secret_is_not_in_the_log_of_the_wire() {
    const SECRET: &str = "hunter2-of-tonight";
    as_each_user(|world| {
        let mut serving = world.serve_with(&["--log-wire"]);
        let mut ui = world.ui(&serving.socket);
        ui.begin("ask", &json!({"kind": "text", "title": "Password?", "secret": true}));
        ui.answer(&json!({"entered": SECRET}));
        let ran = ui.end(true);
        assert_eq!(ran.outcome, "done", "{ran:?}");
        serving.child.kill().unwrap();
        let mut log = String::new();
        serving.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(log.contains("RECV") && log.contains("Password?"), "{log}");
        assert!(!log.contains(SECRET), "{log}");
    });
}
