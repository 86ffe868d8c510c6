//! The equality of identifiers: URNs by RFC 8141, section 3, other URIs by the case and percent
//! rules of RFC 3986, section 6.2.2. Two spellings of one identifier must never count as two,
//! because the revocation of one revokes both.

/// Returns the normal form of an identifier. It is equal for two texts if and only if they identify
/// the same object. A text without a scheme is unchanged.
pub(super) fn normal_form(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once(':') else { return text.to_owned() };
    let scheme = scheme.to_ascii_lowercase();
    match scheme.as_str() {
        "urn" => format!("urn:{}", urn(rest)),
        _ => format!("{scheme}:{}", percents(&authority(rest), true)),
    }
}

/// Removes the r-, q- and f-components. A UUID is case-insensitive (RFC 9562, section 4).
fn urn(rest: &str) -> String {
    let end = ["?+", "?=", "#"].iter().filter_map(|mark| rest.find(mark)).min();
    let assigned = &rest[..end.unwrap_or(rest.len())];
    let Some((namespace, name)) = assigned.split_once(':') else { return assigned.to_owned() };
    let namespace = namespace.to_ascii_lowercase();
    let name = match namespace.as_str() {
        "uuid" => name.to_ascii_lowercase(),
        _ => percents(name, false),
    };
    format!("{namespace}:{name}")
}

/// Lowercases host and port. The rest of a URI is case-sensitive.
fn authority(rest: &str) -> String {
    let Some(after) = rest.strip_prefix("//") else { return rest.to_owned() };
    let (authority, path) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
    let host = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, host) = authority.split_at(host);
    format!("//{user}{}{path}", host.to_ascii_lowercase())
}

/// Writes percent-encodings with capital digits, and decodes unreserved characters if requested.
fn percents(text: &str, decode: bool) -> String {
    let mut parts = text.split('%');
    let mut spelled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        match byte {
            Some(byte) if decode && plain(&byte) => spelled.push(char::from(byte)),
            Some(byte) => spelled.push_str(&format!("%{byte:02X}")),
            None => spelled.push('%'),
        }
        spelled.push_str(if byte.is_some() { &part[2..] } else { part });
    }
    spelled
}
