//! Environment variables that an environment must never set: those that choose libraries of the
//! loader, and those that the sandbox or the policy sets for a run. The build of an environment and
//! the check of a run use this one rule.

/// Begins the variables of the loader.
const LOADER_PREFIX: &str = "LD_";
/// The home, the proxy and the certificates of a run.
const RESERVED: [&str; 8] = [
    "HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "NODE_USE_ENV_PROXY",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
];

/// Returns whether no environment may set this variable. Programs read some of them in lower case,
/// too. `PATH` is not among them: a root may set it.
#[must_use]
pub fn is_reserved_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    upper.starts_with(LOADER_PREFIX) || RESERVED.contains(&upper.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_loader_and_of_a_run_are_reserved() {
        for name in ["LD_PRELOAD", "LD_LIBRARY_PATH", "HOME", "https_proxy", "No_Proxy"] {
            assert!(is_reserved_variable(name), "{name}");
        }
        for name in ["PATH", "HOMEBREW", "LANG", "OLD_PRELOAD", "PYTHONPATH", ""] {
            assert!(!is_reserved_variable(name), "{name}");
        }
    }
}
