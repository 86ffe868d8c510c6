//! The tables of docs/monty.md say what the interpreter has, in both directions. After an update of
//! monty the differences appear here.

use std::fs;
use std::path::Path;
use std::process::Command;

use toolexec_monty::{PythonSource, check};

use crate::support::MontyOutput;

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/monty.md");
    fs::read_to_string(page).unwrap()
}

/// Returns the texts in backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the columns of each row of the table with this head.
fn rows<'a>(page: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let table = page.lines().skip_while(|line| *line != head).skip(2);
    let rows: Vec<Vec<&str>> = table
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty(), "no table: {head}");
    rows
}

#[track_caller]
fn assert_missing(code: &str, is_missing: bool) {
    let problem = check(PythonSource::read("code.py", code.as_bytes()).unwrap(), &[]);
    assert_eq!(problem.is_some(), is_missing, "{code}: {problem:?}");
}

/// Returns a text without its parts in parentheses.
fn without_parentheses(text: &str) -> String {
    let parts = text.split('(').map(|part| part.rsplit(')').next().unwrap());
    parts.collect()
}

#[test]
fn monty_has_each_name_of_the_table_of_modules() {
    let page = page();
    let mut names = 0;
    for row in rows(&page, "| module | has |") {
        let (has, lacks) = row[1].split_once("; not ").unwrap_or((row[1], ""));
        let has = without_parentheses(has.split(';').next().unwrap());
        for module in quoted(row[0]) {
            assert_missing(&format!("import {module}"), false);
            for name in quoted(&has) {
                assert_missing(&format!("from {module} import {name}"), false);
                assert_missing(&format!("import {module}\n{module}.{name}"), false);
                names += 1;
            }
            for name in quoted(lacks) {
                assert_missing(&format!("from {module} import {name}"), true);
                assert_missing(&format!("import {module}\n{module}.{name}()"), true);
            }
        }
    }
    assert!(names > 40, "only {names} names");
}

#[test]
fn monty_has_no_other_module_of_cpython() {
    let page = page();
    let rows = rows(&page, "| module | has |");
    let has: Vec<&str> = rows.iter().flat_map(|row| quoted(row[0])).collect();
    let list = "import sys; print(*sorted(sys.stdlib_module_names))";
    let listed = MontyOutput::of(Command::new("python3").args(["-I", "-S", "-c", list]));
    assert_eq!(listed.status, 0, "{}", listed.err);
    let modules: Vec<&str> = listed.out.split_whitespace().collect();
    assert!(modules.len() > 100, "{modules:?}");
    // `__future__` is a statement rather than a module.
    for module in modules.into_iter().filter(|it| *it != "__future__") {
        assert_missing(&format!("import {module}"), !has.contains(&module));
    }
}

#[test]
fn each_missing_name_of_the_page_is_found() {
    let page = page();
    let rows = rows(&page, "| missing | exception |");
    let with = |name: &str| {
        let row = rows.iter().find(|row| quoted(row[0]).contains(&name));
        quoted(row.unwrap_or_else(|| panic!("no row with {name}"))[0])
    };
    for name in with("super") {
        assert_missing(&format!("print({name})"), true);
    }
    for module in with("argparse") {
        assert_missing(&format!("import {module}"), true);
    }
    for attribute in with("sys.argv") {
        assert_missing(&format!("import sys\nprint({attribute})"), true);
    }
}
