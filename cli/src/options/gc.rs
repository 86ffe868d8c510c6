//! What may be typed to remove what was kept long enough.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use spool::retention::Bounds;

use crate::args::{Format, StateOption};

const GIVEN_BY_CONFIG: [&str; 5] =
    ["dir", "spool", "keep_results", "keep_archive", "keep_quarantine"];

#[derive(Args)]
#[command(after_help = "\
Example: toolexec gc --dry-run --config /etc/toolexec/toolexecd.yaml
         toolexec gc --keep-results days=365,count=100000 --keep-archive bytes=1000000000

Removes results, archived and refused requests beyond what is kept: by the age of the time in their
names, their number, or the bytes in their files; the oldest go first. BOUNDS is one or more of
days=N, count=N and bytes=N. What has no bound is kept for ever; so is whatever is unsigned, not in
the log, still in work or younger than an hour, and every ledger entry, log entry and key. What was
run stays known: nothing runs again.

A daemon does the same by itself; nobody may be at work meanwhile, so stop it first and type this
as its user. With --dry-run nothing is changed, and a daemon may be at work.
Exits 0 if all of it went, 3 if not. With --format json stdout is one object:
{\"dry_run\",\"going\":[{\"kind\",\"path\",\"result_id\",\"at\",\"bytes\",\"why\",\"left\"}],\"totals\":{\"results\":
{\"count\",\"bytes\"},\"archive\":…,\"quarantine\":…}}; \"left\" says why one is still there.")]
pub(crate) struct Gc {
    /// Say what would go, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The configuration of a daemon, for its spool and its `keep`
    #[arg(long, value_name = "FILE", conflicts_with_all = GIVEN_BY_CONFIG)]
    pub(crate) config: Option<PathBuf>,
    /// The spool of that state, if it is a daemon's
    #[arg(long, value_name = "DIR", requires = "dir")]
    pub(crate) spool: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateOption,
    /// How much of results/ is kept
    #[arg(long, value_name = "BOUNDS")]
    pub(crate) keep_results: Option<TypedBounds>,
    /// How much of archive/ is kept
    #[arg(long, value_name = "BOUNDS")]
    pub(crate) keep_archive: Option<TypedBounds>,
    /// How much of quarantine/ is kept
    #[arg(long, value_name = "BOUNDS")]
    pub(crate) keep_quarantine: Option<TypedBounds>,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

/// Bounds as they are typed: at least one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedBounds(pub(crate) Bounds);

impl FromStr for TypedBounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bounds = Bounds::default();
        for word in text.split(',') {
            let (name, number) = word
                .split_once('=')
                .ok_or("write one or more of days=N, count=N and bytes=N, with commas between")?;
            match name {
                "days" => put(name, number, &mut bounds.days)?,
                "count" => put(name, number, &mut bounds.count)?,
                "bytes" => put(name, number, &mut bounds.bytes)?,
                _ => return Err("knows days, count and bytes".to_owned()),
            }
        }
        Ok(Self(bounds))
    }
}

fn put<N: FromStr>(name: &str, number: &str, place: &mut Option<N>) -> Result<(), String> {
    let read = number.parse().map_err(|_| format!("{name}: write a number, 1 or more"))?;
    match place.replace(read) {
        None => Ok(()),
        Some(_) => Err(format!("{name}: write it once")),
    }
}
