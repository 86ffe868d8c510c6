//! The arguments of `toolexec doctor`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::args::{Format, StateOption};

#[derive(Args)]
#[command(
    group = ArgGroup::new("task").args(["build_cache", "spool", "config"]),
    after_help = "\
Example: toolexec doctor
         toolexec doctor --config /etc/toolexec/toolexecd.yaml
         toolexec doctor --build-cache go
         toolexec doctor --spool /var/spool/toolexec --state /var/lib/toolexec

Without a task it checks the whole host: kernel, security modules, Landlock, namespaces, cgroups,
programs, interpreters, backends, rules, keys, owners and modes of directories, disk, clock and
log. It tries each backend of the policy in a sandbox: an interpreter runs a few lines of code, and
a virtual machine boots, each time anew. It checks the daemon's files if
/etc/toolexec/toolexecd.yaml exists, otherwise those of your own runs.
Each finding is ok, a warning, a failure or not looked at, with a remedy. It changes nothing but
backend-probes.json in the state directory, which remembers if a guest booted with KVM. Run it as
root to check everything but the backends of a daemon, and as the daemon's user to check those.
Exit status: 0 no failures; 1 at least one failure; 3 usage or internal error.
With --format json, stdout is one object: {\"service\",\"config\",\"state\",\"failures\",\"warnings\",
\"not_checked\",\"findings\":[{\"topic\",\"object\",\"verdict\",\"found\",\"remedy\"}]}.

--build-cache builds a cache. go: its standard library, compiled once, so that `go run` starts
quickly and without a network. ts: tsx and its compiler, pinned, from npm; TypeScript requires it.
Only this needs a network. Runs see each cache read-only. Build it again after an upgrade of Go:
until then each run of Go compiles the library, about 10 s. A daemon uses a new cache after its
next start. Exit status: 0 all caches were built; 3 otherwise.

--spool checks a spool and lists problems with a fix for each: states that no crash explains,
leftovers, wrong owners and modes, unreadable ledger lines, stale requests, no space for records.
It is read-only, takes no lock, and is safe while a daemon is running. Run it as the daemon's user:
an unreadable file is a finding too. The spool of a daemon needs --state. Exit status: 0 no
findings; 1 findings; 2 not a spool; 3 usage or internal error. With --format json, stdout is one
object: {\"daemon\",\"claims\",\"waiting\",\"results\",\"ledger_lines\",
\"findings\":[{\"code\",\"path\",\"problem\",\"remedy\"}]}.

A backup must contain, of the state directory, ledger.head, ledger, removed, keys/, log.head,
permissions.head, permissions/, standing/, standing-uses and fleet-list; and of the spool log/,
results/, archive/ and quarantine/. Embedded runs have all of these in their state directory. Omit
work/, staging/, inputs/, input-trees/ and caches/. Environments can be built again. Copy results/
and archive/ first, then the log, then ledger.head, and the ledger last; or stop the daemon. A
ledger that is missing, damaged or older than the results is a finding, and no request is run with
it.

If no newer copy exists, --rebuild-ledger rebuilds the ledger. It keeps every readable line, adds
each run that results, archived requests and claims show, and notes in the ledger who ordered it
and when. Stop the daemon first, and run this as its user. The old file is kept beside it. A
request whose result and archived files are both lost is unknown afterwards and could run again."
)]
pub(crate) struct DoctorCommand {
    /// Build the runtime cache of this language; can be repeated
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(super) build_cache: Vec<CacheLanguage>,
    /// Check this spool of a daemon, or this state directory of embedded runs
    #[arg(long, value_name = "DIR")]
    pub(super) spool: Option<PathBuf>,
    /// Rebuild the ledger of the spool from its readable lines, results and archived requests
    #[arg(long, requires = "spool")]
    pub(super) rebuild_ledger: bool,
    /// Check the host of the daemon with this configuration
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    pub(super) config: Option<PathBuf>,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human", conflicts_with = "build_cache")]
    pub(super) format: Format,
    /// Build caches in this directory
    /// [default: caches/ in the state directory; the policy `standard` expects /var/cache/toolexec]
    #[arg(long, value_name = "DIR", requires = "build_cache", conflicts_with = "dir")]
    pub(super) cache_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheLanguage {
    Go,
    Ts,
}

#[cfg(test)]
mod tests {
    use model::Language;

    use super::*;

    /// `doctor` recommends `--build-cache` for each of these languages.
    #[test]
    fn each_language_with_a_cache_has_a_value() {
        let names = CacheLanguage::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let mut names: Vec<_> = names.map(|value| value.get_name().to_owned()).collect();
        let languages = Language::ALL.iter().filter(|language| language.runtime().needs_cache);
        let mut cached: Vec<_> = languages.map(ToString::to_string).collect();
        names.sort();
        cached.sort();
        assert_eq!(names, cached);
    }
}
