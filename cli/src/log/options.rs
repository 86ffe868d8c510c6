//! What may be typed behind `toolexec log`: parser and help of each of its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{Format, StateOption};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log head --note > last-seen

The log is C2SP tlog-tiles: a directory of plain files that anybody may read and copy. What a
command tells of it was checked against the log's key. Keep checkpoints that you have seen, away
from the host: only they tell that a log was cut back or written anew by somebody with its key.
Exit codes: 0 fine; 1 a check said no; 3 usage or internal error")]
pub(crate) struct Log {
    #[command(subcommand)]
    pub(crate) act: LogAct,
}

#[derive(Subcommand)]
pub(crate) enum LogAct {
    /// Show the newest checkpoint
    Head(Head),
    /// Print the proof that an entry is in the log
    Prove(Prove),
    /// Check that the log of one checkpoint is the beginning of that of another
    Consistency(Consistency),
    /// Check every file of the log, and that it and the records account for each other
    Fsck(Fsck),
    /// Bring a copy of the log in another directory up to date
    Export(Export),
    /// Show the newest checkpoint to a witness, and keep its cosignature
    Witness(Witness),
    /// Append an entry that says that the log was alive
    Heartbeat(Heartbeat),
}

/// Which log, and what checks it.
#[derive(Args)]
pub(crate) struct Place {
    /// The log's directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["spool", "dir"])]
    pub(crate) log: Option<PathBuf>,
    /// The spool whose daemon keeps the log
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    pub(crate) spool: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateOption,
    /// The log's public key, `log.pub` of its host [default: that of the state]
    #[arg(long, value_name = "FILE")]
    pub(crate) log_key: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log head --spool /var/spool/toolexec --log-key host1.vkey")]
pub(crate) struct Head {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print the signed checkpoint verbatim, to be saved
    #[arg(long, conflicts_with = "format")]
    pub(crate) note: bool,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log prove results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats \\
           --out newest.tlog-proof

Prints a C2SP tlog-proof against the newest checkpoint; it was checked before. Exits 1 if the log
has another entry where the record says that its own is.")]
pub(crate) struct Prove {
    /// The entry's number, from 0, or the record whose entry it is: its directory or its bundle
    #[arg(value_name = "INDEX|RESULT_DIR|BUNDLE")]
    pub(crate) what: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Write it into this file, in the place of what is there
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log consistency last-seen

A and B are numbers of entries or files with checkpoints that were saved (write ./12 for a file of
that name). Prints the proof, one hash a line. Exits 1 if B's log does not begin with A's: somebody
wrote the log anew, or cut it back.")]
pub(crate) struct Consistency {
    /// The older one
    #[arg(value_name = "A")]
    pub(crate) old: PathBuf,
    /// The newer one [default: the newest checkpoint of the log]
    #[arg(value_name = "B")]
    pub(crate) new: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log fsck --results ~/.local/state/toolexec/results

Reads every entry and tile and computes the tree anew. With --results: every record there has to be
in the log under its number, and every record of the log there. A run that ends in the meantime may
be told as missing; look again. Signatures of records are checked by `toolexec verify`.
Records that were kept long enough are counted apart: retention has marked them in `removed` of the
state, which is looked at for the log of --state, or named with --removed.
Exits 1 if anything is wrong or missing.")]
pub(crate) struct Fsck {
    #[command(flatten)]
    pub(crate) place: Place,
    /// A directory of results; may be repeated
    #[arg(long, value_name = "TREE")]
    pub(crate) results: Vec<PathBuf>,
    /// What retention says that it removed [default: `removed` of the log's own state]
    #[arg(long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log export /media/stick/host1-log

Copies entries, tiles and the checkpoint, the checkpoint last; what the copy has already is not
written again. Exits 1, and changes nothing, if the log does not begin with what the copy has.")]
pub(crate) struct Export {
    /// The directory of the copy; made if missing
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log witness --at https://witness.example --witness-key witness.vkey
Without a network:
         toolexec log witness --at request --witness-key witness.vkey
         (carry `request` to the witness, its answer back)
         toolexec log witness --at request --answer answer --witness-key witness.vkey

C2SP tlog-witness: the body of add-checkpoint goes to the file or the URL. The cosigned checkpoint
is kept, by the witness' name, and is where the next proof begins. Without --witness-key nobody
checks who cosigned. Exits 1 if the witness refuses or its cosignature does not fit.")]
pub(crate) struct Witness {
    /// A file to write, or the witness' http:// or https:// address
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) at: String,
    /// What the witness has seen [default: the checkpoint that is kept of it, else nothing]
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "answer")]
    pub(crate) from: Option<PathBuf>,
    /// The witness' public key, a C2SP verifier line
    #[arg(long, value_name = "FILE")]
    pub(crate) witness_key: Option<PathBuf>,
    /// What the witness answered to the file that was written before
    #[arg(long, value_name = "FILE")]
    pub(crate) answer: Option<PathBuf>,
    /// Where cosigned checkpoints are kept [default: witness/ in the log]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log heartbeat --state ./state

For the embedded state, whose log nobody keeps alive; from a timer, say. Whoever knows how often
there has to be a heartbeat sees that the end of the log is missing.")]
pub(crate) struct Heartbeat {
    #[command(flatten)]
    pub(crate) state: StateOption,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
