//! The arguments of `toolexec log witness`.

use std::path::PathBuf;

use clap::Args;

use crate::args::Format;
use crate::commands::records::log::open::LogOptions;

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
    pub(super) at: String,
    /// What the witness has seen [default: the checkpoint that is kept of it, else nothing]
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "answer")]
    pub(super) from: Option<PathBuf>,
    /// The witness' public key, a C2SP verifier line
    #[arg(long, value_name = "FILE")]
    pub(super) witness_key: Option<PathBuf>,
    /// What the witness answered to the file that was written before
    #[arg(long, value_name = "FILE")]
    pub(super) answer: Option<PathBuf>,
    /// Where cosigned checkpoints are kept [default: witness/ in the log]
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
    #[command(flatten)]
    pub(super) place: LogOptions,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
