//! Secrets and similar texts, kind by kind, through public functions. This file contains no token:
//! each is assembled with its issuer's checksum, so that no repository scanner takes it for real.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod assigned;
mod form;
mod innocent;
mod recall;
mod tokens;

use crate::support;
use std::collections::{BTreeMap, BTreeSet};

use assigned::{ASSIGNED, NOT_ASSIGNED, NOT_STATED, STATED};
use form::TokenPiece::Is;
use form::{FORMS, build};
use tokens::{
    BASE32, BASE62, BASE64, DIGIT, LOWER_HEX, UPPER_DIGIT, URL64, age, crc62, encode64, grafana,
    jwt, random, routable,
};
use validator::{secret_kinds, withholding_code};

/// The refused and accepted texts of each kind, and the failures.
#[derive(Default)]
struct SecretTally {
    texts: BTreeMap<&'static str, (BTreeSet<String>, BTreeSet<String>)>,
    wrong: Vec<String>,
}

impl SecretTally {
    fn refused(&mut self, kind: &'static str, text: String) {
        let code = withholding_code(&text).map(|code| code.as_str().into_owned());
        if code != Some(format!("secret.{kind}")) {
            self.wrong.push(format!("{kind} but {code:?}: {text}"));
        }
        self.texts.entry(kind).or_default().0.insert(text);
    }

    fn passed(&mut self, kind: &'static str, text: String) {
        if let Some(code) = withholding_code(&text) {
            self.wrong.push(format!("no {kind} but {code:?}: {text}"));
        }
        self.texts.entry(kind).or_default().1.insert(text);
    }
}

/// Tests each form in valid and invalid contexts.
fn forms(tally: &mut SecretTally) {
    for (seed, (kind, pieces)) in (1..).zip(FORMS) {
        for seed in [seed, seed + 1000] {
            let token = build(pieces, seed, 0);
            tally.refused(kind, token.clone());
            tally.refused(kind, format!("see \"{token}\" there"));
            tally.refused(kind, format!("see\\n{token}"));
            tally.passed(kind, format!("z{token}"));
            // The rest of this form is also a form of other services.
            if !matches!(pieces[0], Is("sk-")) {
                tally.passed(kind, build(pieces, seed, -400));
            }
            // In the other case, a prefix is a different word.
            if let Is(prefix) = pieces[0] {
                let upper = prefix.to_uppercase();
                let other = if upper == prefix { prefix.to_lowercase() } else { upper };
                if other != prefix {
                    tally.passed(kind, token.replacen(prefix, &other, 1));
                }
            }
        }
    }
}

/// Tests lengths next to the exact ones, and characters outside the alphabet.
fn near_misses(tally: &mut SecretTally) {
    let inexact = FORMS.iter().position(|row| row.0 == "aws-bedrock-key").unwrap();
    for (seed, (kind, pieces)) in (1..).zip(&FORMS[..inexact]) {
        for more in [-1, 1] {
            let text = build(pieces, seed, more);
            // One is a shorter form of the other's kind.
            if !text.starts_with("sk-") || text.contains("-ant-") {
                tally.passed(kind, text);
            }
        }
        let token = build(pieces, seed, 0);
        if !token.starts_with("sk-") || token.contains("-ant-") {
            let half = token.len() - 8;
            let broken = format!("{}!{}", &token[..half], &token[half + 1..]);
            tally.passed(kind, broken);
        }
    }
}

/// Tests that a wrong checksum excuses nothing: the token may be truncated, retyped or newer.
fn checksums(tally: &mut SecretTally) {
    let spoil = |token: &str| {
        let last = token.chars().last().unwrap();
        let other = if last == '1' { '2' } else { '1' };
        format!("{}{other}", &token[..token.len() - 1])
    };
    for seed in 1..20 {
        for prefix in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] {
            tally.refused("github-token", format!("GITHUB={}", crc62(prefix, seed)));
            tally.refused("github-token", spoil(&crc62(prefix, seed)));
        }
        tally.refused("npm-token", format!("//r/:_x={}", crc62("npm_", seed)));
        tally.refused("npm-token", spoil(&crc62("npm_", seed)));
        for (prefix, version) in [("glpat-", ""), ("glpat-", "01."), ("glrt-t1_", "01.")] {
            tally.refused("gitlab-token", routable(prefix, version, seed));
            tally.refused("gitlab-token", spoil(&routable(prefix, version, seed)));
        }
        tally.refused("grafana-token", grafana(seed));
        let (before, sum) =
            grafana(seed).rsplit_once('_').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let sum = u32::from_str_radix(&sum, 16).unwrap() ^ 1;
        tally.refused("grafana-token", format!("{before}_{sum:08x}"));
        let identity = age("AGE-SECRET-KEY-", seed);
        tally.refused("age-key", identity.clone());
        let end = if identity.ends_with('Q') { 'P' } else { 'Q' };
        tally.refused("age-key", format!("{}{end}", &identity[..identity.len() - 1]));
        tally.passed("age-key", identity[..identity.len() - 1].to_owned());
    }
    tally.passed("grafana-token", format!("glsa_{}", random(BASE62, 32, 3)));
    tally.passed("grafana-token", format!("glsa_{}_1", random(BASE62, 32, 3)));
    tally.passed("github-token", format!("ghp_{}", "x".repeat(36)));
    tally.passed("npm-token", format!("npm_{}", "0".repeat(36)));
    tally.passed("npm-token", format!("npm_{}", random(BASE62, 35, 3)));
    tally.passed("age-key", format!("AGE-SECRET-KEY-1{}", "Q".repeat(57)));
    // The published test vectors of Grafana and age confirm the checksums.
    tally.refused("grafana-token", format!("glsa_yscW25imSKJIuav8zF37{}_fcaaf58a", "RZmnbiDvB05G"));
    let twelve = "GFPYYSJZ".repeat(6);
    tally.refused("age-key", format!("AGE-SECRET-KEY-1{twelve}{}", "GFPQ4EGAEX"));
}

