//! A test witness (C2SP tlog-witness, with proofs of another implementation) is shown a log that
//! grows, forks and is cut back.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use model::Sha256;
use records::log::{Checkpoint, PublicLogKey};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::Hash;

use crate::test_log::{ORIGIN, TestLog, run};

const NAME: &str = "witness.example/w1";
const TIME: u64 = 1_795_258_080;

/// The last checkpoint that the witness saw, and each request with the status of its answer.
#[derive(Default)]
struct WitnessState {
    head: Option<(u64, Hash)>,
    requests: Vec<(String, u16)>,
}

struct TestWitness {
    url: String,
    state: Arc<Mutex<WitnessState>>,
}

fn signing() -> SigningKey {
    SigningKey::from_bytes(&[9; 32])
}

/// Formats `name+hash+key`, written from the specification.
fn verifier_line(name: &str, key: &VerifyingKey) -> String {
    let id = key_id(name, key);
    let key = [&[4], key.as_bytes().as_slice()].concat();
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name}+{id}+{}\n", BASE64_STANDARD.encode(key))
}

fn key_id(name: &str, key: &VerifyingKey) -> [u8; 4] {
    let digest = Sha256::of(&[name.as_bytes(), b"\n\x04", key.as_bytes()].concat());
    digest.as_bytes()[..4].try_into().unwrap()
}

fn cosignature(note: &str, name: &str, key: &SigningKey) -> String {
    let text = &note[..note.rfind("\n\n").unwrap() + 1];
    let signature = key.sign(format!("cosignature/v1\ntime {TIME}\n{text}").as_bytes());
    let id = key_id(name, &key.verifying_key());
    let blob = [id.as_slice(), &TIME.to_be_bytes(), &signature.to_bytes()].concat();
    format!("\u{2014} {name} {}\n", BASE64_STANDARD.encode(blob))
}

/// Performs the specification's checks in their order.
fn check_request(body: &str, log: &PublicLogKey, seen: &mut WitnessState) -> (u16, String) {
    let (head, note) = body.split_once("\n\n").unwrap();
    let mut lines = head.lines();
    let old: u64 = lines.next().unwrap().strip_prefix("old ").unwrap().parse().unwrap();
    let proof: Vec<Hash> = lines.map(|line| Hash::parse_hash(line).unwrap()).collect();
    assert!(proof.len() <= 63);
    let mut fields = note.lines();
    if fields.next() != Some(ORIGIN) {
        return (404, String::new());
    }
    let verifier = StandardVerifier::new(&log.verifier_line()).unwrap();
    let list = VerifierList::new(vec![Box::new(verifier)]);
    if Note::from_bytes(note.as_bytes()).unwrap().verify(&list).is_err() {
        return (403, "unknown\x1b[31m key\n".to_owned());
    }
    let size: u64 = fields.next().unwrap().parse().unwrap();
    let root = Hash::parse_hash(fields.next().unwrap()).unwrap();
    if old > size {
        return (400, String::new());
    }
    let known = seen.head.map_or(0, |(size, _)| size);
    if old != known {
        return (409, format!("{known}\n"));
    }
    let proved = match seen.head {
        None => proof.is_empty(),
        Some((_, known)) if old == size => {
            if known != root {
                return (409, format!("{size}\n"));
            }
            proof.is_empty()
        }
        Some((_, known)) => tlog_tiles::check_tree(&proof, size, root, old, known).is_ok(),
    };
    if !proved {
        return (422, String::new());
    }
    seen.head = Some((size, root));
    (200, cosignature(note, NAME, &signing()))
}

