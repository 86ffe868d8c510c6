//! What may be typed to have a policy checked.

use std::path::PathBuf;

use clap::Args;

use crate::args::Format;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec policy check my-policy.yaml

Exits 0 if it is good, 2 if not, 3 if it cannot be read. With --format json stdout is one object:
{\"file\",\"good\",\"name\",\"sha256\",\"problems\":[{\"line\",\"key\",\"problem\"}]}.")]
pub(crate) struct PolicyCheck {
    /// The policy, a YAML file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
