//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

use crate::origin::ConsoleOrigin;

const LONG: &str = "\
Show a spool in a browser, and deliver what approvers sign with passkeys.

The program shows drafts, the queue, running tools with their output, standing approvals, results \
and the log. It holds no key: a passkey signs in the browser, and the daemon checks the signature \
as it does every other. It writes into signed/ of the spool only, and restricts itself before it \
serves. It asks for no password: give only approvers access to its address.";

const AFTER: &str = "\
Examples:
  toolexec-console --spool /var/spool/toolexec --allowed-signers /etc/toolexec/allowed_signers
  toolexec-console --socket /run/toolexec-console/http.sock --origin https://approve.example
  toolexec-console --listen 192.0.2.7:443 --origin https://approve.example \\
    --tls-cert fullchain.pem --tls-key key.pem

Without --listen and --socket, a listening socket on standard input is used (StandardInput=socket in
a unit), or else 127.0.0.1:8440. Passkeys need an origin with https, or http://localhost:PORT.

Exit status: 0 success; 3 the program could not start serving.";

#[derive(Debug, Parser)]
#[command(name = "toolexec-console", version, about = "Show a spool in a browser, and deliver signatures", long_about = LONG, after_help = AFTER)]
pub(crate) struct Options {
    /// Show this spool
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(crate) spool: PathBuf,

    /// Offer the passkeys in this file, the allowed_signers of the daemon [default: offer none]
    #[arg(long, value_name = "FILE")]
    pub(crate) allowed_signers: Option<PathBuf>,

    /// Verify results with the result keys in this file [default: not verified]
    #[arg(long, value_name = "FILE")]
    pub(crate) result_keys: Option<PathBuf>,

    /// Verify the log with the log keys in this file, one verifier line each [default: not
    /// verified]
    #[arg(long, value_name = "FILE")]
    pub(crate) log_key: Option<PathBuf>,

    /// Listen on this TCP address; one that is not loopback needs --tls-cert
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "socket")]
    pub(crate) listen: Option<SocketAddr>,

    /// Listen on a new Unix socket at this path; it needs --origin
    #[arg(long, value_name = "PATH", requires = "origin")]
    pub(crate) socket: Option<PathBuf>,

    /// Answer browsers that use this origin; may be repeated
    /// [default: http://localhost:PORT, with --tls-cert https://localhost:PORT]
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Vec<ConsoleOrigin>,

    /// Serve TLS with the certificates in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Serve TLS with the private key in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
        let parsed = |words: &[&str]| Options::try_parse_from(words).is_ok();
        assert!(parsed(&["x", "--listen", "127.0.0.1:0", "--origin", "http://localhost:8440"]));
        assert!(!parsed(&["x", "--listen", "127.0.0.1:0", "--socket", "/run/x"]));
        assert!(!parsed(&["x", "--socket", "/run/x"]));
        assert!(parsed(&["x", "--socket", "/run/x", "--origin", "https://approve.example"]));
        assert!(!parsed(&["x", "--tls-cert", "cert.pem"]));
        assert!(!parsed(&["x", "--origin", "http://approve.example"]));
    }
}
