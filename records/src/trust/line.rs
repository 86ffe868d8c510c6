//! A strict parser of one `allowed_signers` line (OpenSSH): an unknown option is an error. It must
//! never trust a key for more than its line states, nor a key for which anyone can sign.

use model::UtcTime;
use p256::ecdsa::{Signature, VerifyingKey};
use ssh_key::public::KeyData;
use ssh_key::{Algorithm, EcdsaCurve, PublicKey, SshSig};

use crate::result_key::{PublicResultKey, RESULT_NAMESPACE, RESULT_PRINCIPAL};

const NO_KEY: &str = "no key; help: write PRINCIPALS [OPTIONS] KEY-TYPE KEY";
const OPTIONS_HELP: &str = "help: use namespaces, valid-after or valid-before";
const KEY_HELP: &str = "help: copy the key again from `toolexec keys show`";

/// A key with its principals, its namespaces and its validity.
#[derive(Debug)]
pub(super) struct ResultSigner {
    principals: String,
    namespaces: Option<String>,
    valid_after: Option<UtcTime>,
    valid_before: Option<UtcTime>,
    pub(super) key: PublicKey,
    /// The same key, if it is of the type that signs statements.
    pub(super) statements: Option<StatementKey>,
}

/// A P-256 key whose point is on the curve.
#[derive(Debug)]
pub(crate) struct StatementKey(PublicResultKey);

impl StatementKey {
    fn of(public: PublicResultKey) -> Option<Self> {
        let point = public.key().key_data().ecdsa()?.as_sec1_bytes();
        VerifyingKey::from_sec1_bytes(point).ok()?;
        Some(Self(public))
    }

    pub(crate) fn public(&self) -> &PublicResultKey {
        &self.0
    }

    /// Returns whether the DER signature is one of this key over these bytes.
    pub(crate) fn accepts(&self, message: &[u8], der: &[u8]) -> bool {
        self.0.accepts(message, der)
    }

    /// Returns whether the signature in an SSH signature is one of this key over these bytes.
    pub(super) fn accepts_ssh(&self, message: &[u8], signature: &ssh_key::Signature) -> bool {
        Signature::try_from(signature).is_ok_and(|it| self.0.made(message, &it))
    }
}

impl ResultSigner {
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let (principals, rest) = line.split_once([' ', '\t']).ok_or(NO_KEY)?;
        if principals.contains('"') {
            return Err("quoted principals are not supported; help: omit the quotes".to_owned());
        }
        let rest = rest.trim_start();
        let mut signer = Self {
            principals: principals.to_owned(),
            namespaces: None,
            valid_after: None,
            valid_before: None,
            key: PublicKey::new(KeyData::Ed25519(ssh_key::public::Ed25519PublicKey([0; 32])), ""),
            statements: None,
        };
        // Options come before the key type, and no option begins like one.
        let key = if is_key_type(rest) {
            rest
        } else {
            let (options, key) = split_options(rest)?;
            signer.read_options(options)?;
            key
        };
        signer.key = read_key(key)?;
        signer.statements = PublicResultKey::from_key(&signer.key).and_then(StatementKey::of);
        Ok(signer)
    }

    /// Trusts a key for results, without a limit in time.
    pub(super) fn for_results(key: &PublicResultKey) -> Self {
        Self {
            principals: RESULT_PRINCIPAL.to_owned(),
            namespaces: Some(RESULT_NAMESPACE.to_owned()),
            valid_after: None,
            valid_before: None,
            key: key.key().clone(),
            statements: StatementKey::of(key.clone()),
        }
    }

    fn read_options(&mut self, options: &str) -> Result<(), String> {
        let mut rest = options;
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=').unwrap_or((rest, ""));
            let value = after.strip_prefix('"').and_then(|after| after.split_once('"'));
            let shown = model::escape_line(name.split(',').next().unwrap_or(name));
            let name = name.to_ascii_lowercase();
            if !["namespaces", "valid-after", "valid-before"].contains(&name.as_str()) {
                return Err(format!("option `{shown}` is not supported; {OPTIONS_HELP}"));
            }
            let (value, after) = value
                .ok_or(format!("option `{shown}`: its value is not quoted; help: quote it"))?;
            let doubled = match name.as_str() {
                "namespaces" => self.namespaces.replace(value.to_owned()).is_some(),
                "valid-after" => self.valid_after.replace(read_time(value)?).is_some(),
                _ => self.valid_before.replace(read_time(value)?).is_some(),
            };
            if doubled {
                return Err(format!("option `{shown}` is given twice; help: keep one"));
            }
            rest = match after.strip_prefix(',') {
                Some("") => {
                    return Err("the options end with a comma; help: remove it".to_owned());
                }
                Some(next) => next,
                None if after.is_empty() => "",
                None => {
                    let problem = format!("option `{shown}`: text follows its value");
                    return Err(format!("{problem}; help: write a comma or a space after it"));
                }
            };
        }
        Ok(())
    }

    /// Returns whether this key made the signature. The caller has checked its key and namespace.
    pub(super) fn verifies(&self, signature: &SshSig, message: &[u8]) -> bool {
        let Some(known) = &self.statements else {
            return self.key.verify(RESULT_NAMESPACE, message, signature).is_ok();
        };
        let signed = SshSig::signed_data(RESULT_NAMESPACE, signature.hash_alg(), message);
        signed.is_ok_and(|signed| known.accepts_ssh(&signed, signature.signature()))
    }

    pub(super) fn may_sign_results(&self) -> bool {
        let namespaces = self.namespaces.as_deref();
        matches_list(RESULT_PRINCIPAL, &self.principals)
            && namespaces.is_none_or(|list| matches_list(RESULT_NAMESPACE, list))
    }

    /// Returns whether the key is valid at this time. Both ends are included, as in `ssh-keygen`.
    pub(super) fn valid_at(&self, made: UtcTime) -> bool {
        self.valid_after.is_none_or(|after| made >= after)
            && self.valid_before.is_none_or(|before| made <= before)
    }
}

