//! A differential test with stock OpenSSH. Both must reach the same verdict about signatures,
//! intact or damaged, and about revocation lists. Tests name each case in which we refuse more. We
//! must never accept what OpenSSH refuses.

use crate::oracle;
use crate::soft;

use oracle::{KeygenOracle, OracleQuestion, SeededRng, our_answer, time};
use policies::{AllowedSigners, RevokedKeys, SignatureError, SshSignature};
use soft::{PRESENT, SoftKey, VERIFIED, armour};

const NAMESPACE: &str = policies::APPROVE_NAMESPACE;
const MESSAGE: &[u8] = b"exactly these bytes\n";

fn keys() -> [SoftKey; 4] {
    [
        SoftKey::ed25519(1),
        SoftKey::p256(2),
        SoftKey::ed25519(3).in_security_key("ssh:", PRESENT, 7),
        SoftKey::p256(4).in_security_key("ssh:approve", PRESENT | VERIFIED, 8),
    ]
}

#[test]
fn we_and_openssh_revoke_the_same_keys() {
    let Some(oracle) = KeygenOracle::open("we_and_openssh_revoke_the_same_keys") else { return };
    let ring = keys();
    let ca = oracle.key("ca", "ed25519");
    let keys: Vec<String> = ring.iter().map(SoftKey::public).collect();
    let (a, b, c, d) = (&keys[0], &keys[1], &keys[2], &keys[3]);
    let rsa = &oracle.key("rsa", "rsa");
    let lists: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("explicit", oracle.revocations(&format!("{a}\nkey: {c}\n"), None)),
        ("sha1", oracle.revocations(&format!("sha1: {b}\nsha1: {d}\n"), None)),
        ("sha256", oracle.revocations(&format!("sha256: {a}\nsha256: {d}\n"), None)),
        ("all", oracle.revocations(&format!("{a}\nsha1: {b}\nsha256: {c}\n"), None)),
        ("certificates", oracle.revocations(&format!("serial: 5-9\nid: x\n{b}\n"), Some(&ca))),
        ("empty list", oracle.revocations("", None)),
        ("plain", format!("# gone\n{b}\n\n  {c} with a comment\n").into_bytes()),
        ("plain of another kind", format!("{rsa}\n{d}\n").into_bytes()),
        ("plain and broken", format!("{a}\nnonsense here\n").into_bytes()),
        ("plain, cut", a.as_bytes()[..a.len() - 3].to_vec()),
        ("plain, no key", b"ssh-ed25519\n".to_vec()),
        ("plain, mislabelled", a.replacen("ssh-ed25519", "ssh-rsa", 1).into_bytes()),
        ("bytes", vec![0xff; 40]),
    ];
    let (mut good, mut bad) = (0, 0);
    for (name, list) in &lists {
        for key in &ring {
            let signers = format!("alice {}\n", key.public());
            let signature = key.sign(NAMESPACE, MESSAGE).bytes;
            let agreed = agree_on_revocation(&oracle, &signers, &signature, list, name);
            if agreed { good += 1 } else { bad += 1 }
        }
    }
    assert!(good >= 15 && bad >= 15, "{good} good, {bad} bad");
}

/// Returns whether both count the signature, and checks that they agree. OpenSSH reads nothing
/// after a key that it found. A list that we cannot read as a whole revokes every key.
fn agree_on_revocation(
    oracle: &KeygenOracle,
    signers: &str,
    signature: &[u8],
    list: &[u8],
    name: &str,
) -> bool {
    let plain = OracleQuestion::of_alice(signers, signature, MESSAGE);
    let question = OracleQuestion { revoked: Some(list), ..plain };
    let stock = oracle.verifies(&question);
    let we = RevokedKeys::parse(list).is_ok_and(|revoked| {
        let signers = AllowedSigners::parse(signers).expect("a line").with_revoked(revoked);
        our_answer(&question, &signers, time("2026-02-09T16:00:00Z"))
    });
    assert_eq!(we, stock, "{name}: {list:02x?}");
    we
}

#[test]
fn we_and_openssh_refuse_the_same_damaged_revocation_lists() {
    let Some(oracle) =
        KeygenOracle::open("we_and_openssh_refuse_the_same_damaged_revocation_lists")
    else {
        return;
    };
    let (key, other) = (SoftKey::ed25519(1), SoftKey::p256(2).public());
    let signers = format!("alice {}\n", key.public());
    let signature = key.sign(NAMESPACE, MESSAGE).bytes;
    let lines = format!("sha1: {other}\nsha256: {other}\n{other}\n");
    let list = oracle.revocations(&lines, None);
    assert!(agree_on_revocation(&oracle, &signers, &signature, &list, "whole"));
    let mut dice = SeededRng::new(7);
    for _ in 0..60 {
        let end = dice.below(list.len());
        agree_on_revocation(&oracle, &signers, &signature, &list[..end], "cut");
        let mut flipped = list.clone();
        flipped[dice.below(list.len())] ^= 1 << dice.below(8);
        agree_on_revocation(&oracle, &signers, &signature, &flipped, "one bit");
    }
    let longer = [&list[..], &[9, 0, 0, 0, 0]].concat();
    assert!(!agree_on_revocation(&oracle, &signers, &signature, &longer, "unknown section"));
}

