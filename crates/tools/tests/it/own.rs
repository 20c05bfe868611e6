//! Parlor's own folders where a command may write around them: nothing can take their place.

use crate::leash::Bench;
use tools::sandbox::Leash;

#[test]
fn a_folder_above_our_own_cannot_be_replaced() {
    for bench in Bench::users().into_iter().filter(Bench::namespaces) {
        let open = bench.home.path().join("open");
        let (above, own) = (open.join("above"), open.join("above/parlor"));
        std::fs::create_dir_all(&own).unwrap();
        bench.own(bench.home.path());
        let bench = bench.with(|guard| guard.hiding(std::slice::from_ref(&own)));
        let leash = Leash { writable: vec![open.clone()], ..bench.leash() };
        let said = bench.run(
            &leash,
            &format!(
                "mv {0} {0}.old; mkdir -p {1}; echo x > {1}/config.toml",
                above.display(),
                own.display()
            ),
        );
        assert!(!open.join("above.old").exists() && !own.join("config.toml").exists(), "{said:?}");
        bench.run(&leash, &format!("echo x > {}/new", open.display())).is(0, "");
    }
}
