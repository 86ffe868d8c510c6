//! Stock tools as oracles: `ssh-keygen` accepts only the signed bytes; `openssl` reads the key.

use records::sign;

use crate::fixture::{RecordCase, RecordScratch, put, stock};

#[test]
fn ssh_keygen_accepts_the_signature_and_no_other_bytes() {
    let test = "ssh_keygen_accepts_the_signature_and_no_other_bytes";
    let (case, scratch) = (RecordCase::plain(), RecordScratch::new());
    let record = sign(&case.statement(), &scratch.key("keys")).unwrap();
    let (md, signature) = (&record.files()[0].1, &record.files()[1].1);
    let signature_file = scratch.path().join("record.sig");
    put(&signature_file, signature);
    let signers = scratch.path().join("keys/allowed_signers");
    let verify = |namespace: &str, message: &[u8]| {
        let signers = signers.to_str().unwrap();
        let file = signature_file.to_str().unwrap();
        let args = ["-Y", "verify", "-f", signers, "-I", "tool-exec", "-n", namespace, "-s", file];
        stock(test, "ssh-keygen", &args, message)
    };
    let Some((accepted, output)) = verify(records::RESULT_NAMESPACE, md) else { return };
    assert!(accepted, "{output}");
    let mut changed = md.clone();
    changed[md.len() / 2] ^= 1;
    assert!(!verify(records::RESULT_NAMESPACE, &changed).unwrap().0);
    assert!(!verify("approve.tool-exec@threegate", md).unwrap().0);
}

#[test]
fn ssh_keygen_reads_the_key_files() {
    let test = "ssh_keygen_reads_the_key_files";
    let scratch = RecordScratch::new();
    let public = scratch.key("keys").public();
    let file = scratch.path().join("keys/result");
    let file = file.to_str().unwrap();
    let Some((fine, output)) = stock(test, "ssh-keygen", &["-l", "-f", file], b"") else { return };
    assert!(fine && output.contains(&public.fingerprint()), "{output}");
    let (fine, output) = stock(test, "ssh-keygen", &["-y", "-f", file], b"").unwrap();
    assert!(fine && output.trim().starts_with(public.openssh_line()), "{output}");
}

#[test]
fn openssl_reads_the_pem() {
    let scratch = RecordScratch::new();
    let public = scratch.key("keys").public();
    let args = ["pkey", "-pubin", "-noout", "-text"];
    let Some((fine, output)) =
        stock("openssl_reads_the_pem", "openssl", &args, public.pem().as_bytes())
    else {
        return;
    };
    assert!(fine && output.contains("prime256v1"), "{output}");
}
