//! The commands of docs/deployment.md are covered by the steps of the package's test or by the
//! build of the package. The steps themselves need a booted system: `.ci/booted`, `.ci/guest`.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{DocPage, workspace};

#[test]
fn every_command_of_the_page_is_a_step_of_the_packages_test() {
    let read = |path: &str| fs::read_to_string(workspace().join(path)).unwrap();
    let (steps, run) = (read("packaging/steps"), read(".ci/run"));
    let mut count = 0;
    for line in DocPage::open("docs/deployment.md").script().lines().filter(|line| !line.is_empty())
    {
        // The rest are files and names, which the steps replace by their own.
        let typed = line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        assert!(
            steps.contains(&typed) || run.contains(&typed),
            "{line}: neither packaging/steps nor .ci/run types {typed}"
        );
        count += 1;
    }
    assert!(count >= 9, "only {count} commands: the search is broken");
}

/// Every unit has an exposure check, and the package contains all units.
#[test]
fn every_unit_is_checked_and_packaged() {
    let check = fs::read_to_string(workspace().join("systemd/check")).unwrap();
    let manifest = fs::read_to_string(workspace().join("cli/Cargo.toml")).unwrap();
    for kind in ["service", "socket"] {
        assert!(manifest.contains(&format!("../systemd/*.{kind}")), "{kind}");
    }
    for entry in fs::read_dir(workspace().join("systemd")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(unit) = name.strip_suffix(".service") {
            assert!(check.contains(&format!("{unit}.service ")), "{name} has no exposure");
        }
    }
}
