//! The changes of a passkey's signature, by the verdicts of OpenSSH and of this crate.

use crate::soft::passkey::{
    ATTESTED, BACKED_UP, BACKUP_ELIGIBLE, EXTENSIONS, KEY_TYPE, SoftAssertion, client_data,
    two_mpints,
};
use crate::soft::{PRESENT, VERIFIED, signed_data};

pub(super) const NAMESPACE: &str = policies::APPROVE_NAMESPACE;
pub(super) const MESSAGE: &[u8] = b"exactly these bytes\n";
pub(super) const ORIGIN: &str = "http://localhost:8000";
pub(super) const TOUCHED: u8 = PRESENT | VERIFIED;

/// The order of P-256, big-endian.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
    0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

pub(super) type AssertionChange = fn(&mut SoftAssertion);

/// The changes that both accept.
pub(super) const GOOD: &[(&str, AssertionChange)] = &[
    ("nothing", |_| {}),
    ("the other s", |it| it.numbers = |r, s| two_mpints(r, negated(s))),
    ("no user verification", |it| it.flags = PRESENT),
    ("a synced passkey", |it| it.flags = TOUCHED | BACKUP_ELIGIBLE | BACKED_UP),
    ("reserved flags", |it| it.flags = TOUCHED | 0x22),
    ("a counter", |it| it.counter = u32::MAX),
    ("extension data", |it| {
        it.flags = TOUCHED | EXTENSIONS;
        it.extensions = b"\xa1\x61a\xf5".to_vec();
    }),
    ("no crossOrigin", |it| it.replace(",\"crossOrigin\":false", b"")),
    ("an unknown member", |it| it.add_member(",\"other_keys_can_be_added_here\":\"x\"")),
    ("a line feed after the object", |it| it.client_data.push(b'\n')),
    ("another origin in both places", |it| {
        it.origin = b"https://evil.example".to_vec();
        it.replace(ORIGIN, b"https://evil.example");
    }),
];

