//! `sigstore-verify-oracle BUNDLE KEY.pem TRUSTED_ROOT ARTIFACT`: exits 0 if Sigstore's verifier
//! accepts the bundle for this artifact, log inclusion required. It must never use our code.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::{env, fs};

use sigstore_trust_root::TrustedRoot;
use sigstore_types::{Bundle, DerPublicKey};
use sigstore_verify::{PublicKeyVerificationPolicy, verify};

fn judge() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [bundle, key, root, artifact] = args.as_slice() else {
        return Err("usage: BUNDLE KEY.pem TRUSTED_ROOT ARTIFACT".into());
    };
    let bundle = Bundle::from_json(&fs::read_to_string(bundle)?)?;
    let policy =
        PublicKeyVerificationPolicy::new(DerPublicKey::from_pem(&fs::read_to_string(key)?)?);
    let root = TrustedRoot::from_file(root)?;
    let artifact = fs::read(artifact)?;
    verify(artifact.as_slice(), &bundle, &policy, &root)?;
    Ok(())
}

fn main() -> ExitCode {
    match judge() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
