//! Pid 1, from boot to restart. A failure is sent to the wrapper if the port is open, and always
//! logged to the console.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use nix::sys::reboot::{RebootMode, reboot};
use nix::unistd::sync;
use rustix::system::uname;

use super::devices::{GuestPorts, PortReader, load_modules};
use super::failure::InitFailure;
use super::mounts::{mount_kernel_views, mount_tool_root};
use super::{cgroup, network, out_archive, tool};
use crate::protocol::{GuestMessage, GuestRequest, GuestToolEnd, GuestToolUsage};

/// Serves one request. `word` is the argument of the process that becomes the tool.
pub(super) fn serve(word: &str) -> ExitCode {
    let mut control = None;
    if let Err(failure) = serve_request(word, &mut control) {
        log(&failure);
        let message = GuestMessage::Failed { why: failure.to_string() };
        if let Some(control) = control.as_mut() {
            // The console has it too.
            drop(control.write_all(&message.encode()));
        }
    }
    restart()
}

fn serve_request(word: &str, opened: &mut Option<File>) -> Result<(), InitFailure> {
    mount_kernel_views()?;
    load_modules()?;
    let GuestPorts { control, stdout, stderr } = GuestPorts::open()?;
    let control = opened.insert(control);
    let request = GuestRequest::read_from(&mut PortReader(control));
    let request = request.map_err(InitFailure::at("request"))?;
    let memory_bytes = cgroup::tool_memory()?;
    mount_tool_root(request.out_bytes, request.out_inodes, memory_bytes)?;
    cgroup::limit(request.pids, memory_bytes)?;
    network::raise_loopback()?;
    let kernel = uname().release().to_string_lossy().into_owned();
    send(control, &GuestMessage::Started { kernel })?;
    let ended = if request.argv.is_empty() {
        GuestMessage::Ended(GuestToolEnd::Exited(0), GuestToolUsage::default())
    } else {
        tool::run(word, &request, stdout, stderr)?
    };
    send(control, &ended)?;
    for message in out_archive::write()? {
        send(control, &message)?;
    }
    await_wrapper_end(control);
    Ok(())
}

fn send(control: &mut File, message: &GuestMessage) -> Result<(), InitFailure> {
    control.write_all(&message.encode()).map_err(InitFailure::at("send a message"))
}

/// Waits until the wrapper is gone, which kills QEMU as soon as it has all output. A restart would
/// lose the output that is still in the guest's memory.
fn await_wrapper_end(control: &mut File) {
    while control.read(&mut [0]).is_ok_and(|count| count > 0) {}
}

/// Writes to the kernel's log, which the console shows.
fn log(failure: &InitFailure) {
    if let Ok(mut log) = OpenOptions::new().write(true).open("/dev/kmsg") {
        let line = format!("<3>toolexec-guest-init: {failure}\n");
        // One call is one line of the log. Nothing else could take the message.
        drop(log.write_all(line.as_bytes()));
    }
}

/// Restarts the machine, which ends QEMU. If that fails, the wrapper kills QEMU.
fn restart() -> ! {
    loop {
        sync();
        // It returns only if it failed.
        if reboot(RebootMode::RB_AUTOBOOT).is_err() {
            thread::sleep(Duration::from_secs(1));
        }
    }
}
