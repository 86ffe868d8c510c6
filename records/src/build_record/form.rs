//! The statement of a build, and its JSON. Each statement has exactly one text: a payload with
//! another spelling must never be accepted, because other readers could read it differently.

use model::{EnvironmentName, EnvironmentReference, Sha256, UtcTime};
use policies::SignerKey;
use serde::{Deserialize, Serialize};

use super::error::BuildRecordError;
use crate::base64;
use crate::in_toto::STATEMENT_TYPE;

/// The type of the predicate: the facts of a build (docs/environments.md).
pub const BUILD_PREDICATE_TYPE: &str =
    "https://github.com/threegate/tool-exec/attestation/environment-build/v0.1";

/// The facts of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildStatement {
    /// The name and the digest of the environment.
    pub environment: EnvironmentReference,
    /// The source.
    pub source: StatedSource,
    /// The program that installed the packages; `None` if TOOL-EXEC did it all.
    pub installer: Option<StatedInstaller>,
    /// The system and the processor of the builder, such as `linux/x86_64`.
    pub platform: String,
    /// The version of TOOL-EXEC.
    pub tool_version: String,
    /// The start of the build.
    pub started: UtcTime,
    /// The end of the build.
    pub ended: UtcTime,
    /// The user who built it.
    pub uid: u32,
    /// The totals of the tree.
    pub totals: BuildTotals,
}

/// The source of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedSource {
    /// The kind, such as `requirements`.
    pub kind: String,
    /// The name of the lock file, the archive or the directory.
    pub file: String,
    /// The digest of the lock file, the manifest or the tree, in hexadecimal digits.
    pub sha256: String,
}

/// The program that installed the packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedInstaller {
    /// The name, such as `uv`.
    pub name: String,
    /// The version that it printed, or `unknown`.
    pub version: String,
}

/// The totals of an environment's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildTotals {
    /// The files; each hard link counts.
    pub files: u64,
    /// The directories.
    pub directories: u64,
    /// The symbolic links.
    pub links: u64,
    /// The sizes of the files together.
    pub bytes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BuildStatementForm {
    #[serde(rename = "_type")]
    kind: String,
    subject: [BuildSubjectForm; 1],
    predicate_type: String,
    predicate: BuildPredicateForm,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildSubjectForm {
    name: String,
    digest: BuildDigestForm,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildDigestForm {
    sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildPredicateForm {
    /// `ssh-ed25519 AAAA…`.
    builder: String,
    uid: u32,
    source: StatedSource,
    installer: Option<StatedInstaller>,
    platform: String,
    tool_version: String,
    started_utc: String,
    ended_utc: String,
    files: u64,
    directories: u64,
    links: u64,
    bytes: u64,
}

/// Returns the payload of the envelope.
pub(super) fn render(stated: &BuildStatement, builder: &SignerKey) -> Vec<u8> {
    let EnvironmentReference { name, sha256 } = &stated.environment;
    let BuildTotals { files, directories, links, bytes } = stated.totals;
    let form = BuildStatementForm {
        kind: STATEMENT_TYPE.to_owned(),
        subject: [BuildSubjectForm {
            name: name.to_string(),
            digest: BuildDigestForm { sha256: sha256.to_string() },
        }],
        predicate_type: BUILD_PREDICATE_TYPE.to_owned(),
        predicate: BuildPredicateForm {
            builder: openssh_line(builder),
            uid: stated.uid,
            source: stated.source.clone(),
            installer: stated.installer.clone(),
            platform: stated.platform.clone(),
            tool_version: stated.tool_version.clone(),
            started_utc: stated.started.to_string(),
            ended_utc: stated.ended.to_string(),
            files,
            directories,
            links,
            bytes,
        },
    };
    // Texts and numbers are always valid JSON.
    serde_json::to_vec(&form).unwrap_or_default()
}

/// Reads a payload that [`render`] would write again, with the key that it names.
pub(super) fn parse(payload: &[u8]) -> Result<(BuildStatement, SignerKey), BuildRecordError> {
    let form: BuildStatementForm =
        serde_json::from_slice(payload).map_err(|_| BuildRecordError::Form)?;
    let BuildStatementForm { subject: [subject], predicate, .. } = form;
    let builder =
        SignerKey::read(&predicate.builder).map_err(|_| BuildRecordError::Field("builder"))?;
    let stated = BuildStatement {
        environment: EnvironmentReference {
            name: name(&subject.name)?,
            sha256: digest(&subject.digest.sha256)?,
        },
        source: predicate.source,
        installer: predicate.installer,
        platform: predicate.platform,
        tool_version: predicate.tool_version,
        started: time(&predicate.started_utc, "started_utc")?,
        ended: time(&predicate.ended_utc, "ended_utc")?,
        uid: predicate.uid,
        totals: BuildTotals {
            files: predicate.files,
            directories: predicate.directories,
            links: predicate.links,
            bytes: predicate.bytes,
        },
    };
    check(&stated)?;
    // Also the types, and every other value that has one spelling.
    match render(&stated, &builder) == payload {
        true => Ok((stated, builder)),
        false => Err(BuildRecordError::Form),
    }
}

/// Refuses what no build has, and texts that deceive a reader.
fn check(stated: &BuildStatement) -> Result<(), BuildRecordError> {
    let StatedSource { kind, file, sha256 } = &stated.source;
    digest(sha256).map_err(|_| BuildRecordError::Field("source"))?;
    if stated.ended < stated.started {
        return Err(BuildRecordError::Field("ended_utc"));
    }
    let BuildStatement { platform, tool_version, .. } = stated;
    let of_installer = stated.installer.iter().flat_map(|it| [&it.name, &it.version]);
    let mut texts = [("source", kind), ("source", file), ("platform", platform)]
        .into_iter()
        .chain([("tool_version", tool_version)])
        .chain(of_installer.map(|text| ("installer", text)));
    match texts.find(|(_, text)| model::has_deceptive(text)) {
        Some((field, _)) => Err(BuildRecordError::Field(field)),
        None => Ok(()),
    }
}

/// Returns `ssh-ed25519 AAAA…`, without a comment.
fn openssh_line(key: &SignerKey) -> String {
    format!("{} {}", key.kind().as_str(), base64::encode(key.blob()))
}

fn name(text: &str) -> Result<EnvironmentName, BuildRecordError> {
    text.parse().map_err(|_| BuildRecordError::Field("subject"))
}

fn digest(text: &str) -> Result<Sha256, BuildRecordError> {
    let read = text.parse().ok().filter(|sha256: &Sha256| sha256.to_string() == text);
    read.ok_or(BuildRecordError::Field("subject"))
}

fn time(text: &str, field: &'static str) -> Result<UtcTime, BuildRecordError> {
    text.parse().map_err(|_| BuildRecordError::Field(field))
}
