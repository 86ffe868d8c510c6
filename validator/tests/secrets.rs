//! What counts as a secret and what does not, kind by kind, through the public functions only. No
//! token stands in this file: each is put together when the tests run, with the checksum that its
//! issuer would give it, so that no scanner of repositories takes one for real.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use validator::{secret_kinds, withheld};

const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const UPPER_DIGIT: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LOWER_DIGIT: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const LOWER_HEX: &str = "0123456789abcdef";
const DIGIT: &str = "0123456789";
const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE36: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const URL64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Characters that look drawn at random, the same at each run; they begin and end with no mark.
fn random(alphabet: &str, length: usize, seed: u32) -> String {
    let letters = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    let mut body: Vec<u8> = (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            letters[(state >> 16) as usize % letters.len()]
        })
        .collect();
    for at in [0, length.saturating_sub(1)] {
        if body.get(at).is_some_and(|byte| !byte.is_ascii_alphanumeric()) {
            body[at] = b'b';
        }
    }
    String::from_utf8(body).unwrap()
}

fn digits_of(mut number: u64, order: &str, width: usize) -> String {
    let (mut digits, base) = (Vec::new(), order.len() as u64);
    for _ in 0..width {
        digits.push(order.as_bytes()[usize::try_from(number % base).unwrap()]);
        number /= base;
    }
    digits.reverse();
    String::from_utf8(digits).unwrap()
}

fn crc(text: &str) -> u64 {
    u64::from(crc32fast::hash(text.as_bytes()))
}

/// GitHub's and npm's form.
fn crc62(prefix: &str, seed: u32) -> String {
    let body = random(BASE62, 30, seed);
    format!("{prefix}{body}{}", digits_of(crc(&body), BASE62, 6))
}

fn routable(prefix: &str, version: &str, seed: u32) -> String {
    let before = format!("{prefix}{}.{version}12", random(URL64, 38, seed));
    format!("{before}{}", digits_of(crc(&before), BASE36, 7))
}

fn grafana(seed: u32) -> String {
    let before = format!("glsa_{}", random(BASE62, 32, seed));
    format!("{before}_{:08x}", crc32fast::hash(before.as_bytes()).swap_bytes())
}

fn encode64(bytes: &[u8], alphabet: &str, padded: bool) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(*chunk.get(at).unwrap_or(&0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at <= chunk.len() {
                let six = (group >> (18 - 6 * at) & 63) as usize;
                text.push(char::from(alphabet.as_bytes()[six]));
            } else if padded {
                text.push('=');
            }
        }
    }
    text
}

fn jwt(header: &str, payload: &str, seed: u32) -> String {
    let part = |text: &str| encode64(text.as_bytes(), URL64, false);
    format!("{}.{}.{}", part(header), part(payload), random(URL64, 43, seed))
}

/// BIP 173: the checksum of a human-readable part and its data.
fn age(human: &str, seed: u32) -> String {
    const ORDER: &str = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
    let data = random(ORDER, 52, seed);
    let value = |c: char| u32::try_from(ORDER.find(c).unwrap()).unwrap();
    let lower = human.to_lowercase();
    let mut values: Vec<u32> = lower.bytes().map(|byte| u32::from(byte) >> 5).collect();
    values.push(0);
    values.extend(lower.bytes().map(|byte| u32::from(byte) & 31));
    values.extend(data.chars().map(value).chain([0; 6]));
    let sum = values.into_iter().fold(1, |sum: u32, value| {
        let mut next = (sum & 0x1ff_ffff) << 5 ^ value;
        for (bit, generator) in
            [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3].iter().enumerate()
        {
            if sum >> 25 >> bit & 1 == 1 {
                next ^= generator;
            }
        }
        next
    }) ^ 1;
    let check = (0..6).map(|at| char::from(ORDER.as_bytes()[(sum >> (25 - 5 * at) & 31) as usize]));
    format!("{human}1{data}{}", check.collect::<String>())
}

/// A token of a fixed form: its kind, then literal pieces (`=…`) and runs (`alphabet`, length).
type Row = (&'static str, &'static [Piece]);

