//! `toolexec keys`: the key that signs results; its public half in the words of other tools.

use std::io::ErrorKind;
use std::process::ExitCode;

use records::{KeyError, PublicResultKey, ResultKey};

use crate::failure::Failure;
use crate::options::{KeyFormat, KeyName, Keys, KeysAct, KeysShow};
use crate::output;

pub(crate) fn keys(asked: &Keys) -> Result<ExitCode, Failure> {
    match &asked.act {
        KeysAct::Init(init) => {
            let directory = init.state.path()?.join("keys");
            let key = ResultKey::open_or_create(&directory)?;
            let (path, fingerprint) = (directory.join("result"), key.public().fingerprint());
            output::line(format_args!("{}: {fingerprint}", path.display()))?;
        }
        KeysAct::Show(asked) => show(asked)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(asked: &KeysShow) -> Result<(), Failure> {
    if asked.key == KeyName::Log {
        return Err(Failure::Said("keys show: the log and its key are not built yet".into()));
    }
    let key = PublicResultKey::open(&asked.state.path()?.join("keys")).map_err(no_key)?;
    match asked.format {
        KeyFormat::Pem => output::text(&key.pem()),
        KeyFormat::Openssh => output::line(key.openssh_line().trim_end()),
        KeyFormat::AllowedSigners => output::line(key.allowed_signers_line().trim_end()),
        KeyFormat::TrustedRoot => {
            Err(Failure::Said("keys show: trusted-root is not built yet".into()))
        }
    }
}

fn no_key(error: KeyError) -> Failure {
    match &error {
        KeyError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            Failure::Said(format!("{error}; make the key with: toolexec keys init"))
        }
        _ => error.into(),
    }
}
