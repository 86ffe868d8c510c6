//! The relying parties of a policy: the domains whose passkeys count, and the pages that may ask for
//! a signature. A passkey must never count unless the policy lists its domain and the exact origin.

use model::escape_line;

use crate::approval::{SignerKey, WebauthnFacts, is_rp_id};
use crate::problem::Problems;
use crate::raw::RawRelyingParty;

const KEY: &str = "approval.webauthn";
/// A person compares each with the address bar, so there are few.
const PARTIES_MAX: usize = 16;
const ORIGINS_MAX: usize = 16;
/// The only host for which browsers allow passkeys without TLS.
const LOCALHOST: &str = "localhost";

/// The relying parties whose passkeys count; none by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelyingParties(Vec<RelyingParty>);

/// One domain, the pages that may ask, and the demands on its passkeys.
#[derive(Clone, Debug)]
pub(crate) struct RelyingParty {
    rp_id: String,
    origins: Vec<String>,
    user_verification: bool,
    synced: bool,
}

impl RelyingParties {
    pub(crate) fn check(forms: &[RawRelyingParty], problems: &mut Problems<'_>) -> Self {
        if forms.len() > PARTIES_MAX {
            let what = format!("more than {PARTIES_MAX} domains");
            problems.add(KEY, what, "list fewer");
        }
        let mut parties: Vec<RelyingParty> = Vec::new();
        for form in forms {
            let rp_id = &form.rp_id;
            if !is_rp_id(rp_id) {
                let what = format!("`{}` is not a domain in lower case", escape_line(rp_id));
                problems.add(KEY, what, "write the domain alone, without scheme and port");
            }
            if parties.iter().any(|party| party.rp_id == *rp_id) {
                let what = format!("`{}` appears twice", escape_line(rp_id));
                problems.add(KEY, what, "list its origins in one entry");
            }
            parties.push(RelyingParty {
                rp_id: rp_id.clone(),
                origins: origins(form, problems),
                user_verification: form.user_verification,
                synced: form.synced,
            });
        }
        Self(parties)
    }

    /// Returns whether signatures of this key can count: it is not a passkey, or its domain is
    /// listed.
    pub(crate) fn may_count(&self, key: &SignerKey) -> bool {
        key.rp_id().is_none_or(|rp_id| self.party(rp_id).is_some())
    }

    /// Returns the relying party of a verified statement, or the reason why it does not count.
    pub(crate) fn judge(&self, facts: &WebauthnFacts) -> Result<&RelyingParty, String> {
        if self.0.is_empty() {
            return Err(format!("this policy accepts no passkeys ({KEY})"));
        }
        let rp_id = facts.rp_id();
        let party =
            self.party(rp_id).ok_or_else(|| format!("{KEY} does not list its domain `{rp_id}`"))?;
        if !party.origins.iter().any(|origin| origin == facts.origin()) {
            let origin = escape_line(facts.origin());
            return Err(format!("{KEY} does not list the origin `{origin}` for `{rp_id}`"));
        }
        if facts.backup_eligible() && !party.synced {
            return Err(format!(
                "it may be copied to other devices, but {KEY} has synced: false for `{rp_id}`"
            ));
        }
        Ok(party)
    }

    /// Returns the domain whose passkeys count when a page of this origin asks for a signature.
    pub(crate) fn domain_for(&self, origin: &str) -> Option<&str> {
        let has_origin = |party: &&RelyingParty| party.origins.iter().any(|it| it == origin);
        self.0.iter().find(has_origin).map(|party| party.rp_id.as_str())
    }

    fn party(&self, rp_id: &str) -> Option<&RelyingParty> {
        self.0.iter().find(|party| party.rp_id == rp_id)
    }
}

impl RelyingParty {
    /// Returns whether an approval needs a PIN, a finger or a face.
    pub(crate) fn requires_user_verification(&self) -> bool {
        self.user_verification
    }
}

fn origins(form: &RawRelyingParty, problems: &mut Problems<'_>) -> Vec<String> {
    let rp_id = escape_line(&form.rp_id);
    let mut origins: Vec<String> = Vec::new();
    for written in &form.origins {
        let shown = escape_line(written);
        let Some(host) = host_of(written) else {
            let what = format!("`{shown}` is not an origin as browsers write it");
            let advice = "write https://host[:port] in lower case, without the default port and a \
                          final `/`; http is for localhost only";
            problems.add(KEY, what, advice);
            continue;
        };
        if !is_within(host, &form.rp_id) {
            let what = format!("`{shown}` cannot use passkeys of `{rp_id}`");
            problems.add(KEY, what, "write an origin of that domain or below it");
        }
        match origins.contains(written) {
            true => problems.add(KEY, format!("`{shown}` appears twice"), "keep one of them"),
            false => origins.push(written.clone()),
        }
    }
    if form.origins.is_empty() || form.origins.len() > ORIGINS_MAX {
        let what = format!("`{rp_id}` has {} origins, not 1 to {ORIGINS_MAX}", form.origins.len());
        problems.add(KEY, what, "list the origin of each page that may ask");
    }
    origins
}

/// Returns the host of an origin, or `None` if no browser writes it so or allows passkeys there.
fn host_of(origin: &str) -> Option<&str> {
    let (scheme, rest) = origin.split_once("://")?;
    let (host, port) = match rest.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (rest, None),
    };
    let default_port = match scheme {
        "https" => 443,
        "http" if host == LOCALHOST => 80,
        _ => return None,
    };
    let is_port = |text: &str| {
        let port = text.parse::<u16>().ok();
        port.is_some_and(|it| it != 0 && it != default_port && it.to_string() == text)
    };
    (is_rp_id(host) && port.is_none_or(is_port)).then_some(host)
}

/// Returns whether pages of the host may use passkeys of the domain. Nothing below `localhost` may.
fn is_within(host: &str, rp_id: &str) -> bool {
    let below = || host.strip_suffix(rp_id).is_some_and(|it| it.ends_with('.'));
    host == rp_id || (rp_id != LOCALHOST && below())
}

#[cfg(test)]
mod tests {
    use super::{host_of, is_within};

    #[test]
    fn an_origin_is_written_as_browsers_write_it() {
        for (origin, host) in [
            ("https://approve.example", "approve.example"),
            ("https://approve.example:8443", "approve.example"),
            ("http://localhost:8000", "localhost"),
            ("http://localhost", "localhost"),
            ("https://localhost:80", "localhost"),
        ] {
            assert_eq!(host_of(origin), Some(host), "{origin}");
        }
        for origin in [
            "",
            "approve.example",
            "https://",
            "https://approve.example/",
            "https://approve.example:443",
            "https://approve.example:0443",
            "https://approve.example:+8443",
            "https://approve.example:0",
            "https://approve.example:65536",
            "https://approve.example:",
            "https://Approve.example",
            "https://*.example",
            "https://user@approve.example",
            "HTTPS://approve.example",
            "http://approve.example",
            "http://127.0.0.1:8000",
            "http://localhost:80",
            "android:apk-key-hash:x",
            "null",
        ] {
            assert_eq!(host_of(origin), None, "{origin}");
        }
    }

    #[test]
    fn an_origin_is_of_the_domain_or_below_it() {
        assert!(is_within("example.org", "example.org"));
        assert!(is_within("a.b.example.org", "example.org"));
        assert!(!is_within("badexample.org", "example.org"));
        assert!(!is_within("org", "example.org"));
        assert!(!is_within("a.localhost", "localhost"));
    }
}
