//! Pid 1 of the cell: builds it from the inside, starts the tool, reaps, ends the tree.
//!
//! It is a copy of the launcher in namespaces of its own. By the time the tool exists it has the
//! tool's uid, no capability, the tool's Landlock domain and filters, and cannot be traced or dumped.
//! It forwards no signal, and believes that its launcher is gone when the channel closes. It keeps the wall
//! limit by a clock of its own, because a launcher that is stuck in the kernel keeps none.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Layer, Mode};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{WaitOptions, wait};

use super::confine::{LandlockRules, Witness};
use super::filter::{MemoryWatch, Profile, Word};
use super::house::House;
use super::identity::Identity;
use super::sacrifice::Sacrifice;
use super::windows::Windows;
use super::{Failed, confine, probe, view};
use crate::messages::{Evidence, FromInit, Furnishing, ToInit, ToolReport};
use crate::outcome::ToolEnd;
use crate::plan::{CellPlan, Network, Order};
use crate::report::{Accounting, Confinement, Mark, Step};
use crate::steps::SetupStep;
use crate::sys;
use crate::wire;

/// How long after the wall limit init kills the tree by itself: by then the launcher, whose part it is,
/// cannot.
const OWN_KILL_AFTER: Duration = Duration::from_secs(1);

/// Everything that init is born with, before anybody knows what will run.
pub(super) struct Birth<'a> {
    pub(super) mode: Mode,
    pub(super) identity: Identity,
    pub(super) house: &'a House,
    /// To the launcher.
    pub(super) channel: OwnedFd,
    /// Sampled where there are no groups.
    pub(super) memory: MemoryWatch,
}

/// Lives and never returns. `doors` are `cgroup.procs` of the cell's groups that init was not born in.
pub(super) fn live(birth: Birth<'_>, doors: Vec<File>) -> ! {
    let status = match run(&birth, doors) {
        Ok(()) => 0,
        Err(failed) => {
            let frame = FromInit::Unable(failed.into_unable());
            // A launcher that is gone cannot be told; it has ended the cell already.
            if wire::send(&birth.channel, &frame.encode(), &[]).is_err() {
                eprintln!("toolexec-launch: the cell's init could not report");
            }
            1
        }
    };
    std::process::exit(status)
}

/// Write ends of the tool's stdout and stderr.
struct Streams {
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// From a fresh clone to the death of the tool's tree.
fn run(birth: &Birth<'_>, doors: Vec<File>) -> Result<(), Failed> {
    let settled = settle(birth, doors)?;
    let Some(mut told) = hear_plan(birth)? else {
        return Ok(());
    };
    let marks = vec![Mark::now(Step::Heard)];
    if let Some(network) = told.network.take() {
        enter_network(network)?;
    }
    let Settled { witness, rules, sacrifice } = settled;
    let streams = prepare(birth, &told, witness, rules, marks)?;
    // What else was told goes now: while the tool runs, its init has nothing that it does not need.
    let Told { plan, evidence, .. } = told;
    let Some(order) = hear_order(birth, &evidence)? else {
        return Ok(());
    };
    let mut watched = SigSet::empty();
    watched.add(Signal::SIGCHLD);
    watched.thread_block().map_err(Failed::at("block SIGCHLD"))?;
    let children = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .map_err(Failed::at("watch children"))?;
    let started = Instant::now();
    let tool = sacrifice.during(|| start_tool(birth, &plan.runtime.binary, &order, streams))?;
    wire::send(&birth.channel, &FromInit::Started.encode(), &[])
        .map_err(Failed::at("report the start"))?;
    let wall = Duration::from_millis(order.limits.wall_ms_max);
    let kill_at = started.checked_add(wall + OWN_KILL_AFTER);
    let ended = wait_for_tool(birth, tool, (&children, &evidence), kill_at)?;
    let report = FromInit::ToolEnded(Box::new(last_look(ended)));
    wire::send(&birth.channel, &report.encode(), &[]).map_err(Failed::at("report the end"))
}

/// What is ready before there is a plan.
struct Settled {
    witness: Witness,
    rules: LandlockRules,
    sacrifice: Sacrifice,
}

/// What needs no plan: the control groups, the namespaces and the mounts that every cell has.
fn settle(birth: &Birth<'_>, doors: Vec<File>) -> Result<Settled, Failed> {
    let mut kept = vec![birth.channel.as_fd()];
    kept.extend(doors.iter().map(AsFd::as_fd));
    SetupStep::JoinCgroups.begin();
    sys::close_all_but(&kept).map_err(Failed::at("close what is the launcher's"))?;
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Failed::at("die with the launcher"))?;
    for mut door in doors {
        door.write_all(b"0").map_err(Failed::without(Layer::Cgroup, "join the cell's cgroup"))?;
    }
    // After joining: from inside, the cell's own group is the root of everything.
    unshare(CloneFlags::CLONE_NEWCGROUP)
        .map_err(Failed::without(Layer::Namespaces, "unshare the cgroup namespace"))?;
    SetupStep::PrivateMounts.begin();
    forbid_executable_memfds(birth.mode);
    view::settle(birth.identity)?;
    rustix::process::setsid().map_err(Failed::at("begin a session without terminal"))?;
    confine::fixed_rlimits()?;
    let (witness, rules) = (Witness::open()?, LandlockRules::begin()?);
    let settled = Settled { witness, rules, sacrifice: Sacrifice::open(birth.memory)? };
    SetupStep::end();
    Ok(settled)
}

