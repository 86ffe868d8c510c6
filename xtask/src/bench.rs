//! Compares a bench of this tree with the same one of an earlier commit. Their runs take turns,
//! because the machine is shared: only ratios within one call are meaningful.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{output, output_of, root, step};
use crate::workspace::Workspace;

/// Smaller changes are not shown.
const CHANGE_MIN: f64 = 0.03;
/// The number of runs of each tree, if `PAIRS` does not set it.
const PAIRS: usize = 10;
/// Units of time, in seconds.
const UNITS: [(&str, f64); 5] =
    [("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// The figures of each row: those of the earlier commit, and those of this tree.
type RowFigures = BTreeMap<RowName, [Vec<f64>; 2]>;
/// The label of a row, and its number among the rows of this label.
type RowName = (String, usize);

/// Builds the bench in both trees, runs each in turn, and prints the rows that changed.
///
/// # Errors
/// The bench or the commit does not exist, or a program fails.
pub(crate) fn bench(args: &[String]) -> Result<(), String> {
    let (name, commit) = match args {
        [name] => (name.as_str(), "HEAD~1"),
        [name, commit] => (name.as_str(), commit.as_str()),
        _ => {
            return Err("xtask bench: expected the name of a bench and at most one commit\n\
                        help: run `cargo xtask bench NAME [COMMIT]`"
                .to_owned());
        }
    };
    let package = Workspace::read()?.package_of_bench(name)?;
    let trees = [check_out(commit)?, root().to_owned()];
    for tree in &trees {
        step(cargo("build", tree).args(["--release", "--workspace"]))?;
        step(bench_program(tree, &package, name).arg("--no-run"))?;
    }
    let mut figures = RowFigures::new();
    for _ in 0..pairs() {
        for (side, tree) in trees.iter().enumerate() {
            let printed = output_of(&mut bench_program(tree, &package, name))?;
            for (row, figure) in rows(&printed) {
                figures.entry(row).or_default()[side].push(figure);
            }
        }
    }
    print!("{}", report(&mut figures, commit));
    Ok(())
}

fn pairs() -> usize {
    std::env::var("PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(PAIRS)
}

/// Checks a commit out below `target/`, where it stays for the next call.
fn check_out(commit: &str) -> Result<PathBuf, String> {
    let tree = root().join("target/bench/tree");
    let revision = output("git", &["rev-parse", "--verify", &format!("{commit}^{{commit}}")])?;
    let mut git = Command::new("git");
    // Without its `.git`, the checkout would replace the files of the repository around it.
    if tree.join(".git").is_file() {
        git.arg("-C").arg(&tree).args(["checkout", "--quiet", "--force", "--detach"]);
    } else {
        git.args(["worktree", "add", "--quiet", "--force", "--detach"]).arg(&tree);
    }
    step(git.arg(revision.trim()))?;
    Ok(tree)
}

fn cargo(command: &str, tree: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args([command, "--quiet", "--locked", "--manifest-path"]).arg(tree.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(tree.join("target"));
    cargo
}

fn bench_program(tree: &Path, package: &str, name: &str) -> Command {
    let mut command = cargo("bench", tree);
    command.args(["-p", package, "--bench", name]);
    command
}

/// Returns the rows of the printed tables, each with its first time or else its first number.
fn rows(printed: &str) -> Vec<(RowName, f64)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (label, figure) in printed.lines().filter_map(row) {
        let number = seen.entry(label).or_default();
        found.push(((label.to_owned(), *number), figure));
        *number += 1;
    }
    found
}

/// Splits a row at two or more spaces: a label, and columns.
fn row(line: &str) -> Option<(&str, f64)> {
    let mut columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
    let label = columns.next().filter(|column| column.contains(char::is_alphabetic))?;
    let columns: Vec<(f64, bool)> = columns.filter_map(figure).collect();
    let time = columns.iter().find(|(_, is_time)| *is_time);
    time.or(columns.first()).map(|(figure, _)| (label, *figure))
}

/// Reads a number at the beginning of a column, and whether a unit of time follows it.
fn figure(column: &str) -> Option<(f64, bool)> {
    let end = column.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(column.len());
    let number: f64 = column.get(..end)?.parse().ok()?;
    let unit = column.get(end..)?.split_whitespace().next().unwrap_or_default();
    let seconds = UNITS.iter().find(|(name, _)| *name == unit);
    Some(seconds.map_or((number, false), |(_, seconds)| (number * seconds, true)))
}

fn median(figures: &mut [f64]) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// Returns a line for each row whose median changed, and the number of the others.
fn report(figures: &mut RowFigures, commit: &str) -> String {
    let mut text = format!("medians of this tree, divided by those of {commit}\n");
    let mut unchanged = 0;
    for ((label, number), [before, after]) in figures {
        let Some((before, after)) = median(before).zip(median(after)) else { continue };
        let ratio = after / before;
        // Two times that are too short to measure have no ratio.
        if ratio.is_nan() || (ratio - 1.0).abs() <= CHANGE_MIN {
            unchanged += 1;
            continue;
        }
        let number = if *number == 0 { String::new() } else { format!(" ({})", *number + 1) };
        text.push_str(&format!("{:<60} {ratio:>6.2}\n", format!("{label}{number}")));
    }
    text.push_str(&format!("{unchanged} rows changed by at most 3 %\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_first_time_or_number() {
        let printed = "a title\nname          p50     p90\nready           812     1000    2.02x\n\
                       ready           900\nsign        12.5 us wall   9.0 us CPU\n\
                       \x20 typical request, check      2424 B   61.0 µs  PASS\n";
        let found = rows(printed);
        let wanted = [
            (("ready".to_owned(), 0), 812.0),
            (("ready".to_owned(), 1), 900.0),
            (("sign".to_owned(), 0), 12.5e-6),
            (("typical request, check".to_owned(), 0), 61e-6),
        ];
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for ((name, figure), (wanted_name, wanted)) in found.iter().zip(&wanted) {
            assert_eq!(name, wanted_name);
            assert!((figure - wanted).abs() < wanted / 1e6, "{name:?}: {figure}");
        }
    }

    #[test]
    fn only_changed_rows_are_reported() {
        let name = |label: &str, number| (label.to_owned(), number);
        let mut figures = RowFigures::from([
            (name("same", 0), [vec![10.0, 11.0, 9.0], vec![10.2, 30.0, 1.0]]),
            (name("faster", 1), [vec![10.0], vec![5.0]]),
            (name("new", 0), [vec![], vec![5.0]]),
            (name("none", 0), [vec![0.0], vec![0.0]]),
        ]);
        let text = report(&mut figures, "HEAD~1");
        assert!(text.contains("faster (2)") && text.contains("0.50"), "{text}");
        assert!(!text.contains("same") && !text.contains("new"), "{text}");
        assert!(text.ends_with("2 rows changed by at most 3 %\n"), "{text}");
    }
}
