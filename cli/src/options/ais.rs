//! What may be typed behind `toolexec ais`: parser and help of each of its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use model::UtcTime;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais verify TR-….ais.json --trust trust.yaml --request TR-….md

The artifacts of Agentic Intent Security: UIA (a user's intent), APA (a plan), APr (the proof that
the plan serves the intent), TCA (what a tool does), IBE (what binds one call to all of them), SCA
(what a host is made of), CRL (what was revoked). docs/ais.md says how they belong together. Every
document is JSON; `-` is stdin. Answers are JSON.
Exit codes: 0 fine; 1 the guard refused; 2 a document is invalid; 3 usage or internal error")]
pub(crate) struct Ais {
    #[command(subcommand)]
    pub(crate) act: AisAct,
}

#[derive(Subcommand)]
pub(crate) enum AisAct {
    /// Print the canonical bytes of any JSON document
    Canonical(Canonical),
    /// Sign any JSON document, exactly as it is given
    Sign(Sign),
    /// Say what every rule of the guard says of a bundle
    Verify(Verify),
    /// Compute the evidence of a plan under an intent (semantic-entailment-v1)
    Entail(Entail),
    /// Print the plan's step that does what a request does
    Step(Step),
    /// Make this host's tool assertion from its policy
    Tca(Tca),
    /// Make this host's supply chain assertion from real digests
    Sca(Sca),
    /// Make a revocation list
    Crl(Crl),
    /// Bind an approved request to its artifacts: mint the envelope, write the bundle
    Envelope(Envelope),
    /// Print the JSON Schema of an artifact
    Schema(Schema),
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais canonical uia.json | sha256sum

Names of objects in the order of their code points, no blanks, numbers in their shortest form, `<`,
`>`, `&`, U+2028 and U+2029 escaped. No line end is added. Refused (exit 2): what is no JSON, a
name twice in an object, a whole number of 2^53 or more.")]
pub(crate) struct Canonical {
    /// The document
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Alg {
    #[value(name = "EdDSA")]
    EdDsa,
    #[value(name = "ES256")]
    Es256,
    #[value(name = "HS256")]
    Hs256,
}

/// What signs.
#[derive(Args)]
#[group(id = "key", required = true, multiple = false)]
pub(crate) struct KeyFile {
    /// A private key, Ed25519 or P-256: PKCS#8 in PEM, or as ssh-keygen writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// A shared secret, for demonstrations: the file's bytes less one line end at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais sign --alg EdDSA --key-file alice.pem --kid alice-2026 --embed \\
    uia.json > signed.json

Prints a compact JWS over the canonical bytes of the document as it stands: nothing is added,
blanked or dropped, so write \"proof\": {} (an envelope: \"sig\": \"\", or none) yourself, or use
--embed. The header is {\"alg\":…,\"typ\":\"JWT\"}, with \"kid\" only if --kid is given. No policy is read.")]
pub(crate) struct Sign {
    /// How to sign; the key must be of that kind
    #[arg(long, value_enum)]
    pub(crate) alg: Alg,
    #[command(flatten)]
    pub(crate) key: KeyFile,
    /// The name of the key, for the header
    #[arg(long, value_name = "K")]
    pub(crate) kid: Option<String>,
    /// Blank the artifact's `proof` (or `sig`), sign, and print the artifact with the signature in it
    #[arg(long)]
    pub(crate) embed: bool,
    /// The document
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais verify TR-….ais.json --trust trust.yaml --rules rules.yaml --request TR-….md

Prints {\"verdict\",\"code\",\"message\",\"details\",\"bundle\",\"checks\"}: `accept`; `refuse` with the code
of the first rule that refuses; `unbound` if nothing refuses and no request was given. No nonce is
used up.
Exits 0 if no rule refuses, 1 if one does, 2 if the bundle is none.")]
pub(crate) struct Verify {
    /// The bundle: {uia, apa, apr, tca, ibe, crl?, sca?}
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Whose keys may sign what, JSON or YAML
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: PathBuf,
    /// The rules of the host, JSON or YAML: profiles, coverage, ceilings… [default: as shipped]
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The request that the bundle is to be bound to
    #[arg(long, value_name = "REQUEST.md")]
    pub(crate) request: Option<PathBuf>,
    /// A policy: compare its digest, and those of programs and runtimes here, with the SCA
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// A nonce that was used before; may be given again
    #[arg(long = "seen", value_name = "NONCE")]
    pub(crate) seen: Vec<String>,
    /// Judge as of then, such as 2026-02-09T16:05:01Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<UtcTime>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais entail uia.json apa.json

Prints {\"coverage\",\"risk\",\"scores\"}, what a verifier writes into an APr. Signatures are not
looked at.")]
pub(crate) struct Entail {
    /// The intent
    #[arg(value_name = "UIA")]
    pub(crate) uia: PathBuf,
    /// The plan
    #[arg(value_name = "APA")]
    pub(crate) apa: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais step TR-20260209-160501Z-python-stats.md

Prints {\"tool\",\"args\"} as a step of the plan must have them to be bound to this request. A draft
will do: approving it does not change them.")]
pub(crate) struct Step {
    /// The request
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais tca --policy policy.yaml --operator did:web:host1.example \\
           --data-class internal --data-class derived --key-file operator.pem --kid operator-2026

Prints the signed assertion: one operation toolexec.run.<language> for each language of the policy.")]
pub(crate) struct Tca {
    /// The policy [default: the built-in `embedded`]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Who operates this host, by the identifier in trust stores
    #[arg(long, value_name = "ID")]
    pub(crate) operator: String,
    /// The version of the assertion
    #[arg(long, default_value = "1")]
    pub(crate) tca_version: String,
    /// A class of data that runs may touch; may be given again
    #[arg(long = "data-class", value_name = "CLASS")]
    pub(crate) data_classes: Vec<String>,
    #[command(flatten)]
    pub(crate) key: KeyFile,
    /// The name of the key
    #[arg(long, value_name = "K")]
    pub(crate) kid: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais sca --policy policy.yaml --model planner@1=sha256:9f2c… \\
    --key-file host.pem --kid host1

Prints the signed assertion: `policy` has the policy file and the seccomp text, `guard` our
programs, `x-runtimes` the binaries of the policy's runtimes that are here, each by the SHA-256 of
its bytes.")]
pub(crate) struct Sca {
    /// The policy [default: the built-in `embedded`]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// A model whose plans are accepted here; may be given again
    #[arg(long = "model", value_name = "NAME@VERSION=HASH")]
    pub(crate) models: Vec<String>,
    #[command(flatten)]
    pub(crate) key: KeyFile,
    /// The name of the key
    #[arg(long, value_name = "K")]
    pub(crate) kid: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais crl --revoke UIA=urn:uuid:6f0c…=user-revoked --seconds 600 \\
    --key-file crl.pem --kid crl

Prints the signed list, which holds from now on for so many seconds. An empty list says that
nothing is revoked, which a guard wants to know.")]
pub(crate) struct Crl {
    /// What counts no longer, and why; may be given again
    #[arg(long = "revoke", value_name = "UIA|APA=ID[=REASON]")]
    pub(crate) revoke: Vec<String>,
    /// For how long the list holds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    #[command(flatten)]
    pub(crate) key: KeyFile,
    /// The name of the key
    #[arg(long, value_name = "K")]
    pub(crate) kid: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais envelope TR-….md --uia uia.json --apa apa.json --apr apr.json \\
    --tca tca.json --crl crl.json --key-file envelope.pem --kid envelope-2026

To be done after the request is approved: writes <stem>.ais.json beside it, with a fresh nonce, and
prints {\"bundle\",\"id\",\"step\",\"nonce\",\"exp\"}. The step must be the one that does what the request
does. Nothing is overwritten. Signatures are not checked here: `ais verify` does that.")]
pub(crate) struct Envelope {
    /// The request, approved
    #[arg(value_name = "REQUEST.md")]
    pub(crate) request: PathBuf,
    /// The intent, signed
    #[arg(long, value_name = "FILE")]
    pub(crate) uia: PathBuf,
    /// The plan, signed
    #[arg(long, value_name = "FILE")]
    pub(crate) apa: PathBuf,
    /// The proof, signed
    #[arg(long, value_name = "FILE")]
    pub(crate) apr: PathBuf,
    /// The tool's assertion, signed
    #[arg(long, value_name = "FILE")]
    pub(crate) tca: PathBuf,
    /// A revocation list to staple
    #[arg(long, value_name = "FILE")]
    pub(crate) crl: Option<PathBuf>,
    /// A supply chain assertion to staple
    #[arg(long, value_name = "FILE")]
    pub(crate) sca: Option<PathBuf>,
    /// For how long the envelope is good
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    /// Where to write instead
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) key: KeyFile,
    /// The name of the key
    #[arg(long, value_name = "K")]
    pub(crate) kid: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Example: toolexec ais schema UIA > uia.schema.json")]
pub(crate) struct Schema {
    /// UIA, APA, APr, TCA, IBE, SCA or CRL
    #[arg(value_name = "ARTIFACT")]
    pub(crate) artifact: String,
}
