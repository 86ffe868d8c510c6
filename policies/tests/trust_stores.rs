//! A differential test of trust stores with stock OpenSSH. Both must read the same from a file. The
//! files are generated from a fixed seed. The generator marks each piece that we refuse on purpose.
//! We must never accept what OpenSSH refuses.

use crate::oracle;
use crate::soft;

use model::UtcTime;
use oracle::{KeygenOracle, OracleQuestion, SeededRng, our_answer, time};
use policies::{AllowedSigners, SshSignature, StandardTime};
use soft::{PRESENT, SoftKey, VERIFIED};

const NAMESPACE: &str = policies::APPROVE_NAMESPACE;
const MESSAGE: &[u8] = b"exactly these bytes\n";
const FILES: usize = 300;

/// A piece of a line, and whether we refuse it on purpose although OpenSSH accepts it.
type TrustStorePiece = (&'static str, bool);

const PRINCIPALS: &[TrustStorePiece] = &[
    ("alice", false),
    ("bob", false),
    ("alice,bob", false),
    ("alice@example.org", false),
    ("*@example.org", false),
    ("*@example.org,!bob@*", false),
    ("!alice,*", false),
    ("*,!alice", false),
    ("al?ce", false),
    ("*", false),
    ("a*c*e", false),
    ("Alice", false),
    ("\"alice smith\"", false),
    ("\"alice smith,bob\"", false),
    ("\"al*", false),
    ("!alice", false),
    ("alice,", true),
    ("al\"ice\"", true),
];

const OPTIONS: &[TrustStorePiece] = &[
    ("", false),
    ("", false),
    ("", false),
    ("namespaces=\"approve.tool-exec@threegate\"", false),
    ("namespaces=\"*@threegate\"", false),
    ("namespaces=\"file,git\"", false),
    ("namespaces=\"!git,*\"", false),
    ("namespaces=\"!approve*,*\"", false),
    ("NameSpaces=\"a?prove.tool-exec@threegate\"", false),
    ("namespaces=\"a b,approve.tool-exec@threegate\"", false),
    ("namespaces=\"\"", false),
    ("namespaces=approve.tool-exec@threegate", false),
    ("namespaces=\"file\",namespaces=\"*\"", false),
    ("namespaces=\"*\\\"\"", true),
    ("valid-after=\"20260209\"", false),
    ("valid-after=\"20260210\"", false),
    ("valid-after=\"202602091600\"", false),
    ("valid-after=\"20260209160001\"", false),
    ("valid-after=\"20260209160000Z\"", false),
    ("valid-after=\"20260209160001Z\"", false),
    ("valid-after=\"202602091700utc\"", false),
    ("valid-before=\"202602091600\"", false),
    ("valid-before=\"20260209160000z\"", false),
    ("valid-before=\"20260209155959Z\"", false),
    ("valid-before=\"20270101\"", false),
    ("Valid-Before=\"202602091700\"", false),
    ("valid-after=\"20260101\",valid-before=\"20270101Z\"", false),
    ("valid-after=\"20270101\",valid-before=\"20260101\"", false),
    ("valid-after=\"20260101\",valid-after=\"20260101\"", false),
    ("valid-after=20260101", false),
    ("valid-after=\"2026\"", false),
    ("valid-after=\"20261301\"", false),
    ("valid-after=\"19700101Z\"", false),
    ("valid-after=\"20260132\"", false),
    ("valid-after=\"20250230\"", true),
    ("valid-before=\"20270231\"", true),
    ("valid-before=\"20270101235960Z\"", true),
    ("valid-before=\"20270101\",namespaces=\"*\"", false),
    ("valid-before=\"20270101\",", true),
    ("cert-authority", false),
    ("cert-authority,namespaces=\"*\"", false),
    ("no-touch-required", false),
    ("namespaces=\"*\"x", false),
    ("namespaces=\"*", false),
];

/// POSIX zones and their offset in winter.
const ZONES: [(&str, i32); 3] =
    [("UTC", 0), ("CET-1CEST,M3.5.0,M10.5.0/3", 3600), ("EST5EDT,M3.2.0,M11.1.0", -18_000)];

const TIMES: [(&str, &str); 3] = [
    ("20260209160000Z", "2026-02-09T16:00:00Z"),
    ("20260209170000Z", "2026-02-09T17:00:00Z"),
    ("20260701120000Z", "2026-07-01T12:00:00Z"),
];

const NAMES: [&str; 6] =
    ["alice", "bob", "alice@example.org", "bob@example.org", "alice smith", "Alice"];

/// Keys of every accepted kind, and others, as lines.
struct TestKeyRing {
    ours: Vec<SoftKey>,
    stock: Vec<(String, String)>,
    others: Vec<(String, bool)>,
}

impl TestKeyRing {
    fn new(oracle: &KeygenOracle) -> Self {
        let ours = vec![
            SoftKey::ed25519(1),
            SoftKey::p256(2),
            SoftKey::ed25519(3).in_security_key("ssh:", PRESENT, 7),
            SoftKey::p256(4).in_security_key("ssh:approve", PRESENT | VERIFIED, 8),
        ];
        let stock = [("stock-ed", "ed25519"), ("stock-ec", "ecdsa")]
            .map(|(name, kind)| (name.to_owned(), oracle.key(name, kind)));
        let ed = SoftKey::ed25519(1).public();
        let others = vec![
            (oracle.key("rsa", "rsa"), true),
            (
                format!(
                    "ssh-ed25519 {}",
                    SoftKey::p256(2).public().split(' ').nth(1).expect("its base64")
                ),
                false,
            ),
            (ed[..ed.len() - 4].to_owned(), false),
            ("ssh-ed25519".to_owned(), false),
            (String::new(), false),
            (format!("{ed} a comment, \"and more"), false),
        ];
        Self { ours, stock: stock.to_vec(), others }
    }

    /// Returns a key for a line, often the signing one, and whether we refuse it on purpose.
    fn line(&self, signer: &str, dice: &mut SeededRng) -> (String, bool) {
        match dice.below(10) {
            0..=5 => (signer.to_owned(), false),
            6 | 7 => (dice.pick(&self.ours).public(), false),
            8 => (dice.pick(&self.stock).1.clone(), false),
            _ => dice.pick(&self.others).clone(),
        }
    }

    /// Returns the signing key as a line, and its signature.
    fn signature(&self, oracle: &KeygenOracle, dice: &mut SeededRng) -> (String, Vec<u8>) {
        let namespace = *dice.pick(&[NAMESPACE, NAMESPACE, NAMESPACE, NAMESPACE, "file"]);
        match dice.below(self.ours.len() + 1) {
            0 => {
                let (name, public) = dice.pick(&self.stock);
                (
                    public.clone(),
                    oracle.sign(name, namespace, dice.pick::<&str>(&["sha256", "sha512"]), MESSAGE),
                )
            }
            n => (self.ours[n - 1].public(), self.ours[n - 1].sign(namespace, MESSAGE).bytes),
        }
    }
}

fn line(ring: &TestKeyRing, signer: &str, dice: &mut SeededRng) -> (String, bool) {
    let (names, odd_names) =
        *if dice.below(3) == 0 { dice.pick(PRINCIPALS) } else { dice.pick(&PRINCIPALS[..12]) };
    let (options, odd_options) =
        *if dice.below(3) == 0 { &("", false) } else { dice.pick(OPTIONS) };
    let (key, odd_key) = ring.line(signer, dice);
    let between = *dice.pick(&[" ", "\t", "  "]);
    let line = match options {
        "" => format!("{names}{between}{key}"),
        _ => format!("{names}{between}{options} {key}"),
    };
    (line, odd_names || odd_options || odd_key)
}

fn found(question: &OracleQuestion<'_>, signers: &AllowedSigners, at: UtcTime) -> Vec<String> {
    let signature = SshSignature::parse(question.signature).expect("a signature");
    let names = signers.principals_of(signature.key(), at).unwrap_or_default();
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn we_and_openssh_agree_about_generated_trust_stores() {
    let Some(oracle) = KeygenOracle::open("we_and_openssh_agree_about_generated_trust_stores")
    else {
        return;
    };
    let (ring, mut dice) = (TestKeyRing::new(&oracle), SeededRng::new(5));
    let (mut yes, mut no, mut refused, mut stricter) = (0, 0, 0, 0);
    for round in 0..FILES {
        let (zone, ahead) = *dice.pick(&ZONES);
        let (stamp, at) = *dice.pick(&TIMES);
        let (zone_of_ours, at) = (StandardTime::ahead_sec(ahead).unwrap(), time(at));
        let (signer, signature) = ring.signature(&oracle, &mut dice);
        let principal = *dice.pick(&NAMES);
        let question_of = |signers: &str| OracleQuestion {
            signers: Box::leak(signers.to_owned().into_boxed_str()),
            signature: &signature,
            message: MESSAGE,
            namespace: NAMESPACE,
            principal,
            time: stamp,
            zone,
            revoked: None,
        };
        let lines: Vec<(String, bool)> =
            (0..=dice.below(4)).map(|_| line(&ring, &signer, &mut dice)).collect();
        let mut kept = String::from("# a comment\n");
        let mut first_wrong = None;
        for (index, (line, odd)) in lines.iter().enumerate() {
            match AllowedSigners::parse_in(line, zone_of_ours) {
                Ok(_) => kept.push_str(&format!("{line}\n")),
                Err(error) => {
                    refused += 1;
                    first_wrong = first_wrong.or(Some(index + 1));
                    let stock = oracle.verifies(&question_of(line));
                    stricter += usize::from(stock);
                    assert!(!stock || *odd, "round {round}: stock accepts {line}\n{error}");
                }
            }
        }
        let whole: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
        let whole = AllowedSigners::parse_in(&whole.join("\n"), zone_of_ours);
        assert_eq!(whole.err().map(|error| error.line()), first_wrong, "{lines:#?}");

        let signers = AllowedSigners::parse_in(&kept, zone_of_ours).expect("each line was read");
        let question = question_of(&kept);
        let (we, stock) = (our_answer(&question, &signers, at), oracle.verifies(&question));
        assert_eq!(we, stock, "round {round}, {principal} at {stamp} in {zone}:\n{kept}");
        let (we, stock) = (found(&question, &signers, at), oracle.finds(&question));
        assert_eq!(we, stock, "round {round}, find-principals at {stamp} in {zone}:\n{kept}");
        if our_answer(&question, &signers, at) { yes += 1 } else { no += 1 }
    }
    println!(
        "{FILES} files: {yes} verify, {no} do not; {refused} lines refused, {stricter} on purpose"
    );
    assert!(yes >= 30 && no >= 30 && refused >= 100 && stricter >= 1, "the dice are loaded");
}
