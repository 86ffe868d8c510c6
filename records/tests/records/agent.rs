//! Keys of an agent: stock tools accept the signatures of stock `ssh-agent`, and nothing is signed
//! by an agent that misbehaves, is slow or is gone.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::prelude::*;
use records::log::{Log, LogError, LogKey, LogView, PublicLogKey};
use records::{
    HostKeyError, HostKeys, KeyFingerprint, KeySource, PublicKeys, RESULT_NAMESPACE, ResultKey,
    attest, sign, verify_bundle,
};

use crate::fixture::skip::skip;
use crate::fixture::{RecordCase, RecordScratch, put, stock};

/// A stock agent with one P-256 and one Ed25519 key, stopped on drop.
pub(crate) struct StockAgent {
    child: Child,
    pub(crate) socket: PathBuf,
}

impl StockAgent {
    pub(crate) fn start(test: &str, dir: &Path) -> Option<Self> {
        let socket = dir.join("agent.sock");
        let started = Command::new("ssh-agent")
            .args(["-D", "-a"])
            .arg(&socket)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) => {
                skip(test, &format!("ssh-agent: {error}"));
                return None;
            }
        };
        let begun = Instant::now();
        // The socket exists before it accepts connections.
        while UnixStream::connect(&socket).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the agent does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(Self { child, socket })
    }

    /// Makes a key with `ssh-keygen`, moves it to the agent, and returns its fingerprint.
    pub(crate) fn add(&self, kind: &str) -> String {
        let file = self.socket.with_file_name(format!("{kind}-key"));
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", kind, "-N", "", "-C", "a comment", "-f"])
            .arg(&file)
            .status();
        assert!(made.unwrap().success());
        let added =
            Command::new("ssh-add").arg(&file).env("SSH_AUTH_SOCK", &self.socket).output().unwrap();
        assert!(added.status.success(), "{added:?}");
        let output = Command::new("ssh-keygen").arg("-lf").arg(&file).output().unwrap().stdout;
        fs::remove_file(&file).unwrap();
        fs::remove_file(file.with_extension("pub")).ok();
        String::from_utf8(output).unwrap().split(' ').nth(1).unwrap().to_owned()
    }

    pub(crate) fn end(&mut self) {
        self.child.kill().ok();
        self.child.wait().unwrap();
    }
}

impl Drop for StockAgent {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) fn source(socket: &Path, result: &str, log: &str, public: &Path) -> KeySource {
    KeySource::Agent {
        socket: socket.to_owned(),
        result: result.parse().unwrap(),
        log: log.parse().unwrap(),
        public: public.to_owned(),
    }
}

fn open(source: &KeySource) -> Result<HostKeys, HostKeyError> {
    HostKeys::open_or_create(source, &"toolexec.host1.example".parse().unwrap())
}

#[test]
fn what_a_stock_agent_signs_stock_tools_accept() {
    let test = "what_a_stock_agent_signs_stock_tools_accept";
    let scratch = RecordScratch::new();
    let Some(mut agent) = StockAgent::start(test, scratch.path()) else { return };
    // Keys of unsupported types are ignored.
    agent.add("rsa");
    let (result, log) = (agent.add("ecdsa"), agent.add("ed25519"));
    let public = scratch.path().join("keys");
    let source = source(&agent.socket, &result, &log, &public);
    let keys = open(&source).unwrap();
    assert_eq!(keys.result.public().fingerprint(), result);
    assert_eq!(keys.log.public().fingerprint(), log);
    let mut names: Vec<_> =
        fs::read_dir(&public).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["allowed_signers", "log.pub", "result.pub"], "no private half");

    let case = RecordCase::plain();
    let attested = attest(&case.statement(), &keys.result).unwrap();
    let mut log = Log::open_or_create(&scratch.path().join("log"), keys.log).unwrap();
    let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
    let bundle = attested.envelope().bundle(&inclusion).unwrap();
    let known = PublicKeys::open(&public).unwrap();
    let (key, log_key) = (known.results()[0].key(), known.logs()[0].key());
    let verified = verify_bundle(&bundle, key, log_key).unwrap();
    assert_eq!(verified.inclusion().index(), 0);
    assert_eq!(LogView::open(&scratch.path().join("log"), log_key).unwrap().head().size(), 1);

    let files = attested.record().files();
    let (md, signature) = (&files[0].1, scratch.path().join("record.sig"));
    put(&signature, &files[1].1);
    let signers = public.join("allowed_signers");
    let (signers, file) = (signers.to_str().unwrap(), signature.to_str().unwrap());
    let args =
        ["-Y", "verify", "-f", signers, "-I", "tool-exec", "-n", RESULT_NAMESPACE, "-s", file];
    let (accepted, output) = stock(test, "ssh-keygen", &args, md).unwrap();
    assert!(accepted, "{output}");
    openssl_accepts(test, &bundle, &key.pem(), &scratch);

    // A message beyond the agent's limit is reported before it is sent; a shorter record is
    // possible.
    let names: Vec<String> =
        (0..900).map(|number| format!("{number}-{}", "x".repeat(200))).collect();
    let artifacts: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let many = RecordCase::new("Many.", b"", &artifacts);
    let error = attest(&many.statement(), &keys.result).unwrap_err();
    assert!(error.is_caused_by_statement() && error.to_string().contains("262144"), "{error}");

    // Neither a record nor a checkpoint can be signed without the agent.
    agent.end();
    let error = attest(&case.statement(), &keys.result).unwrap_err();
    assert!(!error.is_caused_by_statement());
    let error = error.to_string();
    assert!(
        error.contains(&format!("agent {}: cannot connect", agent.socket.display())),
        "{error}"
    );
    assert!(sign(&case.statement(), &keys.result).is_err());
    let error = log.append(b"another").unwrap_err();
    assert!(matches!(error, LogError::Sign(_)), "{error}");
    assert!(error.to_string().contains("agent /"), "{error}");
    assert!(matches!(log.append(b"another"), Err(LogError::Stopped)));
    assert_eq!(LogView::open(&scratch.path().join("log"), log_key).unwrap().head().size(), 1);
    assert!(matches!(open(&source), Err(HostKeyError::Agent(_))));
}

