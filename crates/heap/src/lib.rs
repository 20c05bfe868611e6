//! What a process that lives for days keeps of the memory that it had once.
//!
//! glibc gives up to eight arenas a core to threads that meet, and takes blocks of up to 32 MB from them once such a block was freed. A
//! session whose history is copied for every turn, by whatever thread has time, leaves holes of that size in each: 1,800 prompts in one
//! session held four times what is in it. Two arenas and large blocks straight from the kernel give it back, at no cost that can be
//! measured here (`docs/reliability.md`).

/// Enough for the threads that work at the same time: one that translates and one that stores.
#[cfg(target_env = "gnu")]
const ARENAS: libc::c_int = 2;
/// Blocks from this size on come from the kernel, and go back to it. glibc begins with this, and would raise it.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 128 * 1024;

/// Has what is freed given back to the kernel. To be called before there is a second thread.
#[cfg(target_env = "gnu")]
pub fn stay_small() {
    for (which, value) in
        [(libc::M_ARENA_MAX, ARENAS), (libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, LARGE)]
    {
        // SAFETY: it takes two numbers and touches nothing of ours; a number that it does not know is refused, which is as good as before.
        unsafe { libc::mallopt(which, value) };
    }
}

/// Other C libraries keep their heaps by rules of their own.
#[cfg(not(target_env = "gnu"))]
pub fn stay_small() {}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// What the kernel has given this process, in KiB.
    fn held() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    #[test]
    fn what_is_large_goes_back_when_it_is_freed_whatever_stays_beside_it() {
        stay_small();
        // Left to itself, glibc takes blocks of this size from an arena once one was freed.
        drop(black_box(vec![1_u8; 16 << 20]));
        let before = held();
        let mut stays = Vec::new();
        // Each is larger than the hole of the one before, as the copies of a growing history are, and something small stays behind it.
        for size in (1..=32).map(|step| step * LARGE as usize) {
            let large = black_box(vec![1_u8; size]);
            stays.push(black_box(vec![1_u8; 64]));
            drop(large);
        }
        let grown = held().saturating_sub(before);
        assert!(grown < 4 * 1024, "{grown} KiB are held for {} bytes", stays.len() * 64);
    }
}
