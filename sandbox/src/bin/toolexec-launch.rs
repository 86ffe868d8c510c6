//! toolexec-launch: builds one cell per order, runs one command in it, reports.
//!
//! SECURITY. In system mode this program is root (with CAP_SYS_ADMIN, SETUID, SETGID, SETPCAP and KILL)
//! and it is the trusted base: whoever owns it owns the host. It therefore reads nothing but one
//! bounded frame from a client whose uid it checks, parses no YAML and no Markdown, opens no network,
//! resolves no name that a tool made, and holds ceilings of its own. In user mode it is the user who
//! started it, and can do no more than that user. See `sandbox::launch`.

fn main() -> std::process::ExitCode {
    sandbox::launch::main()
}
