//! The arguments of `toolexec log witness`.

use std::path::PathBuf;

use clap::Args;

use crate::args::Format;
use crate::commands::records::log::open::LogOptions;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log witness --to https://witness.example --witness-key witness.vkey
Without a network:
         toolexec log witness --to request --witness-key witness.vkey
         (carry `request` to the witness, its answer back)
         toolexec log witness --to request --answer answer --witness-key witness.vkey

C2SP tlog-witness: writes the body of add-checkpoint to the file or posts it to the URL. The
cosigned checkpoint is stored under the witness' name; the next proof begins there. Without
--witness-key the cosignature is not verified.
Exit status: 0 cosigned, or the request was written; 1 the witness refused or its cosignature is
invalid; 3 usage or internal error.")]
pub(crate) struct LogWitnessCommand {
    /// Write the request to this file, or send it to the witness at this http:// or https://
    /// address
    #[arg(long, value_name = "FILE|URL")]
    pub(super) to: String,
    /// Start the proof at this checkpoint, which the witness has seen
    /// [default: the stored checkpoint of the witness, else none]
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "answer")]
    pub(super) from: Option<PathBuf>,
    /// Verify the cosignature with this public key, a C2SP verifier line [default: not verified]
    #[arg(long, value_name = "FILE")]
    pub(super) witness_key: Option<PathBuf>,
    /// Read the witness' answer to the written request from this file
    #[arg(long, value_name = "FILE")]
    pub(super) answer: Option<PathBuf>,
    /// Store cosigned checkpoints in this directory [default: witness/ in the log]
    #[arg(long, value_name = "DIR")]
    pub(super) cosigned_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) place: LogOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