/// Memory that is a file must be no way round mounts that let nothing be executed: `vm.memfd_noexec` of this
/// pid namespace (Linux 6.3). No layer of its own, and root's alone to set, so that a kernel or a user that
/// cannot is no failure.
fn forbid_executable_memfds(mode: Mode) {
    const LEVEL: &str = "/proc/sys/vm/memfd_noexec";
    if mode == Mode::System
        && let Ok(mut level) = fs::OpenOptions::new().write(true).open(LEVEL)
        && let Err(error) = level.write_all(b"2")
    {
        eprintln!("toolexec-launch: {LEVEL}: {error}");
    }
}

/// A plan with all that came with it.
struct Told {
    plan: Box<CellPlan>,
    furnishings: Vec<Furnishing>,
    /// To the daemon.
    evidence: OwnedFd,
    inputs: OwnedFd,
    /// The network namespace to live in, if not the seat's; taken when it is entered.
    network: Option<OwnedFd>,
    trees: Vec<OwnedFd>,
}

/// From a plan to a confined process that waits for `Go`.
fn prepare(
    birth: &Birth<'_>,
    told: &Told,
    mut witness: Witness,
    rules: LandlockRules,
    mut marks: Vec<Mark>,
) -> Result<Streams, Failed> {
    let mut done = |step| marks.push(Mark::now(step));
    let Told { plan, furnishings, evidence, inputs, trees, .. } = told;
    SetupStep::MountRuntime.begin();
    view::complete(plan, furnishings, inputs, trees)?;
    done(Step::Mounted);
    SetupStep::DropRights.begin();
    change_identity(birth)?;
    done(Step::Stripped);
    // As the tool's user, whose they are: a launcher without CAP_DAC_OVERRIDE may not open them.
    let windows = open_windows()?;
    let streams = make_streams(evidence)?;
    prctl::set_no_new_privs().map_err(Failed::without(Layer::Capabilities, "set no_new_privs"))?;
    let namespaces = witness.namespaces()?;
    done(Step::Witnessed);
    probe::no_route(plan.network)?;
    SetupStep::Landlock.begin();
    let landlock = rules.enforce(plan)?;
    done(Step::Landlocked);
    SetupStep::LoadFilter.begin();
    let profile = Profile::Of(plan.runtime.language);
    let word = draw_word()?;
    let (seccomp_sha256, listener) =
        birth.house.filters.load_last(profile, birth.memory, plan.network, word)?;
    // From here on somebody must answer: the probe asks for what is denied.
    let fds = [listener.as_fd(), witness.mounts()];
    wire::send(&birth.channel, &FromInit::Listener.encode(), &fds)
        .map_err(Failed::at("send the listener"))?;
    drop(listener);
    done(Step::Filtered);
    SetupStep::SelfTest.begin();
    let status = witness.status()?;
    confine::insist(&status)?;
    probe::probe(birth.identity, landlock.abi, plan.network, word)?;
    let confinement = Confinement {
        mode: birth.mode,
        uid: birth.identity.uid,
        groups: probe::groups(birth.mode, &birth.house.groups)?,
        namespaces,
        landlock_abi: landlock.abi,
        landlock_handled: landlock.handled,
        seccomp_sha256,
        seccomp_mode: status.seccomp_mode,
        no_new_privs: status.no_new_privs,
        capabilities: status.capabilities,
        // The launcher's to say.
        mounts_sha256: [0; 32],
        limits: Vec::new(),
        degraded: match birth.memory {
            MemoryWatch::Sampled => vec![Layer::Cgroup.as_str().to_owned()],
            MemoryWatch::Kernel => Vec::new(),
        },
    };
    done(Step::Probed);
    SetupStep::end();
    let frame = FromInit::Prepared(Box::new(confinement), marks).encode();
    let fds: Vec<BorrowedFd<'_>> = windows.iter().map(AsFd::as_fd).collect();
    wire::send(&birth.channel, &frame, &fds).map_err(Failed::at("report readiness"))?;
    Ok(streams)
}