#[test]
fn we_and_openssh_refuse_the_same_damaged_signatures() {
    let Some(oracle) = KeygenOracle::open("we_and_openssh_refuse_the_same_damaged_signatures")
    else {
        return;
    };
    let ring = keys();
    let mut dice = SeededRng::new(11);
    let mut still_good = 0;
    for key in &ring {
        let line = format!("alice {}\n", key.public());
        let signers = AllowedSigners::parse(&line).expect("a line");
        let good = key.signature(NAMESPACE, MESSAGE);
        let mut agree = |blob: &[u8], what: &str| {
            let armoured = armour(blob);
            let question = OracleQuestion::of_alice(&line, &armoured, MESSAGE);
            let we = our_answer(&question, &signers, time("2026-02-09T16:00:00Z"));
            let stock = oracle.verifies(&question);
            // Version 0 never existed. OpenSSH accepts it; we do not.
            let version_0 = blob.get(6..10) == Some(&[0; 4]);
            assert!(we == stock || (version_0 && !we), "{what} of {}: {blob:02x?}", key.kind());
            still_good += usize::from(we);
        };
        agree(&good, "good");
        for _ in 0..40 {
            let mut flipped = good.clone();
            flipped[dice.below(good.len())] ^= 1 << dice.below(8);
            agree(&flipped, "one bit");
        }
        for _ in 0..10 {
            agree(&good[..dice.below(good.len())], "cut");
        }
        agree(&[&good[..], &[0]].concat(), "one byte more");
    }
    assert!(still_good >= ring.len());
}

#[test]
fn we_and_openssh_read_the_same_armour() {
    let Some(oracle) = KeygenOracle::open("we_and_openssh_read_the_same_armour") else { return };
    let key = SoftKey::ed25519(1);
    let signers = format!("alice {}\n", key.public());
    let text = String::from_utf8(key.sign(NAMESPACE, MESSAGE).bytes).unwrap();
    for (what, armoured) in [
        ("as it is", text.clone()),
        ("CRLF", text.replace('\n', "\r\n")),
        ("text behind it", format!("{text}and more\n")),
        ("no last newline", text.trim_end().to_owned()),
        (
            "one line",
            text.replacen("-----\n", "-----\u{1}", 1).replace('\n', "").replace('\u{1}', "-----\n"),
        ),
        ("blanks inside", text.replacen("\nU", "\n \t U", 1)),
        ("a blank before it", format!(" {text}")),
        ("a line before it", format!("\n{text}")),
        ("a blank behind the head", text.replacen("-----\n", "----- \n", 1)),
        ("another head", text.replacen("BEGIN SSH", "BEGIN PGP", 1)),
        ("no end", text.replacen("END", "ENG", 1)),
        ("a strange character", text.replacen("\nU", "\n-U", 1)),
        ("padding in the middle", text.replacen("\nU", "\n=U", 1)),
        ("NUL inside", text.replacen("\nU", "\n\0U", 1)),
        ("nothing inside", "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n".into()),
        ("nothing", String::new()),
    ] {
        let at = time("2026-02-09T16:00:00Z");
        let question = OracleQuestion::of_alice(&signers, armoured.as_bytes(), MESSAGE);
        let we = our_answer(&question, &AllowedSigners::parse(&signers).unwrap(), at);
        let stock = oracle.verifies(&question);
        // OpenSSH 10 accepts it; OpenSSH 9.2 and we do not.
        let crlf = what == "CRLF" && !we;
        assert!(we == stock || crlf, "{what}: {stock}: {armoured:?}");
    }
}

