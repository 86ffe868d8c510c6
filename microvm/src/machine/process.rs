//! QEMU's process and its sockets. Dropping a machine kills it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd};

use super::command::MachineCommand;
use super::disks::MachineDisks;
use super::plan::MachinePlan;
use super::relay::{copy_port, keep_tail};
use crate::accelerator::{GuestAccelerator, counter_khz};
use crate::outcome::{GuestHalt, GuestOutcome};

const OUTPUT_LOOK: Duration = Duration::from_millis(1);

/// The pairs of sockets between wrapper and QEMU: console, `ctl`, `out` and `err`.
struct MachineSockets {
    near: [UnixStream; 4],
    far: [UnixStream; 4],
}

impl MachineSockets {
    /// Makes the pairs. Sending the request waits for QEMU no longer than `timeout`.
    fn new(timeout: Duration) -> io::Result<Self> {
        let ((a, w), (b, x)) = (UnixStream::pair()?, UnixStream::pair()?);
        let ((c, y), (d, z)) = (UnixStream::pair()?, UnixStream::pair()?);
        b.set_write_timeout(Some(timeout))?;
        let sockets = Self { near: [a, b, c, d], far: [w, x, y, z] };
        for socket in &sockets.far {
            // QEMU inherits it.
            fcntl_setfd(socket, FdFlags::empty())?;
        }
        Ok(sockets)
    }
}

/// A running machine.
pub(super) struct Machine {
    child: Child,
    pub(super) started: Instant,
    /// The port `ctl`.
    pub(super) control: UnixStream,
    relays: Vec<JoinHandle<()>>,
    /// The bytes that they have read.
    output_bytes: Arc<AtomicU64>,
    console: Option<JoinHandle<Vec<u8>>>,
    messages: Option<JoinHandle<Vec<u8>>>,
}

/// The remains of a machine.
pub(super) struct MachineRemains {
    pub(super) console: Vec<u8>,
    pub(super) messages: Vec<u8>,
    pub(super) status: Option<ExitStatus>,
}

impl Machine {
    pub(super) fn start(plan: &MachinePlan, disks: &MachineDisks) -> Result<Self, GuestHalt> {
        let sockets = MachineSockets::new(plan.limits.boot).map_err(GuestHalt::at("sockets"))?;
        let mut qemu = Command::new(&plan.programs.qemu);
        qemu.args(arguments(plan, disks, &sockets));
        // The tool's environment must not reach QEMU.
        qemu.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let step = format!("start {}", plan.programs.qemu.display());
        let started = Instant::now();
        let child = qemu.spawn().map_err(GuestHalt::at(&step))?;
        // A machine that is dropped is killed, even if a relay cannot be started.
        let MachineSockets { near: [console, control, stdout, stderr], far } = sockets;
        drop(far);
        let mut machine = Self {
            child,
            started,
            control,
            relays: Vec::new(),
            output_bytes: Arc::default(),
            console: None,
            messages: None,
        };
        machine.relay(console, stdout, stderr).map_err(GuestHalt::at("relay"))?;
        Ok(machine)
    }

    fn relay(
        &mut self,
        console: UnixStream,
        stdout: UnixStream,
        stderr: UnixStream,
    ) -> io::Result<()> {
        self.console = Some(keep_tail(console)?);
        if let Some(messages) = self.child.stderr.take() {
            self.messages = Some(keep_tail(messages)?);
        }
        let count = || Arc::clone(&self.output_bytes);
        self.relays.push(copy_port(stdout, own(&io::stdout())?, count())?);
        self.relays.push(copy_port(stderr, own(&io::stderr())?, count())?);
        Ok(())
    }

    /// Sends the request. QEMU may exit meanwhile; then its messages say why.
    pub(super) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.control.write_all(request)
    }

    /// Waits until the relays have read the output that the guest wrote: the guest's messages can
    /// arrive before it.
    pub(super) fn await_output(
        &self,
        bytes: u64,
        tool_ended: Instant,
        limit: Duration,
    ) -> Result<(), GuestHalt> {
        loop {
            // In this order: a relay that has ended adds nothing.
            let is_last = self.relays.iter().all(JoinHandle::is_finished);
            let arrived = self.output_bytes.load(Ordering::Acquire);
            if arrived >= bytes {
                return Ok(());
            }
            if is_last || tool_ended.elapsed() >= limit {
                let why = format!("the guest wrote {bytes} bytes of output; {arrived} arrived");
                return Err(GuestHalt::new(GuestOutcome::GuestFailed, why));
            }
            thread::sleep(OUTPUT_LOOK);
        }
    }

    /// Kills QEMU, and waits until the output that it has passed on is copied.
    pub(super) fn stop(mut self) -> MachineRemains {
        let exited = self.child.try_wait().ok().flatten();
        self.kill();
        for relay in self.relays.drain(..) {
            // A relay that panicked has lost only its own output.
            drop(relay.join());
        }
        let tail = |thread: Option<JoinHandle<Vec<u8>>>| {
            thread.and_then(|it| it.join().ok()).unwrap_or_default()
        };
        MachineRemains {
            console: tail(self.console.take()),
            messages: tail(self.messages.take()),
            status: exited,
        }
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.kill();
    }
}

fn arguments(
    plan: &MachinePlan,
    disks: &MachineDisks,
    sockets: &MachineSockets,
) -> Vec<std::ffi::OsString> {
    let is_emulated = plan.accelerator == GuestAccelerator::Tcg;
    let command = MachineCommand {
        accelerator: plan.accelerator,
        memory_mb: plan.limits.memory_mb,
        counter_khz: if is_emulated { counter_khz() } else { None },
        kernel: &plan.kernel(),
        initrd: &plan.initrd(),
        root: &plan.root_image(),
        input: &disks.input,
        output: &disks.output,
        sockets: sockets.far.each_ref().map(AsRawFd::as_raw_fd),
    };
    command.arguments()
}

fn own(output: &impl AsFd) -> io::Result<File> {
    let fd: OwnedFd = output.as_fd().try_clone_to_owned()?;
    Ok(File::from(fd))
}
