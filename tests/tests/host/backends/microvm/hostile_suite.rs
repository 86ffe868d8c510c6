//! The cases of `tests/hostile` as the tools of two guests, which run side by side. The table says
//! for each case what it must do in a plain sandbox, and what it did in the guest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolexec_tests::hostile::{
    BuiltCase, CaseDirectory, CaseTable, HostTargets, HostileCase, two_at_a_time,
};
use toolexec_tests::{Bench, CliOutput, Record, RequestText, list, skip, workspace};

use super::super::microvm_scene::{MachineBench, in_guest};
use super::super::static_programs::links_static_programs;
use super::guest_case_end::GuestCaseEnd;

/// Enough for a guest of 151 MiB, less than any case tries to fill.
const MEMORY_MB: u32 = 272;
/// For the cases of a guest together, on a busy host.
const TIME_SEC: u32 = 900;
/// Guests in which the kernel kills the driver too.
const KILLED_DRIVERS_MAX: usize = 5;
/// The words of the driver, and the outcomes of the case that replaces it at the end.
const GUESTS: [(&str, &[&str]); 2] = [
    ("attack limits- limits-sysv_messages", &["ok", "memory_limit"]),
    ("attack not:limits- processes-kill_all", &["ok"]),
];

#[test]
fn every_attack_is_contained_in_a_guest() {
    let test = "every_attack_is_contained_in_a_guest";
    let bench = Bench::new();
    let Some(scene) = MachineBench::of(&bench, test) else { return };
    let Some(place) = CaseDirectory::new() else {
        return skip(test, "needs root: the cases are built in /opt");
    };
    if !links_static_programs(&bench, test) {
        return;
    }
    let cases = HostileCase::all();
    let driver = compiled_driver(place.path());
    let built = BuiltCase::all(&cases, &place);
    scene.make_root("hostile", "python", |tree| add_cases(tree, &driver, &cases, &built));
    let policy = hostile_policy(&scene);
    let host = HostTargets::new();
    let ends = two_at_a_time(&GUESTS, |guest| run_all(&scene, &policy, guest, &host));
    let ends: BTreeMap<_, _> = ends.into_iter().flatten().collect();
    let (texts, wrong) = judge_all(&cases, &ends);
    print_table(&cases, texts);
    assert_eq!(wrong, Vec::<String>::new());
    bench.assert_nothing_left();
}

/// The name of a case in the root image.
fn file_name(case: &HostileCase) -> String {
    let ending = if case.is_python() { ".py" } else { "" };
    format!("{}{ending}", case.name.replace('/', "-"))
}

fn compiled_driver(place: &Path) -> PathBuf {
    let driver = place.join("guest_driver");
    let mut compile = Command::new(workspace().join("tests/hostile/compile"));
    let source = workspace().join("tests/hostile/guest_driver.c");
    CliOutput::of(compile.arg(source).arg(&driver)).assert_code(0);
    driver
}

fn add_cases(tree: &Path, driver: &Path, cases: &[HostileCase], built: &[BuiltCase]) {
    let place = tree.join("hostile/cases");
    fs::create_dir_all(&place).unwrap();
    fs::copy(driver, tree.join("hostile/guest_driver")).unwrap();
    for (case, built) in cases.iter().zip(built) {
        let program = match built {
            BuiltCase::Program(program) => program,
            BuiltCase::Script => &case.path,
            BuiltCase::Unavailable(why) => panic!("{}: {why}", case.name),
        };
        fs::copy(program, place.join(file_name(case))).unwrap();
    }
}

/// The policy of the bench with the driver as a program. Few files may be in `/out`, so that a case
/// reaches their number.
fn hostile_policy(scene: &MachineBench<'_>) -> PathBuf {
    let roots = ", roots: {hostile: {words: {attack: /hostile/guest_driver}}}";
    let usual = fs::read_to_string(scene.policy(&scene.entry("tcg", roots))).unwrap();
    let text = usual.replacen("out_inodes_max: 65536", "out_inodes_max: 1024", 1);
    assert_ne!(text, usual);
    scene.bench().scratch().file("hostile.yaml", text)
}

