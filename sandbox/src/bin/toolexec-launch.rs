//! toolexec-launch: builds one sandbox per session, runs one command in it, and reports.
//!
//! SECURITY. In system mode this program runs as root (with CAP_SYS_ADMIN, SETUID, SETGID, SETPCAP
//! and KILL) and is part of the trusted computing base: an attacker who controls it controls the
//! host. It therefore reads only bounded frames, from a client whose uid it checks. It parses no
//! YAML and no Markdown, opens no network, resolves no name that a tool made, and enforces limits
//! of its own. In user mode it has the rights of the user who started it and no more. See
//! `sandbox::launch`.

fn main() -> std::process::ExitCode {
    sandbox::launch::main()
}
