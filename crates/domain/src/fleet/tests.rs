//! The order of rows, what stands in them, and that it does not matter in which order processes are heard.

use super::*;
use crate::content::Usage;
use proptest::prelude::*;

fn id(number: u8) -> SessionId {
    SessionId::from_number(u64::from(number))
}

fn member(number: u8, doing: Doing, since: u64) -> Member {
    Member {
        session: id(number),
        title: format!("title {number}"),
        cwd: format!("/w{}", number % 3),
        project: "/w".to_owned(),
        runtime: None,
        doing,
        tasks: Vec::new(),
        since: Millis(since),
        usage: Usage::default(),
    }
}

fn asks() -> Doing {
    Doing::Waiting { asks: 1, question: "Run `make`?".to_owned(), ask: None }
}

fn process(contact: Contact) -> Process {
    Process { since: Millis(5), cwd: "/w".to_owned(), serving: "terminal".to_owned(), contact }
}

fn summary(number: u8, updated: u64, outcome: Option<Outcome>) -> SessionSummary {
    let usage = Usage { cost_micros: u64::from(number) * 10, ..Usage::default() };
    let outcome = outcome.map(Box::new);
    SessionSummary { updated_at: Millis(updated), outcome, usage, ..SessionSummary::new(id(number)) }
}

fn fleet(facts: impl IntoIterator<Item = FleetFact>) -> Fleet {
    let mut fleet = Fleet::default();
    for fact in facts {
        fleet.take(fact);
    }
    fleet
}

fn aboard(pid: u32, members: Vec<Member>) -> FleetFact {
    FleetFact::Aboard { pid, members }
}

#[test]
fn who_waits_comes_first_and_who_waits_longest_on_top() {
    let failed = Outcome::Cancelled;
    let fleet = fleet([
        FleetFact::Kept(vec![summary(7, 70, Some(Outcome::Done)), summary(8, 60, None), summary(1, 9, None)]),
        aboard(2, vec![member(3, asks(), 30), member(4, Doing::Running, 15)]),
        aboard(1, vec![member(1, asks(), 20), member(2, Doing::Ended(failed.clone()), 65)]),
        FleetFact::Found { pid: 9, process: process(Contact::Dead) },
    ]);
    let rows: Vec<(Option<SessionId>, Status)> =
        fleet.rows().into_iter().map(|row| (row.session, row.status)).collect();
    let waiting = Status::Waiting { asks: 1, question: "Run `make`?".to_owned(), ask: None };
    let expected = [
        (Some(id(1)), waiting.clone()),
        (Some(id(3)), waiting),
        (Some(id(4)), Status::Running),
        (None, Status::Dead),
        (Some(id(7)), Status::Ended(Outcome::Done)),
        (Some(id(2)), Status::Ended(failed)),
        (Some(id(8)), Status::Kept),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn what_nobody_told_is_in_no_row() {
    let fleet = fleet([
        aboard(1, vec![member(1, Doing::Running, 1)]),
        FleetFact::Branch { cwd: "/w2".to_owned(), branch: Some("main".to_owned()) },
        FleetFact::Kept(vec![summary(2, 3, None)]),
    ]);
    let rows = fleet.rows();
    assert_eq!((rows[0].branch.as_deref(), rows[0].cost_micros), (None, None));
    assert_eq!((rows[1].branch.as_deref(), rows[1].cost_micros), (None, Some(20)), "it is not open there");
    let told = FleetFact::Branch { cwd: "/w1".to_owned(), branch: Some("main".to_owned()) };
    let mut fleet = fleet;
    assert!(fleet.take(told.clone()) && !fleet.take(told), "the second time nothing is new");
    assert_eq!(fleet.rows()[0].branch.as_deref(), Some("main"));
}

#[test]
fn a_process_that_dies_takes_its_word_with_it_and_one_that_leaves_its_row() {
    let mut fleet = fleet([
        FleetFact::Found { pid: 1, process: process(Contact::Reached) },
        aboard(1, vec![member(1, asks(), 2)]),
        FleetFact::Kept(vec![summary(1, 3, Some(Outcome::Interrupted))]),
    ]);
    assert!(fleet.rows()[0].is_waiting());
    fleet.take(FleetFact::Found { pid: 1, process: process(Contact::Dead) });
    let status: Vec<Status> = fleet.rows().into_iter().map(|row| row.status).collect();
    assert_eq!(status, [Status::Dead, Status::Ended(Outcome::Interrupted)]);
    fleet.take(FleetFact::Left { pid: 1 });
    assert_eq!(fleet.rows().len(), 1);
}

#[test]
fn a_question_is_new_once_and_the_next_one_again() {
    let at = |since| fleet([aboard(1, vec![member(1, asks(), since)])]).rows();
    let (none, first, second) = (Vec::new(), at(1), at(2));
    assert_eq!(newly_waiting(&none, &first).len(), 1);
    assert_eq!(newly_waiting(&first, &first).len(), 0);
    assert_eq!(newly_waiting(&first, &second).len(), 1);
    assert_eq!(newly_waiting(&second, &none).len(), 0);
}

#[test]
fn all_of_it_is_bounded() {
    let many = |count: usize| {
        let session = |number: usize| SessionId::from_number(u64::try_from(number).unwrap());
        (0..count).map(move |at| Member { session: session(at), ..member(1, Doing::Running, 1) })
    };
    let mut fleet = fleet([aboard(1, many(MAX_MEMBERS + 5).collect())]);
    assert_eq!(fleet.rows().len(), MAX_MEMBERS);
    let late = vec![Member { session: SessionId::from_number(9_999_999), ..member(1, Doing::Running, 1) }];
    assert!(!fleet.take(FleetFact::Changed { pid: 1, members: late, closed: Vec::new() }));
    let processes = (0..MAX_PROCESSES + 5)
        .map(|pid| FleetFact::Found { pid: u32::try_from(pid).unwrap(), process: process(Contact::Silent) });
    processes.for_each(|fact| _ = fleet.take(fact));
    assert_eq!(fleet.processes().count(), MAX_PROCESSES);
}

/// Where a row belongs, said once more and apart from the code that sorts: what it is, then its time, then its names.
type Place<'a> = (u8, i64, Option<u32>, Option<&'a SessionId>);

fn place(row: &Row) -> Place<'_> {
    let oldest_first = i64::try_from(row.since.0).unwrap();
    let (rank, time) = match row.status {
        Status::Waiting { .. } => (0, oldest_first),
        Status::Running => (1, oldest_first),
        Status::Silent | Status::OtherVersion(_) | Status::Dead => (2, oldest_first),
        Status::Fresh | Status::Ended(_) | Status::Kept => (3, -oldest_first),
    };
    (rank, time, row.pid, row.session.as_ref())
}

