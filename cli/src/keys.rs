//! `toolexec keys`: the key that signs results; its public half in the words of other tools.

use std::process::ExitCode;

use records::{PublicResultKey, ResultKey};

use crate::failure::Failure;
use crate::options::{KeyFormat, KeyName, Keys, KeysAct, KeysShow};

pub(crate) fn keys(asked: &Keys) -> Result<ExitCode, Failure> {
    match &asked.act {
        KeysAct::Init(init) => {
            let directory = init.state.path()?.join("keys");
            let key = ResultKey::open_or_create(&directory)?;
            println!("{}: {}", directory.join("result").display(), key.public().fingerprint());
        }
        KeysAct::Show(asked) => show(asked)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(asked: &KeysShow) -> Result<(), Failure> {
    if asked.key == KeyName::Log {
        return Err(Failure::Said("keys show: the log and its key are not built yet".into()));
    }
    let key = PublicResultKey::open(&asked.state.path()?.join("keys"))?;
    match asked.format {
        KeyFormat::Pem => print!("{}", key.pem()),
        KeyFormat::Openssh => println!("{}", key.openssh_line().trim_end()),
        KeyFormat::AllowedSigners => println!("{}", key.allowed_signers_line().trim_end()),
        KeyFormat::TrustedRoot => {
            return Err(Failure::Said("keys show: trusted-root is not built yet".into()));
        }
    }
    Ok(())
}