/// Runs the selected cases. The OOM killer cannot reap page tables or pipes: a case of `limits/` may
/// still hold its memory when the kernel looks for the next process, which is then the driver. The
/// cases after it run in another guest.
fn run_all(
    scene: &MachineBench<'_>,
    policy: &Path,
    (words, outcomes): &(&str, &[&str]),
    host: &HostTargets,
) -> Vec<(String, GuestCaseEnd)> {
    let mut ends = Vec::new();
    let mut command = (*words).to_owned();
    for _ in 0..=KILLED_DRIVERS_MAX {
        let (outcome, lines) = run(scene, policy, &command, host);
        let (ended, unfinished) = ends_in(&lines);
        ends.extend(ended);
        let Some(case) = unfinished else {
            assert!(outcomes.contains(&outcome.as_str()), "{command}: {outcome}");
            return ends;
        };
        assert_eq!(outcome, "memory_limit", "{command}: the driver ended in {case}");
        command = format!("{words} {case}");
        ends.push((case, GuestCaseEnd::with_its_driver()));
    }
    panic!("{command}: the driver was killed in each guest");
}

/// Runs one guest. Returns the outcome of its run, and the lines of its output.
fn run(
    scene: &MachineBench<'_>,
    policy: &Path,
    command: &str,
    host: &HostTargets,
) -> (String, Vec<String>) {
    // The cases read addresses of the host from their input.
    let request = RequestText::of("python", command).input("script.py", host.case_input());
    let request = in_guest(request).memory_mb(MEMORY_MB).time_sec(TIME_SEC);
    let output = scene.run(&scene.bench().save(&request), policy);
    let record = Record::of(&output);
    assert_eq!(list(&record.path.join("artifacts")), ["microvm.json"], "{command}");
    scene.bench().toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    (record.outcome().to_owned(), record.stdout().lines().map(str::to_owned).collect())
}

/// Returns the ends of the cases of one guest, and the case in which the driver ended. The lines
/// after the row `last` are the output of that case.
fn ends_in(lines: &[String]) -> (Vec<(String, GuestCaseEnd)>, Option<String>) {
    let mut ends = Vec::new();
    let mut unfinished = None;
    for (at, line) in lines.iter().enumerate() {
        let Ok(row) = serde_json::from_str::<Value>(line) else { break };
        if let Some(begins) = row["begins"].as_str() {
            unfinished = Some(begins.to_owned());
        } else if let Some(last) = row["last"].as_str() {
            let printed = lines.get(at + 1..).unwrap_or_default();
            ends.push((last.to_owned(), end_of_last(printed)));
            break;
        } else {
            ends.push((row["case"].as_str().unwrap().to_owned(), end_in(&row)));
            unfinished = None;
        }
    }
    (ends, unfinished)
}

fn end_in(row: &Value) -> GuestCaseEnd {
    let verdict = row["verdict"].as_str().unwrap().to_owned();
    let status = row["status"].as_i64().unwrap();
    GuestCaseEnd { verdict, status, late: row["late"] == true }
}

/// The outcome of the run shows that the last case has started.
fn end_of_last(printed: &[String]) -> GuestCaseEnd {
    let has = |word: &&str| printed.iter().any(|line| line == word);
    let worst = ["ESCAPED", "UNLIMITED", "OPEN", "CONTAINED"].into_iter().find(has);
    GuestCaseEnd { verdict: worst.unwrap_or_default().to_owned(), status: 0, late: false }
}

/// Returns a text for the table for each case, and the cases that are not contained.
fn judge_all(
    cases: &[HostileCase],
    ends: &BTreeMap<String, GuestCaseEnd>,
) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut wrong) = (Vec::new(), Vec::new());
    for case in cases {
        let judged = match ends.get(&file_name(case)) {
            Some(end) => end.judge(&case.name),
            None => Err("did not run".to_owned()),
        };
        if let Err(why) = &judged {
            wrong.push(format!("{}: {why}", case.name));
        }
        texts.push(judged.unwrap_or_else(|why| format!("DIFFERS: {why}")));
    }
    (texts, wrong)
}

/// Prints the table, and writes it beside that of the plain sandbox.
fn print_table(cases: &[HostileCase], texts: Vec<String>) {
    let mut table = CaseTable::of(cases);
    table.column("in the guest", texts);
    let plain = "In a plain sandbox, `every_way_out_is_closed` expects the second column.";
    table.note(plain.to_owned());
    let text = table.markdown();
    println!("{text}");
    // target/<profile>/deps/<test>
    let test = std::env::current_exe().unwrap();
    fs::write(test.ancestors().nth(3).unwrap().join("hostile-microvm.txt"), text).unwrap();
}