fn openssl_accepts(test: &str, bundle: &[u8], pem: &str, scratch: &RecordScratch) {
    let bundle: serde_json::Value = serde_json::from_slice(bundle).unwrap();
    let bytes =
        |at: &str| BASE64_STANDARD.decode(bundle.pointer(at).unwrap().as_str().unwrap()).unwrap();
    let payload = bytes("/dsseEnvelope/payload");
    let head = format!("DSSEv1 28 application/vnd.in-toto+json {} ", payload.len());
    let (key, signature) = (scratch.path().join("key.pem"), scratch.path().join("der"));
    put(&key, pem.as_bytes());
    put(&signature, &bytes("/dsseEnvelope/signatures/0/sig"));
    let (key, signature) = (key.to_str().unwrap(), signature.to_str().unwrap());
    let args = ["dgst", "-sha256", "-verify", key, "-signature", signature];
    let pae = [head.as_bytes(), &payload].concat();
    let Some((accepted, output)) = stock(test, "openssl", &args, &pae) else { return };
    assert!(accepted, "{output}");
}

#[test]
fn a_key_that_the_agent_lacks_or_of_another_kind_is_refused() {
    let test = "a_key_that_the_agent_lacks_or_of_another_kind_is_refused";
    let scratch = RecordScratch::new();
    let Some(agent) = StockAgent::start(test, scratch.path()) else { return };
    let (result, log) = (agent.add("ecdsa"), agent.add("ed25519"));
    let public = scratch.path().join("keys");
    let unknown = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let error = open(&source(&agent.socket, unknown, &log, &public)).unwrap_err();
    assert!(error.to_string().contains(&format!("does not hold key {unknown}")), "{error}");
    let error = open(&source(&agent.socket, &log, &log, &public)).unwrap_err();
    assert!(error.to_string().contains("not an ECDSA P-256 key"), "{error}");
    let error = open(&source(&agent.socket, &result, &result, &public)).unwrap_err();
    assert!(error.to_string().contains("not an Ed25519 key"), "{error}");
    assert!(!public.join("result.pub").exists() && !public.join("log.pub").exists());
    for text in ["", "SHA256:", "MD5:00:11", "SHA256:AAAA", &unknown[7..]] {
        assert!(text.parse::<KeyFingerprint>().is_err(), "{text}");
    }
    // Another key than the existing public half.
    open(&source(&agent.socket, &result, &log, &public)).unwrap();
    let other = agent.add("ecdsa");
    let error = open(&source(&agent.socket, &other, &log, &public)).unwrap_err();
    assert!(matches!(error, HostKeyError::OtherKey { .. }), "{error}");
}

/// Starts an agent that sends these replies to its messages, and then repeats the last one.
fn misbehaving_agent(scratch: &RecordScratch, answers: Vec<Vec<u8>>) -> PathBuf {
    let socket = scratch.path().join("liar.sock");
    fs::remove_file(&socket).ok();
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 4];
            stream.read_exact(&mut head).unwrap();
            let mut body = vec![0; usize::try_from(u32::from_be_bytes(head)).unwrap()];
            stream.read_exact(&mut body).unwrap();
            // A client may close the connection after the first bytes.
            stream.write_all(&answer).ok();
        }
    });
    socket
}