/// This cell's, which leaves this process in its filter only.
fn draw_word() -> Result<Word, Failed> {
    let mut random = [0; 8];
    let drawn = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    match drawn.map_err(Failed::at("draw the probe's word"))? {
        8 => Ok(Word::new(u64::from_ne_bytes(random))),
        _ => Err(Failed::here("the kernel gave too little randomness")),
    }
}

/// What the launcher says next; `None` when it has closed the channel, or when it wants the cell dead.
fn hear(birth: &Birth<'_>) -> Result<Option<(ToInit, Vec<OwnedFd>)>, Failed> {
    let received = wire::receive(&birth.channel).map_err(Failed::at("hear from the launcher"))?;
    let Some((bytes, fds)) = received else {
        return Ok(None);
    };
    match ToInit::decode(&bytes) {
        Ok(ToInit::Kill) => Ok(None),
        Ok(verb) => Ok(Some((verb, fds))),
        Err(error) => Err(io::Error::from(error)).map_err(Failed::at("hear from the launcher")),
    }
}

/// Leaves the seat's network, whose loopback must never be up, for one that is this cell's alone.
fn enter_network(network: OwnedFd) -> Result<(), Failed> {
    nix::sched::setns(network, CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(Layer::Namespaces, "enter the cell's network namespace"))
}

fn hear_plan(birth: &Birth<'_>) -> Result<Option<Told>, Failed> {
    let (plan, furnishings, fds) = match hear(birth)? {
        None => return Ok(None),
        Some((ToInit::Plan(plan, furnishings), fds)) => (plan, furnishings, fds),
        Some(_) => return Err(Failed::here("the launcher spoke out of turn")),
    };
    let mut fds = fds.into_iter();
    let missing = || Failed::here("a plan came without its descriptors");
    let (evidence, inputs) = (fds.next().ok_or_else(missing)?, fds.next().ok_or_else(missing)?);
    let network = match plan.network {
        Network::Nothing => None,
        Network::Proxy => Some(fds.next().ok_or_else(missing)?),
    };
    Ok(Some(Told { plan, furnishings, evidence, inputs, network, trees: fds.collect() }))
}

/// Waits for the order. `lifeline` is the socket whose other end the daemon has: without the daemon there
/// will be no order, even if the launcher cannot say so.
fn hear_order(birth: &Birth<'_>, lifeline: &OwnedFd) -> Result<Option<Box<Order>>, Failed> {
    loop {
        let mut waited =
            [PollFd::new(&birth.channel, PollFlags::IN), PollFd::new(lifeline, PollFlags::empty())];
        match poll(&mut waited, None) {
            Ok(_) if !waited[1].revents().is_empty() => return Ok(None),
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno).map_err(Failed::at("wait for the order")),
        }
    }
    match hear(birth)? {
        None => Ok(None),
        Some((ToInit::Go(order), _)) => Ok(Some(order)),
        Some(_) => Err(Failed::here("the launcher spoke out of turn")),
    }
}

/// What the launcher watches by, opened while this process still may.
fn open_windows() -> Result<Vec<OwnedFd>, Failed> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = Windows::PATHS.map(|path| open(path, flags, Mode::empty()));
    opened.into_iter().collect::<Result<_, _>>().map_err(Failed::at("open what is watched"))
}

