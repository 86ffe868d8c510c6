//! The check of a lock file of npm: each package must be an archive of a registry with a digest
//! that npm verifies. npm ignores the digest of a package that it fetches with git, so no name, version
//! or address may lead it there.

use model::quote;
use serde_json::Value;

use crate::source::error::SourceError;

const HELP: &str = "write the lock file again with `npm install --package-lock-only`";
/// Hosts whose addresses npm fetches with git, each also with `www.`.
const GIT_HOSTS: [&str; 5] =
    ["github.com", "gist.github.com", "gitlab.com", "bitbucket.org", "git.sr.ht"];
const DIGESTS: [&str; 3] = ["sha512-", "sha384-", "sha256-"];

/// Checks that each package comes from a registry and has a digest.
pub(super) fn check(file: &str, text: &str) -> Result<(), SourceError> {
    let refused = |problem: &str| SourceError::refused(format!("{file}: {problem}"), HELP);
    let lock: Value =
        serde_json::from_str(text).map_err(|error| refused(&format!("not JSON: {error}")))?;
    let version = lock.get("lockfileVersion").and_then(Value::as_u64);
    if !matches!(version, Some(2 | 3)) {
        return Err(refused("lockfileVersion is not 2 or 3"));
    }
    let packages = lock.get("packages").and_then(Value::as_object);
    let packages = packages.ok_or_else(|| refused("has no `packages`"))?;
    // The entry without a name is the project itself.
    let installed = || packages.iter().filter(|(place, _)| !place.is_empty());
    if installed().next().is_none() {
        return Err(refused("names no packages"));
    }
    for (place, package) in installed() {
        if let Some(problem) = package_problem(place, package) {
            return Err(refused(&format!("{}: {problem}", quote(place))));
        }
    }
    Ok(())
}

fn package_problem(place: &str, package: &Value) -> Option<&'static str> {
    let is_set = |name: &str| package.get(name).and_then(Value::as_bool) == Some(true);
    let text = |name: &str| package.get(name).and_then(Value::as_str).unwrap_or_default();
    if is_set("link") {
        return Some("is a link to a directory");
    }
    let resolved = package.get("resolved");
    // A bundled package is part of the archive of another one, which has the digest.
    if is_set("inBundle") {
        return resolved.map(|_| "is bundled, but has `resolved`");
    }
    let has_digest = text("integrity")
        .split_whitespace()
        .any(|digest| DIGESTS.iter().any(|name| digest.starts_with(name)));
    // npm asks for `NAME@VERSION`, which must not be an address.
    let own = place.rsplit("node_modules/").next().unwrap_or_default();
    let name = package.get("name").map_or(Some(own), Value::as_str).unwrap_or_default();
    match resolved {
        _ if !is_package_name(own) || !is_package_name(name) => {
            Some("has a name that no package of a registry has")
        }
        // Some locks omit the address; npm asks its registry then.
        None if !is_version(text("version")) => Some("has neither `resolved` nor a `version`"),
        Some(url) if !url.as_str().is_some_and(is_tarball) => {
            Some("comes from no registry (`resolved`)")
        }
        _ if !has_digest => Some("has no `integrity` with SHA-2"),
        _ => None,
    }
}

/// Returns whether the name is `NAME` or `@SCOPE/NAME`.
fn is_package_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(is_allowed);
    match name.strip_prefix('@') {
        Some(scoped) => {
            scoped.split_once('/').is_some_and(|(scope, name)| is_word(scope) && is_word(name))
        }
        None => is_word(name),
    }
}

fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || ".+-".contains(c))
}