fn field(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

#[test]
fn an_agent_that_lies_has_nothing_signed() {
    let scratch = RecordScratch::new();
    let (ours, other) = (scratch.key("ours"), scratch.key("other"));
    let blob = |key: &ResultKey| {
        let line = key.public().openssh_line().to_owned();
        BASE64_STANDARD.decode(line.split(' ').nth(1).unwrap()).unwrap()
    };
    let list = |blobs: &[Vec<u8>]| {
        let count = u32::try_from(blobs.len()).unwrap().to_be_bytes();
        let keys = blobs.iter().flat_map(|blob| [field(blob), field(b"comment")].concat());
        field(&[&[12][..], &count, &keys.collect::<Vec<u8>>()].concat())
    };
    let fingerprint = ours.public().fingerprint();
    let public = scratch.path().join("keys");
    let error_for = |answers: Vec<Vec<u8>>| {
        let socket = misbehaving_agent(&scratch, answers);
        open(&source(&socket, &fingerprint, &fingerprint, &public)).unwrap_err().to_string()
    };
    for (answer, why) in [
        (vec![], "a truncated message"),
        (vec![0, 0, 0], "a truncated message"),
        (vec![0, 0, 0, 9, 12], "a truncated message"),
        (vec![0, 0, 0, 0], "of invalid length"),
        (vec![255, 255, 255, 255, 12], "of invalid length"),
        (field(&[13]), "another message type"),
        (field(&[12]), "a truncated list"),
        (field(&[12, 0, 0, 0, 1]), "a truncated list"),
        (field(&[12, 255, 255, 255, 255]), "a truncated list"),
        (field(&[12, 0, 0, 0, 1, 255, 255, 255, 255]), "a truncated list"),
        (list(&[blob(&other)]), "does not hold key"),
        (field(&[5]), "does not hold key"),
    ] {
        let error = error_for(vec![answer.clone()]);
        assert!(error.starts_with("agent /") && error.contains(why), "{answer:?}: {error}");
    }

    // The agent has the key, but signs with another one, or returns an invalid signature.
    let forged = {
        let signature = sign(&RecordCase::plain().statement(), &other).unwrap();
        let armoured = String::from_utf8(signature.files()[1].1.clone()).unwrap();
        let body: String = armoured.lines().filter(|line| !line.starts_with('-')).collect();
        let blob = BASE64_STANDARD.decode(body).unwrap();
        // The signature is the last field of an SSHSIG.
        let length = blob.len() - 101..;
        let at = blob[length.clone()].windows(4).position(|it| it == [0, 0, 0, 19]).unwrap();
        blob[length.start + at..].to_vec()
    };
    for (answer, why) in [
        (field(&[5]), "refuses to sign"),
        (field(&[14]), "no signature"),
        (field(&[&[14][..], &field(b"junk")].concat()), "no signature"),
        (field(&[&[14][..], &field(&forged)].concat()), "does not verify with"),
        (field(&[&[14][..], &field(&forged), b"more"].concat()), "no signature"),
    ] {
        let ed25519 = scratch.path().join("ed25519");
        fs::remove_dir_all(&ed25519).ok();
        let both = [blob(&ours), log_blob(&ed25519)];
        let log = PublicLogKey::open(&ed25519).unwrap().fingerprint();
        let socket = misbehaving_agent(&scratch, vec![list(&both), list(&both), answer]);
        let public = scratch.path().join("public");
        fs::remove_dir_all(&public).ok();
        let keys = open(&source(&socket, &fingerprint, &log, &public)).unwrap();
        let error = sign(&RecordCase::plain().statement(), &keys.result).unwrap_err().to_string();
        assert!(error.contains("agent /") && error.contains(why), "{error}");
    }
}

fn log_blob(dir: &Path) -> Vec<u8> {
    let origin = "toolexec.host1.example".parse().unwrap();
    let key = LogKey::open_or_create(dir, &origin).unwrap();
    BASE64_STANDARD.decode(key.public().openssh_line().split(' ').nth(1).unwrap()).unwrap()
}

#[test]
fn an_agent_that_says_nothing_is_given_up() {
    let scratch = RecordScratch::new();
    let socket = scratch.path().join("mute.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let unknown = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    // A byte now and then is not a reply.
    let dribbling = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while stream.write_all(&[0]).is_ok() {
            std::thread::sleep(Duration::from_secs(6));
        }
    });
    let begun = Instant::now();
    let error = open(&source(&socket, unknown, unknown, &scratch.path().join("keys")));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no reply within"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    dribbling.join().unwrap();
}