#[derive(Clone, Copy)]
enum Piece {
    Is(&'static str),
    Of(&'static str, usize),
}
use Piece::{Is, Of};

/// Forms without a checksum. The last run has an exact length wherever its issuer has one.
const FORMS: &[Row] = &[
    ("aws-key", &[Is("AKIA"), Of(BASE32, 16)]),
    ("aws-key", &[Is("ASIA"), Of(BASE32, 16)]),
    ("github-token", &[Is("github_pat_"), Of(BASE62, 22), Is("_"), Of(BASE62, 59)]),
    ("github-token", &[Is("ghr_"), Of(BASE62, 76)]),
    ("gitlab-token", &[Is("glpat-"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("gldt-"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glrt-"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glrt-t1_"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glcbt-64_"), Of(URL64, 20)]),
    ("gitlab-token", &[Is("glptt-"), Of(LOWER_HEX, 40)]),
    ("gitlab-token", &[Is("gloas-"), Of(LOWER_HEX, 64)]),
    ("gitlab-token", &[Is("GR1348941"), Of(URL64, 20)]),
    ("google-key", &[Is("AIza"), Of(URL64, 35)]),
    ("google-oauth", &[Is("GOCSPX-"), Of(URL64, 28)]),
    ("azure-key", &[Of(BASE62, 52), Is("JQQJ99"), Of(BASE62, 26)]),
    ("azure-key", &[Of(BASE62, 76), Is("AZDO"), Of(BASE62, 4)]),
    ("tencent-key", &[Is("AKID"), Of(BASE62, 32)]),
    ("yandex-key", &[Is("t1."), Of(URL64, 40), Is("."), Of(URL64, 86)]),
    ("digitalocean-token", &[Is("dop_v1_"), Of(LOWER_HEX, 64)]),
    ("digitalocean-token", &[Is("doo_v1_"), Of(LOWER_HEX, 64)]),
    ("cloudflare-key", &[Is("v1.0-"), Of(LOWER_HEX, 24), Is("-"), Of(LOWER_HEX, 146)]),
    ("heroku-key", &[Is("HRKU-AA"), Of(URL64, 58)]),
    ("fly-token", &[Is("fo1_"), Of(URL64, 43)]),
    ("supabase-key", &[Is("sbp_"), Of(LOWER_HEX, 40)]),
    ("confluent-secret", &[Is("cflt"), Of(BASE64, 60)]),
    ("databricks-token", &[Is("dapi"), Of(LOWER_HEX, 32)]),
    ("vault-token", &[Is("s."), Of(BASE62, 24)]),
    ("pulumi-token", &[Is("pul-"), Of(LOWER_HEX, 40)]),
    ("openshift-token", &[Is("sha256~"), Of(URL64, 43)]),
    ("dynatrace-token", &[Is("dt0c01."), Of(UPPER_DIGIT, 24), Is("."), Of(UPPER_DIGIT, 64)]),
    ("newrelic-key", &[Is("NRAK-"), Of(UPPER_DIGIT, 27)]),
    ("newrelic-key", &[Is("NRII-"), Of(URL64, 32)]),
    ("telegram-token", &[Of(DIGIT, 10), Is(":AA"), Of(URL64, 33)]),
    ("clickhouse-key", &[Is("4b1d"), Of(BASE62, 38)]),
    ("atlassian-token", &[Is("ATATT3"), Of(URL64, 180), Is("="), Of("0123456789ABCDEF", 8)]),
    ("atlassian-token", &[Is("ATBB"), Of(BASE62, 32)]),
    ("crates-token", &[Is("cio"), Of(BASE62, 32)]),
    ("rubygems-key", &[Is("rubygems_"), Of(LOWER_HEX, 48)]),
    ("nuget-key", &[Is("oy2"), Of(LOWER_DIGIT, 43)]),
    ("clojars-token", &[Is("CLOJARS_"), Of(LOWER_HEX, 60)]),
    ("docker-token", &[Is("dckr_pat_"), Of(URL64, 27)]),
    ("artifactory-key", &[Is("AKCp"), Of(BASE62, 69)]),
    ("sonar-token", &[Is("squ_"), Of(LOWER_HEX, 40)]),
    ("sourcegraph-token", &[Is("sgp_"), Of(LOWER_HEX, 16), Is("_"), Of(LOWER_HEX, 40)]),
    ("circleci-token", &[Is("CCIPAT_"), Of(BASE62, 22), Is("_"), Of(LOWER_HEX, 40)]),
    ("buildkite-token", &[Is("bkua_"), Of(LOWER_HEX, 40)]),
    (
        "harness-key",
        &[Is("pat."), Of(BASE62, 22), Is("."), Of(BASE62, 24), Is("."), Of(BASE62, 20)],
    ),
    ("prefect-key", &[Is("pnu_"), Of(BASE62, 36)]),
    ("infracost-key", &[Is("ico-"), Of(BASE62, 32)]),
    ("sentry-token", &[Is("sntryu_"), Of(LOWER_HEX, 64)]),
    ("sentry-token", &[Is("sntrys_eyJ"), Of(BASE62, 120), Is("_"), Of(BASE64, 43)]),
    ("sendgrid-key", &[Is("SG."), Of(URL64, 22), Is("."), Of(URL64, 43)]),
    ("twilio-key", &[Is("SK"), Of(LOWER_HEX, 32)]),
    ("mailgun-key", &[Is("key-"), Of(LOWER_HEX, 32)]),
    ("brevo-key", &[Is("xkeysib-"), Of(LOWER_HEX, 64), Is("-"), Of(BASE62, 16)]),
    ("square-token", &[Is("sq0atp-"), Of(URL64, 22)]),
    ("square-token", &[Is("sq0csp-"), Of(URL64, 43)]),
    ("shopify-token", &[Is("shpat_"), Of(LOWER_HEX, 32)]),
    ("flutterwave-key", &[Is("FLWSECK_TEST-"), Of(LOWER_DIGIT, 32), Is("-X")]),
    ("easypost-key", &[Is("EZAK"), Of(BASE62, 54)]),
    ("shippo-token", &[Is("shippo_live_"), Of(LOWER_HEX, 40)]),
    ("openai-key", &[Is("sk-proj-"), Of(URL64, 74), Is("T3BlbkFJ"), Of(URL64, 74)]),
    ("openai-key", &[Is("sk-"), Of(BASE62, 20), Is("T3BlbkFJ"), Of(BASE62, 20)]),
    ("anthropic-key", &[Is("sk-ant-api03-"), Of(URL64, 93), Is("AA")]),
    ("groq-key", &[Is("gsk_"), Of(BASE62, 52)]),
    ("xai-key", &[Is("xai-"), Of(BASE62, 80)]),
    ("replicate-token", &[Is("r8_"), Of(BASE62, 37)]),
    ("perplexity-key", &[Is("pplx-"), Of(BASE62, 48)]),
    ("openrouter-key", &[Is("sk-or-v1-"), Of(LOWER_HEX, 64)]),
    ("langsmith-key", &[Is("lsv2_pt_"), Of(LOWER_HEX, 32), Is("_"), Of(LOWER_HEX, 10)]),
    ("elevenlabs-key", &[Is("sk_"), Of(LOWER_HEX, 48)]),
    ("postman-key", &[Is("PMAK-"), Of(LOWER_HEX, 24), Is("-"), Of(LOWER_HEX, 34)]),
    ("linear-key", &[Is("lin_api_"), Of(BASE62, 40)]),
    ("notion-token", &[Is("ntn_"), Of(DIGIT, 11), Of(BASE62, 35)]),
    ("figma-token", &[Is("figd_"), Of(URL64, 40)]),
    ("airtable-token", &[Is("pat"), Of(BASE62, 14), Is("."), Of(LOWER_HEX, 64)]),
    ("contentful-token", &[Is("CFPAT-"), Of(URL64, 43)]),
    ("duffel-token", &[Is("duffel_live_"), Of(URL64, 43)]),
    ("frameio-token", &[Is("fio-u-"), Of(URL64, 64)]),
    ("readme-key", &[Is("rdme_"), Of(LOWER_DIGIT, 70)]),
    ("adobe-secret", &[Is("p8e-"), Of(URL64, 32)]),
    // Of these the length is a range; the row has one from inside of it.
    ("aws-bedrock-key", &[Is("ABSK"), Of(BASE62, 128)]),
    ("google-oauth", &[Is("ya29."), Of(URL64, 120)]),
    ("azure-client-secret", &[Of(BASE62, 3), Of(DIGIT, 1), Is("Q~"), Of(BASE62, 34)]),
    ("alibaba-key", &[Is("LTAI"), Of(BASE62, 20)]),
    ("netlify-token", &[Is("nfp_"), Of(BASE62, 36)]),
    ("supabase-key", &[Is("sb_secret_"), Of(URL64, 31)]),
    ("planetscale-token", &[Is("pscale_tkn_"), Of(BASE62, 43)]),
    ("vault-token", &[Is("hvs."), Of(URL64, 95)]),
    ("terraform-token", &[Of(BASE62, 14), Is(".atlasv1."), Of(URL64, 67)]),
    ("doppler-token", &[Is("dp.pt."), Of(BASE62, 43)]),
    ("doppler-token", &[Is("dp.st.dev."), Of(BASE62, 43)]),
    ("tailscale-key", &[Is("tskey-auth-"), Of(BASE62, 12), Is("-"), Of(BASE62, 32)]),
    ("onepassword-token", &[Is("ops_eyJ"), Of(BASE62, 400)]),
    ("pypi-token", &[Is("pypi-AgEIcHlwaS5vcmc"), Of(URL64, 150)]),
    ("octopus-key", &[Is("API-"), Of(UPPER_DIGIT, 30)]),
    ("slack-token", &[Is("xoxb-"), Of(DIGIT, 12), Is("-"), Of(DIGIT, 13), Is("-"), Of(BASE62, 24)]),
    (
        "slack-token",
        &[Is("xapp-1-A"), Of(UPPER_DIGIT, 10), Is("-"), Of(DIGIT, 13), Is("-"), Of(LOWER_HEX, 64)],
    ),
    ("mailchimp-key", &[Of(LOWER_HEX, 32), Is("-us"), Of(DIGIT, 2)]),
    ("stripe-key", &[Is("sk_live_"), Of(BASE62, 24)]),
    ("stripe-key", &[Is("rk_live_"), Of(BASE62, 99)]),
    ("stripe-key", &[Is("whsec_"), Of(BASE62, 32)]),
    ("facebook-token", &[Is("EAA"), Of(BASE62, 180)]),
    ("huggingface-token", &[Is("hf_"), Of(BASE62, 34)]),
    ("nvidia-key", &[Is("nvapi-"), Of(URL64, 64)]),
    ("pinecone-key", &[Is("pcsk_"), Of(BASE62, 6), Is("_"), Of(BASE62, 63)]),
    ("dropbox-token", &[Is("sl."), Of(URL64, 140)]),
    ("typeform-token", &[Is("tfp_"), Of(BASE62, 59)]),
    ("mapbox-token", &[Is("sk.eyJ"), Of(URL64, 60), Is("."), Of(URL64, 22)]),
];

/// The row with the last run longer by `more` characters (fewer if negative).
fn build(pieces: &[Piece], seed: u32, more: isize) -> String {
    let last = pieces.iter().rposition(|piece| matches!(piece, Of(..))).unwrap();
    let mut text = String::new();
    for (at, piece) in (0_u32..).zip(pieces) {
        match piece {
            Is(fixed) => text.push_str(fixed),
            Of(alphabet, length) => {
                let more = if at as usize == last { more } else { 0 };
                text.push_str(&random(alphabet, length.saturating_add_signed(more), seed + at));
            }
        }
    }
    text
}

/// The texts of each kind that were refused and let pass, and what was told wrongly.
#[derive(Default)]
struct Tally {
    told: BTreeMap<&'static str, (BTreeSet<String>, BTreeSet<String>)>,
    wrong: Vec<String>,
}

impl Tally {
    fn refused(&mut self, kind: &'static str, text: String) {
        let code = withheld(&text).map(|code| code.as_str().into_owned());
        if code != Some(format!("secret.{kind}")) {
            self.wrong.push(format!("{kind} but {code:?}: {text}"));
        }
        self.told.entry(kind).or_default().0.insert(text);
    }

    fn passed(&mut self, kind: &'static str, text: String) {
        if let Some(code) = withheld(&text) {
            self.wrong.push(format!("no {kind} but {code:?}: {text}"));
        }
        self.told.entry(kind).or_default().1.insert(text);
    }
}

/// Each form, where it may stand and where it may not.
fn forms(tally: &mut Tally) {
    for (seed, (kind, pieces)) in (1..).zip(FORMS) {
        for seed in [seed, seed + 1000] {
            let token = build(pieces, seed, 0);
            tally.refused(kind, token.clone());
            tally.refused(kind, format!("see \"{token}\" there"));
            tally.refused(kind, format!("see\\n{token}"));
            tally.passed(kind, format!("z{token}"));
            // What is left of this form is one that other services have.
            if !matches!(pieces[0], Is("sk-")) {
                tally.passed(kind, build(pieces, seed, -400));
            }
            // In the other case a prefix is another word.
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

/// Lengths beside the exact ones, and characters beside the alphabet.
fn near_misses(tally: &mut Tally) {
    let inexact = FORMS.iter().position(|row| row.0 == "aws-bedrock-key").unwrap();
    for (seed, (kind, pieces)) in (1..).zip(&FORMS[..inexact]) {
        for more in [-1, 1] {
            let text = build(pieces, seed, more);
            // The one is a shorter form of the other's kind.
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

fn checksums(tally: &mut Tally) {
    let spoil = |token: &str| {
        let last = token.chars().last().unwrap();
        let other = if last == '1' { '2' } else { '1' };
        format!("{}{other}", &token[..token.len() - 1])
    };
    for seed in 1..20 {
        for prefix in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] {
            tally.refused("github-token", format!("GITHUB={}", crc62(prefix, seed)));
            tally.passed("github-token", spoil(&crc62(prefix, seed)));
        }
        tally.refused("npm-token", format!("//r/:_x={}", crc62("npm_", seed)));
        tally.passed("npm-token", spoil(&crc62("npm_", seed)));
        for (prefix, version) in [("glpat-", ""), ("glpat-", "01."), ("glrt-t1_", "01.")] {
            tally.refused("gitlab-token", routable(prefix, version, seed));
            tally.passed("gitlab-token", spoil(&routable(prefix, version, seed)));
        }
        tally.refused("grafana-token", grafana(seed));
        let (before, sum) =
            grafana(seed).rsplit_once('_').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let sum = u32::from_str_radix(&sum, 16).unwrap() ^ 1;
        tally.passed("grafana-token", format!("{before}_{sum:08x}"));
        let identity = age("AGE-SECRET-KEY-", seed);
        tally.refused("age-key", identity.clone());
        let end = if identity.ends_with('Q') { 'P' } else { 'Q' };
        tally.passed("age-key", format!("{}{end}", &identity[..identity.len() - 1]));
        tally.passed("age-key", identity[..identity.len() - 1].to_owned());
    }
    tally.passed("github-token", format!("ghp_{}", "x".repeat(36)));
    tally.passed("npm-token", format!("npm_{}", "0".repeat(36)));
    // The published test vectors of Grafana and age show that the sums are theirs, not ours.
    tally.refused("grafana-token", format!("glsa_yscW25imSKJIuav8zF37{}_fcaaf58a", "RZmnbiDvB05G"));
    let twelve = "GFPYYSJZ".repeat(6);
    tally.refused("age-key", format!("AGE-SECRET-KEY-1{twelve}{}", "GFPQ4EGAEX"));
}

fn carriers(tally: &mut Tally) {
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

fn webhooks(tally: &mut Tally) {
    for seed in 1..4 {
        let of = |alphabet: &str, length: usize| random(alphabet, length, seed);
        let (a, b) = (of(UPPER_DIGIT, 9), of(UPPER_DIGIT, 11));
        let url = format!("https://hooks.slack.com/services/T{a}/B{b}");
        tally.refused("slack-webhook", format!("{url}/{}", of(BASE62, 24)));
        tally.passed("slack-webhook", format!("{url}/{}", of(BASE62, 8)));
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

#[rustfmt::skip]
const ASSIGNED: &[&str] = &[
    "password=hunter2hunter2", "password = hunter2hunter2", "PASSWORD: hunter2hunter2",
    "--password=hunter2hunter2", "password=\"correcthorsebattery\"", "pwd='p@ssw0rd!'",
    "DB_PASS=hunter2hunter2", "db.password=hunter2hunter2", "{\"password\":\"hunter2hunter2\"}",
    "{\\\"password\\\": \\\"hunter2hunter2\\\"}", "password := \"hunter2hunter2\"",
    "'password' => 'hunter2hunter2'", "<password>hunter2hunter2</password>",
    "Server=db;User Id=sa;Password=Sup3rS3cret!;", "pwd=%5Ebq7Wm2c", "password=correcthorsebattery",
    "?token=a8f5f167f44f4964e6c998dee827110c&x=1", "\"api_key\": \"0123456789abcdef\"",
    "api-key: 550e8400-e29b-41d4-a716-446655440000", "apiKey='9vQ2xk7LmZt4'",
    "client_secret=q8Wn3vKz71Lp", "//registry/:_authToken=550e8400-e29b-41d4-a716-446655440000",
    "SECRET_KEY_BASE=a8f5f167f44f4964e6c998dee827110c", "access_key=\"Zk3v9Qw7Lm2Tr5\"",
    "PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=", "password: \"hunter2hunter2\"",
];

#[rustfmt::skip]
const NOT_ASSIGNED: &[&str] = &[
    "password: required here", "password=short", "token=short", "password=<password>",
    "password=$PASSWORD", "password=${DB_PASSWORD}", "password={{ password }}", "password=xxxxxxxx",
    "password=********", "password=%PASSWORD%", "password=changeme", "password=/etc/app/password",
    "password=./secret-1.txt", "password_file=/run/secrets/db1", "token=your-token-here-1",
    "api_key=YOUR_API_KEY", "secret=vault:kv/data/app1", "token=os.environ[\"TOKEN1\"]",
    "let token = sha256_of_the_file;", "let token = parse_token2(line);", "token: Token2,",
    "password=self.password1", "connect(user=user, password=password1_field)", "pwd = os.getcwd()",
    "if password == 'hunter2hunter2' {", "Secret::new(&b)", "token::Kind2Something",
    "passwords=hunter2hunter2", "bypass=hunter2hunter2", "key=hunter2hunter2",
    "public_key=a8f5f167f44f4964e6c998dee827110c", "max_tokens: 4096000000", "password hunter2hunter2",
    "token_sha256=a8f5f167f44f4964e6c998dee827110c", "The secret: 3 steps, then 4 more",
    "`password=…` and `token=…`", "password: \"\"", "next_token: null", "secret=@/in/secret1.txt",
];

fn assignments(tally: &mut Tally) {
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
        "https://bob:%(pass)s@h/",
        "git@github.com:a/b.git",
    ] {
        tally.passed("url-password", url.to_owned());
    }
}

#[test]
fn every_kind_is_found_and_no_look_alike_is() {
    let mut tally = Tally::default();
    forms(&mut tally);
    near_misses(&mut tally);
    checksums(&mut tally);
    carriers(&mut tally);
    assignments(&mut tally);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    for kind in secret_kinds() {
        let (refused, passed) =
            tally.told.get(kind.name).unwrap_or_else(|| panic!("{}", kind.name));
        println!("{:22} {:4} refused, {:4} passed", kind.name, refused.len(), passed.len());
        assert!(refused.len() >= 2 && passed.len() >= 2, "{}", kind.name);
    }
    let names: BTreeSet<_> = secret_kinds().iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), secret_kinds().len(), "a kind has two rows");
    assert!(tally.told.keys().all(|kind| names.contains(kind)));
}

/// Lines that people and programs write, none of which holds a secret.
fn innocent_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for seed in 1..200 {
        let of = |alphabet: &str, length: usize| random(alphabet, length, seed);
        lines.push(format!("- `/in/input.csv` sha256: {}", of(LOWER_HEX, 64)));
        lines.push(format!("{}  data.bin", of(LOWER_HEX, 64)));
        lines.push(format!("commit {}", of(LOWER_HEX, 40)));
        lines.push(format!("md5 = {}", of(LOWER_HEX, 32)));
        lines.push(format!("cache-key-{}", of(LOWER_HEX, 32)));
        lines.push(format!("TR-20260209-160501Z-run-{seed}"));
        lines.push(format!("TS-20260209-161030Z-TR-20260209-160501Z-run-{seed}"));
        let hex = of(LOWER_HEX, 32);
        let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        lines.push(format!("request_id: {uuid}"));
        lines.push(format!("\"id\": \"{uuid}\", \"etag\": \"{}\"", of(LOWER_HEX, 32)));
        lines.push(of(BASE64, 76));
        lines.push(format!("{}==", of(BASE64, 86)));
        lines.push(format!("data:image/png;base64,{}", of(BASE64, 2000)));
        lines.push(format!("integrity sha512-{}==", of(BASE64, 86)));
        lines.push(format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} a@b", of(BASE64, 43)));
        lines.push(format!("{seed},{},{}.5,2026-02-09T16:05:01Z", of(BASE62, 12), of(DIGIT, 6)));
        lines.push(format!("https://example.org/a/{}?page={seed}#top", of(BASE62, 22)));
        lines.push(of(URL64, 1000));
    }
    lines
}

#[test]
fn digests_ids_and_data_are_no_secrets() {
    for line in innocent_lines() {
        assert_eq!(withheld(&line), None, "{line}");
    }
}

/// Where this repository holds made-up secrets, to test what is done with them, and their needles.
const WITH_SECRETS: &[&str] = &[
    "records/src/stream.rs",
    "records/src/yaml.rs",
    "records/tests/",
    "validator/src/secrets/carrier.rs",
    "validator/tests/",
];

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                collect(&path, files);
            }
        } else if ["rs", "md", "toml", "yaml", "yml", "service", "csv", "py", "json"]
            .iter()
            .any(|it| path.extension().is_some_and(|extension| extension == *it))
        {
            files.push(path);
        }
    }
}

#[test]
fn this_repository_holds_no_secrets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    collect(root, &mut files);
    assert!(files.len() > 100, "only {} files: the search is broken", files.len());
    let (mut found, mut excused) = (Vec::new(), BTreeSet::new());
    for file in files {
        let name = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for (number, line) in (1..).zip(text.lines()) {
            let Some(code) = withheld(line) else { continue };
            match WITH_SECRETS.iter().find(|it| name.starts_with(**it)) {
                Some(place) => _ = excused.insert(*place),
                None => found.push(format!("{name}:{number}: {} in {line}", code.as_str())),
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(excused.len(), WITH_SECRETS.len(), "an exception that none needs: {excused:?}");
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
fn a_form_goes_before_what_carries_it() {
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

/// Run with `cargo test --release -p validator --test secrets -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, of use in a release build only"]
fn how_long_a_scan_takes() {
    let time = |name: &str, text: &str, limit_us: f64| {
        let rounds = (4 * 1024 * 1024 / text.len()).clamp(20, 2000);
        let mut none = withheld(text).is_none();
        let start = Instant::now();

        for _ in 0..rounds {
            none &= withheld(std::hint::black_box(text)).is_none();
        }
        let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(rounds).unwrap());
        println!("{each:9.1} us  {:7} bytes  {}  {name}", text.len(), if none { "-" } else { "!" });
        assert!(each < limit_us, "{name}: {each} us");
    };
    let request = support::valid().repeat(2);
    time("a request, whole", &request[..2400], 10.0);
    let start = Instant::now();
    for _ in 0..1000 {
        for line in std::hint::black_box(&request[..2400]).lines() {
            std::hint::black_box(withheld(line));
        }
    }
    println!("{:9.1} us  by lines", start.elapsed().as_secs_f64() * 1e3);
    let all: String = secret_kinds().iter().map(|kind| kind.source).collect();
    let mut units: Vec<String> = FORMS.iter().map(|(_, pieces)| build(pieces, 1, -400)).collect();
    units.extend(FORMS.iter().map(|(_, pieces)| format!("z{} ", build(pieces, 1, 1))));
    units.extend(NOT_ASSIGNED.iter().map(|it| format!("{it} ")));
    units.extend([all, random(BASE64, 4096, 1), random(URL64, 4096, 1)]);
    for unit in [
        "a",
        "=",
        ":",
        "-",
        "_",
        ".",
        "x.y",
        "eyJ",
        "-eyJ",
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.",
        "://",
        "a://b:c@",
        "a://b:$c@d ",
        "bearer ",
        "bearer a.",
        "basic ",
        "basic YTpi ",
        "---BEGIN ",
        "auth",
        "auth=",
        "\"auth\":",
        "pwd",
        "pwd=",
        "pwd:a ",
        "pwd=aaaaaaa ",
        "token=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ",
        "key",
        "api_key",
        "token: $",
        "secret=\"",
        "pwd=(aaaaaaaaaaaaaaaaaaaaa",
        "pass=",
        "psk:",
        "sk-",
        "-us1",
        "JQQJ99",
        "AZDO",
        "+ASt",
        "sk-proj-",
        "T3BlbkFJ",
        "glpat-",
        "AAAAAAAAAAAAAAAAAAAAAAAA.AAAAAA.",
        "\\n",
        "%3D",
        "\u{301}",
        "password",
    ] {
        units.push(unit.to_owned());
    }
    for unit in units {
        let text = unit.repeat(256 * 1024 / unit.len() + 1);
        let shown: String = unit.chars().take(60).collect();
        time(&shown, &text, 3000.0);
    }
}
