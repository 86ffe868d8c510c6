//! The check after an edit, in seconds. It starts no sandbox and builds no release program.

use std::collections::BTreeSet;
use std::process::Command;

use crate::run::step;
use crate::workspace::Workspace;

/// Its tests start sandboxes and daemons, except for the source rules.
const WHOLE_PROGRAMS: &str = "toolexec-tests";
/// Print only failures.
const QUIET: [&str; 5] = ["--locked", "--cargo-quiet", "--status-level", "fail", "--no-tests=pass"];

/// Checks the changed crates (formatting, lints, tests), the source rules, and that dependent
/// crates compile. Slow tests are left out (profile `quick` in .config/nextest.toml).
///
/// # Errors
/// The first step that fails.
pub(crate) fn quick(names: &[String]) -> Result<(), String> {
    let workspace = Workspace::read()?;
    let changed = if names.is_empty() { workspace.changed()? } else { workspace.named(names)? };
    step(cargo("fmt").args(["--all", "--check"]))?;
    if changed.is_empty() {
        println!("no crate changed");
    } else {
        lints(&changed, &workspace.dependents(&changed))?;
        tests(changed)?;
    }
    let source_rules = ["-p", WHOLE_PROGRAMS, "--test", "source_rules"];
    step(cargo("nextest").arg("run").args(source_rules).args(QUIET))
}

fn lints(changed: &BTreeSet<String>, dependents: &BTreeSet<String>) -> Result<(), String> {
    let mut clippy = cargo("clippy");
    clippy.args(["--quiet", "--locked", "--all-targets"]).args(selected(changed));
    step(clippy.args(["--", "-D", "warnings"]))?;
    if dependents.is_empty() {
        return Ok(());
    }
    step(cargo("clippy").args(["--quiet", "--locked"]).args(selected(dependents)))
}

fn tests(mut changed: BTreeSet<String>) -> Result<(), String> {
    changed.remove(WHOLE_PROGRAMS);
    if changed.is_empty() {
        return Ok(());
    }
    let mut nextest = cargo("nextest");
    step(nextest.args(["run", "--profile", "quick"]).args(selected(&changed)).args(QUIET))
}

fn selected(names: &BTreeSet<String>) -> Vec<&str> {
    names.iter().flat_map(|name| ["-p", name]).collect()
}

fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(command);
    cargo
}
