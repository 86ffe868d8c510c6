//! `permission set`: applies an answer if its signer or owner is entitled. An answer from the
//! options is written to a file first, so that the answer in the trail can be read later.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io::Read;
use std::num::NonZeroU32;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use daemon::config::{read_revoked, read_signers};
use model::{Sha256, UtcTime};
use policies::permissions::{
    ANSWER_BYTES_MAX, AcceptedAnswer, AnswerData, AnswerEvidence, AnswerRules, AnsweredRequest,
    CoveredInputs, DeniedTool, FileOwner, GrantLimits, GrantedTool, PERMISSION_NAMESPACE,
    PERMISSION_REQUEST_BYTES_MAX, PermissionAnswer, PermissionChange, PermissionManager,
    PermissionRequestFile, PermissionTerms, ToolName,
};
use policies::{SIGNATURE_BYTES_MAX, SignatureFile};
use serde_json::json;
use spool::write_new_file;
use validator::reveal_line;

use super::error::PermissionCommandError;
use super::store::StoreOptions;
use crate::args::Format;
use crate::args::files::{open_document, read_document};
use crate::commands::approve::signing::{SignerError, SigningIdentity};
use crate::failure::{Failure, with_help};
use crate::output::{self, human};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrantArgumentsOption {
    Any,
    AsRequested,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission set --request drafts/permissions/PR-….json \\
           --grant toolexec.run.python --uses 1
         toolexec permission set PR-….json.answer.json \\
           --approvers /etc/toolexec/allowed_signers

With --request it writes <request>.answer.json, signs it with --key into <answer>.sig, and records
it. An answer is accepted if <answer>.sig is a signature of its bytes in namespace
permission.tool-exec@threegate by a key of --approvers, or if its file belongs to a --uid and
no other user may write it. Without either option your own files are accepted. A requested tool
that is not granted is denied.
Exit status: 0 accepted; 2 not accepted; 3 usage or internal error.
With --format json, stdout is one object: {\"request\",\"granted\",\"denied\",\"by\",\"answer\",
\"traceparent\"}, with --write-only {\"answer\",\"recorded\"}.")]
pub(crate) struct PermissionSetCommand {
    /// Record the answer in this file
    #[arg(value_name = "ANSWER.json", required_unless_present = "request")]
    answer: Option<PathBuf>,
    /// Answer this request
    #[arg(long, value_name = "REQUEST.json", conflicts_with = "answer")]
    request: Option<PathBuf>,
    /// Grant this tool; can be repeated
    #[arg(long, value_name = "TOOL", requires = "request")]
    grant: Vec<ToolName>,
    /// Deny this tool; can be repeated
    #[arg(long, value_name = "TOOL", requires = "request")]
    deny: Vec<ToolName>,
    /// Add a comment for readers of the trail
    #[arg(long, value_name = "TEXT", requires = "request")]
    commentary: Option<String>,
    /// Limit each grant to this number of calls [default: unlimited]
    #[arg(long, value_name = "N", requires = "grant", value_parser = clap::value_parser!(u32).range(1..))]
    uses: Option<u32>,
    /// End each grant at this time, YYYY-MM-DDTHH:MM:SSZ [default: when the workflow is cleaned up]
    #[arg(long, value_name = "UTC", requires = "grant")]
    expires: Option<UtcTime>,
    /// Select the inputs that each grant covers
    #[arg(long, value_enum, default_value = "any", requires = "grant")]
    arguments: GrantArgumentsOption,
    /// Sign the answer with this OpenSSH private key [default: unsigned]
    #[arg(long, value_name = "FILE", requires = "request")]
    key: Option<PathBuf>,
    /// Write and sign the answer without recording it
    #[arg(long, requires = "request")]
    write_only: bool,
    /// Accept answers signed by keys in this file
    #[arg(long = "approvers", value_name = "FILE")]
    allowed_signers: Option<PathBuf>,
    /// Reject the keys in this file: an OpenSSH KRL, or public keys, one per line
    #[arg(long, value_name = "FILE", requires = "allowed_signers")]
    revoked: Option<PathBuf>,
    /// Accept unsigned answers in files of this user; can be repeated
    /// [default: the current user, unless --approvers is given]
    #[arg(long = "uid", value_name = "UID")]
    uids: Vec<u32>,
    #[command(flatten)]
    store: StoreOptions,
}

