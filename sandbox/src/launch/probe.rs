//! The self-test before the tool starts: each probe attempts what one layer must refuse. A layer's
//! own status can be wrong; the kernel's answer cannot. Each probe names the one errno of its
//! layer, so that a call that fails for another reason (a missing path, a bad argument) proves
//! nothing. An attempt must do no harm if it succeeds, and the tool must never start after a wrong
//! answer.

use std::fs::{File, OpenOptions};
use std::io;

use model::{LauncherMode, Layer};
use nix::unistd::{Gid, Uid, getresgid, getresuid};
use rustix::net::{AddressFamily, SocketType, connect, ipproto, socket};

use super::Failed;
use super::filter::ProbeToken;
use super::identity::{self, ToolIdentity};
use super::mount::PROBE_FILE;
use crate::plan::SandboxNetwork;
use crate::sys::{Attempt, attempt, errno_of};

/// The first Landlock ABI that covers TCP.
const ABI_WITH_TCP: u32 = 4;

/// An attempt, the layer that must refuse it, and the errno of that layer.
struct SelfTestProbe {
    layer: Layer,
    attempt: &'static str,
    refused_with: i32,
    answer: io::Result<()>,
}

/// Makes every known attempt. A wrong answer names its layer.
pub(super) fn probe(
    identity: ToolIdentity,
    landlock_abi: u32,
    network: SandboxNetwork,
    word: ProbeToken,
) -> Result<(), Failed> {
    for probe in probes(landlock_abi, network, word) {
        check(&probe)?;
    }
    own_ids(identity)
}

fn probes(
    landlock_abi: u32,
    network: SandboxNetwork,
    word: ProbeToken,
) -> impl Iterator<Item = SelfTestProbe> {
    let probe = |layer, attempt, refused_with, answer| SelfTestProbe {
        layer,
        attempt,
        refused_with,
        answer,
    };
    let fixed = [
        // It exists and file modes allow it, so that only Landlock can refuse it.
        // plain-english: quotation, of a file name
        probe(Layer::Landlock, "open /.canary", libc::EACCES, File::open(PROBE_FILE).map(drop)),
        probe(
            Layer::Mounts,
            "create a file in /in",
            libc::EROFS,
            OpenOptions::new().write(true).create_new(true).open("/in/.canary").map(drop),
        ),
        loopback_probe(landlock_abi, network),
    ];
    let filtered = move |it: Attempt, word: u64| {
        probe(Layer::Seccomp, it.as_str(), refused_with(it), attempt(it, word))
    };
    let at_once = Attempt::ALL.iter().copied().map(move |it| filtered(it, word.value()));
    // One call without the token, as a tool would make it: the listener must answer.
    let notified = std::iter::once_with(move || filtered(Attempt::Keyctl, 0));
    fixed.into_iter().chain(datagram_probe(network)).chain(at_once).chain(notified)
}

/// Returns the errno with which the filter refuses an attempt.
fn refused_with(attempt: Attempt) -> i32 {
    match attempt {
        Attempt::Netlink | Attempt::Vsock => libc::EAFNOSUPPORT,
        Attempt::Ptrace
        | Attempt::Mount
        | Attempt::Keyctl
        | Attempt::IoUring
        | Attempt::UserNamespace => libc::EPERM,
    }
}

/// Checks that loopback is the only route, before Landlock and the last filter refuse the attempt.
pub(super) fn no_route(network: SandboxNetwork) -> Result<(), Failed> {
    match network {
        // There, even loopback is unreachable.
        SandboxNetwork::Nothing => Ok(()),
        SandboxNetwork::Proxy => check(&route_probe()),
    }
}

fn route_probe() -> SelfTestProbe {
    // An address for documentation; connecting a UDP socket looks up a route and sends nothing.
    let address = std::net::SocketAddrV4::new(std::net::Ipv4Addr::new(192, 0, 2, 1), 9);
    let answer = socket(AddressFamily::INET, SocketType::DGRAM, Some(ipproto::UDP))
        .and_then(|made| connect(&made, &address))
        .map_err(io::Error::from);
    let (layer, refused_with) = (Layer::Namespaces, libc::ENETUNREACH);
    SelfTestProbe { layer, attempt: "find a route out of the sandbox", refused_with, answer }
}

/// Returns the probe for datagram sockets: with loopback up, unread data would escape every limit.
fn datagram_probe(network: SandboxNetwork) -> Option<SelfTestProbe> {
    if network == SandboxNetwork::Nothing {
        return None;
    }
    let answer = socket(AddressFamily::INET, SocketType::DGRAM, Some(ipproto::UDP))
        .map(drop)
        .map_err(io::Error::from);
    let (layer, refused_with) = (Layer::Seccomp, libc::EAFNOSUPPORT);
    Some(SelfTestProbe { layer, attempt: "make a datagram socket", refused_with, answer })
}