/// Whether each row has a place of its own, below that of the one before.
fn is_strictly_ordered(rows: &[Row]) -> bool {
    rows.windows(2).all(|pair| place(&pair[0]) < place(&pair[1]))
}

#[test]
fn those_of_one_kind_have_their_order_too_and_equal_times_an_order_of_names() {
    let since = |since, contact| Process { since: Millis(since), ..process(contact) };
    let ended = || Doing::Ended(Outcome::Done);
    let rows = fleet([
        aboard(
            3,
            vec![member(1, Doing::Running, 9), member(2, Doing::Running, 8), member(3, Doing::Running, 8)],
        ),
        aboard(2, vec![member(4, Doing::Running, 8), member(5, ended(), 1), member(6, Doing::Nothing, 2)]),
        // One session through two processes that tell the same of it.
        aboard(9, vec![member(4, Doing::Running, 8)]),
        FleetFact::Found { pid: 7, process: since(6, Contact::Dead) },
        FleetFact::Found { pid: 6, process: since(7, Contact::Silent) },
        FleetFact::Found { pid: 5, process: since(7, Contact::OtherVersion("0.1.0".to_owned())) },
        FleetFact::Kept(vec![summary(7, 2, None), summary(8, 3, Some(Outcome::Done))]),
    ])
    .rows();
    let shown: Vec<(Option<u32>, Option<SessionId>)> =
        rows.iter().map(|row| (row.pid, row.session.clone())).collect();
    let expected = [
        (Some(2), Some(id(4))),
        (Some(3), Some(id(2))),
        (Some(3), Some(id(3))),
        (Some(3), Some(id(1))),
        (Some(7), None),
        (Some(5), None),
        (Some(6), None),
        (None, Some(id(8))),
        (None, Some(id(7))),
        (Some(2), Some(id(6))),
        (Some(2), Some(id(5))),
    ];
    assert_eq!(shown, expected);
    assert!(is_strictly_ordered(&rows), "{rows:#?}");
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        Just(Doing::Nothing),
        Just(Doing::Running),
        Just(asks()),
        Just(Doing::Ended(Outcome::Done)),
        Just(Doing::Ended(Outcome::Lost)),
    ]
}

fn members() -> impl Strategy<Value = Vec<Member>> {
    prop::collection::vec((0u8..12, doing(), 0u64..50), 0..6)
        .prop_map(|all| all.into_iter().map(|(number, doing, since)| member(number, doing, since)).collect())
}

fn contact() -> impl Strategy<Value = Contact> {
    prop_oneof![
        3 => Just(Contact::Reached),
        1 => Just(Contact::Silent),
        1 => Just(Contact::Dead),
        1 => Just(Contact::OtherVersion("0.1.0".to_owned())),
    ]
}

/// Facts about one process, in the order in which they happen.
fn story(pid: u32) -> impl Strategy<Value = Vec<FleetFact>> {
    let fact = prop_oneof![
        (contact(), 0u64..50).prop_map(move |(contact, since)| {
            let process = Process { since: Millis(since), ..process(contact) };
            FleetFact::Found { pid, process }
        }),
        members().prop_map(move |members| FleetFact::Aboard { pid, members }),
        (members(), prop::collection::vec((0u8..12).prop_map(id), 0..4))
            .prop_map(move |(members, closed)| FleetFact::Changed { pid, members, closed }),
        Just(FleetFact::Left { pid }),
    ];
    prop::collection::vec(fact, 0..6)
}

