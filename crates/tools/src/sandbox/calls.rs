//! System calls that a command in a leash is refused: what Landlock cannot say.
//!
//! Sockets of every family that leads off this machine (Landlock knows TCP only; names are looked up over UDP, which is as good a way
//! out), and in a network of the command's own whatever is neither TCP nor UDP; the requests that type into a terminal; rings of io_uring, which do such things without the calls; the kernel's key store;
//! all ways to mount; fanotify, which watches more than a folder; and setting the limits of other processes (a second of processor time for Parlor would end it). Sockets between
//! processes of this machine stay: shells, build tools and language servers live on them. A program for another processor mode (32 bits
//! on 64) cannot be filtered this way and is ended by the kernel.

use super::Leash;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;
use std::io::{Error, Result};

/// The families that stay on this machine: sockets between processes, and talk with the kernel.
const LOCAL: [libc::c_int; 2] = [libc::AF_UNIX, libc::AF_NETLINK];
/// The two that lead to a network; in one of the command's own there is nothing but loopback.
const INTERNET: [libc::c_int; 2] = [libc::AF_INET, libc::AF_INET6];
/// What is spoken there, beside whatever a socket's kind stands for: TCP, UDP, and TCP by several ways, which Go asks for.
const PROTOCOLS: [libc::c_int; 4] = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_MPTCP];
/// Kinds of sockets that are no streams (1) and no datagrams (2), by the bits that tell: the mask, and what is found.
const OTHER_KINDS: [(u64, u32); 4] = [(0b0100, 0b0100), (0b1000, 0b1000), (0b0011, 0b0011), (0b0011, 0)];
/// Requests that put bytes into a terminal's input, or paste its selection there. The kernel looks at the low 32 bits only.
const TYPING: [u32; 2] = [0x5412, 0x541c];
/// `open_tree_attr`, too new for the table of names.
const OPEN_TREE_ATTR: i64 = 467;
/// Calls that are refused whatever they are asked.
const REFUSED: [i64; 16] = [
    libc::SYS_io_uring_setup,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_fanotify_init,
];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// How far a command's sockets lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SocketReach {
    /// To processes of this machine by other ways than a network.
    Nowhere,
    /// To the loopback of a network of its own, by TCP and UDP.
    Loopback,
    Everywhere,
}

impl SocketReach {
    /// How far those of a command on this leash do.
    pub(super) fn of(leash: &Leash) -> SocketReach {
        match (leash.network, leash.own_network) {
            (true, _) => SocketReach::Everywhere,
            (false, true) => SocketReach::Loopback,
            (false, false) => SocketReach::Nowhere,
        }
    }
}

fn rules(reach: SocketReach) -> Result<Rules> {
    let condition = |argument: u8, operator: SeccompCmpOp, value: u32| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, u64::from(value))
    };
    let rule = |conditions: std::result::Result<Vec<_>, _>| {
        conditions.and_then(SeccompRule::new).map_err(Error::other)
    };
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let types =
        TYPING.iter().map(|request| rule(condition(1, SeccompCmpOp::Eq, *request).map(|one| vec![one])));
    rules.insert(libc::SYS_ioctl, types.collect::<Result<_>>()?);
    // Its own limits have no number. Those of its children it sets before it starts them, as shells do.
    let others = condition(0, SeccompCmpOp::Ne, 0).and_then(|other| {
        let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        Ok(vec![other, sets])
    });
    rules.insert(libc::SYS_prlimit64, vec![rule(others)?]);
    let none_of = |argument: u8, known: &[libc::c_int]| -> std::result::Result<Vec<_>, _> {
        known.iter().map(|one| condition(argument, SeccompCmpOp::Ne, one.cast_unsigned())).collect()
    };
    match reach {
        SocketReach::Everywhere => {}
        SocketReach::Nowhere => drop(rules.insert(libc::SYS_socket, vec![rule(none_of(0, &LOCAL))?])),
        SocketReach::Loopback => {
            let mut refused = vec![rule(none_of(0, &[LOCAL, INTERNET].concat()))?];
            for family in INTERNET {
                let of_family = || condition(0, SeccompCmpOp::Eq, family.cast_unsigned());
                for (mask, found) in OTHER_KINDS {
                    let kind = condition(1, SeccompCmpOp::MaskedEq(mask), found);
                    refused.push(rule(kind.and_then(|kind| Ok(vec![of_family()?, kind])))?);
                }
                refused.push(rule(none_of(2, &PROTOCOLS).and_then(|mut protocol| {
                    protocol.push(of_family()?);
                    Ok(protocol)
                }))?);
            }
            rules.insert(libc::SYS_socket, refused);
        }
    }
    #[cfg(target_arch = "x86_64")]
    second_numbers(&mut rules);
    Ok(rules)
}

