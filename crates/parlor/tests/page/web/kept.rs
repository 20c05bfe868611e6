//! What stands around a pairing: who may answer the question, and the key that the server keeps.

use super::client::Browser;
use super::world::World;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_comes_by_a_pipe_is_no_word_about_a_browser() {
    let world = World::new();
    let mut web = world.parlor(&["web", "--no-open"]);
    let mut web = web.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = web.stdin.take().unwrap();
    // As `yes` does, until nobody reads it.
    let yes = std::thread::spawn(move || while pipe.write_all(b"y\n").is_ok() {});
    let mut address = String::new();
    BufReader::new(web.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let port = address.trim().trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap();
    let mut browser = Browser::at(SocketAddr::from(([127, 0, 0, 1], port)), address.trim());
    let (page, told) = browser.candidate().await;
    assert!(told["code"].is_object(), "{told}");
    let stderr = web.stderr.take().unwrap();
    let said = tokio::task::spawn_blocking(move || {
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        lines.find(|line| line.contains("asks to be paired"))
    });
    let said = tokio::select! {
        told = browser.enrolled(page) => panic!("a pipe said yes: {told}"),
        said = said => said.unwrap().unwrap(),
    };
    assert!(said.contains("Nobody is asked here"), "{said}");
    web.kill().unwrap();
    web.wait().unwrap();
    yes.join().unwrap();
}

#[tokio::test]
async fn a_key_of_the_server_that_is_damaged_or_open_to_others_is_mended_and_said_so() {
    let world = World::new();
    drop(world.web(&[]));
    let file = world.path("data/web.key");
    let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let web = world.web(&[]);
    web.until_said("mode 0644").await;
    assert_eq!((mode(), &std::fs::read_to_string(&file).unwrap()), (0o600, &kept));
    drop(web);
    for damaged in ["", "AAAA", &kept[..kept.len() / 2]] {
        std::fs::write(&file, damaged).unwrap();
        let web = world.web(&[]);
        web.until_said("could not be read and is a new one").await;
        assert_eq!(mode(), 0o600);
        drop(web);
    }
    let web = world.web(&[]);
    web.until_said("the page is served at").await;
    assert!(!web.said().contains("warning"), "{}", web.said());
}
