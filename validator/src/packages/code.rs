//! Finds installations in program text, even in strings, which code can run. Honest code has none.

use super::{is_installer, plain_name};

/// Calls that install without the name of a tool, in lower case.
const CALLS: [&str; 10] = [
    "bundler/inline",
    "from pip ",
    "pip.main(",
    "pip._internal",
    "micropip.install",
    "ensurepip.bootstrap",
    "venv.create(",
    "install.packages(",
    "pkg.add(",
    "gem.install(",
];

const VERBS: [&str; 9] =
    ["install", "add", "i", "ci", "update", "upgrade", "sync", "dlx", "download"];

/// Returns true for an installation in code or a shell line, `pip install x` or `"pip", "install"`.
pub(crate) fn mentions_install(code: &str) -> bool {
    let lower = code.to_ascii_lowercase();
    if CALLS.iter().any(|call| lower.contains(call)) {
        return true;
    }
    let part = |c: char| c.is_ascii_alphanumeric() || "._-/@".contains(c);
    let mut words = lower.split(|c: char| !part(c)).filter(|word| !word.is_empty());
    let (mut one, mut two) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    while !one.is_empty() {
        let three = words.next().unwrap_or("");
        if installs(one, two, three) {
            return true;
        }
        (one, two) = (two, three);
    }
    false
}

fn installs(one: &str, two: &str, three: &str) -> bool {
    let name = one.rsplit('/').next().unwrap_or(one);
    let verb = |word: &str| VERBS.contains(&word);
    match name {
        "go" => ["get", "install"].contains(&two) && three.contains(['.', '/']),
        "npx" | "uvx" | "pnpx" => !two.is_empty(),
        "pipx" => two == "run" || verb(two),
        _ if !is_installer(name) && !is_installer(plain_name(name)) => false,
        // `apt-get -y install x`
        _ => verb(two) || (two.starts_with('-') && verb(three)) || (two == "pip" && verb(three)),
    }
}
