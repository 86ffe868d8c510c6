//! Pid 1 of the sandbox: builds it from the inside, starts the tool, reaps, and ends the tree. It
//! is a fork of the launcher in its own namespaces. Before the tool starts, it has the tool's uid,
//! Landlock domain and filters, no capability, and cannot be traced or dumped. It forwards no
//! signal, and treats a closed channel as the launcher's end. It has its own clock for the wall
//! limit, because a launcher that is stuck in the kernel cannot enforce it.

mod memory_files;
mod model;
mod receive;
mod rights;
mod tool;
mod work_copy;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use ::model::Layer;
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

pub(super) use self::model::InitContext;

use self::model::{ReceivedPlan, ToolStreams};
use super::confine::{EffectiveLandlock, LandlockRules, ProcSelfFiles, ProcStatus};
use super::filter::{FilterAccess, MemoryWatch, ProbeToken, Profile};
use super::inner_fds::InnerFds;
use super::oom_score::OomScore;
use super::{Failed, confine, probe, view};
use crate::messages::{EvidenceMessage, FromInit};
use crate::report::{BuildStep, Confinement, Mark};
use crate::steps::SetupStep;
use crate::sys;
use crate::wire;
use receive::{receive_exec, receive_plan};
use rights::change_identity;
use tool::{final_counts, start_tool, wait_for_tool};

/// Init kills the tree this long after the wall limit; the launcher is earlier unless it is stuck.
const OWN_KILL_AFTER: Duration = Duration::from_secs(1);

/// Runs init and never returns. `procs_files` are of the groups that init was not cloned into.
pub(super) fn run_init(birth: InitContext<'_>, procs_files: Vec<File>) -> ! {
    let status = match run(&birth, procs_files) {
        Ok(()) => 0,
        Err(failed) => {
            let frame = FromInit::SetupFailed(failed.into_unable());
            // A launcher that is gone has already ended the sandbox and needs no report.
            if wire::send(&birth.channel, &frame.encode(), &[]).is_err() {
                eprintln!("toolexec-launch: sandbox init: cannot report its failure");
            }
            1
        }
    };
    std::process::exit(status)
}

/// Runs from a fresh clone to the death of the tool's tree.
fn run(birth: &InitContext<'_>, procs_files: Vec<File>) -> Result<(), Failed> {
    let settled = set_up(birth, procs_files)?;
    let Some(mut received) = receive_plan(birth)? else {
        return Ok(());
    };
    let marks = vec![Mark::now(BuildStep::InitSpecRead)];
    if let Some(network) = received.network.take() {
        enter_network(network)?;
    }
    let SetupDone { proc_self: witness, rules, oom_score: sacrifice } = settled;
    let streams = prepare(birth, &received, witness, rules, marks)?;
    // Drops the rest of the plan: while the tool runs, init holds nothing that it does not need.
    let ReceivedPlan { plan, evidence, .. } = received;
    let Some(order) = receive_exec(birth, &evidence)? else {
        return Ok(());
    };
    let mut watched = SigSet::empty();
    watched.add(Signal::SIGCHLD);
    watched.thread_block().map_err(Failed::at("block SIGCHLD"))?;
    let children = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .map_err(Failed::at("watch children"))?;
    let started = Instant::now();
    let tool =
        sacrifice.with_highest(|| start_tool(birth, &plan.runtime.binary, &order, streams))?;
    wire::send(&birth.channel, &FromInit::Started.encode(), &[])
        .map_err(Failed::at("report the start"))?;
    let wall = Duration::from_millis(order.limits.wall_ms_max);
    let kill_at = started.checked_add(wall + OWN_KILL_AFTER);
    let ended = wait_for_tool(birth, tool, (&children, &evidence), kill_at)?;
    let report = FromInit::ToolEnded(Box::new(final_counts(ended)));
    wire::send(&birth.channel, &report.encode(), &[]).map_err(Failed::at("report the end"))
}

struct SetupDone {
    proc_self: ProcSelfFiles,
    rules: LandlockRules,
    oom_score: OomScore,
}

/// Does the setup that needs no plan: control groups, namespaces and the mounts of every sandbox.
fn set_up(birth: &InitContext<'_>, procs_files: Vec<File>) -> Result<SetupDone, Failed> {
    let mut kept = vec![birth.channel.as_fd()];
    kept.extend(procs_files.iter().map(AsFd::as_fd));
    SetupStep::JoinCgroups.begin();
    sys::close_all_but(&kept).map_err(Failed::at("close the launcher's descriptors"))?;
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Failed::at("set the parent-death signal"))?;
    for mut file in procs_files {
        file.write_all(b"0")
            .map_err(Failed::without(Layer::Cgroup, "join the sandbox's cgroup"))?;
    }
    // After joining: the new namespace shows the sandbox's own group as the root.
    unshare(CloneFlags::CLONE_NEWCGROUP)
        .map_err(Failed::without(Layer::Namespaces, "unshare the cgroup namespace"))?;
    SetupStep::PrivateMounts.begin();
    memory_files::forbid_execution(birth.mode);
    view::mount_base(birth.identity)?;
    rustix::process::setsid().map_err(Failed::at("start a session without a terminal"))?;
    confine::fixed_rlimits()?;
    let (witness, rules) = (ProcSelfFiles::open()?, LandlockRules::begin()?);
    let settled = SetupDone { proc_self: witness, rules, oom_score: OomScore::open(birth.memory)? };
    SetupStep::end();
    Ok(settled)
}

