//! The arguments of `toolexec doctor`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::args::{Format, StateOption};

#[derive(Args)]
#[command(
    group = ArgGroup::new("task").args(["warm", "spool", "config"]),
    after_help = "\
Example: toolexec doctor
         toolexec doctor --config /etc/toolexec/toolexecd.yaml
         toolexec doctor --warm go
         toolexec doctor --spool /var/spool/toolexec --state /var/lib/toolexec

Without a task it looks at the whole host: kernel, security modules, Landlock, namespaces, cgroups,
programs, interpreters, rules, keys, the owners and modes of directories, disk, clock and log; at
the daemon's if there is /etc/toolexec/toolexecd.yaml, else at those of your own runs. Each finding
is ok, a warning, a failure or not looked at, and has its remedy. It changes nothing; look as root
or as the daemon's user, or some of it is not for you to see. Exits 0 if nothing failed, 1 if
something did, 3 if it cannot look. With --format json stdout is one object:
{\"service\",\"config\",\"state\",
\"failures\",\"warnings\",\"not_looked_at\",\"findings\":[{\"topic\",\"object\",\"verdict\",\"found\", \"remedy\"}]}.

--warm makes caches. go: its standard library, compiled once, so that `go run` takes a moment and
needs no network. ts: tsx and its compiler, pinned, from npm; without it there is no ts. This alone
needs a network. Each is shown to runs read-only. Make it again after an upgrade of Go; a daemon
sees a new one when it starts. Exits 0 if all were made, 3 otherwise.

--spool looks at a spool and lists what is wrong, each with its remedy: states that no crash leads
to, leftovers, wrong owners and modes, ledger lines that cannot be read, requests that wait for
long, no room for records. It changes nothing and takes no lock; a daemon may be at work meanwhile.
Look as the user of the daemon: what cannot be looked at is a finding too. Exits 0 if there is
none, 1 if there are, 2 if the directory is no spool. With --format json stdout is one object:
{\"daemon\",\"claims\",\"waiting\",\"results\",\"ledger_lines\",\"findings\":[{\"code\",\"path\",
\"what\",\"remedy\"}]}.

A backup must hold, of the state, ledger.head, ledger, removed, keys/, log.head, permissions.head
and permissions/, and of the spool log/, results/, archive/ and quarantine/ (embedded runs have all
of it in their state); not work/, staging/, inputs/ and caches/. Copy results/ and archive/ first,
then the log, then ledger.head, and the ledger last; or stop the daemon. A ledger that is missing,
damaged or older than the results is a finding, and nothing is run with it.

Where no newer copy exists, --rebuild-ledger makes a ledger again: it keeps every line that can be
read, adds each run that results, archived requests and claims show, and notes in the ledger who
ordered it and when. Stop the daemon first, and run this as its user. The old file is kept beside
it. A request whose result and archived files are gone as well is not known afterwards, and could
run again."
)]
pub(crate) struct Doctor {
    /// Make the cache of this language; may be repeated
    #[arg(long, value_enum)]
    pub(super) warm: Vec<Warm>,
    /// Look at this spool: of a daemon, or the state of embedded runs
    #[arg(long, value_name = "DIR")]
    pub(super) spool: Option<PathBuf>,
    /// Rebuild the ledger of that spool from what is left of it, from results and from archived requests
    #[arg(long, requires = "spool")]
    pub(super) rebuild_ledger: bool,
    /// Look at the host of the daemon with this configuration
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    pub(super) config: Option<PathBuf>,
    /// How findings are told
    #[arg(long, value_enum, default_value = "human", conflicts_with = "warm")]
    pub(super) format: Format,
    /// Where caches are [default: caches/ of the state; `standard` has /var/cache/toolexec]
    #[arg(long, value_name = "DIR", requires = "warm", conflicts_with = "dir")]
    pub(super) to: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Warm {
    Go,
    Ts,
}

#[cfg(test)]
mod tests {
    use model::Language;

    use super::*;

    /// `doctor` recommends `--warm` for each of these languages.
    #[test]
    fn each_language_with_a_cache_can_be_warmed() {
        let names = Warm::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let mut names: Vec<_> = names.map(|value| value.get_name().to_owned()).collect();
        let languages = Language::ALL.iter().filter(|language| language.runtime().warmed);
        let mut warmed: Vec<_> = languages.map(ToString::to_string).collect();
        names.sort();
        warmed.sort();
        assert_eq!(names, warmed);
    }
}