/// Returns the probe for loopback. Landlock refuses it if it covers TCP. Otherwise the sandbox's
/// network has no route, or no listener except at the proxy's port.
fn loopback_probe(landlock_abi: u32, network: SandboxNetwork) -> SelfTestProbe {
    let (layer, refused_with) = match network {
        _ if landlock_abi >= ABI_WITH_TCP => (Layer::Landlock, libc::EACCES),
        SandboxNetwork::Nothing => (Layer::Namespaces, libc::ENETUNREACH),
        SandboxNetwork::Proxy => (Layer::Namespaces, libc::ECONNREFUSED),
    };
    let address = std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 9);
    let answer = socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP))
        .and_then(|made| connect(&made, &address))
        .map_err(io::Error::from);
    SelfTestProbe { layer, attempt: "connect to loopback", refused_with, answer }
}

fn check(probe: &SelfTestProbe) -> Result<(), Failed> {
    let errno = match &probe.answer {
        Err(error) if errno_of(error) == probe.refused_with => return Ok(()),
        Err(error) => errno_of(error),
        Ok(()) => 0,
    };
    let word = probe.layer.as_str();
    let got = if errno == 0 { "succeeded" } else { "failed with the wrong error" };
    Err(probe_failed(format!("self-test of {word}: attempt to {} {got}", probe.attempt), errno))
}

/// Builds the error for a layer that exists but does not work. That is a broken sandbox, not a host
/// without the layer: the run ends as a set-up error, and no policy exception permits it.
fn probe_failed(step: String, errno: i32) -> Failed {
    Failed { layer: None, step, errno }
}

fn own_ids(identity: ToolIdentity) -> Result<(), Failed> {
    let (uid, gid) = (Uid::from_raw(identity.uid), Gid::from_raw(identity.gid));
    let uids = getresuid().map_err(Failed::at("read the user ids"))?;
    let gids = getresgid().map_err(Failed::at("read the group ids"))?;
    let is_tool = [uids.real, uids.effective, uids.saved].iter().all(|it| *it == uid)
        && [gids.real, gids.effective, gids.saved].iter().all(|it| *it == gid);
    if is_tool {
        return Ok(());
    }
    Err(probe_failed("self-test of capabilities: not the tool's uid and gid".to_owned(), 0))
}

/// Returns the tool's supplementary groups. In system mode others would be root's: there must be
/// none except `given`, the group of the sandbox's device.
pub(super) fn groups(
    mode: LauncherMode,
    kept: &[u32],
    given: Option<u32>,
) -> Result<Vec<u32>, Failed> {
    let expected: Vec<u32> = given.into_iter().collect();
    match mode {
        LauncherMode::User => Ok(kept.to_vec()),
        LauncherMode::System if identity::supplementary_groups()? == expected => Ok(expected),
        LauncherMode::System => Err(probe_failed(
            "self-test of capabilities: supplementary groups remain".to_owned(),
            0,
        )),
    }
}

/// Fails if control groups are mounted: a tool that sees them could try to change its limits.
pub(super) fn no_cgroupfs(mount_table: &[u8]) -> Result<(), Failed> {
    // mountinfo: the file system type follows ` - ` (proc_pid_mountinfo(5)).
    let table = String::from_utf8_lossy(mount_table);
    let kinds = table.lines().filter_map(|line| line.split_once(" - ")?.1.split(' ').next());
    if kinds.into_iter().any(|kind| kind == "cgroup" || kind == "cgroup2") {
        return Err(probe_failed(
            "self-test of mounts: a cgroup file system is mounted".to_owned(),
            0,
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(answer: io::Result<()>) -> Option<(String, i32)> {
        let (layer, refused_with) = (Layer::Mounts, libc::EROFS);
        let probe = SelfTestProbe { layer, attempt: "write", refused_with, answer };
        check(&probe).err().map(|failed| {
            assert!(failed.layer.is_none(), "a setup error, not a missing layer");
            (failed.step, failed.errno)
        })
    }

    #[test]
    fn only_the_layers_own_errno_is_proof() {
        let errno = |code| Err(io::Error::from_raw_os_error(code));
        assert_eq!(judged(errno(libc::EROFS)), None);
        let (step, code) = judged(errno(libc::ENOENT)).unwrap_or_default();
        assert!(step.contains("mounts") && step.contains("the wrong error"), "{step}");
        assert_eq!(code, libc::ENOENT);
        let (step, code) = judged(Ok(())).unwrap_or_default();
        assert!(step.contains("succeeded") && code == 0, "{step}");
    }

    #[test]
    fn a_mount_table_is_read_by_type() {
        let line = |kind: &str| format!("36 35 0:31 / /x ro - {kind} cgroup rw\n");
        assert!(no_cgroupfs(line("tmpfs").as_bytes()).is_ok());
        assert!(no_cgroupfs(line("cgroup2").as_bytes()).is_err());
        assert!(no_cgroupfs(line("cgroup").as_bytes()).is_err());
    }

    #[test]
    fn probes_fail_outside_a_sandbox() {
        // This test runs unconfined: a probe that passes here would prove nothing in a sandbox.
        let all = probes(9, SandboxNetwork::Nothing, ProbeToken::new(0));
        let wrong = all.filter(|probe| check(probe).is_err()).count();
        assert!(wrong >= 5, "{wrong}");
    }
}
