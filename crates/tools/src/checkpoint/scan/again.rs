//! Any look that is told from the one before it sees what a first look sees, and a walk finds what git does not ignore and every name
//! that steers, whatever was done in between.

use super::*;
use crate::checkpoint::MemoryVault;
use crate::tree::{Keep, Root, Tree};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Names of files and folders; which of them is which changes with what is done.
const NAMES: &[&[u8]] = &[
    b"a",
    b"b.o",
    b"d",
    b"e",
    b"build",
    b"target",
    b"node_modules",
    b"Cargo.toml",
    b"AGENTS.md",
    b".envrc",
    b".github",
    b".hg",
    b"caf\xe9 \n",
];
/// Texts of rules, one of which is no text from its second line on.
const RULES: &[&[u8]] = &[
    b"*.o\n/build/\n",
    b"!b.o\n",
    b"d/\ncaf*\n",
    b"/d/e\n!/d/e/a\n",
    b"\xef\xbb\xbfa\r\n",
    b"*\n!.gitignore\n",
    b"e\n\xff\na\n",
    b"",
];

#[derive(Debug, Clone)]
enum Act {
    Write(usize, u8),
    Remove(usize),
    Rename(usize, usize),
    HardLink(usize, usize),
    /// A link, which leads to the other.
    Link(usize, usize),
    Chmod(usize, u32),
    /// Two change places.
    Swap(usize, usize),
    Rules(usize, usize),
    Exclude(usize),
    Settle,
}

fn act() -> impl Strategy<Value = Act> {
    let path = 0..NAMES.len() * NAMES.len() * 3;
    let two = || (path.clone(), path.clone());
    prop_oneof![
        6 => (path.clone(), any::<u8>()).prop_map(|(path, text)| Act::Write(path, text)),
        2 => path.clone().prop_map(Act::Remove),
        2 => two().prop_map(|(from, to)| Act::Rename(from, to)),
        2 => two().prop_map(|(from, to)| Act::HardLink(from, to)),
        1 => two().prop_map(|(from, to)| Act::Link(from, to)),
        1 => (path.clone(), prop_oneof![Just(0o644), Just(0o755), Just(0o700)])
            .prop_map(|(path, mode)| Act::Chmod(path, mode)),
        2 => two().prop_map(|(one, other)| Act::Swap(one, other)),
        3 => (path.clone(), 0..RULES.len()).prop_map(|(path, rules)| Act::Rules(path, rules)),
        1 => (0..RULES.len()).prop_map(Act::Exclude),
        3 => Just(Act::Settle),
    ]
}

/// A path of up to three names.
fn place(number: usize) -> PathBuf {
    let name = |at: usize| OsStr::from_bytes(NAMES[at % NAMES.len()]);
    let (depth, number) = (number % 3, number / 3);
    let all = [name(number), name(number / NAMES.len()), name(number / 7)];
    all.into_iter().take(depth + 1).collect()
}

/// What changes files here gives each change a time of its own: the clock of an older system is too coarse to tell them apart.
struct Ground {
    root: PathBuf,
    clock: u64,
}

impl Ground {
    fn write(&mut self, full: &Path, text: &[u8]) {
        self.clock += 1;
        let _ = std::fs::create_dir_all(full.parent().unwrap());
        let at = UNIX_EPOCH + Duration::from_secs(1_000_000_000 + self.clock);
        if std::fs::write(full, text).is_ok() {
            let _ = File::options().write(true).open(full).and_then(|file| file.set_modified(at));
        }
    }

    fn perform(&mut self, act: &Act) {
        let at = |number: usize| self.root.join(place(number));
        // Whatever cannot be done is not done.
        match *act {
            Act::Write(path, text) => self.write(&at(path), &[text]),
            Act::Remove(path) => {
                let _ = std::fs::remove_file(at(path)).or_else(|_| std::fs::remove_dir_all(at(path)));
            }
            Act::Rename(from, to) => _ = std::fs::rename(at(from), at(to)),
            Act::HardLink(from, to) => _ = std::fs::hard_link(at(from), at(to)),
            Act::Link(from, to) => _ = symlink(place(to), at(from)),
            Act::Chmod(path, mode) if !at(path).is_symlink() => {
                let _ = std::fs::set_permissions(at(path), std::fs::Permissions::from_mode(mode));
            }
            Act::Swap(one, other) => {
                let beside = self.root.join("beside");
                if std::fs::rename(at(one), &beside).is_ok() {
                    let _ = std::fs::rename(at(other), at(one));
                    let _ =
                        std::fs::rename(&beside, at(other)).or_else(|_| std::fs::rename(&beside, at(one)));
                }
            }
            Act::Rules(path, rules) => {
                let folder = at(path).parent().unwrap().to_owned();
                self.write(&folder.join(".gitignore"), RULES[rules]);
            }
            Act::Exclude(rules) => {
                let file = self.root.join(".git/info/exclude");
                self.write(&file, RULES[rules]);
            }
            Act::Chmod(..) | Act::Settle => {}
        }
    }
}

