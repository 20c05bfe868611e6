//! Real sockets, each in its own directory.

use super::*;
use crate::lane_io::{Ending, Incoming};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use tokio::time::timeout;
use wire::Frame;

const LANE: Lane = Lane::MAIN;
const EVENTS: Lane = Lane::EVENTS;
const SOON: Duration = Duration::from_secs(20);

async fn line(io: &mut LinkIo) -> (Lane, String) {
    match timeout(SOON, io.incoming.recv()).await.unwrap() {
        Some(Incoming::Frame { lane, frame: Frame::Line(text) }) => (lane, text),
        other => panic!("{other:?}"),
    }
}

async fn join(path: &Path) -> LinkIo {
    connect(path, LANE, Limits::default(), SOON, |_| Ok(())).await.unwrap()
}

#[tokio::test]
async fn two_processes_of_one_user_talk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let listener = Listener::bind(&path).await.unwrap();
    let (mut client, accepted) = tokio::join!(join(&path), listener.accept());
    let accepted = accepted.unwrap();
    assert_eq!(accepted.peer.uid, getuid().as_raw());
    let mut server = accepted.into_link(LANE, Limits::default());
    client.outgoing.try_send(LANE, "question".into()).unwrap();
    assert_eq!(line(&mut server).await, (LANE, "question".into()));
    server.outgoing.try_send(LANE, "answer".into()).unwrap();
    assert_eq!(line(&mut client).await, (LANE, "answer".into()));
    client.shutdown(SOON).await;
    let ending = timeout(SOON, server.incoming.recv()).await.unwrap();
    assert_eq!(ending, Some(Incoming::Closed { lane: LANE, reason: Ending::Eof }));
}

#[tokio::test]
async fn the_socket_is_private_and_so_is_a_directory_made_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/deep/s");
    let listener = Listener::bind(&path).await.unwrap();
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&directory.path().join("new/deep")), 0o700);
    assert_eq!(listener.path(), path);
    drop(listener);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let _listener = Listener::bind(&path).await.unwrap();
    join(&path).await;
}

#[tokio::test]
async fn a_live_socket_is_not_stolen() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let listener = Listener::bind(&path).await.unwrap();
    let error = Listener::bind(&path).await.unwrap_err();
    assert!(matches!(error, LinkError::SocketInUse { .. }), "{error}");
    // Still the first one's: the probe is the first it accepts, then we.
    let inode = fs::symlink_metadata(&path).unwrap().ino();
    listener.accept().await.unwrap();
    join(&path).await;
    assert_eq!(fs::symlink_metadata(&path).unwrap().ino(), inode);
}

#[tokio::test]
async fn many_at_once_on_a_stale_socket_give_one_winner() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let (one, two, three) = tokio::join!(Listener::bind(&path), Listener::bind(&path), Listener::bind(&path));
    let winners = [&one, &two, &three].into_iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(winners, 1);
    join(&path).await;
}

#[tokio::test]
async fn other_files_and_long_paths_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    fs::write(&path, "precious").unwrap();
    assert!(matches!(Listener::bind(&path).await, Err(LinkError::NotASocket { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    let long = directory.path().join("x".repeat(200));
    assert!(matches!(Listener::bind(&long).await, Err(LinkError::SocketPathTooLong { .. })));
}

#[tokio::test]
async fn only_our_own_socket_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let listener = Listener::bind(&path).await.unwrap();
    fs::rename(&path, directory.path().join("aside")).unwrap();
    fs::write(&path, "someone else's").unwrap();
    drop(listener);
    assert!(path.exists());
}

#[tokio::test(start_paused = true)]
async fn connecting_is_tried_until_the_time_is_up() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let error = connect(&path, LANE, Limits::default(), CONNECT_WITHIN, |_| Ok(())).await.unwrap_err();
    assert!(
        matches!(&error, LinkError::Connect { source, .. } if source.kind() == io::ErrorKind::NotFound),
        "{error}"
    );
}

#[tokio::test]
async fn connecting_waits_for_a_runtime_that_is_starting() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let client = tokio::spawn({
        let path = path.clone();
        async move { connect(&path, LANE, Limits::default(), SOON, |_| Ok(())).await.is_ok() }
    });
    tokio::task::yield_now().await;
    let listener = Listener::bind(&path).await.unwrap();
    timeout(SOON, listener.accept()).await.unwrap().unwrap();
    assert!(timeout(SOON, client).await.unwrap().unwrap());
}

#[tokio::test]
async fn two_sockets_make_one_link_of_two_lanes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("core.sock");
    let listeners = Listeners::bind(&path).await.unwrap();
    assert!(directory.path().join("core.sock.events").exists());
    let (client, commands, events) = tokio::join!(
        connect_two(&path, (LANE, EVENTS), Limits::default(), SOON, |_| Ok(())),
        listeners.commands.accept(),
        listeners.events.accept(),
    );
    let mut client = client.unwrap();
    let wiring = commands.unwrap().add_to(Wiring::new(Limits::default()), LANE);
    let mut server = events.unwrap().add_to(wiring, EVENTS).start();
    client.outgoing.try_send(LANE, "command".into()).unwrap();
    assert_eq!(line(&mut server).await, (LANE, "command".into()));
    server.outgoing.try_send(EVENTS, "event".into()).unwrap();
    assert_eq!(line(&mut client).await, (EVENTS, "event".into()));
    drop(listeners);
    assert!(!path.exists() && !events_path(&path).exists());
}

#[tokio::test]
async fn a_peer_that_is_killed_ends_only_its_link() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let listener = Listener::bind(&path).await.unwrap();
    let (client, accepted) = tokio::join!(join(&path), listener.accept());
    let mut server = accepted.unwrap().into_link(LANE, Limits::default());
    drop(client);
    let ending = timeout(SOON, server.incoming.recv()).await.unwrap();
    assert!(matches!(ending, Some(Incoming::Closed { .. })), "{ending:?}");
    let (_again, accepted) = tokio::join!(join(&path), listener.accept());
    assert!(accepted.is_ok());
}