/// Becomes the tool's user for good, without a capability anywhere.
fn change_identity(birth: &Birth<'_>) -> Result<(), Failed> {
    birth.identity.take_on(birth.mode)?;
    if birth.mode == Mode::User || birth.memory == MemoryWatch::Sampled {
        own_user_namespace(birth.identity)?;
        confine::drop_bounding_set()?;
    }
    confine::drop_capabilities()?;
    // Changing ids has reset both of these.
    prctl::set_dumpable(false).map_err(Failed::at("become undumpable"))?;
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Failed::at("die with the launcher"))
}

/// A last user namespace, entered when everything is mounted: the tool then owns no namespace at all,
/// and RLIMIT_NPROC counts this cell only.
fn own_user_namespace(identity: Identity) -> Result<(), Failed> {
    let layer = Layer::UserNamespace;
    // A process that has changed its ids may not write its own maps until it says so.
    prctl::set_dumpable(true).map_err(Failed::at("become dumpable"))?;
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(Failed::without(layer, "unshare the user namespace"))?;
    let Identity { uid, gid } = identity;
    write_map("setgroups", "deny").map_err(Failed::without(layer, "deny setgroups"))?;
    write_map("uid_map", &format!("{uid} {uid} 1"))
        .map_err(Failed::without(layer, "map the uid"))?;
    write_map("gid_map", &format!("{gid} {gid} 1")).map_err(Failed::without(layer, "map the gid"))
}

fn write_map(name: &str, text: &str) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/self/{name}"))?
        .write_all(text.as_bytes())
}

/// Makes the pipes under the tool's uid, or `/dev/stdout` could not be opened, and sends the read
/// ends out.
fn make_streams(evidence: &OwnedFd) -> Result<Streams, Failed> {
    let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
    let (stdout_read, stdout) = pipe().map_err(Failed::at("make the stdout pipe"))?;
    let (stderr_read, stderr) = pipe().map_err(Failed::at("make the stderr pipe"))?;
    let fds = [stdout_read.as_fd(), stderr_read.as_fd()];
    wire::send(evidence, &Evidence::Streams.encode(), &fds)
        .map_err(Failed::at("send the pipes"))?;
    Ok(Streams { stdout, stderr })
}

fn start_tool(
    birth: &Birth<'_>,
    binary: &Path,
    order: &Order,
    streams: Streams,
) -> Result<Pid, Failed> {
    let execute = || -> io::Result<libc::pid_t> {
        let word = |text: &[u8]| CString::new(text).map_err(io::Error::other);
        let path = word(binary.as_os_str().as_bytes())?;
        let argv = order.argv.iter().map(|w| word(w.as_bytes())).collect::<io::Result<Vec<_>>>()?;
        let variable =
            |(name, value): &(String, String)| word(format!("{name}={value}").as_bytes());
        let env = order.env.iter().map(variable).collect::<io::Result<Vec<_>>>()?;
        let null = File::open("/dev/null")?;
        let become_tool = || become_tool(birth, order, &null, &streams);
        sys::vfork_exec(&become_tool, &path, &argv, &env)
    };
    execute().map(Pid::from_raw).map_err(Failed::at(&format!("execute {}", binary.display())))
}

/// The last lines of ours that run before the tool's own, in its process. They share init's memory, so
/// they change none of it, and only what belongs to the process.
fn become_tool(birth: &Birth<'_>, order: &Order, null: &File, streams: &Streams) -> io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::chdir("/in")?;
    nix::unistd::dup2_stdin(null)?;
    nix::unistd::dup2_stdout(&streams.stdout)?;
    nix::unistd::dup2_stderr(&streams.stderr)?;
    sys::close_on_exec_from(3)?;
    confine::order_rlimits(&order.limits, birth.mode, birth.memory)?;
    sys::reset_signals();
    Ok(())
}

/// How the tool ended, as its init saw it.
struct Ended {
    end: ToolEnd,
    /// How many processes were alive until then.
    processes_last: u32,
    timed_out: bool,
}

