//! Links the program so that it starts quickly.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).as_deref() == Ok(value);
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Some 80,000 places hold addresses. In a program that may be loaded anywhere, all of them are written at every start, which takes
    // longer than all that we do until the screen stands; and each command of the agent starts us once more, as its guard. A build
    // for oneself does without; what is published (`dist`) can be loaded anywhere.
    if glibc && is("PROFILE", "release") && !is("OPT_LEVEL", "3") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