fn serve(stream: &mut (impl Read + Write), log: &PublicLogKey, seen: &Mutex<WitnessState>) {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") {
        // A connection without a request, as of a port scan, must not end the server.
        if stream.read_exact(&mut byte).is_err() {
            return;
        }
        request.push(byte[0]);
    }
    let head = String::from_utf8(request).unwrap().to_lowercase();
    assert!(head.starts_with("post /w1/add-checkpoint http/1.1\r\n"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let mut seen = seen.lock().unwrap();
    let (status, answer) = check_request(&body, log, &mut seen);
    seen.requests.push((body, status));
    let length = answer.len();
    let head =
        format!("HTTP/1.1 {status} -\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all((head + &answer).as_bytes()).unwrap();
    stream.flush().unwrap();
}

impl TestWitness {
    fn start(log: PublicLogKey) -> Self {
        Self::start_with(log, "http", |stream, log, seen| serve(&mut { stream }, log, seen))
    }

    fn start_with(
        log: PublicLogKey,
        scheme: &str,
        serve: impl Fn(std::net::TcpStream, &PublicLogKey, &Mutex<WitnessState>) + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://localhost:{}/w1", listener.local_addr().unwrap().port());
        let seen = Arc::new(Mutex::new(WitnessState::default()));
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &log, &shared);
            }
        });
        Self { url, state: seen }
    }

    fn statuses(&self) -> Vec<u16> {
        self.state.lock().unwrap().requests.drain(..).map(|(_, status)| status).collect()
    }
}

fn log_and_witness(entries: u64) -> (TestLog, TestWitness) {
    let bench = TestLog::new(entries);
    bench.save("w1.vkey", &verifier_line(NAME, &signing().verifying_key()));
    let witness = TestWitness::start(bench.key("state").public().clone());
    (bench, witness)
}

fn kept(bench: &TestLog) -> String {
    fs::read_to_string(bench.path("state/log/witness/witness.example%2fw1")).unwrap()
}

#[test]
fn witness_cosigns_a_growing_log() {
    let (bench, witness) = log_and_witness(5);
    let show = ["witness", "--to", &witness.url, "--witness-key", "w1.vkey"];
    let output =
        bench.on_state(&show).assert(0, &[NAME, "cosigned 5 entries, verified, of 2026-11-"]);
    assert!(output.err.is_empty());
    for size in [5, 6, 300, 301] {
        drop(bench.grown("state", size));
        let checkpoint = fs::read_to_string(bench.path("state/log/checkpoint")).unwrap();
        let json =
            bench.on_state(&[&show[..], &["--format", "json"]].concat()).assert(0, &[]).json();
        assert_eq!((json["size"].as_u64(), json["verified"].as_bool()), (Some(size), Some(true)));
        // The log's own file is unchanged. The stored one has an additional signature.
        assert_eq!(fs::read_to_string(bench.path("state/log/checkpoint")).unwrap(), checkpoint);
        let kept = kept(&bench);
        assert_eq!(kept, checkpoint.clone() + &cosignature(&checkpoint, NAME, &signing()));
        assert_eq!(Checkpoint::verify(&kept, bench.key("state").public()).unwrap().size(), size);
    }
    assert_eq!(witness.statuses(), [200; 5]);
    // `consistency` accepts a stored checkpoint.
    drop(bench.grown("state", 400));
    let seen = "state/log/witness/witness.example%2fw1";
    bench.on_state(&["consistency", seen]).assert(0, &["consistent: the log of 400"]);
}

