//! What the store of teams promises, as ratios in one run: `cargo bench -p team`; `--short` measures little. An append with its fence is held
//! against what the disk can sync and against `pgbench`'s simple update on the same server, alone and in groups.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on breaks")]

use domain::event::{Body, Event, SessionEvent};
use domain::ids::{Millis, Seq, SessionId};
use std::io::{Seek as _, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};
use store::{Batch, Durability, MAX_GROUP, Store as _};
use team::{Address, PostgresStore};
use testkit::postgres::{Server, programs};
use testkit::{Bars, Depth};

/// One append beside one simple update of pgbench, by the clock.
const APPEND_BAR: f64 = 2.0;
/// A record of a full group beside an append of its own.
const GROUP_BAR: f64 = 0.25;

fn event(seq: u64) -> Event {
    let title = format!("what was said in event {seq} of this session, about as long as such things are");
    Event { seq: Seq(seq), at: Millis(seq), body: Body::Session(SessionEvent::Renamed { title }) }
}

/// How long one of them takes, over so long a time.
fn each(lasts: Duration, mut work: impl FnMut(u64)) -> Duration {
    let (begun, mut count) = (Instant::now(), 0);
    while begun.elapsed() < lasts {
        count += 1;
        work(count);
    }
    begun.elapsed() / u32::try_from(count).unwrap()
}

fn pgbench(server: &Server, name: &str, seconds: u64) -> Duration {
    let run = |args: &[&str]| {
        let mut command = Command::new(programs().join("pgbench"));
        let done =
            command.args(args).args(["-U", "postgres", "-h"]).arg(server.dir()).arg(name).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    run(&["-i", "-q"]);
    let told = run(&["-N", "-n", "-M", "prepared", "-T", &seconds.to_string()]);
    let rate =
        told.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    Duration::from_secs_f64(1.0 / rate.unwrap())
}

fn main() {
    let (depth, _) = Depth::from_args();
    let mut bars = Bars::new(depth);
    let lasts = Duration::from_secs(depth.pick(5, 1));
    let server = Server::new();
    let database = server.database();
    let mut file = tempfile::tempfile_in(server.dir()).unwrap();
    let synced = each(lasts, |_| {
        file.rewind().unwrap();
        file.write_all(&[7; 8192]).unwrap();
        file.sync_data().unwrap();
    });
    let update = pgbench(&server, database.name(), lasts.as_secs());
    let mut store = PostgresStore::at(Address::parse(&database.address()).unwrap()).unwrap();
    let alone = SessionId::from_number(1);
    store.create(&alone).unwrap();
    let append = each(lasts, |seq| drop(store.append(&alone, &[event(seq)], Durability::Now).unwrap()));
    let ids: Vec<SessionId> = (2..2 + MAX_GROUP as u64).map(SessionId::from_number).collect();
    ids.iter().for_each(|id| store.create(id).unwrap());
    let grouped = each(lasts, |seq| {
        let events = [event(seq)];
        let batches: Vec<Batch<'_>> = ids
            .iter()
            .map(|session| Batch { session, events: &events, durability: Durability::Now })
            .collect();
        assert!(store.append_many(&batches).into_iter().all(|done| done.is_ok()));
    });
    let rate = |each: Duration| format!("{:.0}/s", 1.0 / each.as_secs_f64());
    bars.note("syncs of the disk", &rate(synced));
    bars.note("pgbench, simple update, one client", &rate(update));
    bars.note("appends with a fence, one after the other", &rate(append));
    bars.note(&format!("the same, {MAX_GROUP} sessions in each commit"), &rate(grouped / MAX_GROUP as u32));
    bars.note(
        "an append beside a sync of the disk",
        &format!("{:.2} ×", append.as_secs_f64() / synced.as_secs_f64()),
    );
    bars.ratio("an append beside a simple update of pgbench", (append, update), APPEND_BAR);
    bars.ratio("a record of a full group beside one alone", (grouped / MAX_GROUP as u32, append), GROUP_BAR);
    bars.end();
}
