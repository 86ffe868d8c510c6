//! The assertions of a host and of a revoking authority: TCA, SCA, CRL. Each is created from the
//! present state of the host and signed in one step.

use std::path::PathBuf;

use clap::Args;
use model::UtcTime;
use policies::ais::{
    AisArtifact, Crl as CrlContent, HostClaim, Sca as ScaContent, SigningKey, Tca as TcaContent,
    UnverifiedArtifact, embed, host_tca,
};
use serde_json::{Map, Value, json};

use super::document::{ParsedArtifact, artifact_reason};
use super::environment_digests::digests_in_use;
use super::error::{AisCommandError, AisCommandResult};
use super::key::{self, AisKeyOptions};
use super::print::print;
use crate::args::policy::named_or_embedded;
use crate::clock;
use crate::failure::Failure;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais tca --policy policy.yaml --operator did:web:host1.example \\
           --data-class internal --data-class derived --key-file operator.pem --kid operator-2026

Prints the signed assertion: one operation toolexec.run.<language> for each language of the policy.")]
pub(crate) struct AisTcaCommand {
    /// Read the languages from this policy [default: the built-in `embedded`]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Name the operator of this host by its identifier in trust stores
    #[arg(long, value_name = "ID")]
    operator: String,
    /// Set the version of the assertion
    #[arg(long, default_value = "1")]
    tca_version: String,
    /// Add a class of data that runs may use; can be repeated
    #[arg(long = "data-class", value_name = "CLASS")]
    data_classes: Vec<String>,
    #[command(flatten)]
    key: AisKeyOptions,
    /// Set the key id (`kid`) in the signature's header
    #[arg(long, value_name = "K")]
    kid: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais sca --policy policy.yaml --model planner@1=sha256:9f2c… \\
    --key-file host.pem --kid host1

Prints the signed assertion. `policy` contains the policy file and the seccomp text, `guard` the
programs of TOOL-EXEC, and `x-runtimes` the installed binaries of the policy's runtimes, each by
the SHA-256 of its bytes.")]
pub(crate) struct AisScaCommand {
    /// Use this policy [default: the built-in `embedded`]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Accept plans of this model; can be repeated
    #[arg(long = "model", value_name = "NAME@VERSION=HASH")]
    models: Vec<String>,
    #[command(flatten)]
    key: AisKeyOptions,
    /// Set the key id (`kid`) in the signature's header
    #[arg(long, value_name = "K")]
    kid: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais crl --revoke UIA=urn:uuid:6f0c…=user-revoked --seconds 600 \\
    --key-file crl.pem --kid crl

Prints the signed list, which is valid from now for the given time. An empty list states that
nothing is revoked, which a guard needs to know.")]
pub(crate) struct AisCrlCommand {
    /// Revoke this artifact, with an optional reason; can be repeated
    #[arg(long = "revoke", value_name = "UIA|APA=ID[=REASON]")]
    revoke: Vec<String>,
    /// Set the validity of the list in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    #[command(flatten)]
    key: AisKeyOptions,
    /// Set the key id (`kid`) in the signature's header
    #[arg(long, value_name = "K")]
    kid: Option<String>,
}

/// Signs the content, checks that a reader accepts it, and prints it.
fn sign_and_print<S: ParsedArtifact>(
    artifact: AisArtifact,
    content: Map<String, Value>,
    key: &SigningKey,
    kid: Option<&str>,
) -> AisCommandResult {
    let signed = embed(artifact, content, key, kid);
    S::of(&signed).map_err(|error| AisCommandError::Invalid(artifact_reason(&error)))?;
    print(&signed)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

pub(super) fn tca(args: &AisTcaCommand) -> AisCommandResult {
    let policy = named_or_embedded(args.policy.as_deref())?;
    let key = key::read_key(&args.key, None)?;
    let claim = HostClaim {
        operator: &args.operator,
        version: &args.tca_version,
        data_classes: &args.data_classes,
    };
    let content = host_tca(&policy, &claim);
    sign_and_print::<UnverifiedArtifact<TcaContent>>(
        AisArtifact::Tca,
        content,
        &key,
        args.kid.as_deref(),
    )
}

pub(super) fn sca(args: &AisScaCommand) -> AisCommandResult {
    let policy = named_or_embedded(args.policy.as_deref())?;
    let key = key::read_key(&args.key, None)?;
    let found = digests_in_use(&policy)?;
    let place = |name: &str| {
        let path = found.paths.iter().find(|(known, _)| known == name);
        path.map_or_else(|| "toolexec".to_owned(), |(_, path)| path.display().to_string())
    };
    let own = env!("CARGO_PKG_VERSION");
    let mut components: Vec<Value> = Vec::new();
    for model in &args.models {
        components.push(model_of(model)?);
    }
    for (name, digest) in &found.digests.policies {
        let source = match (name.as_str(), &args.policy) {
            ("policy", Some(path)) => path.display().to_string(),
            _ => "toolexec".to_owned(),
        };
        components.push(component("policy", name, own, &digest.to_string(), &source));
    }
    for (name, digest) in &found.digests.guards {
        components.push(component("guard", name, own, &digest.to_string(), &place(name)));
    }
    let runtimes: Vec<Value> = found
        .digests
        .runtimes
        .iter()
        .map(|(name, digest)| {
            let hash = format!("sha256:{digest}");
            json!({ "name": name, "version": "unknown", "hash": hash, "source": place(name) })
        })
        .collect();
    let content = object(json!({
        "@type": "SCA", "components": components, "x-runtimes": runtimes, "proof": {},
    }));
    sign_and_print::<UnverifiedArtifact<ScaContent>>(
        AisArtifact::Sca,
        content,
        &key,
        args.kid.as_deref(),
    )
}

fn component(kind: &str, name: &str, version: &str, sha256: &str, source: &str) -> Value {
    let hash = format!("sha256:{sha256}");
    json!({ "type": kind, "name": name, "version": version, "hash": hash, "source": source })
}

fn model_of(typed: &str) -> Result<Value, Failure> {
    let parts = typed.split_once('=').and_then(|(named, hash)| {
        let (name, version) = named.rsplit_once('@')?;
        Some((name, version, hash))
            .filter(|_| [name, version, hash].iter().all(|it| !it.is_empty()))
    });
    let Some((name, version, hash)) = parts else {
        let help = "write NAME@VERSION=HASH";
        return Err(Failure::Message(format!("--model '{typed}': invalid; help: {help}")));
    };
    Ok(
        json!({ "type": "model", "name": name, "version": version, "hash": hash, "source": "stated" }),
    )
}

pub(super) fn crl(args: &AisCrlCommand) -> AisCommandResult {
    let key = key::read_key(&args.key, None)?;
    let mut revoked = Vec::new();
    for typed in &args.revoke {
        revoked.push(revocation(typed)?);
    }
    let now = clock::now();
    let expires = UtcTime::from_unix(now.unix().saturating_add(i64::from(args.seconds)));
    let content = object(json!({
        "@type": "CRL",
        "issued": now.to_string(),
        "expires": expires.to_string(),
        "revoked": revoked,
        "proof": {},
    }));
    sign_and_print::<UnverifiedArtifact<CrlContent>>(
        AisArtifact::Crl,
        content,
        &key,
        args.kid.as_deref(),
    )
}

fn revocation(typed: &str) -> Result<Value, Failure> {
    let mut parts = typed.splitn(3, '=');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(kind @ ("UIA" | "APA")), Some(id), reason) if !id.is_empty() => {
            let mut revoked = json!({ "type": kind, "id": id });
            if let Some(reason) = reason {
                revoked["reason"] = Value::from(reason);
            }
            Ok(revoked)
        }
        _ => {
            let help = "write UIA=ID[=REASON] or APA=ID[=REASON]";
            Err(Failure::Message(format!("--revoke '{typed}': invalid; help: {help}")))
        }
    }
}