#[test]
fn consistency_verifies_the_cosignature_of_a_stored_checkpoint() {
    let (bench, _) = log_and_witness(5);
    let note = fs::read_to_string(bench.path("state/log/checkpoint")).unwrap();
    bench.save("cosigned", &format!("{note}{}", cosignature(&note, NAME, &signing())));
    let other = SigningKey::from_bytes(&[8; 32]).verifying_key();
    bench.save("other.vkey", &verifier_line(NAME, &other));
    drop(bench.grown("state", 9));
    let with = |words: &[&str], key: &str| {
        bench.on_state(&[&["consistency"][..], words, &["--witness-key", key]].concat())
    };
    let output = with(&["cosigned"], "w1.vkey").assert(0, &["consistent: the log of 9 entries"]);
    let cosigned = format!("cosigned by {NAME} at 2026-11-21T10:48:00Z: 5 entries\n");
    assert!(output.out.ends_with(&cosigned), "{}", output.out);
    let json = with(&["cosigned", "--format", "json"], "w1.vkey").assert(0, &[]).json();
    assert_eq!(json["witness"].as_str(), Some(NAME));
    assert_eq!(json["cosigned"].as_str(), Some("2026-11-21T10:48:00Z"));
    // Another key, a checkpoint without a cosignature, and the cosignature of another checkpoint.
    with(&["cosigned"], "other.vkey").assert(1, &["cosigned: no cosignature", "by the key of"]);
    let newer = fs::read_to_string(bench.path("state/log/checkpoint")).unwrap();
    bench.save("plain", &newer);
    bench.save("moved", &format!("{newer}{}", cosignature(&note, NAME, &signing())));
    for file in ["plain", "moved"] {
        with(&[file], "w1.vkey").assert(1, &["no cosignature of this checkpoint"]);
    }
    with(&["5"], "w1.vkey").assert(3, &["--witness-key: A is a number"]);
    with(&["cosigned"], "cosigned").assert(3, &["cosigned: not the public key of a witness"]);
    // A log that was rewritten after the witness saw it.
    bench.rewrite("anew", 9);
    let words = ["consistency", "cosigned", "--witness-key", "w1.vkey", "--state", "anew"];
    bench.log(&words).assert(1, &["NOT CONSISTENT", "cosigned by"]);
}

#[test]
fn witness_with_another_size_gets_a_proof_from_it() {
    let (bench, witness) = log_and_witness(50);
    let show = ["witness", "--to", &witness.url, "--witness-key", "w1.vkey"];
    bench.on_state(&show).assert(0, &[]);
    let old = kept(&bench);
    drop(bench.grown("state", 300));
    bench.on_state(&show).assert(0, &[]);
    drop(bench.grown("state", 310));
    // The stored checkpoint is first missing, then outdated, then named by an option.
    fs::remove_file(bench.path("state/log/witness/witness.example%2fw1")).unwrap();
    bench.on_state(&show).assert(0, &["cosigned 310"]);
    drop(bench.grown("state", 311));
    bench.save("state/log/witness/witness.example%2fw1", &old);
    bench.on_state(&show).assert(0, &["cosigned 311"]);
    bench.save("old", &old);
    bench.on_state(&[&show[..], &["--from", "old"]].concat()).assert(0, &["cosigned 311"]);
    assert_eq!(witness.statuses(), [200, 200, 409, 200, 409, 200, 409, 200]);
}

#[test]
fn fork_and_truncated_log_are_detected() {
    let (bench, witness) = log_and_witness(300);
    let at = ["witness", "--to", &witness.url, "--witness-key", "w1.vkey"];
    bench.on_state(&at).assert(0, &[]);
    let kept = kept(&bench);
    bench.rewrite("anew", 400);
    bench.rewrite("same", 300);
    bench.rewrite("short", 200);
    let show = |state: &str| bench.log(&[&at[..], &["--state", state]].concat());
    // The witness detects the fork if nothing was stored here.
    show("anew").assert(1, &["a different history", "422"]);
    show("same").assert(1, &["a different history"]);
    show("short").assert(1, &["has seen 300 entries, but the log has 200", "truncated"]);
    assert_eq!(witness.statuses(), [200, 409, 422, 409, 409, 409]);
    // With a stored checkpoint the witness is not contacted.
    for state in ["anew", "same", "short"] {
        bench.save(&format!("{state}/log/witness/witness.example%2fw1"), &kept);
    }
    show("anew").assert(1, &["a different history: at 300 entries its root is"]);
    show("same").assert(1, &["a different history: at 300 entries its root is"]);
    show("short").assert(1, &["300 entries", "truncated"]);
    assert!(witness.statuses().is_empty());
}