fn is_key_type(text: &str) -> bool {
    let word = text.split([' ', '\t']).next().unwrap_or("");
    ["ssh-", "ecdsa-", "sk-"].iter().any(|family| word.starts_with(family))
}

/// Splits a text into the options, which end at the first space outside quotes, and the rest.
fn split_options(text: &str) -> Result<(&str, &str), String> {
    let mut within = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => within = !within,
            '\\' if within => {
                return Err("a backslash in an option is not supported; help: omit it".to_owned());
            }
            ' ' | '\t' if !within => return Ok((&text[..at], text[at..].trim_start())),
            _ => {}
        }
    }
    Err(if within { "a quote is not closed; help: close it" } else { NO_KEY }.to_owned())
}

fn read_key(text: &str) -> Result<PublicKey, String> {
    if !is_key_type(text) {
        let help = "use ecdsa-sha2-nistp256 or ssh-ed25519";
        return Err(format!("expected a key type before the key; help: {help}"));
    }
    let key = PublicKey::from_openssh(text)
        .map_err(|error| format!("invalid key: {error}; {KEY_HELP}"))?;
    match (key.algorithm(), key.key_data()) {
        (Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 }, _) => Ok(key),
        (Algorithm::Ed25519, KeyData::Ed25519(point)) if is_low_order(&point.0) => {
            let problem = "invalid key: a point of low order, for which anyone can sign";
            Err(format!("{problem}; {KEY_HELP}"))
        }
        (Algorithm::Ed25519, _) => Ok(key),
        (other, _) => Err(format!(
            "key type `{other}` is not accepted; help: use ecdsa-sha2-nistp256 or ssh-ed25519"
        )),
    }
}

/// Parses `YYYYMMDD[HHMM[SS]]Z`. Without the Z it would be local time, unknown to later verifiers.
fn read_time(text: &str) -> Result<UtcTime, String> {
    let shown = model::escape_line(text);
    let wrong = || format!("time `{shown}` is invalid; help: write YYYYMMDDHHMMSSZ");
    let digits = text.strip_suffix(['Z', 'z']).ok_or_else(wrong)?;
    if ![8, 12, 14].contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let full = format!("{digits:0<14}");
    let part = |from: usize, to: usize| full.get(from..to).unwrap_or("");
    let (date, time) =
        ([part(0, 4), part(4, 6), part(6, 8)], [part(8, 10), part(10, 12), part(12, 14)]);
    format!("{}T{}Z", date.join("-"), time.join(":")).parse().map_err(|_| wrong())
}

/// Matches OpenSSH's pattern lists: some pattern matches and no negated one does.
fn matches_list(text: &str, list: &str) -> bool {
    let mut matched = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(negated) if matches(text.as_bytes(), negated.as_bytes()) => return false,
            Some(_) => {}
            None => matched |= matches(text.as_bytes(), pattern.as_bytes()),
        }
    }
    matched
}

