//! The command line of `toolexec-fleet`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

const LONG: &str = "\
Speak with the database of a fleet.

With `serve`, the program claims requests for the daemon of this host, places them in approved/, \
answers the daemon's question before each start, and reports the records. With `command`, it does \
one act for `toolexec`, which starts it. It holds no key that approves or records anything.";

const AFTER: &str = "\
Examples:
  toolexec-fleet check --config /etc/toolexec/toolexec-fleet.yaml
  toolexec-fleet serve --config /etc/toolexec/toolexec-fleet.yaml

Exit status: 0 success; 2 `check` found a problem; 3 usage error or fatal error.";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "toolexec-fleet", version, about = "Speak with the database of a fleet", long_about = LONG, after_help = AFTER)]
pub(crate) struct FleetOptions {
    #[command(subcommand)]
    pub(crate) action: FleetAction,
}

/// The mode of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetAction {
    /// Serve the daemon of this host until SIGTERM
    #[command(after_help = "\
Example: toolexec-fleet serve --config /etc/toolexec/toolexec-fleet.yaml

SIGHUP reads the fleet list again. It is also read again after it has changed.")]
    Serve(AgentOptions),
    /// Do one act that is read from standard input; `toolexec` starts this
    #[command(after_help = "\
Example: toolexec fleet status --database postgres://db.example/toolexec (starts this program)")]
    Command,
    /// Check the configuration and the database, and print the witness key of this host
    #[command(after_help = "\
Example: toolexec-fleet check --config /etc/toolexec/toolexec-fleet.yaml

Run it as the user of the service. It makes the witness key if there is none, and prints the line
for `witness_key` of the fleet list before it checks anything else.")]
    Check(AgentOptions),
}

/// The options of an agent.
#[derive(Debug, clap::Args)]
pub(crate) struct AgentOptions {
    /// Read the configuration from this file
    #[arg(long, value_name = "FILE", default_value = "/etc/toolexec/toolexec-fleet.yaml")]
    pub(crate) config: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        FleetOptions::command().debug_assert();
        let parsed = |words: &[&str]| FleetOptions::try_parse_from(words).is_ok();
        assert!(parsed(&["x", "serve", "--config", "/etc/x.yaml"]));
        assert!(parsed(&["x", "check"]));
        assert!(parsed(&["x", "command"]));
        assert!(!parsed(&["x"]));
        assert!(!parsed(&["x", "command", "--config", "/etc/x.yaml"]));
    }
}