#[test]
fn answer_of_another_signer_is_not_stored() {
    let (bench, witness) = log_and_witness(20);
    let other = SigningKey::from_bytes(&[8; 32]).verifying_key();
    bench.save("other.vkey", &verifier_line(NAME, &other));
    let at = ["witness", "--to", &witness.url];
    let output = bench.on_state(&[&at[..], &["--witness-key", "other.vkey"]].concat());
    output.assert(1, &["no cosignature of this checkpoint by the witness key"]);
    assert!(!bench.path("state/log/witness").exists());
    // Without a key the signature is not checked, and the output says so.
    bench.on_state(&at).assert(0, &["not verified", "--witness-key"]);
    // A witness that does not know this log's key.
    let stranger = TestWitness::start(PublicLogKey::from_verifier_line(&other_log()).unwrap());
    let output = bench.on_state(&["witness", "--to", &stranger.url]).assert(1, &["status 403"]);
    assert!(!output.err.contains('\x1b'), "{}", output.err);
    let words = ["127.0.0.1:1/w1/add-checkpoint: Connection refused"];
    bench.on_state(&["witness", "--to", "http://127.0.0.1:1/w1"]).assert(3, &words);
}

fn other_log() -> String {
    records::log::LogKey::from_seed(ORIGIN.parse().unwrap(), &[7; 32]).public().verifier_line()
}

#[test]
fn offline_request_and_answer_are_accepted() {
    let (bench, witness) = log_and_witness(30);
    let key = bench.key("state").public().clone();
    for (size, old) in [(30, "old 0\n\n"), (500, "old 30\n")] {
        drop(bench.grown("state", size));
        let carry = ["witness", "--to", "request", "--witness-key", "w1.vkey"];
        bench.on_state(&carry).assert(0, &["request: written", "carry it to the witness"]);
        let body = fs::read_to_string(bench.path("request")).unwrap();
        assert!(
            body.starts_with(old) && body.contains(&format!("\n\n{ORIGIN}\n{size}\n")),
            "{body}"
        );
        let (status, answer) = check_request(&body, &key, &mut witness.state.lock().unwrap());
        assert_eq!(status, 200);
        bench.save("answer", &answer);
        // The log grew meanwhile.
        drop(bench.grown("state", size + 3));
        let back = [&carry[..], &["--answer", "answer"]].concat();
        bench.on_state(&back).assert(0, &[&format!("cosigned {size} entries, verified")]);
        assert!(kept(&bench).ends_with(&answer));
        bench.save("answer", &answer.replacen(NAME, "witness.example/w2", 1));
        bench.on_state(&back).assert(1, &["answer: no cosignature"]);
        bench.save("answer", "thanks\n");
        bench.on_state(&back).assert(1, &["answer: not the signature lines"]);
    }
    bench.save("request", "old 0\n\nhello\n");
    let words = ["witness", "--to", "request", "--answer", "answer"];
    bench.on_state(&words).assert(3, &["request: not a request to a witness of this log"]);
}

#[test]
fn tls_witness_is_reached_if_its_authority_is_trusted() {
    let (bench, _) = log_and_witness(7);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let der = BASE64_STANDARD.encode(made.cert.der());
    let lines: Vec<&str> =
        (0..der.len()).step_by(64).map(|at| &der[at..der.len().min(at + 64)]).collect();
    let kind = "CERTIFICATE";
    let pem = format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"));
    let authorities = bench.save("authorities.pem", &pem);
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key);
    let config = Arc::new(config.unwrap());
    let log = bench.key("state").public().clone();
    let witness = TestWitness::start_with(log, "https", move |stream, log, seen| {
        let mut tls = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
        // A client that does not trust the certificate closes the connection during the handshake.
        if tls.conn.complete_io(&mut tls.sock).is_ok() {
            serve(&mut tls, log, seen);
        }
    });
    let show = ["witness", "--to", &witness.url, "--witness-key", "w1.vkey", "--state", "state"];
    let known = |authorities: &Path| run(bench.command(&show).env("SSL_CERT_FILE", authorities));
    known(&authorities).assert(0, &["cosigned 7 entries, verified"]);
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let der = BASE64_STANDARD.encode(other.cert.der());
    let pem = format!("-----BEGIN {kind}-----\n{der}\n-----END {kind}-----\n");
    known(&bench.save("other.pem", &pem)).assert(3, &[&witness.url]);
    assert_eq!(witness.statuses(), [200]);
}