fn kept() -> impl Strategy<Value = FleetFact> {
    prop::collection::btree_map(0u8..12, 0u64..50, 0..6).prop_map(|all| {
        FleetFact::Kept(all.into_iter().map(|(number, at)| summary(number, at, None)).collect())
    })
}

proptest! {
    #[test]
    fn rows_have_their_order_and_no_session_twice(
        stories in (story(1), story(2), story(3)), kept in kept(),
    ) {
        let facts = stories.0.into_iter().chain(stories.1).chain(stories.2).chain([kept]);
        let rows = fleet(facts).rows();
        let ids: Vec<&SessionId> = rows.iter().filter_map(|row| row.session.as_ref()).collect();
        let once: BTreeSet<&SessionId> = ids.iter().copied().collect();
        prop_assert_eq!(ids.len(), once.len());
        prop_assert!(is_strictly_ordered(&rows), "{:#?}", rows);
    }

    #[test]
    fn a_session_of_several_processes_is_told_as_the_first_of_their_rows(
        one in story(1), other in story(2), third in story(3),
    ) {
        let alone = [&one, &other, &third].map(|story| fleet(story.iter().cloned()).rows());
        let all = fleet(one.into_iter().chain(other).chain(third)).rows();
        for row in all.iter().filter(|row| row.session.is_some()) {
            let mut told: Vec<&Row> = alone.iter().flatten().filter(|one| one.session == row.session).collect();
            told.sort_by_key(|row| place(row));
            prop_assert_eq!(Some(&row), told.first());
        }
    }

    #[test]
    fn what_happens_in_one_session_moves_no_other(
        stories in (story(1), story(2)), kept in kept(), number in 0u8..12, doing in doing(), since in 0u64..50,
    ) {
        let mut fleet = fleet(stories.0.into_iter().chain(stories.1).chain([kept]));
        let others = |fleet: &Fleet| -> Vec<Row> {
            fleet.rows().into_iter().filter(|row| row.session != Some(id(number))).collect()
        };
        let before = others(&fleet);
        let members = vec![member(number, doing, since)];
        fleet.take(FleetFact::Changed { pid: 1, members, closed: Vec::new() });
        prop_assert_eq!(others(&fleet), before);
    }

    #[test]
    fn it_does_not_matter_which_process_is_heard_first(
        one in story(1), other in story(2), kept in kept(), turns in prop::collection::vec(any::<bool>(), 12),
    ) {
        let straight = fleet(one.iter().chain(&other).cloned().chain([kept.clone()]));
        let (mut one, mut other) = (one.into_iter(), other.into_iter());
        let mut mixed = vec![kept];
        for turn in turns {
            mixed.extend(if turn { one.next() } else { other.next() });
        }
        mixed.extend(one.chain(other));
        prop_assert_eq!(fleet(mixed).rows(), straight.rows());
    }

    #[test]
    fn changes_lead_to_where_all_of_it_anew_would(before in members(), after in members()) {
        let mut told = None;
        let first = FleetChange::since(&mut told, before).unwrap();
        let next = FleetChange::since(&mut told, after.clone());
        prop_assert_eq!(FleetChange::since(&mut told, after.clone()), None, "nothing is new");
        let step = [Some(first), next].into_iter().flatten().map(|change| FleetFact::of(1, change));
        prop_assert_eq!(fleet(step).rows(), fleet([aboard(1, after)]).rows());
    }

    #[test]
    fn when_everybody_has_left_only_what_is_kept_is_there(one in story(1), other in story(2), kept in kept()) {
        let left = [1, 2].map(|pid| FleetFact::Left { pid });
        let facts = one.into_iter().chain(other).chain([kept.clone()]).chain(left);
        prop_assert_eq!(fleet(facts).rows(), fleet([kept]).rows());
    }
}

#[test]
fn people_read_that_it_is_closed_and_scripts_that_it_is_kept() {
    assert_eq!((Status::Kept.shown(), Status::Kept.word()), ("closed", "kept"));
    assert_eq!((Status::Running.shown(), Status::Running.word()), ("running", "running"));
}

#[test]
fn a_row_that_runs_names_its_sub_agents_at_work_and_one_that_waits_its_question() {
    let tasks = |count: usize| (0..count).map(|at| format!("general: part {at}")).collect::<Vec<_>>();
    let about = |doing: Doing, count| {
        let member = Member { tasks: tasks(count), ..member(1, doing, 1) };
        fleet([aboard(1, vec![member])]).rows().remove(0).about()
    };
    assert_eq!(about(Doing::Running, 0), None);
    assert_eq!(about(Doing::Running, 1).unwrap(), "sub-agent general: part 0");
    assert_eq!(about(Doing::Running, 2).unwrap(), "2 sub-agents: general: part 0; general: part 1");
    assert_eq!(about(asks(), 2).unwrap(), "Run `make`?");
}