/// What git does not ignore, as the crate finds it that knows all about that.
fn not_ignored(root: &Path) -> BTreeSet<OsString> {
    let mut walk = ignore::WalkBuilder::new(root);
    walk.hidden(false).require_git(false).ignore(false).git_global(false).filter_entry(|entry| {
        let above = entry.path().parent().unwrap();
        let is_heavy = entry.file_type().is_some_and(|kind| kind.is_dir())
            && entry.depth() > 0
            && tree::is_heavy(above, &entry.file_name().to_string_lossy());
        !is_version_control(Path::new(entry.file_name())) && !is_heavy
    });
    let below = |path: &Path| path.strip_prefix(root).unwrap().as_os_str().to_owned();
    walk.build().flatten().filter(|entry| entry.depth() > 0).map(|entry| below(entry.path())).collect()
}

/// Every name that steers, found without any haste.
fn steering(root: &Path) -> BTreeSet<OsString> {
    let mut found = BTreeSet::new();
    let mut waiting = VecDeque::from([root.to_owned()]);
    while let Some(folder) = waiting.pop_front() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let name = entry.file_name();
            let text = name.to_string_lossy();
            if domain::steering::part([&*text]).is_some() {
                found.insert(entry.path().strip_prefix(root).unwrap().as_os_str().to_owned());
            } else if entry.file_type().unwrap().is_dir() && !tree::is_heavy(&folder, &text) {
                waiting.push_back(entry.path());
            }
        }
    }
    found
}

fn images(seen: &Snapshot) -> BTreeMap<OsString, Image> {
    seen.iter().map(|(path, seen)| (path.clone(), seen.image.clone())).collect()
}

#[test]
fn what_changed_a_moment_before_the_last_look_is_read_again_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::write(root.join("a"), "").unwrap();
    // In the future, so that it is too young however long this takes.
    let late = SystemTime::now() + Duration::from_secs(3600);
    File::options().write(true).open(root.join("a")).unwrap().set_modified(late).unwrap();
    let (vault, closed) = (MemoryVault::default(), Closed::of(None, None));
    let look = Look {
        root: &root,
        vault: &vault,
        closed: &closed,
        bounds: ScanBounds::default(),
        copies: Copies::All,
        stop: &|| false,
    };
    let tree = Tree::new(&root);
    let mut last = LastLook::from_vault(Arc::default());
    for handed in [1, 2, 3] {
        let walk = tree.after(Keep { files: 10, go_on: &|| Ok(()) }).unwrap();
        last = look.take_in(&walk, last, &Snapshot::new(), Instant::now() + MAX_TIME).unwrap();
        assert_eq!(vault.handed(), handed);
    }
    Arc::make_mut(&mut last.seen).values_mut().for_each(|seen| seen.stamp.settled = true);
    last.unsure.clear();
    let walk = tree.after(Keep { files: 10, go_on: &|| Ok(()) }).unwrap();
    let seen = last.seen.clone();
    last = look.take_in(&walk, last, &Snapshot::new(), Instant::now() + MAX_TIME).unwrap();
    assert!(vault.handed() == 3 && Arc::ptr_eq(&last.seen, &seen));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_look_that_is_told_from_the_last_one_sees_what_a_first_one_sees(
        acts in proptest::collection::vec(proptest::collection::vec(act(), 1..6), 1..12)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut ground = Ground { root: dir.path().canonicalize().unwrap(), clock: 0 };
        let root = ground.root.clone();
        let (vault, closed) = (MemoryVault::default(), Closed::of(None, None));
        let look = Look { root: &root, vault: &vault, closed: &closed, bounds: ScanBounds::default(), copies: Copies::All, stop: &|| false };
        let until = Instant::now() + MAX_TIME;
        let keep = || Keep { files: MAX_FILES, go_on: &|| Ok(()) };
        let tree = Tree::new(&root);
        let mut last = LastLook::from_vault(Arc::default());
        let others = MemoryVault::default();
        let first = |also: &Snapshot| {
            let walk = Arc::new(TreeWalk::through(&Root::open(&root).unwrap(), &root, &keep(), None));
            let look = Look { vault: &others, ..look };
            look.take_in(&walk, LastLook::from_vault(Arc::default()), also, until).unwrap()
        };
        for acts in acts {
            acts.iter().for_each(|act| ground.perform(act));
            if acts.iter().any(|act| matches!(act, Act::Settle)) {
                // As if everything had been left alone for a while.
                Arc::make_mut(&mut last.seen).values_mut().for_each(|seen| seen.stamp.settled = true);
                let seen = last.seen.clone();
                last.unsure.retain(|path| !matches!(seen[path].image, Image::File { .. }));
            }
            // As after a command.
            let before = last.seen.clone();
            let walk = tree.after(keep()).unwrap();
            last = look.take_in(&walk, last, &before, until).unwrap();
            prop_assert_eq!(images(&last.seen), images(&first(&before).seen));
            // As before the next one.
            tree.begins();
            let (_, walk) = tree.before(Some(keep())).unwrap();
            last = look.take_in(&walk, last, &Snapshot::new(), until).unwrap();
            prop_assert_eq!(images(&last.seen), images(&first(&Snapshot::new()).seen));
            let paths: BTreeSet<OsString> = last.seen.keys().cloned().collect();
            prop_assert_eq!(paths, not_ignored(&root));
            let (found, cut) = walk.steering();
            prop_assert!(!cut);
            prop_assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), steering(&root));
            let in_vault = known(&vault, &root).unwrap();
            prop_assert_eq!(images(&in_vault), images(&last.seen));
        }
    }
}