/// The x32 mode calls the same kernel under other numbers, and the filter takes it for the same machine.
#[cfg(target_arch = "x86_64")]
fn second_numbers(rules: &mut Rules) {
    const X32: i64 = 0x4000_0000;
    const X32_IOCTL: i64 = 514;
    let twins: Vec<_> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
    if let Some(types) = rules.get(&libc::SYS_ioctl).cloned() {
        rules.insert(X32_IOCTL | X32, types);
    }
    rules.extend(twins);
}

fn filter(reach: SocketReach) -> Result<BpfProgram> {
    let refused = SeccompAction::Errno(libc::EACCES.cast_unsigned());
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(Error::other)?;
    let filter =
        SeccompFilter::new(rules(reach)?, SeccompAction::Allow, refused, arch).map_err(Error::other)?;
    filter.try_into().map_err(Error::other)
}

/// Refuses those calls to this thread and everything it starts.
pub(super) fn refuse(reach: SocketReach) -> Result<()> {
    seccompiler::apply_filter(&filter(reach)?).map_err(Error::other)
}

/// Whether this kernel can, found by limiting a thread that then ends.
pub(super) fn can_filter() -> bool {
    std::thread::spawn(|| refuse(SocketReach::Nowhere)).join().is_ok_and(|refused| refused.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seccompiler::sock_filter;

    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
    const DENIED: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES as u32;

    /// Runs a filter as the kernel would, on the words of one call: number, machine, arguments.
    fn verdict(program: &[sock_filter], call: i64, machine: u32, arguments: [u64; 3]) -> u32 {
        let low = |value: u64| u32::try_from(value & u64::from(u32::MAX)).unwrap();
        let word = |offset: u32| match offset {
            0 => low(call.cast_unsigned()),
            4 => machine,
            16 => low(arguments[0]),
            20 => low(arguments[0] >> 32),
            24 => low(arguments[1]),
            28 => low(arguments[1] >> 32),
            32 => low(arguments[2]),
            36 => low(arguments[2] >> 32),
            other => panic!("the filter looks at {other}"),
        };
        let (mut at, mut held) = (0_usize, 0_u32);
        loop {
            let step = &program[at];
            at += 1;
            let jump = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
            match step.code {
                0x20 => held = word(step.k),
                0x54 => held &= step.k,
                0x05 => at += usize::try_from(step.k).unwrap(),
                0x15 => at += jump(held == step.k),
                0x25 => at += jump(held > step.k),
                0x35 => at += jump(held >= step.k),
                0x06 => return step.k,
                other => panic!("the filter uses {other:#x}"),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn what_types_into_a_terminal_or_leads_away_is_refused_in_every_spelling() {
        const MACHINE: u32 = 0xc000_003e;
        const X32: i64 = 0x4000_0000;
        let [alone, own, online] = [SocketReach::Nowhere, SocketReach::Loopback, SocketReach::Everywhere]
            .map(|reach| filter(reach).unwrap());
        let ways = |program: &[sock_filter], call: i64, arguments: [u64; 2]| {
            let [first, second] = arguments;
            [call, call | X32].map(|call| verdict(program, call, MACHINE, [first, second, 0]))
        };
        for program in [&alone, &own, &online] {
            for request in [0x5412_u64, 0x541c, 0x5412 | 1 << 32, 0x541c | u64::MAX << 32] {
                assert_eq!(ways(program, libc::SYS_ioctl, [0, request]), [DENIED; 2], "{request:#x}");
                assert_eq!(verdict(program, 514 | X32, MACHINE, [0, request, 0]), DENIED);
            }
            // The size of a terminal, and its settings.
            for request in [0x5413, 0x5401, 0x5414] {
                assert_eq!(ways(program, libc::SYS_ioctl, [0, request]), [ALLOWED; 2], "{request:#x}");
            }
            for call in REFUSED {
                assert_eq!(ways(program, call, [0, 0]), [DENIED; 2], "{call}");
            }
            let local = u64::from(libc::AF_UNIX.cast_unsigned());
            assert_eq!(ways(program, libc::SYS_socket, [local, 1]), [ALLOWED; 2]);
            assert_eq!(ways(program, libc::SYS_openat, [0, 0]), [ALLOWED; 2]);
            // Who is meant, which limit, and where the new one stands, if it is to be set.
            for (asked, said) in [
                ([7, 15, 0x7fff_0000_0000], DENIED),
                ([7, 15, 1], DENIED),
                ([1 << 32 | 7, 15, 1], DENIED),
                ([7, 15, 0], ALLOWED),
                ([0, 15, 1], ALLOWED),
                // The kernel looks at the low half only: it is its own.
                ([1 << 32, 15, 1], ALLOWED),
            ] {
                for call in [libc::SYS_prlimit64, libc::SYS_prlimit64 | X32] {
                    assert_eq!(verdict(program, call, MACHINE, asked), said, "{asked:x?}");
                }
            }
            // 32 bits on 64: other numbers mean other calls, so nothing of it runs.
            assert_eq!(verdict(program, 5, 0x4000_0003, [0; 3]), libc::SECCOMP_RET_KILL_PROCESS);
        }
        for family in [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET, libc::AF_VSOCK, libc::AF_BLUETOOTH] {
            let family = u64::from(family.cast_unsigned());
            for family in [family, family | 1 << 32] {
                assert_eq!(ways(&alone, libc::SYS_socket, [family, 2]), [DENIED; 2], "{family}");
                assert_eq!(ways(&online, libc::SYS_socket, [family, 2]), [ALLOWED; 2], "{family}");
            }
        }
        let socket = |family: libc::c_int, kind: libc::c_int, protocol: libc::c_int| {
            let words = [family, kind, protocol].map(|word| u64::from(word.cast_unsigned()));
            verdict(&own, libc::SYS_socket, MACHINE, words)
        };
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        for family in INTERNET {
            for kind in 0..16 {
                let said =
                    if matches!(kind, libc::SOCK_STREAM | libc::SOCK_DGRAM) { ALLOWED } else { DENIED };
                assert_eq!([kind, kind | flags].map(|kind| socket(family, kind, 0)), [said; 2], "{kind}");
            }
            for (kind, protocol, said) in [
                (libc::SOCK_STREAM, libc::IPPROTO_TCP, ALLOWED),
                (libc::SOCK_STREAM, libc::IPPROTO_MPTCP, ALLOWED),
                (libc::SOCK_DGRAM, libc::IPPROTO_UDP, ALLOWED),
                (libc::SOCK_STREAM, libc::IPPROTO_SCTP, DENIED),
                (libc::SOCK_DGRAM, libc::IPPROTO_ICMP, DENIED),
                (libc::SOCK_RAW, libc::IPPROTO_RAW, DENIED),
            ] {
                assert_eq!(socket(family, kind, protocol), said, "{family} {kind} {protocol}");
            }
        }
        // Addresses of this machine's devices are told by the kernel, as ever.
        assert_eq!(socket(libc::AF_NETLINK, libc::SOCK_RAW, 0), ALLOWED);
        for family in [libc::AF_PACKET, libc::AF_VSOCK, libc::AF_BLUETOOTH] {
            assert_eq!(socket(family, libc::SOCK_DGRAM, 0), DENIED, "{family}");
        }
    }
}