/// Returns whether npm fetches this address as an archive, and verifies its digest.
fn is_tarball(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://").filter(|rest| !rest.contains('#')) else {
        return false;
    };
    let host = rest.split('/').next().unwrap_or_default().to_ascii_lowercase();
    let host = match host.split_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) => return false,
        None => host.as_str(),
    };
    // Readers of addresses decode, map or drop any other character of a host.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    !host.is_empty()
        && host.chars().all(is_plain)
        && !GIT_HOSTS.contains(&host.strip_prefix("www.").unwrap_or(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\"resolved\":\"https://registry.npmjs.org/a/-/a-1.0.0.tgz\",\
                        \"integrity\":\"sha512-aaaa\"";
    const DIGEST: &str = "\"integrity\":\"sha512-aaaa\"";

    fn problem_at(version: u64, place: &str, package: &str) -> Option<String> {
        let text = format!(
            "{{\"lockfileVersion\":{version},\"packages\":{{\"\":{{}},\
             \"node_modules/a\":{{{GOOD}}},\"{place}\":{{{package}}}}}}}"
        );
        check("package-lock.json", &text).err().map(|error| error.to_string())
    }

    fn problem(version: u64, package: &str) -> Option<String> {
        problem_at(version, "node_modules/b", package)
    }

    #[test]
    fn packages_of_a_registry_with_digests_are_accepted() {
        assert_eq!(problem(3, GOOD), None);
        assert_eq!(problem(2, GOOD), None);
        assert_eq!(problem(3, &format!("\"version\":\"1.0.0-rc.1\",{DIGEST}")), None);
        assert_eq!(problem(3, &format!("\"name\":\"@a/b\",{GOOD}")), None);
        let bundled = "\"version\":\"1.0.0\",\"inBundle\":true";
        assert_eq!(problem_at(3, "node_modules/a/node_modules/@c/d", bundled), None);
    }

    #[test]
    fn other_packages_are_refused_by_name() {
        for (version, package, word) in [
            (1, GOOD, "lockfileVersion"),
            (3, "\"link\":true,\"resolved\":\"packages/a\"", "a link"),
            (3, "\"inBundle\":true,\"resolved\":\"https://a/a.tgz\"", "bundled, but"),
            (3, DIGEST, "nor a `version`"),
            (3, "\"version\":\"github:a/b\",\"integrity\":\"sha512-aaaa\"", "nor a `version`"),
            (3, "\"version\":\"1.0.0\"", "no `integrity`"),
            (3, "\"resolved\":\"git+ssh://git@example.org/a.git#1\"", "no registry"),
            (3, "\"resolved\":\"file:a.tgz\",\"integrity\":\"sha512-aaaa\"", "no registry"),
            (3, "\"resolved\":false,\"integrity\":\"sha512-aaaa\"", "no registry"),
            (3, "\"resolved\":\"https://example.org/a.tgz\"", "no `integrity`"),
            (3, "\"resolved\":\"https://a/a.tgz\",\"integrity\":\"sha1-aaaa\"", "no `integrity`"),
            (3, "\"name\":\"a/b\",\"version\":\"1.0.0\"", "a name that"),
            (3, "\"name\":\"a@github:a/b#\",\"version\":\"1.0.0\"", "a name that"),
        ] {
            let problem = problem(version, package).unwrap_or_default();
            assert!(problem.contains(word), "{package}: {problem}");
            assert!(problem.starts_with("package-lock.json: "), "{problem}");
        }
    }

    #[test]
    fn addresses_that_npm_fetches_with_git_are_refused() {
        for url in ["https://a.example/@a/b/-/b-1.tgz?x=1", "https://a.example:8443/a.tgz"] {
            assert!(is_tarball(url), "{url}");
        }
        for url in [
            "http://a.example/a.tgz",
            "https://github.com/a/b/archive/1.tar.gz",
            "https://GitHub.com/a/b",
            "https://www.gitlab.com/a/b",
            "https://bitbucket.org:443/a/b",
            "https://user@github.com/a/b",
            "https://github.com\\a/b",
            "https://github.com?a/b",
            "https://git%68ub.com/a/b",
            "https:///github.com/a/b",
            "https://a.example/a.tgz#1",
            "https://a.example:x/a.tgz",
        ] {
            assert!(!is_tarball(url), "{url}");
        }
    }
}
