//! `toolexec keys`: creates, prints and rotates the keys that sign records and the log. It must
//! never print a private byte, or rotate a key while a process would continue with the old one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use daemon::config::Config;
use daemon::open_keys;
use records::log::{KeyRole, Log, LogLocation, LogOrigin, PublicLogKey};
use records::{
    DatedKey, HostKeyError, KeyFingerprint, KeySource, PublicKeys, PublicResultKey, Successor,
    Trust,
};
use serde_json::json;
use spool::{Spool, SpoolError, SpoolPaths};

use crate::args::files::require_owner;
use crate::args::{Format, StateOption};
use crate::clock::now;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "Example: toolexec keys show --format allowed-signers > signers")]
pub(crate) struct KeysCommand {
    #[command(subcommand)]
    subcommand: KeysSubcommand,
}

#[derive(Subcommand)]
pub(crate) enum KeysSubcommand {
    /// Create the keys of records and log if they do not exist
    Init(KeysInitCommand),
    /// Print public keys
    Show(KeysShowCommand),
    /// Replace a key with a new one, by a log entry that both sign
    Rotate(KeysRotateCommand),
}

/// The keys of embedded runs, or of a daemon.
#[derive(Args)]
pub(crate) struct KeySourceOptions {
    #[command(flatten)]
    state: StateOption,
    /// Use the keys of this daemon configuration
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    config: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec keys init --state ./state

With --format json, stdout is one object: {\"result\",\"log\"}, each {\"path\",\"fingerprint\"}. The log
also has its \"verifier\" line.")]
pub(crate) struct KeysInitCommand {
    /// Set the name of the log [default: its present name, else the host's]
    #[arg(long, value_name = "NAME")]
    origin: Option<LogOrigin>,
    #[command(flatten)]
    of: KeySourceOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    /// The active key in PEM, for openssl
    Pem,
    /// The active key in OpenSSH format
    Openssh,
    /// Every key with its period of validity, for ssh-keygen -Y verify
    AllowedSigners,
    /// Every key that the log ever had, for Sigstore's verifiers
    TrustedRoot,
    /// A line for each key that the log ever had, active first, for C2SP's tools
    Verifier,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyName {
    /// The key that signs records
    Result,
    /// The key that signs the log's checkpoints
    Log,
}

#[derive(Args)]
#[command(after_help = "Example: toolexec keys show --format allowed-signers > signers")]
pub(crate) struct KeysShowCommand {
    /// Print in this format
    #[arg(long, value_enum, default_value = "allowed-signers")]
    format: KeyFormat,
    /// Select the key [default: log for trusted-root and verifier, else result]
    #[arg(long, value_enum)]
    key: Option<KeyName>,
    #[command(flatten)]
    of: KeySourceOptions,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec keys rotate --key result

No other process may use the keys meanwhile: stop the daemon first, and run this as its user.
Repeat the command to finish an interrupted rotation. Old records verify as before. Verifiers of
new records need the output of `toolexec keys show` after the rotation.
With --format json, stdout is one object: {\"key\",\"old\",\"new\",\"time\"}.")]
pub(crate) struct KeysRotateCommand {
    /// Rotate this key
    #[arg(long, value_enum)]
    key: KeyName,
    /// Replace a key of the SSH agent by this one, with the fingerprint that ssh-add -l prints
    #[arg(long, value_name = "SHA256:…")]
    to: Option<KeyFingerprint>,
    #[command(flatten)]
    of: KeySourceOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(in crate::commands) fn keys(args: &KeysCommand) -> Result<ExitCode, Failure> {
    match &args.subcommand {
        KeysSubcommand::Init(args) => init(args)?,
        KeysSubcommand::Show(args) => show(args)?,
        KeysSubcommand::Rotate(args) => rotate(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

struct SigningContext {
    source: KeySource,
    origin: Option<LogOrigin>,
    log: LogLocation,
    places: SpoolPaths,
}

impl KeySourceOptions {
    fn context(&self) -> Result<SigningContext, Failure> {
        if let Some(file) = &self.config {
            let Config { keys, log_origin, log, state, spool, .. } = Config::read(file)?;
            let places = SpoolPaths { results: spool.join("results"), state, spool, log };
            let log = LogLocation::persisted_in(&places.state, &places.log)
                .with_results([places.results.clone()]);
            return Ok(SigningContext { source: keys, origin: log_origin, log, places });
        }
        let state = self.state.path()?;
        let (results, log) = (state.join("results"), state.join("log"));
        let places = SpoolPaths { spool: state.clone(), results, state, log };
        let log = LogLocation::of_state(&places.state).with_results([places.results.clone()]);
        let source = KeySource::Directory(places.state.join("keys"));
        Ok(SigningContext { source, origin: None, log, places })
    }
}

fn init(args: &KeysInitCommand) -> Result<(), Failure> {
    let place = args.of.context()?;
    let origin = args.origin.as_ref().or(place.origin.as_ref());
    refuse_other_origin(&place.source, origin)?;
    let keys = open_keys(&place.source, origin)?;
    let public = place.source.public();
    let (result, log) = (public.join("result.pub"), public.join("log.pub"));
    let fingerprint = keys.result.public().fingerprint();
    let (of_log, verifier) = (keys.log.public().fingerprint(), keys.log.public().verifier_line());
    match args.format {
        Format::Human => {
            output::line(format_args!("{}: {fingerprint}", result.display()))?;
            output::line(format_args!("{}: {verifier}", log.display()))
        }
        Format::Json => output::line(json!({
            "result": {"path": output::path(&result), "fingerprint": fingerprint},
            "log": {"path": output::path(&log), "fingerprint": of_log, "verifier": verifier},
        })),
    }
}

/// The name of a log is part of its key, so existing keys keep theirs.
fn refuse_other_origin(source: &KeySource, wanted: Option<&LogOrigin>) -> Result<(), Failure> {
    // Problems of the key are reported when it is opened.
    let known = PublicLogKey::open(source.public()).ok();
    let (Some(wanted), Some(known)) = (wanted, known.as_ref().map(PublicLogKey::origin)) else {
        return Ok(());
    };
    if known == wanted {
        return Ok(());
    }
    let path = source.public().join("log.pub");
    Err(Failure::Message(format!(
        "{}: its log is named {known}, which cannot become {wanted}; help: set --origin or \
         log.origin to {known}, or make keys for a new log in another state directory",
        path.display()
    )))
}

/// Completes or drops an interrupted batch of the log, so that recovery sees which results it has. An
/// interrupted rotation has done so, and the keys cannot be opened before it is finished.
fn settle_log(place: &SigningContext) -> Result<(), Failure> {
    match open_keys(&place.source, place.origin.as_ref()) {
        Ok(keys) => Log::open_or_create(place.log.clone(), keys.log)
            .map(drop)
            .map_err(|error| Failure::Message(error.to_string())),
        Err(HostKeyError::Unfinished { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn show(args: &KeysShowCommand) -> Result<(), Failure> {
    let of_log = matches!(args.format, KeyFormat::TrustedRoot | KeyFormat::Verifier);
    let key = match args.key {
        Some(KeyName::Result) if of_log => {
            let why = "keys show: this format is for the log's key; help: pass --key log";
            return Err(Failure::Message(why.into()));
        }
        Some(key) => key,
        None if of_log => KeyName::Log,
        None => KeyName::Result,
    };
    let directory = args.of.context()?.source.public().to_owned();
    let keys = PublicKeys::open(&directory).map_err(no_key)?;
    match key {
        KeyName::Result => show_result(&keys, args.format),
        KeyName::Log => match keys.logs().first() {
            Some(log) => show_log(&keys, log.key(), args.format),
            None => Err(missing(&directory.join("log.pub"))),
        },
    }
}

fn show_result(keys: &PublicKeys, format: KeyFormat) -> Result<(), Failure> {
    let result = keys.results().iter().take(1).map(DatedKey::key);
    match format {
        KeyFormat::Pem => result.map(PublicResultKey::pem).try_for_each(|pem| output::text(&pem)),
        KeyFormat::Openssh => result.map(PublicResultKey::openssh_line).try_for_each(output::line),
        _ => output::text(&keys.allowed_signers()),
    }
}

fn show_log(keys: &PublicKeys, log: &PublicLogKey, format: KeyFormat) -> Result<(), Failure> {
    match format {
        KeyFormat::Pem => output::text(&log.pem()),
        KeyFormat::Openssh => output::line(log.openssh_line()),
        KeyFormat::AllowedSigners => output::text(&keys.allowed_signers_of_log()),
        KeyFormat::TrustedRoot => output::text(&keys.trusted_root()),
        KeyFormat::Verifier => output::text(&keys.verifier_lines()),
    }
}

fn rotate(args: &KeysRotateCommand) -> Result<(), Failure> {
    let role = match args.key {
        KeyName::Result => KeyRole::Result,
        KeyName::Log => KeyRole::Log,
    };
    let successor = args.to.map_or(Successor::Generated, Successor::InAgent);
    let place = args.of.context()?;
    let directory = place.source.public();
    require_own(directory)?;
    // Held to the end, so that nothing is signed with the old key.
    let spool = Spool::open_for_daemon(&place.places)?;
    let keys = PublicKeys::open(directory).map_err(no_key)?;
    let logs: Vec<PublicLogKey> = keys.logs().iter().map(|log| log.key().clone()).collect();
    settle_log(&place)?;
    let log = place.log.directory().to_owned();
    let recovered = spool.recover(&mut |hidden| {
        let trust = Trust::from_allowed_signers(&keys.allowed_signers());
        let Ok(trust) = trust else { return Ok(false) };
        let whole = daemon::is_publishable(hidden, trust, &log, &logs);
        whole.map_err(|error| SpoolError::Io { path: hidden.to_owned(), act: "verify", error })
    })?;
    if let Some(one) = recovered.misplaced.first() {
        return Err(Failure::Message(format!(
            "work/{}: {}; help: {}",
            one.claim,
            one.illegal,
            one.illegal.remedy()
        )));
    }
    if let Some(unfinished) = recovered.unfinished.first() {
        return Err(Failure::Message(format!(
            "{}: an interrupted run without a record; help: have it recorded first: start the \
             daemon, or use `toolexec run`",
            unfinished.result_id()
        )));
    }
    let done = records::rotate(&place.source, role, successor, place.log, now())?;
    let (old, new, time) = (done.old.to_string(), done.new.to_string(), done.time.to_string());
    match args.format {
        Format::Human => output::line(format_args!(
            "{role} key: {old} is valid until {time}, {new} from then on"
        ))?,
        Format::Json => output::line(json!({
            "key": role.to_string(), "old": old, "new": new, "time": time,
        }))?,
    }
    if args.to.is_some() {
        output::note(format_args!("set keys.{role} of the configuration to the new key"));
    }
    Ok(())
}

/// Files of another user would permanently obstruct the owner.
fn require_own(directory: &Path) -> Result<(), Failure> {
    match fs::metadata(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(missing(directory)),
        _ => require_owner(directory),
    }
}

const MAKE: &str = "run `toolexec keys init` with the same --state or --config";

fn missing(path: &Path) -> Failure {
    Failure::Message(format!("{}: does not exist; help: {MAKE}", path.display()))
}

fn no_key(error: HostKeyError) -> Failure {
    match &error {
        HostKeyError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            Failure::with_other_help(&error.to_string(), MAKE)
        }
        _ => error.into(),
    }
}
