//! What the signature files beside a request prove about its exact bytes. A signature must never
//! count for another namespace, another key's owner or another time than its own, and one that
//! cannot be used must never stop one that can: anybody may drop a broken file.

use ssh_key::{HashAlg, SshSig};
use validator::{Request, UtcTime, escape_line};

use crate::decision::SignatureFile;
use crate::signers::{Signer, Signers};

/// The namespace of a signature that approves.
pub const APPROVE_NAMESPACE: &str = "approve.tool-exec@threegate";
/// The namespace of a signature that rejects; one valid rejection is final.
pub const REJECT_NAMESPACE: &str = "reject.tool-exec@threegate";
/// The most bytes of one signature file.
pub const SIGNATURE_BYTES_MAX: usize = 16 * 1024;
/// The most signature files of one request.
pub const SIGNATURE_FILES_MAX: usize = 16;

/// A person whose signature verified.
pub(crate) struct Voter {
    pub(crate) person: usize,
    /// Every name that the key goes by.
    pub(crate) principals: Vec<String>,
    pub(crate) fingerprint: String,
}

/// What all files together say.
#[derive(Default)]
pub(crate) struct Votes {
    pub(crate) approvals: Vec<Voter>,
    pub(crate) rejections: Vec<Voter>,
    /// A file and why it does not count.
    pub(crate) unusable: Vec<String>,
    pub(crate) too_many: bool,
}

impl Votes {
    pub(crate) fn count(
        request: &Request,
        files: &[SignatureFile],
        signers: &Signers,
        now: UtcTime,
    ) -> Self {
        let mut votes = Self { too_many: files.len() > SIGNATURE_FILES_MAX, ..Self::default() };
        if votes.too_many {
            // Reading only some could miss the one that rejects.
            return votes;
        }
        for file in files {
            match vote(file, request, signers, now) {
                Ok((Act::Approve, voter)) => votes.approvals.push(voter),
                Ok((Act::Reject, voter)) => votes.rejections.push(voter),
                Err(why) => votes.unusable.push(format!("{}: {why}", escape_line(&file.name))),
            }
        }
        votes
    }

    /// How many different people approve.
    pub(crate) fn people(&self) -> usize {
        let mut people: Vec<usize> = self.approvals.iter().map(|voter| voter.person).collect();
        people.sort_unstable();
        people.dedup();
        people.len()
    }
}

#[derive(Clone, Copy)]
enum Act {
    Approve,
    Reject,
}

fn vote(
    file: &SignatureFile,
    request: &Request,
    signers: &Signers,
    now: UtcTime,
) -> Result<(Act, Voter), String> {
    if file.bytes.len() > SIGNATURE_BYTES_MAX {
        return Err("larger than 16 KiB".to_owned());
    }
    let signature = SshSig::from_pem(&file.bytes).map_err(|_| {
        "not an SSH signature by an ssh-ed25519 or ecdsa-sha2-nistp256 key".to_owned()
    })?;
    if signature.version() != SshSig::VERSION {
        return Err(format!("version {} is not known", signature.version()));
    }
    if !matches!(signature.hash_alg(), HashAlg::Sha256 | HashAlg::Sha512) {
        return Err("made with a hash other than sha256 and sha512".to_owned());
    }
    let namespace = signature.namespace();
    let act = match namespace {
        APPROVE_NAMESPACE => Act::Approve,
        REJECT_NAMESPACE => Act::Reject,
        other => {
            let shown = escape_line(other);
            return Err(format!("namespace `{shown}` is not `{APPROVE_NAMESPACE}`"));
        }
    };
    let fingerprint = signature.public_key().fingerprint(HashAlg::Sha256).to_string();
    let known: Vec<&Signer> = signers.of_key(signature.public_key()).collect();
    let Some(first) = known.first() else {
        return Err(format!("key {fingerprint} is not in allowed_signers"));
    };
    if signature.algorithm() != first.key.algorithm()
        || first.key.verify(namespace, request.bytes(), &signature).is_err()
    {
        return Err(format!("does not verify over these bytes with key {fingerprint}"));
    }
    let principals = entitled(&known, act, namespace, (request.approved(), now))
        .map_err(|why| format!("key {fingerprint} {why}"))?;
    Ok((act, Voter { person: first.person, principals, fingerprint }))
}

/// The names under which the lines of a key let it do this, or why none does.
fn entitled(
    lines: &[&Signer],
    act: Act,
    namespace: &str,
    (approved, now): (UtcTime, UtcTime),
) -> Result<Vec<String>, String> {
    let in_space = |line: &Signer| {
        line.namespaces.as_ref().is_none_or(|names| names.iter().any(|name| name == namespace))
    };
    let in_time = |line: &Signer| match act {
        Act::Approve => line.validity.holds(approved),
        // A rejection comes later than the approval, at a time that no file states.
        Act::Reject => line.validity.holds(approved) || line.validity.holds(now),
    };
    if !lines.iter().any(|line| in_space(line)) {
        return Err(format!("may not sign in namespace `{namespace}`"));
    }
    let principals: Vec<String> = lines
        .iter()
        .filter(|line| in_space(line) && in_time(line))
        .flat_map(|line| line.principals.iter().cloned())
        .collect();
    if principals.is_empty() {
        return Err(format!("was not valid at approved_utc {approved}"));
    }
    Ok(principals)
}
