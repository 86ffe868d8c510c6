//! The command list of `toolexec --help` by task. Each description is defined with its command.

use std::fmt::Write;

use clap::Command;

/// Every command is in exactly one group.
const GROUPS: &[(&str, &[&str])] = &[
    ("Requests", &["draft", "lint", "mcp"]),
    ("Approval", &["review", "explain", "approve", "reject", "standing"]),
    ("Runs", &["exec", "run", "submit", "hold", "release", "cancel"]),
    ("Inspection", &["status", "list", "show", "wait", "watch", "notify"]),
    ("Records", &["verify", "replay", "log"]),
    ("Authorization", &["policy", "permission", "gate", "ais"]),
    ("Environments", &["env"]),
    ("Fleet", &["fleet"]),
    ("Agents", &["setup", "hook"]),
    ("Host", &["keys", "doctor", "gc", "completions", "man"]),
];

const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}Options:
{options}{after-help}";

pub(super) const EXAMPLES: &str = "\
Examples:
  toolexec draft --slug python-stats --purpose 'Mean of one column' --language python \\
      --input stats.py --risk low --sensitivity public --justification 'reads one table' \\
      -- python stats.py
  toolexec review TR-20260209-160501Z-python-stats.md
  toolexec approve TR-20260209-160501Z-python-stats.md --approver alice --key ~/.ssh/id_ed25519
  toolexec run TR-20260209-160501Z-python-stats.md --results results
  toolexec verify results
  toolexec submit TR-20260209-160501Z-python-stats.md --spool /var/spool/toolexec
  toolexec status --spool /var/spool/toolexec

Each command has its own example: toolexec COMMAND --help
Exit status: 0 success; 1 a tool or check failed; 2 invalid or refused; 3 usage or internal error.";

/// Returns the command with a help text that lists its subcommands by group.
pub(super) fn grouped(command: Command) -> Command {
    let listed = listed(&command);
    command.help_template(TEMPLATE).before_help(listed)
}

fn listed(command: &Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for (title, names) in GROUPS {
        // Writing to a `String` cannot fail.
        writeln!(text, "{header}{title}:{header:#}").unwrap_or_default();
        for found in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let (name, about) = (found.get_name(), found.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            writeln!(text, "  {literal}{name:width$}{literal:#}  {about}").unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests;