/// OpenSSH verifies an untouched security key's signature; we never do.
#[test]
fn only_we_require_a_touched_security_key() {
    let Some(oracle) = KeygenOracle::open("only_we_require_a_touched_security_key") else { return };
    for (flags, touched) in
        [(PRESENT, true), (PRESENT | VERIFIED, true), (0, false), (VERIFIED, false)]
    {
        for key in [SoftKey::ed25519(5), SoftKey::p256(6)] {
            let key = key.in_security_key("ssh:", flags, 4_000_000_000);
            let signers = format!("alice {}\n", key.public());
            let signature = key.sign(NAMESPACE, MESSAGE).bytes;
            let question = OracleQuestion::of_alice(&signers, &signature, MESSAGE);
            assert!(oracle.verifies(&question), "{} {flags}", key.kind());
            let verified = SshSignature::parse(&signature).unwrap().verify(MESSAGE);
            match verified {
                Ok(verified) => {
                    assert!(touched, "{flags}");
                    let touch = verified.touch().expect("a security key");
                    assert_eq!(touch.counter(), 4_000_000_000);
                    assert_eq!(touch.user_verified(), flags & VERIFIED != 0);
                }
                Err(error) => {
                    assert!(!touched, "{flags}: {error}");
                    assert!(matches!(error, SignatureError::NoTouch { .. }), "{error}");
                }
            }
        }
    }
}

/// Each signature that OpenSSH accepts and we refuse.
#[test]
fn stricter_refusals_are_listed() {
    let Some(oracle) = KeygenOracle::open("stricter_refusals_are_listed") else { return };
    let rsa = oracle.key("rsa", "rsa");
    let signature = oracle.sign("rsa", NAMESPACE, "sha512", MESSAGE);
    let signers = format!("alice {rsa}\n");
    assert!(oracle.verifies(&OracleQuestion::of_alice(&signers, &signature, MESSAGE)));
    let error = SshSignature::parse(&signature).unwrap_err().to_string();
    assert_eq!(error, "key type `ssh-rsa` is not accepted");
    let error = AllowedSigners::parse(&signers).unwrap_err().to_string();
    assert!(error.contains("key type `ssh-rsa` is not accepted"), "{error}");

    let web = SoftKey::ed25519(1).in_security_key("webauthn.example.org", PRESENT, 1);
    let signature = web.sign(NAMESPACE, MESSAGE).bytes;
    let signers = format!("alice {}\n", web.public());
    assert!(oracle.verifies(&OracleQuestion::of_alice(&signers, &signature, MESSAGE)));
    let error = SshSignature::parse(&signature).unwrap_err().to_string();
    assert!(error.contains("made for `webauthn.example.org`, not for SSH"), "{error}");
}

/// A key has one encoding. Otherwise the revocation of one would not revoke the other.
#[test]
fn second_encoding_of_a_key_is_refused() {
    let key = SoftKey::p256(2);
    let short = format!("alice {}\n", key.public_compressed());
    let error = AllowedSigners::parse(&short).expect_err("a second encoding").to_string();
    assert!(error.contains("the ecdsa-sha2-nistp256 key is not a valid point"), "{error}");
    let Some(oracle) = KeygenOracle::open("second_encoding_of_a_key_is_refused") else { return };
    let signature = key.sign(NAMESPACE, MESSAGE).bytes;
    let verifies =
        |signers: &str| oracle.verifies(&OracleQuestion::of_alice(signers, &signature, MESSAGE));
    assert!(!verifies(&short));
    assert!(verifies(&format!("alice {}\n", key.public())));
}

/// Every reader takes bytes from untrusted people. It may only refuse them.
#[test]
fn no_bytes_make_a_reader_panic() {
    let mut dice = SeededRng::new(13);
    let signatures: Vec<Vec<u8>> =
        keys().iter().map(|key| key.signature(NAMESPACE, MESSAGE)).collect();
    let line =
        format!("\"a b,*@c\" namespaces=\"*,!d\",valid-after=\"20200101Z\" {}", keys()[0].public());
    let krl = [b"SSHKRL\n\0\0\0\0\x01", &[0; 32][..], b"\x02\0\0\0\x06\0\0\0\x02ab"].concat();
    assert!(AllowedSigners::parse(&line).is_ok() && RevokedKeys::parse(&krl).is_ok());
    let mut read = [0; 3];
    for _ in 0..20_000 {
        let signature = damaged(&signatures[dice.below(4)], &mut dice);
        read[0] += usize::from(SshSignature::parse(&armour(&signature)).is_ok());
        let line = damaged(line.as_bytes(), &mut dice);
        read[1] += usize::from(AllowedSigners::parse(&String::from_utf8_lossy(&line)).is_ok());
        read[2] += usize::from(RevokedKeys::parse(&damaged(&krl, &mut dice)).is_ok());
    }
    assert!(read.iter().all(|it| (1..20_000).contains(it)), "{read:?}");
}

fn damaged(bytes: &[u8], dice: &mut SeededRng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(3) {
        let (at, byte) = (dice.below(bytes.len().max(1)), dice.below(256).to_le_bytes()[0]);
        match dice.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, byte),
            2 => bytes.insert(at, *dice.pick(b"\"*!,= \n-")),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|it| *it = byte),
        }
    }
    bytes
}