pub(super) fn set(args: &PermissionSetCommand) -> Result<ExitCode, PermissionCommandError> {
    let path = match (&args.answer, &args.request) {
        (Some(answer), _) => answer.clone(),
        (None, Some(request)) => write_answer(args, request)?,
        (None, None) => {
            return Err(Failure::Message("no answer; help: name one, or --request".into()).into());
        }
    };
    if args.write_only {
        match args.store.format {
            Format::Human => {
                output::line(format_args!("{}: written, not recorded", human::name(&path)))?;
            }
            Format::Json => {
                output::line(json!({ "answer": output::path(&path), "recorded": false }))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let moment = args.store.moment()?;
    let accepted = accept(args, &path, moment.now)?;
    let mut store = args.store.open(PermissionTerms::default())?;
    let source = accepted.answer().answers.source.clone();
    let change = store.set(&source, &accepted, &moment)?;
    let PermissionChange::Answered { request, granted, denied, .. } = &change else {
        let why = "store: unexpected change; help: report this as a bug";
        return Err(Failure::Message(why.into()).into());
    };
    match args.store.format {
        Format::Human => print_result(granted, denied, &accepted)?,
        Format::Json => output::line(json!({
            "request": request,
            "granted": granted,
            "denied": denied,
            "by": accepted.by(),
            "answer": output::path(&path),
            "traceparent": moment.traceparent.to_string(),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print_result(
    granted: &[GrantedTool],
    denied: &[DeniedTool],
    accepted: &AcceptedAnswer,
) -> Result<(), Failure> {
    let by = reveal_line(&accepted.by().to_string());
    for GrantedTool { tool, grant } in granted {
        let tool = reveal_line(tool.as_str());
        output::line(format_args!("{tool}: granted by {by} as {}", grant.id))?;
    }
    for DeniedTool { tool, .. } in denied {
        output::line(format_args!("{}: denied by {by}", reveal_line(tool.as_str())))?;
    }
    Ok(())
}

/// Writes the answer from the options and its signature. Returns the path of the answer.
fn write_answer(
    args: &PermissionSetCommand,
    request: &Path,
) -> Result<PathBuf, PermissionCommandError> {
    let bytes = read_document(request, PERMISSION_REQUEST_BYTES_MAX)?;
    let refuse =
        |why: String| PermissionCommandError::Refused(format!("{}: {why}", human::name(request)));
    let help = "name a file that `toolexec permission request` wrote";
    let file = PermissionRequestFile::read(&bytes).map_err(|why| refuse(with_help(&why, help)))?;
    if args.grant.is_empty() && args.deny.is_empty() {
        let why = "no answer; help: name tools with --grant or --deny; the rest is denied";
        return Err(refuse(why.to_owned()));
    }
    let mut named = args.grant.iter().chain(&args.deny);
    if let Some(other) = named.find(|tool| !file.data.requested_tools.contains(tool)) {
        return Err(refuse(format!("tool `{other}` was not requested; help: remove it")));
    }
    let limits = GrantLimits {
        uses: args.uses.and_then(NonZeroU32::new),
        expires_utc: args.expires,
        arguments: match args.arguments {
            GrantArgumentsOption::Any => CoveredInputs::Any,
            GrantArgumentsOption::AsRequested => CoveredInputs::AsRequested,
        },
    };
    let limits = match limits == GrantLimits::default() {
        true => BTreeMap::new(),
        false => args.grant.iter().map(|tool| (tool.clone(), limits)).collect(),
    };
    let answers = AnsweredRequest { id: file.id, sha256: Sha256::of(&bytes), source: file.source };
    let data = AnswerData {
        granted: args.grant.clone(),
        denied: args.deny.clone(),
        commentary: args.commentary.clone(),
    };
    let bytes = PermissionAnswer::new(answers, data, limits).bytes();
    // Writes and signs only an answer that `set` can read back.
    PermissionAnswer::read(&bytes).map_err(|error| refuse(error.to_string()))?;
    let path = with_suffix(request, ".answer.json");
    let signature = match &args.key {
        None => None,
        Some(key) => match SigningIdentity::of_file(key) {
            Ok(mut signer) => Some(signer.sign(PERMISSION_NAMESPACE, &bytes)?),
            Err(SignerError::Refused(why)) => return Err(PermissionCommandError::Refused(why)),
            Err(SignerError::Failed(failure)) => return Err(failure.into()),
        },
    };
    if path.symlink_metadata().is_ok() {
        return Err(PermissionCommandError::Refused(format!(
            "{}: file already exists; help: record it with `toolexec permission set`, or remove it",
            human::name(&path)
        )));
    }
    write_new_file(&path, &bytes)?;
    // A umask may let the group write, and then an unsigned answer would be rejected.
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).map_err(Failure::io(&path))?;
    if let Some(armoured) = signature {
        write_new_file(&with_suffix(&path, ".sig"), armoured.as_bytes())?;
    }
    Ok(path)
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

fn accept(
    args: &PermissionSetCommand,
    path: &Path,
    now: UtcTime,
) -> Result<AcceptedAnswer, PermissionCommandError> {
    let file = open_document(path)?;
    let found = file.metadata().map_err(Failure::io(path))?;
    let owner = FileOwner { uid: found.uid(), mode: found.mode() };
    let bytes = read_whole(file, path)?;
    let signature = signature(path)?;
    let evidence = AnswerEvidence { signatures: signature.as_slice(), owner: Some(owner), now };
    let accepted = rules(args)?.accept(&bytes, &evidence);
    accepted
        .map_err(|error| PermissionCommandError::Refused(format!("{}: {error}", human::name(path))))
}

/// Reads through the descriptor whose owner was checked.
fn read_whole(file: File, path: &Path) -> Result<Vec<u8>, Failure> {
    let most = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(Failure::io(path))?;
    match bytes.len() > ANSWER_BYTES_MAX {
        true => Err(Failure::TooLarge(path.to_owned(), most)),
        false => Ok(bytes),
    }
}

fn signature(answer: &Path) -> Result<Option<SignatureFile>, Failure> {
    let path = with_suffix(answer, ".sig");
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let bytes = read_document(&path, SIGNATURE_BYTES_MAX)?;
    Ok(Some(SignatureFile { name: output::path(&path), bytes }))
}

fn rules(args: &PermissionSetCommand) -> Result<AnswerRules, Failure> {
    let Some(file) = &args.allowed_signers else {
        let mut uids: std::collections::BTreeSet<u32> = args.uids.iter().copied().collect();
        if uids.is_empty() {
            // A user who can write the store could change it directly.
            uids.insert(rustix::process::geteuid().as_raw());
        }
        return Ok(AnswerRules { signers: None, uids });
    };
    let signers = read_signers(file)?;
    let signers = match &args.revoked {
        Some(revoked) => signers.with_revoked(read_revoked(revoked)?),
        None => signers,
    };
    Ok(AnswerRules { signers: Some(signers), uids: args.uids.iter().copied().collect() })
}
