//! Detects package installations in a command, in code and in prose. A tool request must never
//! install anything: its needs are part of the runtime or declared inputs (seed 002, "Forbidden
//! Content"). The tables list installers; a tool must not be added only because it is unusual.

mod argv;
mod code;
mod mention;

pub(crate) use argv::installer;
pub(crate) use code::mentions_install;
pub(crate) use mention::find_mention;

use crate::table::WordTable;

pub(crate) const HINT: &str = "use the packages of the runtime, or declare the module as an input";

/// Tools whose names are not English words.
const UNAMBIGUOUS: WordTable = WordTable::new(&[
    "apk",
    "apt-get",
    "aptitude",
    "asdf",
    "bunx",
    "cabal",
    "choco",
    "conan",
    "conda",
    "corepack",
    "cpan",
    "cpanm",
    "dnf",
    "dpkg",
    "easy_install",
    "eopkg",
    "flatpak",
    "fnm",
    "gdebi",
    "luarocks",
    "mamba",
    "microdnf",
    "micromamba",
    "nix-env",
    "nix-shell",
    "npm",
    "npx",
    "nvm",
    "opam",
    "pacman",
    "paru",
    "pdm",
    "pip-sync",
    "pip3",
    "pipenv",
    "pipx",
    "pixi",
    "pnpm",
    "pnpx",
    "pyenv",
    "rbenv",
    "rpm",
    "rpm-ostree",
    "rustup",
    "tdnf",
    "uvx",
    "vcpkg",
    "virtualenv",
    "winget",
    "xbps-install",
    "yay",
    "zypper",
]);

/// Tools whose names are English words or have another meaning in ordinary text.
const AMBIGUOUS: WordTable = WordTable::new(&[
    "apt", "brew", "bundle", "bundler", "cargo", "composer", "emerge", "gem", "guix", "nix", "pip",
    "poetry", "rye", "scoop", "snap", "spack", "uv", "volta", "yarn", "yum",
]);

fn is_installer(name: &str) -> bool {
    UNAMBIGUOUS.has(name) || AMBIGUOUS.has(name)
}

/// Strips version and suffix: `pip3.12` is pip and `npm.cmd` is npm.
fn plain_name(name: &str) -> &str {
    let name = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}