/// Reaps until the tool has ended, the launcher wants the tree dead, the daemon has closed `lifeline` or it
/// is `kill_at`; then kills what is left. The launcher and the daemon may be unable to: only the kernel can
/// keep this process from it.
fn wait_for_tool(
    birth: &Birth<'_>,
    tool: Pid,
    (children, lifeline): (&SignalFd, &OwnedFd),
    kill_at: Option<Instant>,
) -> Result<Ended, Failed> {
    let mut end = None;
    let mut timed_out = false;
    while end.is_none() {
        let mut waited = [
            PollFd::new(&birth.channel, PollFlags::IN),
            PollFd::new(children, PollFlags::IN),
            PollFd::new(lifeline, PollFlags::empty()),
        ];
        let left = kill_at.map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut waited, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno).map_err(Failed::at("wait for the tool")),
        }
        timed_out = kill_at.is_some_and(|at| Instant::now() >= at);
        let daemon_gone = !waited[2].revents().is_empty();
        let told = waited[0].revents();
        while children.read_signal().map_err(Failed::at("watch children"))?.is_some() {}
        end = reap(tool, WaitOptions::NOHANG)?.end;
        // `Kill`, or the launcher is gone: either way the tree ends now. The frame is taken, or closing
        // with it unread would look like a failure at the other end.
        if !told.is_empty() {
            if let Ok(Some((bytes, _))) = wire::receive(&birth.channel)
                && ToInit::decode(&bytes) != Ok(ToInit::Kill)
            {
                eprintln!("toolexec-launch: the launcher spoke out of turn");
            }
            break;
        }
        if daemon_gone || timed_out {
            break;
        }
    }
    timed_out &= end.is_none();
    // All at once: the kernel holds the task list while it signals, so no fork slips through.
    match kill(Pid::from_raw(-1), Signal::SIGKILL) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
        Err(errno) => return Err(errno).map_err(Failed::at("kill the tree")),
    }
    let last = reap(tool, WaitOptions::empty())?;
    let unknown = || Failed { layer: None, step: "the tool was never reaped".into(), errno: 0 };
    let processes_last = last.count + u32::from(end.is_some());
    Ok(Ended { end: end.or(last.end).ok_or_else(unknown)?, processes_last, timed_out })
}

/// Who has ended.
#[derive(Default)]
struct Reaped {
    count: u32,
    /// The tool's own end, if it is among them.
    end: Option<ToolEnd>,
}

/// Waits for every child there is (or, with NOHANG, every one that has ended), whatever signal it was
/// cloned with and whatever signal ended it.
fn reap(tool: Pid, options: WaitOptions) -> Result<Reaped, Failed> {
    let options = options | WaitOptions::from_bits_retain(libc::__WALL.unsigned_abs());
    let mut reaped = Reaped::default();
    loop {
        let (pid, status) = match wait(options) {
            Ok(Some(ended)) => ended,
            Ok(None) | Err(rustix::io::Errno::CHILD) => return Ok(reaped),
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno).map_err(Failed::at("reap")),
        };
        reaped.count += 1;
        if pid.as_raw_nonzero().get() != tool.as_raw() {
            continue;
        }
        let small = |number: i32| u8::try_from(number & 0xff).unwrap_or(u8::MAX);
        // wait(2): bit 7 of the raw status says that a core was dumped.
        let core_dumped = status.as_raw() & 0x80 != 0;
        reaped.end = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(ToolEnd::Exited(small(code))),
            (_, Some(signal)) => Some(ToolEnd::Signaled { signal: small(signal), core_dumped }),
            _ => reaped.end,
        };
    }
}

/// What can only be seen from inside, now that the tree is dead.
fn last_look(ended: Ended) -> ToolReport {
    let Ended { end, processes_last, timed_out } = ended;
    let mut accounting = Accounting::default();
    if let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) {
        let count = |n: i64| u64::try_from(n).ok();
        accounting.cpu_user_us = count(usage.user_time().num_microseconds());
        accounting.cpu_system_us = count(usage.system_time().num_microseconds());
        accounting.switches_voluntary = count(usage.voluntary_context_switches());
        accounting.switches_forced = count(usage.involuntary_context_switches());
        accounting.blocks_in = count(usage.block_reads());
        accounting.blocks_out = count(usage.block_writes());
    }
    ToolReport { end, accounting, processes_last, timed_out }
}
