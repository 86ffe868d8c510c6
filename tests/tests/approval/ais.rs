//! Tests of `toolexec ais`: the commands of docs/ais.md work and produce the published results, and
//! bad artifacts are refused with the right exit code.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, DocPage, ssh_keygen_works, workspace};

fn ais(bench: &Bench, words: &[&str]) -> CliOutput {
    let mut command = bench.command("toolexec");
    CliOutput::of(command.current_dir(bench.scratch().path()).arg("ais").args(words))
}

/// Writes a file into the directory where the commands run.
fn write_file(bench: &Bench, name: &str, content: impl AsRef<[u8]>) {
    fs::write(bench.scratch().path().join(name), content).unwrap();
}

fn golden() -> Value {
    let path = workspace().join("policies/tests/ais/vectors/golden_hs256.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn published_payloads_and_signatures_come_out_byte_for_byte() {
    let (bench, golden) = (Bench::new(), golden());
    let secret = golden["secret"].as_str().unwrap();
    write_file(&bench, "secret", format!("{secret}\n"));
    for case in golden["cases"].as_array().unwrap() {
        let payload: Value = serde_json::from_str(case["payload"].as_str().unwrap()).unwrap();
        write_file(&bench, "document", format!("{payload:#}"));
        let output = ais(&bench, &["canonical", "document"]);
        output.assert_code(0);
        assert_eq!(output.stdout, case["payload"].as_str().unwrap());
        let output =
            ais(&bench, &["sign", "--alg", "HS256", "--secret-file", "secret", "document"]);
        output.assert_code(0);
        let parts: Vec<&str> = output.stdout.trim_end().split('.').collect();
        assert_eq!(
            (parts[0], parts[2]),
            (golden["header"].as_str().unwrap(), case["signature"].as_str().unwrap())
        );
    }
}

#[test]
fn bad_documents_and_keys_are_refused_and_nothing_is_signed() {
    let bench = Bench::new();
    write_file(&bench, "secret", "word");
    write_file(&bench, "empty", "\n");
    write_file(&bench, "good", "{}");
    let rows: [&[u8]; 7] =
        [b"{\"a\":1,\"a\":2}", b"{", b"", b"\xff", b"9007199254740993", b"{} {}", b"[1e999]"];
    let sign = ["sign", "--alg", "HS256", "--secret-file", "secret"];
    for bytes in rows {
        write_file(&bench, "bad", bytes);
        for words in [&["canonical"][..], &sign] {
            let output = ais(&bench, &[words, &["bad"]].concat());
            output.assert_code(2);
            assert_eq!(output.stdout, "");
            output.assert_stderr(&["bad: "]);
        }
    }
    let deep = "[".repeat(100_000);
    write_file(&bench, "bad", deep);
    ais(&bench, &["canonical", "bad"]).assert_code(2);
    write_file(&bench, "bad", " ".repeat(2 << 20));
    ais(&bench, &["canonical", "bad"]).assert_code(2);
    for words in [
        &["canonical", "missing"][..],
        &["sign", "--alg", "HS256", "--secret-file", "empty", "good"],
        &["sign", "--alg", "EdDSA", "--secret-file", "secret", "good"],
        &["sign", "--alg", "HS256", "--key-file", "secret", "good"],
        &["sign", "--alg", "none", "--secret-file", "secret", "good"],
        &["sign", "--alg", "HS256", "good"],
        &["schema", "UIAA"],
        &["crl", "--revoke", "TCA=urn:x:y", "--secret-file", "secret"],
        &["crl", "--seconds", "0", "--secret-file", "secret"],
        &["sca", "--model", "m", "--secret-file", "secret"],
    ] {
        let output = ais(&bench, words);
        output.assert_code(3);
        assert_eq!(output.stdout, "", "{words:?}");
    }
    ais(&bench, &["entail", "good", "good"]).assert_code(2);
    ais(&bench, &["sign", "--alg", "HS256", "--secret-file", "secret", "--embed", "good"])
        .assert_code(2);
}

#[test]
fn the_id_of_a_hosts_assertion_contains_its_version() {
    let bench = Bench::new();
    write_file(&bench, "secret", "word");
    for (more, version) in [(&[][..], "1"), (&["--tca-version", "2"], "2")] {
        let words = ["tca", "--operator", "did:example:operator", "--secret-file", "secret"];
        let output = ais(&bench, &[&words[..], more].concat());
        output.assert_code(0);
        assert_eq!(output.json()["id"], format!("urn:tca:toolexec.run@{version}"));
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let bench = Bench::new();
    for act in
        ["canonical", "sign", "verify", "entail", "step", "tca", "sca", "crl", "envelope", "schema"]
    {
        let output = ais(&bench, &[act, "--help"]);
        output.assert_code(0);
        assert!(output.stdout.contains(&format!("toolexec ais {act}")), "{output:#?}");
    }
    for artifact in ["UIA", "APA", "APr", "TCA", "IBE", "SCA", "CRL"] {
        let output = ais(&bench, &["schema", artifact]);
        output.assert_code(0);
        let schema: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

/// Returns all commands of docs/ais.md.
fn script_of_the_page() -> String {
    DocPage::open("docs/ais.md").script()
}

/// A bundle built as the page says, with its request.
struct BoundRequest {
    bench: Bench,
    request: PathBuf,
    last: Value,
}

fn bound(test: &str) -> Option<BoundRequest> {
    if !ssh_keygen_works(test) {
        return None;
    }
    let bench = Bench::new();
    let output =
        CliOutput::of(bench.shell(&script_of_the_page()).current_dir(bench.scratch().path()));
    output.assert_code(0);
    let names = toolexec_tests::list(bench.scratch().path());
    let request =
        names.iter().find(|name| name.starts_with("TR-") && name.ends_with(".md")).unwrap();
    let request = bench.scratch().path().join(request);
    let last = output.json();
    Some(BoundRequest { bench, request, last })
}

impl BoundRequest {
    fn bundle(&self) -> PathBuf {
        self.request.with_extension("ais.json")
    }

    fn verify(&self, bundle: &Path, more: &[&str]) -> (CliOutput, Value) {
        let (bundle, request) = (bundle.to_str().unwrap(), self.request.to_str().unwrap());
        let words = ["verify", bundle, "--trust", "trust.yaml", "--rules", "rules.yaml"];
        let output = ais(&self.bench, &[&words[..], &["--request", request], more].concat());
        let answer = output.json();
        (output, answer)
    }

    /// Builds a bundle with changed artifacts, and verifies it.
    fn bind_changed(&self, name: &str, change: &[&str]) -> (CliOutput, Value) {
        let request = self.request.to_str().unwrap();
        let words =
            ["envelope", request, "--apr", "apr.json", "--tca", "tca.json", "--key-file", "binder"];
        let words = [&words[..], &["--kid", "binder", "--out", name], change].concat();
        ais(&self.bench, &words).assert_code(0);
        self.verify(&self.bench.scratch().path().join(name), &[])
    }

    #[track_caller]
    fn assert_refused(&self, (output, answer): (CliOutput, Value), code: &str) {
        output.assert_code(1);
        assert_eq!(
            (&answer["verdict"], &answer["code"]),
            (&json!("refuse"), &json!(code)),
            "{answer:#}"
        );
    }
}

#[test]
fn what_the_page_says_binds_a_request_and_five_calls_are_refused() {
    let Some(bound) = bound("what_the_page_says_binds_a_request_and_five_calls_are_refused") else {
        return;
    };
    assert_eq!(bound.last["verdict"], "accept", "{:#}", bound.last);
    let nonce = bound.last["bundle"]["nonce"].as_str().unwrap();
    // Expired.
    bound.assert_refused(
        bound.verify(&bound.bundle(), &["--at", "2099-01-01T00:00:00Z"]),
        "IBE-EXPIRED",
    );
    bound.assert_refused(bound.verify(&bound.bundle(), &["--used-nonce", nonce]), "IBE-REPLAY");
    // Another request.
    let text = fs::read_to_string(&bound.request).unwrap();
    let other = text.replace("Summarize one column", "Summarize another column");
    assert_ne!(text, other);
    fs::write(&bound.request, other).unwrap();
    bound.assert_refused(bound.verify(&bound.bundle(), &[]), "IBE-BINDING-MISMATCH");
    fs::write(&bound.request, text).unwrap();
    // Over budget.
    let spent = ["--uia", "poor.json", "--apa", "apa.json", "--crl", "crl.json"];
    let intent = fs::read_to_string(bound.bench.scratch().path().join("intent.json")).unwrap();
    write_file(&bound.bench, "poor", intent.replace("\"maxRecords\": 1000", "\"maxRecords\": 99"));
    let words =
        ["sign", "--alg", "EdDSA", "--key-file", "alice", "--kid", "alice", "--embed", "poor"];
    let signed = ais(&bound.bench, &words);
    signed.assert_code(0);
    write_file(&bound.bench, "poor.json", signed.stdout);
    bound.assert_refused(bound.bind_changed("over.ais.json", &spent), "RISK-RECORDS-EXCEEDED");
    // Revoked.
    let id = "UIA=urn:uuid:11111111-1111-4111-8111-111111111111=user-revoked";
    let list =
        ais(&bound.bench, &["crl", "--revoke", id, "--key-file", "revoker", "--kid", "revoker"]);
    list.assert_code(0);
    write_file(&bound.bench, "revoked.json", list.stdout);
    let change = ["--uia", "uia.json", "--apa", "apa.json", "--crl", "revoked.json"];
    bound.assert_refused(bound.bind_changed("revoked.ais.json", &change), "UIA-REVOKED");
    // Without a revocation list the status is unknown.
    bound.assert_refused(bound.bind_changed("silent.ais.json", &change[..4]), "CRL-STALE");
}

#[test]
fn digests_of_what_is_here_are_compared() {
    let Some(bound) = bound("digests_of_what_is_here_are_compared") else { return };
    let shown = CliOutput::of(bound.bench.command("toolexec").args(["policy", "show", "embedded"]));
    shown.assert_code(0);
    write_file(&bound.bench, "policy.yaml", &shown.stdout);
    let (output, answer) = bound.verify(&bound.bundle(), &["--policy", "policy.yaml"]);
    output.assert_code(0);
    assert_eq!(answer["verdict"], "accept");
    write_file(&bound.bench, "policy.yaml", format!("{}# \n", shown.stdout));
    bound.assert_refused(
        bound.verify(&bound.bundle(), &["--policy", "policy.yaml"]),
        "SCA-MISMATCH",
    );
}

#[test]
fn an_envelope_is_never_minted_for_another_step_nor_over_a_file() {
    let Some(bound) = bound("an_envelope_is_never_minted_for_another_step_nor_over_a_file") else {
        return;
    };
    let before = fs::read(bound.bundle()).unwrap();
    let request = bound.request.to_str().unwrap().to_owned();
    let parts =
        ["--uia", "uia.json", "--apa", "apa.json", "--apr", "apr.json", "--tca", "tca.json"];
    let words = [&["envelope", &request, "--key-file", "binder"][..], &parts].concat();
    let output = ais(&bound.bench, &words);
    output.assert_code(3);
    output.assert_stderr(&["file already exists", "--out"]);
    assert_eq!(fs::read(bound.bundle()).unwrap(), before);
    let text = fs::read_to_string(&bound.request).unwrap();
    fs::write(&bound.request, text.replace("python mean.py", "python -u mean.py")).unwrap();
    let output = ais(&bound.bench, &[&words[..], &["--out", "new.json"]].concat());
    output.assert_code(2);
    output.assert_stderr(&["no step matches the request"]);
    assert!(!bound.bench.scratch().path().join("new.json").exists());
    // A file that is not a bundle gets a result too.
    write_file(&bound.bench, "bad.json", "{\"uia\":1,\"uia\":2}");
    let bad = bound.bench.scratch().path().join("bad.json");
    let (output, answer) = bound.verify(&bad, &[]);
    output.assert_code(2);
    assert_eq!(answer["code"], "INPUT-BAD-JSON");
}

/// Signs like `ais sign` with OpenSSL alone, and verifies an `ais sign` signature with OpenSSL.
const OPENSSL_AGREES: &str = r#"
openssl genpkey -algorithm ed25519 -out key.pem
openssl pkey -in key.pem -pubout -out public.pem
jws=$(toolexec ais sign --alg EdDSA --key-file key.pem document)
printf '%s' "${jws%.*}" > input
printf '%s==' "${jws##*.}" | basenc -d --base64url > signature
openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in input -sigfile signature
openssl pkeyutl -sign -inkey key.pem -rawin -in input -out theirs
cmp signature theirs
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem
test "$(toolexec ais sign --alg ES256 --key-file ec.pem document)" = \
     "$(toolexec ais sign --alg ES256 --key-file ec.pem document)"
if toolexec ais sign --alg EdDSA --key-file ec.pem document; then exit 9; fi
toolexec ais canonical - < document | cmp - canonical
toolexec ais sign --alg EdDSA --key-file key.pem --kid 'k "1"' document | cut -d . -f 1 > header
printf '%s' '{"alg":"EdDSA","kid":"k \"1\"","typ":"JWT"}' | basenc --base64url -w 0 | tr -d = | cmp - <(tr -d '\n' < header)
"#;

#[test]
fn openssl_makes_and_verifies_the_same_signatures() {
    let bench = Bench::new();
    write_file(&bench, "document", "{ \"b\": 1.0, \"a\": \"<\u{e9}>\" }");
    write_file(&bench, "canonical", "{\"a\":\"\\u003c\u{e9}\\u003e\",\"b\":1}");
    let path =
        format!("{}:{}", toolexec_tests::programs().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-euc", OPENSSL_AGREES]).current_dir(bench.scratch().path()).env("PATH", path);
    let output = CliOutput::of(&mut shell);
    output.assert_code(0);
    assert!(output.stdout.contains("Verified Successfully"), "{output:#?}");
}
