//! The fidelity tables are computed: each item of the vocabulary is put through every wire and every pair of wires, and what came out
//! says whether it is exact, emulated, dropped or refused.
//!
//! - refused: the UI's command is refused;
//! - exact: what arrives is what was meant;
//! - dropped: the other end sees nothing that it would not see without the item;
//! - emulated: it arrives, but otherwise.
//!
//! `UPDATE_EXPECT=1` writes the verdicts down (`wires/NAME/src/verdicts.txt`, which the program reads). The words beside them
//! (how, why) are written by hand, in `words.txt` of each wire; there must be some exactly where the verdict is not exact. A probe is
//! written once per item and knows no wire, so a new wire gets its verdicts by being in the registry.

mod acts;
mod onlooker;
mod probes;
mod scene;
mod trace;

use dialects::Dialect;
use expect_test::expect_file;
use probes::Found;
use roles::Item;
use roles::fidelity::{ALONE, Verdict, Verdicts};
use scene::Scene;

const REMARK: &str = "\
Computed by `fidelity` in crates/parlor/tests/whole, and checked there; UPDATE_EXPECT=1 writes it anew. Not to be edited.
alone: a UI and a runtime of this wire. The others: a UI of this wire, a bridge, a runtime of the wire that heads the column.";

fn play(item: Item, wires: &[Dialect], with: bool) -> Found {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let found = runtime.block_on(async {
        let mut scene = Scene::set(wires).await;
        probes::play(item, &mut scene, with).await
    });
    runtime.shutdown_background();
    found
}

fn verdict(item: Item, wires: &[Dialect]) -> Verdict {
    let found = play(item, wires, true);
    if found.refused.is_some() {
        return Verdict::Refused;
    }
    let without = play(item, wires, false);
    if found.arrived == found.meant {
        assert_ne!(without.arrived, found.meant, "{item} over {wires:?}: the probe shows nothing");
        return Verdict::Exact;
    }
    if found.trace == without.trace { Verdict::Dropped } else { Verdict::Emulated }
}

/// What becomes of every item over these wires.
pub(crate) fn column(wires: &[Dialect]) -> Vec<(Item, Verdict)> {
    let one = |item: &Item| {
        let verdict = std::panic::catch_unwind(|| verdict(*item, wires));
        (*item, verdict.unwrap_or_else(|_| panic!("{item} over {wires:?}")))
    };
    Item::ALL.iter().map(one).collect()
}

/// The columns as they are written down.
pub(crate) fn written(columns: &[(String, Vec<(Item, Verdict)>)]) -> String {
    Verdicts::write(REMARK, columns)
}

/// Puts every item through a wire, alone and as the UI's wire of every bridge, and compares with what is written down.
fn verdicts_of(dialect: Dialect) {
    let mut columns = vec![(ALONE.to_owned(), column(&[dialect]))];
    for runtime in dialects::ALL {
        columns.push((runtime.name().to_owned(), column(&[dialect, *runtime])));
    }
    let path = format!("{}/../../wires/{dialect}/src/verdicts.txt", env!("CARGO_MANIFEST_DIR"));
    expect_file![path].assert_eq(&written(&columns));
}

/// The wires are shared out among a few tests, so that they share the cores: a new wire needs no test of its own.
mod verdicts_are_what_comes_out {
    use super::verdicts_of;

    const TESTS: usize = 7;

    fn verdicts_of_the(test: usize) {
        dialects::ALL.iter().skip(test).step_by(TESTS).copied().for_each(verdicts_of);
    }

    #[test]
    fn for_the_first_wires() {
        verdicts_of_the(0);
    }

    #[test]
    fn for_the_second_wires() {
        verdicts_of_the(1);
    }

    #[test]
    fn for_the_third_wires() {
        verdicts_of_the(2);
    }

    #[test]
    fn for_the_fourth_wires() {
        verdicts_of_the(3);
    }

    #[test]
    fn for_the_fifth_wires() {
        verdicts_of_the(4);
    }

    #[test]
    fn for_the_sixth_wires() {
        verdicts_of_the(5);
    }

    #[test]
    fn for_the_seventh_wires() {
        verdicts_of_the(TESTS - 1);
    }
}

#[test]
fn every_item_is_reached_by_its_probe() {
    for item in Item::ALL {
        let exact = |dialect: &Dialect| {
            dialect.fidelity().iter().any(|row| row.item == *item && row.verdict == Verdict::Exact)
        };
        assert!(dialects::ALL.iter().any(exact), "{item}: no wire carries it, so its probe shows nothing");
    }
}