/// The changes that both refuse.
pub(super) const REFUSED: &[(&str, AssertionChange)] = &[
    ("another message", |it| challenge(it, &signed_data(NAMESPACE, b"other bytes\n"))),
    ("another namespace", |it| challenge(it, &signed_data("file", MESSAGE))),
    ("the digest as challenge", |it| {
        challenge(it, model::Sha256::of(&signed_data(NAMESPACE, MESSAGE)).as_bytes());
    }),
    ("padding after the challenge", |it| it.replace("\",\"origin", b"=\",\"origin")),
    ("another domain", |it| it.rp_id = "evil.example".to_owned()),
    ("a registration", |it| it.replace("webauthn.get", b"webauthn.create")),
    ("a payment", |it| it.replace("webauthn.get", b"payment.get")),
    ("another origin inside", |it| it.replace(ORIGIN, b"https://evil.example")),
    ("another origin beside", |it| it.origin = b"https://evil.example".to_vec()),
    ("the beginning of the origin", |it| {
        it.origin.pop();
    }),
    ("a member inside the origin", |it| {
        it.origin = br#"http://localhost:8000","x":""#.to_vec();
        it.replace(ORIGIN, br#"http://localhost:8000","x":""#);
    }),
    ("NUL inside the origin", |it| it.origin[4] = 0),
    ("attested data", |it| it.flags = TOUCHED | ATTESTED),
    ("the extension flag alone", |it| it.flags = TOUCHED | EXTENSIONS),
    ("extension data alone", |it| it.extensions = vec![0xa0]),
    ("a blank before the object", |it| it.client_data.insert(0, b' ')),
    ("a blank in the object", |it| it.replace(":", b": ")),
    ("a byte order mark", |it| {
        drop(it.client_data.splice(0..0, *b"\xef\xbb\xbf"));
    }),
    ("another order of the members", |it| {
        it.replace("{\"type\":\"webauthn.get\",", b"{");
        it.add_member(",\"type\":\"webauthn.get\"");
    }),
    ("no client data", |it| it.client_data.clear()),
    ("a byte after the last field", |it| it.tail.push(0)),
    ("the numbers in the other order", |it| it.numbers = |r, s| two_mpints(s, r)),
    ("no first number", |it| it.numbers = |_, s| two_mpints([0; 32], s)),
    ("no second number", |it| it.numbers = |r, _| two_mpints(r, [0; 32])),
    ("a number beyond the order", |it| it.numbers = |r, _| two_mpints(r, [0xff; 32])),
    ("a third number", |it| {
        it.numbers = |r, s| [two_mpints(r, s), vec![0, 0, 0, 1, 1]].concat();
    }),
    ("a negative number", |it| {
        it.numbers = |r, s| [&[0, 0, 0, 32, r[0] | 0x80][..], &r[1..], &mpint(s)].concat();
    }),
    ("the signature type of a security key", |it| it.kind = KEY_TYPE.to_owned()),
    ("the signature type of Ed25519", |it| {
        it.kind = "webauthn-sk-ssh-ed25519@openssh.com".to_owned();
    }),
];

/// The changes that only we refuse, with our reason.
pub(super) const STRICTER: &[(&str, AssertionChange, &str)] = &[
    ("no touch", |it| it.flags = VERIFIED, "signed without a touch"),
    ("no flag", |it| it.flags = 0, "signed without a touch"),
    ("copied, but not for copying", |it| it.flags = TOUCHED | BACKED_UP, FLAGS),
    ("crossOrigin", |it| it.replace("false", b"true"), EMBEDDED),
    ("crossOrigin as text", |it| it.replace("false", b"\"false\""), EMBEDDED),
    ("crossOrigin null", |it| it.replace("false", b"null"), EMBEDDED),
    ("topOrigin", |it| it.add_member(",\"topOrigin\":\"https://a.example\""), EMBEDDED),
    ("a second challenge", |it| it.add_member(",\"challenge\":\"AAAA\""), JSON),
    ("a second origin", |it| it.add_member(",\"origin\":\"https://evil.example\""), JSON),
    ("a second type", |it| it.add_member(",\"type\":\"webauthn.create\""), JSON),
    ("a second crossOrigin", |it| it.add_member(",\"crossOrigin\":true"), JSON),
    ("an escaped second origin", |it| it.add_member(",\"\\u006frigin\":\"https://a\""), JSON),
    ("a second name inside", |it| it.add_member(",\"x\":{\"a\":1,\"a\":2}"), JSON),
    (
        "no end",
        |it| {
            it.client_data.pop();
        },
        JSON,
    ),
    ("text after the object", |it| it.client_data.push(b'x'), JSON),
    ("a second object", |it| it.client_data.extend(b"{}"), JSON),
    ("bytes that are not UTF-8", |it| it.replace("false", b"false,\"x\":\"\xff\""), JSON),
    ("NUL in the client data", |it| it.add_member("\0"), JSON),
    ("a number that readers round", |it| it.add_member(",\"x\":9007199254740993"), JSON),
    (
        "deep nesting",
        |it| it.add_member(&format!(",\"x\":{}1{}", "[".repeat(200), "]".repeat(200))),
        JSON,
    ),
    ("more than 4 KiB", |it| it.add_member(&format!(",\"x\":\"{}\"", "a".repeat(4096))), JSON),
    (
        "an escaped origin",
        |it| {
            it.origin = br"http:\/\/localhost:8000".to_vec();
            it.replace(ORIGIN, br"http:\/\/localhost:8000");
        },
        "`origin` of its client data differs",
    ),
    ("NUL after the origin", |it| it.origin.push(0), "not an SSH signature"),
    (
        "an origin that is not UTF-8",
        |it| {
            it.origin = vec![0xff];
            it.replace(ORIGIN, b"\xff");
        },
        "not an SSH signature",
    ),
    (
        "a number with a zero before it",
        |it| {
            it.numbers = |r, s| [&[0, 0, 0, 34, 0, 0][..], &r, &mpint(s)].concat();
        },
        "not an SSH signature",
    ),
];

const FLAGS: &str = "its flags contradict each other";
const EMBEDDED: &str = "for a page inside a page of another origin";
const JSON: &str = "its client data is larger than 4 KiB or not unambiguous JSON";

fn challenge(asked: &mut SoftAssertion, challenge: &[u8]) {
    asked.client_data = client_data(challenge, ORIGIN);
}

/// Encodes a positive number.
fn mpint(number: [u8; 32]) -> Vec<u8> {
    let both = two_mpints(number, number);
    both[..both.len() / 2].to_vec()
}

/// Returns the order minus the number, the other `s` of the same signature.
fn negated(s: [u8; 32]) -> [u8; 32] {
    let (mut difference, mut borrow) = ([0; 32], 0);
    for at in (0..32).rev() {
        let digit = i16::from(ORDER[at]) - i16::from(s[at]) - borrow;
        borrow = i16::from(digit < 0);
        difference[at] = u8::try_from(digit.rem_euclid(256)).expect("a byte");
    }
    difference
}