/// Matches a pattern: `*` is any text, `?` any one character.
fn matches(text: &[u8], pattern: &[u8]) -> bool {
    // The pattern after the last star, and the text that the star has not consumed yet.
    // Backtracking further is never needed.
    let (mut text, mut pattern) = (text, pattern);
    let mut back: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern.split_first(), text.split_first()) {
            (Some((b'*', rest)), _) => {
                back = Some((rest, text));
                pattern = rest;
            }
            (Some((p, rest)), Some((t, next))) if *p == b'?' || p == t => {
                (pattern, text) = (rest, next);
            }
            (None, None) => return true,
            _ => match back {
                Some((rest, [_, swallowed @ ..])) => {
                    (pattern, text) = (rest, swallowed);
                    back = Some((rest, swallowed));
                }
                _ => return false,
            },
        }
    }
}

/// Returns whether the key is one of the eight points of low order, ignoring the sign bit (as in
/// libsodium's list). A signature for such a key can be made without a private key.
fn is_low_order(point: &[u8; 32]) -> bool {
    const ORDER_8_A: &str = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05";
    const ORDER_8_B: &str = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a";
    let mut unsigned = *point;
    unsigned[31] &= 0x7f;
    let hex: String = unsigned.iter().map(|byte| format!("{byte:02x}")).collect();
    // 0 and 1, and p-1, p, p+1 for p = 2^255-19.
    let small = unsigned[0] <= 1 && unsigned[1..].iter().all(|&byte| byte == 0);
    let near_p = (0xec..=0xee).contains(&unsigned[0])
        && unsigned[1..31].iter().all(|&byte| byte == 0xff)
        && unsigned[31] == 0x7f;
    small || near_p || hex == ORDER_8_A || hex == ORDER_8_B
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    #[track_caller]
    fn refused(line: &str, because: &str) {
        let error = ResultSigner::parse(line).map(|_| ()).unwrap_err();
        assert!(error.contains(because), "{error}");
    }

    #[test]
    fn good_lines_are_read() {
        assert!(ResultSigner::parse(&format!("tool-exec {KEY}")).unwrap().may_sign_results());
        let line = format!(
            "*@host,!x namespaces=\"a,b\",valid-after=\"20260101Z\",\
             valid-before=\"20270101120000Z\" {KEY} a comment"
        );
        let signer = ResultSigner::parse(&line).unwrap();
        assert!(!signer.may_sign_results());
        let before = signer.valid_before.unwrap();
        assert_eq!(before.to_string(), "2027-01-01T12:00:00Z");
        assert!(signer.valid_at(before));
    }

    #[test]
    fn bad_lines_are_named() {
        refused(&format!("tool-exec cert-authority {KEY}"), "cert-authority");
        refused(&format!("tool-exec no-touch {KEY}"), "no-touch");
        refused(&format!("tool-exec namespaces=a {KEY}"), "quoted");
        refused(&format!("tool-exec namespaces=\"a\",namespaces=\"b\" {KEY}"), "twice");
        refused(&format!("tool-exec valid-after=\"20260101\" {KEY}"), "YYYY");
        refused(&format!("tool-exec valid-after=\"20261301Z\" {KEY}"), "YYYY");
        refused(&format!("tool-exec namespaces=\"a\"x {KEY}"), "follows");
        refused(&format!("tool-exec namespaces=\"a {KEY}"), "closed");
        refused("tool-exec", "no key");
        refused("tool-exec ssh-ed25519 AAAA", "invalid key");
        let p384 = "tool-exec ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzd\
                    HAzODQAAABhBPyG40vjh+vjKKx6XZ2UL9/L3LNBF\
                    MkstBeQwzfYrL+ASHflIuumWDVQkNuWHFTG/1dpE1\
                    7E7pUsinw9t36A98vNjk6Z7W1kup2KFeQuJHxCCrzf98hLqi8mjOaivG9LDg==";
        refused(p384, "use ecdsa-sha2-nistp256");
    }

    #[test]
    fn low_order_keys_are_refused() {
        let mut point = [0u8; 32];
        assert!(is_low_order(&point));
        point[31] = 0x80;
        assert!(is_low_order(&point));
        point[5] = 1;
        assert!(!is_low_order(&point));
        let line = "tool-exec ssh-ed25519 \
                    AAAAC3NzaC1lZDI1NTE5AAAAIAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        refused(line, "low order");
    }

    #[test]
    fn patterns_are_those_of_openssh() {
        for (list, expected) in [
            ("tool-exec", true),
            ("tool-exe", false),
            ("tool-*", true),
            ("*", true),
            ("t??l-exec", true),
            ("*-*c", true),
            ("a,tool-exec", true),
            ("*,!tool-*", false),
            ("!other", false),
            ("", false),
        ] {
            assert_eq!(matches_list("tool-exec", list), expected, "{list}");
        }
    }
}
