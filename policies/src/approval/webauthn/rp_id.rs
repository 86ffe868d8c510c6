//! The names of relying parties: domains as browsers write them. A name must never be one that a
//! browser would write differently, because its digest is signed.

/// The maximum length of a domain, and of one of its labels.
const DOMAIN_MAX: usize = 253;
const LABEL_MAX: usize = 63;

/// Returns whether the text is a domain in lower case. A port, an address or a scheme is none.
pub(crate) fn is_rp_id(text: &str) -> bool {
    let label = |label: &str| {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        (1..=LABEL_MAX).contains(&label.len())
            && label.bytes().all(allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // Browsers read a name whose last label is a number as an IPv4 address.
    let last = text.rsplit('.').next().unwrap_or_default();
    let is_address = last.bytes().all(|b| b.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
    text.len() <= DOMAIN_MAX && !is_address && text.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::is_rp_id;

    #[test]
    fn a_relying_party_is_a_domain_in_lower_case() {
        for name in
            ["localhost", "example.org", "a-b.c1.example", "1.example", "xn--bcher-kva.example"]
        {
            assert!(is_rp_id(name), "{name}");
        }
        let long = "a.".repeat(127) + "a";
        for name in [
            "",
            "ssh:",
            "ssh:approve",
            "Example.org",
            "example.org.",
            ".example.org",
            "a..b",
            "-a.example",
            "a-.example",
            "a_b.example",
            "example.org:443",
            "https://example.org",
            "127.0.0.1",
            "1.2.0x7f",
            "[::1]",
            "b\u{fc}cher.example",
            "a b",
            &"a".repeat(64),
            &long,
        ] {
            assert!(!is_rp_id(name), "{name}");
        }
    }
}
