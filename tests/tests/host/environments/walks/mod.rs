//! Walks through docs/environments.md: the tests type each section that needs other programs or a
//! network. A host that lacks one of them logs a skip. Each walk prints its number of commands and
//! its seconds.

mod rust_toolchain;
mod walked_section;

use std::fs;

use toolexec_tests::{Bench, workspace};

use super::scene::EnvironmentBench;
use rust_toolchain::RustToolchain;
use walked_section::WalkedSection;

toolexec_tests::as_both!(
    pytest_tests_a_package_with_a_lock_file,
    npm_tests_a_package_with_a_lock_file,
    a_tool_of_an_image_runs,
);

/// The first file that apt fetches for the suite of the page.
const MIRROR_PROBE: &str = "mmdebstrap --version > /dev/null\n\
    curl -sSf --max-time 20 -o /dev/null http://deb.debian.org/debian/dists/bookworm/InRelease";
/// Without root, mmdebstrap needs a range of ids.
const ID_RANGE_PROBE: &str = "unshare --user --map-auto --map-root-user true";

/// Gives the user the `uv` that tests/prepare installed, in a directory that every user can read.
fn add_uv(bench: &Bench) {
    let uv = workspace().join("target/tools/oracles/bin/uv");
    let place = bench.scratch().path().join("bin/uv");
    if uv.is_file() && fs::hard_link(&uv, &place).is_err() {
        fs::copy(&uv, &place).unwrap();
    }
}

fn pytest_tests_a_package_with_a_lock_file(bench: &Bench) {
    let _scene = EnvironmentBench::of(bench);
    add_uv(bench);
    let mut walk = WalkedSection::of(bench, "Run pytest");
    walk.write_files();
    if walk.type_if_possible("pytest_tests_a_package_with_a_lock_file") {
        walk.run();
    }
}

fn npm_tests_a_package_with_a_lock_file(bench: &Bench) {
    let _scene = EnvironmentBench::of(bench);
    let mut walk = WalkedSection::of(bench, "Run npm test");
    walk.write_files();
    if walk.type_if_possible("npm_tests_a_package_with_a_lock_file") {
        walk.run();
    }
}

fn a_tool_of_an_image_runs(bench: &Bench) {
    let _scene = EnvironmentBench::of(bench);
    let mut walk = WalkedSection::of(bench, "Run a tool of an image");
    walk.write_files();
    if walk.can("a_tool_of_an_image_runs", "umoci --version && test -x /usr/bin/jq") {
        walk.type_block().assert_code(0);
        walk.run();
    }
}

/// The packages are fetched once, and the ordinary user imports the environment.
#[test]
fn a_tool_of_debian_packages_runs() {
    let test = "a_tool_of_debian_packages_runs";
    let bench = Bench::new();
    let _scene = EnvironmentBench::of(&bench);
    let mut walk = WalkedSection::of(&bench, "Run a tool of Debian packages");
    walk.write_files();
    let has_ids = bench.is_root() || walk.can(test, ID_RANGE_PROBE);
    if !has_ids || !walk.can(test, MIRROR_PROBE) {
        return;
    }
    walk.type_block().assert_code(0);
    walk.run();
    run_as_an_ordinary_user(&bench, test, "Run a tool of Debian packages", &["data.json"]);
}

/// The toolchain is copied once, and the ordinary user imports the environment.
#[test]
fn cargo_tests_a_crate_with_vendored_dependencies() {
    let test = "cargo_tests_a_crate_with_vendored_dependencies";
    let Some(toolchain) = RustToolchain::find(test) else { return };
    let bench = Bench::new();
    let _scene = EnvironmentBench::of(&bench);
    let mut walk = WalkedSection::of(&bench, "Run cargo test");
    toolchain.lend_to(&mut walk);
    walk.write_files();
    if !walk.type_if_possible(test) {
        return;
    }
    walk.type_block().assert_code(0);
    walk.run();
    let names = ["numbers", "sandbox.toml"];
    run_as_an_ordinary_user(&bench, test, "Run cargo test", &names);
}

/// Repeats the run of a walk of root, with its files and its environment.
#[track_caller]
fn run_as_an_ordinary_user(root: &Bench, test: &str, heading: &'static str, names: &[&str]) {
    if !root.is_root() {
        return;
    }
    let Some(bench) = Bench::as_ordinary_user(test) else { return };
    let _scene = EnvironmentBench::of(&bench);
    let mut walk = WalkedSection::of(&bench, heading);
    walk.take_over(root, names);
    walk.run();
}