/// Confines this process according to the plan, until it waits for `Go`.
fn prepare(
    birth: &InitContext<'_>,
    received: &ReceivedPlan,
    mut witness: ProcSelfFiles,
    rules: LandlockRules,
    mut marks: Vec<Mark>,
) -> Result<ToolStreams, Failed> {
    let mut done = |step| marks.push(Mark::now(step));
    let ReceivedPlan { plan, runtime_mounts, evidence, inputs, trees, .. } = received;
    SetupStep::MountRuntime.begin();
    view::mount_plan(plan, runtime_mounts, inputs, trees)?;
    done(BuildStep::Mounted);
    SetupStep::DropRights.begin();
    let group = change_identity(birth, plan)?;
    done(BuildStep::RightsDropped);
    // As the tool's user, who owns them: a launcher without CAP_DAC_OVERRIDE may not open them.
    let windows = open_inner_fds()?;
    let streams = make_streams(evidence)?;
    prctl::set_no_new_privs().map_err(Failed::without(Layer::Capabilities, "set no_new_privs"))?;
    let namespaces = witness.namespaces()?;
    done(BuildStep::StateRead);
    probe::no_route(plan.network)?;
    SetupStep::Landlock.begin();
    let landlock = rules.enforce(plan)?;
    done(BuildStep::Landlocked);
    SetupStep::LoadFilter.begin();
    let profile = Profile::Of(plan.runtime.language);
    let word = draw_token()?;
    let (seccomp_sha256, listener) =
        birth.base_root.filters.load_last(profile, birth.memory, FilterAccess::of(plan), word)?;
    // From here on the launcher must answer: the probe makes denied calls.
    let fds = [listener.as_fd(), witness.mounts()];
    wire::send(&birth.channel, &FromInit::Listener.encode(), &fds)
        .map_err(Failed::at("send the listener"))?;
    drop(listener);
    done(BuildStep::Filtered);
    SetupStep::SelfTest.begin();
    let status = witness.status()?;
    confine::require_confined(&status)?;
    probe::probe(birth.identity, landlock.abi, plan.network, word)?;
    let ids = (namespaces, seccomp_sha256);
    let confinement = read_confinement((birth, group), landlock, &status, ids)?;
    done(BuildStep::Probed);
    SetupStep::end();
    let frame = FromInit::Prepared(Box::new(confinement), marks).encode();
    let fds: Vec<BorrowedFd<'_>> = windows.iter().map(AsFd::as_fd).collect();
    wire::send(&birth.channel, &frame, &fds).map_err(Failed::at("report readiness"))?;
    Ok(streams)
}

fn read_confinement(
    (birth, group): (&InitContext<'_>, Option<u32>),
    landlock: EffectiveLandlock,
    status: &ProcStatus,
    (namespaces, seccomp_sha256): (Vec<(String, u64)>, Vec<[u8; 32]>),
) -> Result<Confinement, Failed> {
    Ok(Confinement {
        mode: birth.mode,
        uid: birth.identity.uid,
        groups: probe::groups(birth.mode, &birth.base_root.groups, group)?,
        namespaces,
        landlock_abi: landlock.abi,
        landlock_handled: landlock.handled,
        seccomp_sha256,
        seccomp_mode: status.seccomp_mode,
        no_new_privs: status.no_new_privs,
        capabilities: status.capabilities,
        // The launcher fills this in.
        mounts_sha256: [0; 32],
        limits: Vec::new(),
        degraded: match birth.memory {
            MemoryWatch::Sampled => vec![Layer::Cgroup.as_str().to_owned()],
            MemoryWatch::Kernel => Vec::new(),
        },
    })
}

/// Draws the probe token of this sandbox. It leaves this process only inside its filter.
fn draw_token() -> Result<ProbeToken, Failed> {
    let mut random = [0; 8];
    let drawn = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    match drawn.map_err(Failed::at("draw the probe token"))? {
        8 => Ok(ProbeToken::new(u64::from_ne_bytes(random))),
        _ => Err(Failed::here("probe token: too few random bytes from the kernel")),
    }
}

/// Leaves the slot's network, whose loopback must never be up, for one of this sandbox alone.
fn enter_network(network: OwnedFd) -> Result<(), Failed> {
    nix::sched::setns(network, CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(Layer::Namespaces, "enter the sandbox's network namespace"))
}

/// Opens the descriptors by which the launcher watches, while this process may.
fn open_inner_fds() -> Result<Vec<OwnedFd>, Failed> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = InnerFds::PATHS.map(|path| open(path, flags, Mode::empty()));
    opened.into_iter().collect::<Result<_, _>>().map_err(Failed::at("open the watched directories"))
}

/// Makes the pipes under the tool's uid, because otherwise the tool could not open `/dev/stdout`,
/// and sends the read ends to the daemon.
fn make_streams(evidence: &OwnedFd) -> Result<ToolStreams, Failed> {
    let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
    let (stdout_read, stdout) = pipe().map_err(Failed::at("make the stdout pipe"))?;
    let (stderr_read, stderr) = pipe().map_err(Failed::at("make the stderr pipe"))?;
    let fds = [stdout_read.as_fd(), stderr_read.as_fd()];
    wire::send(evidence, &EvidenceMessage::Streams.encode(), &fds)
        .map_err(Failed::at("send the pipes"))?;
    Ok(ToolStreams { stdout, stderr })
}