fn formats(tally: &mut SecretTally) {
    let header = r#"{"alg":"HS256","typ":"JWT"}"#;
    for seed in 1..4 {
        tally.refused("jwt", jwt(header, r#"{"sub":"1"}"#, seed));
        tally.refused(
            "jwt",
            format!("x={}", jwt(r#"{"kid":"a","alg":"none"}"#, r#"{"sub":"1"}"#, seed)),
        );
        tally.passed("jwt", jwt(r#"{"typ":"JWT"}"#, r#"{"sub":"1"}"#, seed));
        tally.passed("jwt", jwt(header, "plain", seed));
        tally.passed("jwt", jwt(header, r#"{"sub":"1"}"#, seed).replace('.', ","));
        let stateless = jwt(header, r#"{"iss":"1"}"#, seed);
        tally.refused("github-token", format!("ghs_123456_{stateless}"));
    }
    for label in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "] {
        tally.refused("private-key", format!("-----BEGIN {label}{}-----", "PRIVATE KEY"));
        tally.passed("private-key", format!("-----BEGIN {label}PUBLIC KEY-----"));
    }
    tally.refused("private-key", format!("-----BEGIN PGP {} BLOCK-----", "PRIVATE KEY"));
    tally.refused("private-key", format!("---- BEGIN SSH2 ENCRYPTED {} ----", "PRIVATE KEY"));
    tally.passed("private-key", "-----BEGIN CERTIFICATE-----".to_owned());
    tally.refused("putty-key", format!("PuTTY-User-Key-{}: ssh-ed25519", "File-3"));
    tally.refused("putty-key", format!("PuTTY-User-Key-{}: ssh-rsa", "File-2"));
    tally.passed("putty-key", "PuTTY writes a user key file".to_owned());
    tally.passed("putty-key", "PuTTY-User-Key".to_owned());
    for seed in 1..4 {
        tally.refused("bearer", format!("Authorization: Bearer {}", random(BASE62, 30, seed)));
        tally.passed("bearer", format!("Authorization: Bearer {}", random(BASE62, 12, seed)));
        tally.passed("bearer", format!("unbearer {}", random(BASE62, 30, seed)));
    }
    tally.passed("bearer", "the bearer of news comes in the morning".to_owned());
    tally.passed("bearer", "Authorization: Bearer $ACCESS_TOKEN_1234567890".to_owned());
    let basic = |text: &str| encode64(text.as_bytes(), BASE64, true);
    tally.refused("basic-auth", format!("Authorization: Basic {}", basic("bob:hunter2hunter2")));
    tally.refused("basic-auth", format!("{{\"auth\": \"{}\"}}", basic("bob:hunter2hunter2")));
    tally.refused("basic-auth", format!("_auth={}", basic("bob:hunter2hunter2")));
    tally.passed("basic-auth", format!("Authorization: Basic {}", basic("nothing of that form")));
    tally.passed("basic-auth", format!("Authorization: Basic {}", basic("bob:${PASSWORD}")));
    tally.passed("basic-auth", "a basic understanding of basic measurements".to_owned());
    webhooks(tally);
}

/// Tests values that only words suggest: a warning in a document, and withheld from a record.
fn words(tally: &mut SecretTally) {
    for seed in 1..4 {
        let of = |alphabet: &str, length: usize| random(alphabet, length, seed);
        tally.refused("service-key", format!("ADAFRUIT_IO = \"{}\"", of(LOWER_HEX, 32)));
        tally.refused("service-key", format!("set datadog to, {}", of(LOWER_HEX, 40)));
        tally.passed("service-key", format!("ADAFRUIT_IO = \"{}\"", of(LOWER_HEX, 31)));
        tally.passed("service-key", format!("adafruit {}", of(LOWER_HEX, 32)));
        tally.refused("credential", format!("auth_value = \"{}{}\"", "a8Kd93kLm2Qx", of(DIGIT, 4)));
        tally.passed("credential", format!("public_auth_value = \"{}\"", of(BASE62, 40)));
        tally.passed("credential", format!("auth_digest = \"{}\"", of(BASE62, 40)));
        let id = format!("AKIA{}", of(BASE32, 16));
        for before in ["", "=", "k=", "key=", "a longer text before it: "] {
            let held = format!("{before}{id} and more");
            tally.refused("encoded-key", encode64(held.as_bytes(), BASE64, true));
        }
        tally.passed("encoded-key", encode64(&id.as_bytes()[..10], BASE64, true));
        tally.passed("encoded-key", format!("QUtJQ{}", of(BASE64, 60)));
    }
    for text in STATED {
        tally.refused("credential", (*text).to_owned());
    }
    for text in NOT_STATED {
        tally.passed("credential", (*text).to_owned());
    }
    let object = |text: &str| encode64(text.as_bytes(), URL64, false);
    let header = object(r#"{"typ":"JWT","x":1}"#);
    let payload = object(r#"{"sub":"1234567890"}"#);
    tally.refused("encoded-key", format!("{header}.{payload}.{}", random(URL64, 43, 5)));
}

fn webhooks(tally: &mut SecretTally) {
    for seed in 1..4 {
        let of = |alphabet: &str, length: usize| random(alphabet, length, seed);
        let (a, b) = (of(UPPER_DIGIT, 9), of(UPPER_DIGIT, 11));
        let url = format!("https://hooks.slack.com/services/T{a}/B{b}");
        tally.refused("slack-webhook", format!("{url}/{}", of(BASE62, 24)));
        tally.passed("slack-webhook", format!("{url}/{}", of(BASE62, 8)));
        let id = |at: u32| {
            let hex = random(LOWER_HEX, 32, seed + at);
            [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
        };
        let url = format!("https://a{seed}.webhook.office.com/webhookb2/{}@{}", id(0), id(1));
        let url = format!("{url}/IncomingWebhook/{}", of(LOWER_HEX, 32));
        tally.refused("teams-webhook", format!("{url}/{}", id(2)));
        tally.passed("teams-webhook", format!("{url}/{}", &id(2)[..20]));
        let url = format!("https://discord.com/api/webhooks/{}", of(DIGIT, 18));
        tally.refused("discord-webhook", format!("{url}/{}", of(URL64, 68)));
        tally.passed("discord-webhook", format!("{url}/{}", of(URL64, 20)));
        let id = encode64(format!("1{}", of(DIGIT, 17)).as_bytes(), URL64, false);
        let rest = format!("{}.{}", of(URL64, 6), of(URL64, 38));
        tally.refused("discord-token", format!("{id}.{rest}"));
        let word = encode64(of("abcdefgh", 18).as_bytes(), URL64, false);
        tally.passed("discord-token", format!("{word}.{rest}"));
        tally.passed("discord-token", format!("{id}.x{rest}"));
        let bytes: Vec<u8> = of(BASE62, 32).into_bytes();
        let sig = encode64(&bytes, BASE64, true).replace('+', "%2B").replace('/', "%2F");
        tally.refused("azure-sas", format!("?sv=2022-11-02&sig={}", sig.replace('=', "%3D")));
        tally.passed("azure-sas", format!("?sig={}", of(LOWER_HEX, 64)));
        tally.passed("azure-sas", format!("?sig={}", &sig[..40]));
        let key = format!("{}==", of(BASE64, 86));
        tally.refused("azure-key", format!("AccountName=a;AccountKey={key};Endpoint=x"));
        tally.refused("azure-key", format!("{}+ASt{}==", of(BASE64, 76), of(BASE64, 6)));
        tally.passed("azure-key", key);
        let name = "AWS_SECRET_ACCESS_KEY";
        tally.refused("aws-secret-key", format!("{name}={}", of(BASE64, 40)));
        tally.refused("aws-secret-key", format!("aws_secret_access_key = \"{}\"", of(BASE64, 40)));
        tally.passed("aws-secret-key", of(BASE64, 40));
        tally.passed("aws-secret-key", format!("{name}=$AWS_KEY_{seed}"));
    }
}

fn assignments(tally: &mut SecretTally) {
    for text in ASSIGNED {
        tally.refused("password", (*text).to_owned());
    }
    for text in NOT_ASSIGNED {
        tally.passed("password", (*text).to_owned());
    }
    for url in [
        "postgres://app:s3cr3t@db.internal:5432/app",
        "https://bob:hunter2@example.org/",
        "redis://:hunter2@cache:6379",
        "DATABASE_URL=mysql://root:toor@localhost/x",
        "mongodb+srv://u:p%40ss@c0.example.net",
        "amqp://guest:guest@mq",
    ] {
        tally.refused("url-password", url.to_owned());
    }
    for url in [
        "postgres://app@db.internal/app",
        "https://example.org:8080/a@b",
        "https://bob:x@h/",
        "https://bob:$PASSWORD@h/",
        "https://bob:<password>@h/",
        "https://bob:{{pw}}@h/",
        "https://bob:****@h/",
        "https://bob:xxxx@h/",
        "https://bob:%(pass)s@h/",
        "git@github.com:a/b.git",
    ] {
        tally.passed("url-password", url.to_owned());
    }
}

#[test]
fn every_kind_is_found_and_similar_text_is_not() {
    let mut tally = SecretTally::default();
    forms(&mut tally);
    near_misses(&mut tally);
    checksums(&mut tally);
    formats(&mut tally);
    assignments(&mut tally);
    words(&mut tally);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    for kind in secret_kinds() {
        let (refused, passed) =
            tally.texts.get(kind.name).unwrap_or_else(|| panic!("{}", kind.name));
        println!("{:22} {:4} refused, {:4} passed", kind.name, refused.len(), passed.len());
        assert!(refused.len() >= 2 && passed.len() >= 2, "{}", kind.name);
    }
    let names: BTreeSet<_> = secret_kinds().iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), secret_kinds().len(), "a kind has two rows");
    assert!(tally.texts.keys().all(|kind| names.contains(kind)));
}

#[test]
fn a_finding_has_a_place_and_a_width_and_no_text() {
    let token = crc62("ghp_", 7);
    let text =
        support::with("# Statistics of one table", &format!("é A {token} and {token}, \"x\""));
    let rows = support::checked(&text).violations;
    let [row] = &rows[..] else { panic!("{rows:#?}") };
    assert_eq!(row.code.as_str(), "secret.github-token");
    assert_eq!((row.column, row.width), (5, 40), "{row:?}");
    assert!(row.message.contains("a GitHub token"), "{}", row.message);
    for kind in ["password=hunter2hunter2", "https://bob:hunter2@example.org/", &token] {
        let text = support::with("# Statistics of one table", kind);
        let rows = support::checked(&text).violations;
        assert!(!rows.is_empty() && !format!("{rows:?}").contains(kind));
        assert!(!format!("{rows:?}").contains("hunter2"));
    }
}

#[test]
fn a_text_full_of_secrets_has_a_bounded_report() {
    let many = format!("{} ", crc62("ghp_", 3)).repeat(4000);
    let text = support::with("# Statistics of one table", &many);
    assert_eq!(support::errors(text), ["secret.github-token"]);
}

#[test]
fn many_likely_secrets_hide_no_certain_one() {
    let many = "The password is hunter2hunter2. ".repeat(400);
    let text = format!("{many}\n{}", crc62("ghp_", 3));
    let text = support::with("# Statistics of one table", &text);
    assert_eq!(support::errors(&text), ["secret.github-token"]);
    assert_eq!(support::warnings(&text), ["secret.credential"]);
}

#[test]
fn a_correct_checksum_is_reported() {
    let message_for = |token: &str| {
        let text = support::with("# Statistics of one table", token);
        support::checked(&text).violations.remove(0).message
    };
    let token = crc62("ghp_", 7);
    assert!(message_for(&token).contains("this is a GitHub token"), "{}", message_for(&token));
    let wrong = format!("{}{}", &token[..39], if token.ends_with('1') { '2' } else { '1' });
    assert!(
        message_for(&wrong).contains("this looks like a GitHub token"),
        "{}",
        message_for(&wrong)
    );
}

#[test]
fn an_issuer_form_takes_precedence_over_its_format() {
    let token = crc62("ghp_", 9);
    for text in [
        format!("GITHUB_TOKEN={token}"),
        format!("Authorization: Bearer {token}"),
        format!("https://x:{token}@github.com/a/b"),
        format!("{{\"password\": \"{token}\"}}"),
    ] {
        let text = support::with("# Statistics of one table", &text);
        assert_eq!(support::errors(text), ["secret.github-token"]);
    }
}

#[test]
fn no_message_repeats_one() {
    let key = format!("AKIA{}", "Z7QX".repeat(4));
    for text in [
        support::command(&format!("python /in/{key}.csv")),
        support::with("- `/in/script.py`", &format!("- `/in/script.py`\n- `/in/{key}`")),
        support::with("language: \"python\"", &format!("language: \"{key}\"")),
    ] {
        let rows = support::checked(&text).violations;
        assert!(rows.iter().any(|row| row.code.as_str() == "secret.aws-key"), "{rows:#?}");
        assert!(!format!("{rows:?}").contains(&key), "{rows:#?}");
    }
}
