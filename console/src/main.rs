//! `toolexec-console`: web pages that show a spool, and deliver what approvers sign with passkeys.
//!
//! SECURITY. The program holds no signing key and decides nothing. It writes files into `signed/` of the
//! spool only. The daemon takes such a file only if its signature counts by the daemon's own rules.
//! Before it reads a byte of a client, it restricts itself:
//!
//! - Landlock leaves the directories of the spool that it shows, and the file of approvers.
//! - seccomp leaves no way to make a socket, to start a program or to signal another process.
//!
//! A client is a browser of a person, or an attacker who reaches the address. The program asks for
//! no password: it shows to each client what its own user may read, and relies on the reverse proxy
//! or on the loopback interface for access. A request with another `Host` or `Origin` is refused,
//! so no other page can use it through a browser. An attacker who controls this program can show
//! one text and have another one signed, and can read what it shows. Such an attacker cannot sign.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    console::run()
}
