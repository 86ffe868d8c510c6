//! The `--help` of every program, and of every command with a manual page. It must never skip a
//! command.

use std::collections::BTreeSet;
use std::fs;

use toolexec_tests::{Bench, CliOutput, assert_snapshot, list, workspace};

/// Returns the commands of `toolexec`, each as its words.
fn commands(bench: &Bench) -> Vec<Vec<String>> {
    let pages = bench.home().join("man1");
    bench.toolexec(["man", "--dir", pages.to_str().unwrap()]).assert_code(0);
    let names = list(&pages);
    let words = |name: &String| {
        let name = name.strip_suffix(".1").unwrap();
        name.split('-').skip(1).map(str::to_owned).collect()
    };
    names.iter().map(words).collect()
}

#[test]
fn every_help_text_matches_the_snapshot() {
    let bench = Bench::new();
    let programs =
        ["toolexecd", "toolexec-launch", "toolexec-egress", "toolexec-console", "toolexec-fleet"];
    let mut helps: Vec<Vec<String>> =
        programs.iter().map(|program| vec![(*program).to_owned()]).collect();
    for words in commands(&bench) {
        helps.push([vec!["toolexec".to_owned()], words].concat());
    }
    assert!(helps.len() > 50, "only {}: the search is broken", helps.len());
    let mut files = BTreeSet::new();
    for words in &helps {
        let mut command = bench.command(&words[0]);
        let output = CliOutput::of(command.args(&words[1..]).arg("--help"));
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{words:?}");
        // `toolexec fleet` and `toolexec-fleet` have files of their own.
        let kind = if words.len() == 1 && words[0] != "toolexec" { "program.txt" } else { "txt" };
        let file = format!("{}.{kind}", words.join("-"));
        assert_snapshot(&format!("help/{file}"), &output.stdout);
        files.insert(file);
    }
    let kept = workspace().join("tests/snapshots/help");
    for file in list(&kept).into_iter().filter(|file| !files.contains(file)) {
        if std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite") {
            fs::remove_file(kept.join(file)).unwrap();
        } else {
            panic!("help/{file}: a snapshot without a command; SNAPSHOTS=overwrite removes it");
        }
    }
}
