//! What is taken out, and what stays.

use super::*;

fn clean(redactor: &mut Redactor, side: Side, line: &str) -> String {
    redactor.step(Step::recorded(side, 0, line.as_bytes(), None)).to_string()
}

#[test]
fn values_under_telling_keys_go() {
    let table = [
        (r#"{"api_key":"abc"}"#, r#"> {"api_key":"[redacted]"}"#),
        (
            r#"{"env":{"X_API_KEY":"abc","HOME":"/home/me"}}"#,
            r#"> {"env":{"X_API_KEY":"[redacted]","HOME":"/home/me"}}"#,
        ),
        (
            r#"{"headers":[{"name":"Authorization","value":"Basic Zm9v"}]}"#,
            r#"> {"headers":[{"name":"Authorization","value":"[redacted]"}]}"#,
        ),
        (r#"{"access_token":"a","input_tokens":12}"#, r#"> {"access_token":"[redacted]","input_tokens":12}"#),
        (r#"{"secret":true}"#, r#"> {"secret":true}"#),
    ];
    for (line, expected) in table {
        assert_eq!(clean(&mut Redactor::new(), Side::Ui, line), expected);
    }
}

#[test]
fn a_streamed_token_is_text_and_a_made_one_is_not() {
    let said = |line| clean(&mut Redactor::new(), Side::Runtime, line);
    assert_eq!(said(r#"{"type":"token","token":"Hello"}"#), r#"< {"type":"token","token":"Hello"}"#);
    assert_eq!(said(r#"{"token":"a1b2c3d4e5f6a7b8c9d0e1"}"#), r#"< {"token":"[redacted]"}"#);
}

#[test]
fn keys_of_services_go_wherever_they_stand() {
    let text = "use sk-abcdefghijklmnop1234, then OPENAI_API_KEY='xyz123' and Bearer abcdefghij; ask-me-not-so-quickly";
    let redactor = Redactor::new();
    assert_eq!(
        redactor.text(text).as_deref(),
        Some("use [redacted], then OPENAI_API_KEY='[redacted]' and Bearer [redacted]; ask-me-not-so-quickly")
    );
    assert_eq!(
        clean(&mut Redactor::new(), Side::Runtime, "log: sk-abcdefghijklmnop1234"),
        "!< log: [redacted]"
    );
}

#[test]
fn answers_to_questions_for_a_secret_go_and_so_do_their_echoes() {
    let mut redactor = Redactor::new();
    clean(
        &mut redactor,
        Side::Runtime,
        r#"{"jsonrpc":"2.0","id":"ui_4","method":"ui.prompt.request","params":{"title":"Password","secret":true}}"#,
    );
    assert_eq!(
        clean(&mut redactor, Side::Ui, r#"{"jsonrpc":"2.0","id":"ui_4","result":{"value":"hunter22"}}"#),
        r#"> {"jsonrpc":"2.0","id":"ui_4","result":{"value":"[redacted]"}}"#
    );
    assert_eq!(
        clean(&mut redactor, Side::Runtime, r#"{"said":"it is hunter22!"}"#),
        r#"< {"said":"it is [redacted]!"}"#
    );
    assert_eq!(
        clean(&mut redactor, Side::Ui, r#"{"jsonrpc":"2.0","id":"ui_5","result":{"value":"open"}}"#),
        r#"> {"jsonrpc":"2.0","id":"ui_5","result":{"value":"open"}}"#
    );
}

#[test]
fn a_native_answer_goes_too() {
    let mut redactor = Redactor::new();
    clean(
        &mut redactor,
        Side::Runtime,
        r#"{"event":{"event":{"seq":3,"body":{"ask_opened":{"id":7,"title":"Key?","kind":{"text":{"secret":true}}}}}}}"#,
    );
    let said = clean(
        &mut redactor,
        Side::Ui,
        r#"{"command":{"ticket":2,"what":{"answer":{"ask":7,"answer":{"entered":"opensesame"}}}}}"#,
    );
    assert!(!said.contains("opensesame"), "{said}");
}

#[test]
fn what_passes_for_a_secret_by_its_form_goes() {
    let table = [
        ("pw=hunter22 and on", "pw=[redacted] and on"),
        ("db_pass: 'hunter22'", "db_pass: '[redacted]'"),
        ("pass=hunter22", "pass=[redacted]"),
        ("mysql --password hunter22 -u me", "mysql --password [redacted] -u me"),
        ("tool --api-key \"hunter22\" x", "tool --api-key \"[redacted]\" x"),
        ("git clone https://me:hunter22@host/a.git", "git clone https://me:[redacted]@host/a.git"),
        (
            "postgres://u:hunter@22@db/x and b://c:dddd@e",
            "postgres://u:[redacted]@db/x and b://c:[redacted]@e",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIhunter22\nabc\n-----END RSA PRIVATE KEY-----\nrest",
            "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nrest",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIhunter22", "-----BEGIN PRIVATE KEY-----[redacted]"),
        ("Cookie: a=hunter22; b=c\r\nHost: x", "Cookie: [redacted]\r\nHost: x"),
        ("set-cookie: sid=hunter22; Path=/", "set-cookie: [redacted]"),
        ("curl -H 'Cookie: a=hunter22' x", "curl -H 'Cookie: [redacted]' x"),
        ("Authorization: Basic aHVudGVyMjI=", "Authorization: Basic [redacted]"),
    ];
    for (text, clean) in table {
        let redactor = Redactor::new();
        assert_eq!(redactor.text(text).as_deref(), Some(clean), "{text}");
        assert_eq!(redactor.text(clean), None, "once is enough: {clean}");
    }
}

#[test]
fn what_only_looks_alike_stays() {
    for text in [
        "bypass: always on",
        "compass=north",
        "--password is what it is called",
        "--password-file /etc/x",
        "see https://host:8080/a@b and http://user@host/",
        "https://me:$PASSWORD@host",
        "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
        "a cookie: sweet and round",
    ] {
        assert_eq!(Redactor::new().text(text), None, "{text}");
    }
}

#[test]
fn the_word_behind_a_telling_option_goes() {
    assert_eq!(
        clean(
            &mut Redactor::new(),
            Side::Ui,
            r#"{"args":["-u","me","--password","hunter22","--pass","-v"]}"#
        ),
        r#"> {"args":["-u","me","--password","[redacted]","--pass","-v"]}"#
    );
}

proptest::proptest! {
    #[test]
    fn nothing_makes_it_panic(text in ".*") {
        let _ = Redactor::new().text(&text);
        let _ = clean(&mut Redactor::new(), Side::Ui, &text);
    }
}

#[test]
fn a_line_for_the_eye_has_no_secret_either() {
    let mut redactor = Redactor::new();
    let asked = r#"{"jsonrpc":"2.0","id":"7","method":"ui.prompt.request","params":{"secret":true}}"#;
    assert_eq!(redactor.line(Side::Runtime, asked), asked);
    let answered =
        redactor.line(Side::Ui, r#"{"jsonrpc":"2.0","id":"7","result":{"value":"hunter2"}}"#).into_owned();
    assert!(
        !answered.contains("hunter2") && answered.contains(REDACTED) && answered.starts_with('{'),
        "{answered}"
    );
    assert_eq!(redactor.line(Side::Runtime, "it is hunter2"), format!("it is {REDACTED}"));
    assert_eq!(redactor.line(Side::Ui, "not json"), "not json");
}

#[test]
fn what_is_given_to_a_telling_name_in_running_text_goes() {
    let redactor = Redactor::new();
    for (text, clean) in [
        ("password=hunter2", "password=[redacted]"),
        ("mysql --password=hunter2 -u me", "mysql --password=[redacted] -u me"),
        ("Password: hunter2!\nuser: me", "Password: [redacted]\nuser: me"),
        ("db_passwd = 'a b c d'", "db_passwd = '[redacted]'"),
        ("PGPASS=s3cret;x", "PGPASS=[redacted];x"),
        ("the pwd=abcd&user=me", "the pwd=[redacted]&user=me"),
        ("client_secret: \"x y z w\", scope", "client_secret: \"[redacted]\", scope"),
        ("{'api-key': 'abcdef'}", "{'api-key': '[redacted]'}"),
        ("access_token=abcdef&token=ghijkl", "access_token=[redacted]&token=[redacted]"),
        ("STRIPE_SECRET_KEY=abcd", "STRIPE_SECRET_KEY=[redacted]"),
        ("url?token=äöüß", "url?token=[redacted]"),
    ] {
        assert_eq!(redactor.text(text).as_deref(), Some(clean), "{text}");
        assert_eq!(redactor.text(clean), None, "what is taken out stays so: {clean}");
    }
    for text in [
        "the password is asked for",
        "PWD=/home/me/project",
        "password: String,",
        "let token = None;",
        "if password == other",
        "secret::Kept",
        "monkey=banana",
        "token://x",
        "password=$PASSWORD",
        "password=",
        "password: ***",
        "key: value",
    ] {
        assert_eq!(redactor.text(text), None, "{text}");
    }
}

#[test]
fn a_password_in_a_line_of_a_conversation_is_not_written_down() {
    let said = clean(&mut Redactor::new(), Side::Ui, r#"{"prompt":"log in with password=hunter2 please"}"#);
    assert_eq!(said, r#"> {"prompt":"log in with password=[redacted] please"}"#);
}
