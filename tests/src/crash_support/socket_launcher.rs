//! A launcher behind a socket, as the systemd units start it. A tracer or a fault in a system call
//! then affects the daemon alone. Must never outlive the test.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::process::{Child, Stdio};
use std::time::Instant;

use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};

use crate::bench::Bench;
use crate::service::Service;

pub struct SocketLauncher(Child);

impl SocketLauncher {
    /// Starts the launcher as the user who runs the tests.
    #[must_use]
    pub fn start(bench: &Bench, service: &Service<'_>) -> Self {
        let path = bench.scratch().path().join("launch.sock");
        let kind = SocketType::SEQPACKET;
        let socket = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap();
        bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&socket, 64).unwrap();
        let staging = service.state().join("staging");
        if !staging.is_dir() {
            DirBuilder::new().mode(0o700).recursive(true).create(service.state()).unwrap();
            DirBuilder::new().mode(0o755).create(&staging).unwrap();
        }
        let log = fs::File::create(bench.scratch().path().join("launcher.log")).unwrap();
        let mut command = bench.command("toolexec-launch");
        command.arg("--staging").arg(&staging).args(["--sandboxes-max", "16"]);
        command.stdin(socket).stdout(Stdio::null()).stderr(log);
        let launcher = Self(command.spawn().unwrap());
        service.configure(&format!("launcher: {{socket: {}}}", path.display()));
        launcher
    }
}

impl Drop for SocketLauncher {
    fn drop(&mut self) {
        // SIGTERM first, so that it ends its sandboxes. It has three seconds.
        let killed = std::process::Command::new("kill").arg(self.0.id().to_string()).status();
        let begun = Instant::now();
        while killed.as_ref().is_ok_and(std::process::ExitStatus::success)
            && begun.elapsed().as_secs() < 3
            && self.0.try_wait().is_ok_and(|ended| ended.is_none())
        {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}
