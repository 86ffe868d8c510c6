//! The hostile suite: every case in both modes and under other launchers, one table of the results,
//! and no leftovers. The table goes to stdout and to `hostile.txt` in the target directory.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use toolexec_tests::hostile::{
    BuiltCase, CaseDirectory, CaseMode, CaseRun, CaseRunner, CaseTable, CaseVerdict,
    ForeignLauncher, HostLeftovers, HostTargets, HostileCase, OtherLauncherRunner, judge,
    two_at_a_time,
};
use toolexec_tests::{Bench, skip};

/// A case that differs in these faults in both modes, for a reason that is known.
struct KnownGap {
    case: &'static str,
    faults: [&'static str; 2],
    /// Why in system mode, and why in user mode.
    why: [&'static str; 2],
}

const MOUNT_TABLE: &str = "/proc/self/mountinfo names the staging slot's host path";
const SHARED_LOCKS: &str = "locks on files of the runtime are seen by other runs";

/// Each is printed as `KNOWN GAP`. A case without its faults, or with others, is an error.
const KNOWN_GAPS: &[KnownGap] = &[
    KnownGap {
        case: "files/mount_table",
        faults: ["it says OPEN", "no line \"CONTAINED\""],
        why: [MOUNT_TABLE; 2],
    },
    KnownGap {
        case: "ipc/fcntl_pair",
        faults: ["it says ESCAPED", "no line \"CONTAINED\""],
        why: [SHARED_LOCKS; 2],
    },
    KnownGap {
        case: "ipc/flock_runtime_pair",
        faults: ["it says ESCAPED", "no line \"flock DONE\""],
        why: [SHARED_LOCKS; 2],
    },
    KnownGap {
        case: "limits/file_locks",
        faults: ["it says UNLIMITED", "outcome ok 0, not memory_limit"],
        why: [
            "the kernel charges file locks to no control group",
            "kernel memory of file locks is not sampled",
        ],
    },
];

/// Selects the cases whose name contains this text.
const ONLY: &str = "TOOLEXEC_HOSTILE_ONLY";
/// The file for the table, instead of `hostile.txt` in the target directory.
const TABLE: &str = "TOOLEXEC_HOSTILE_TABLE";

#[test]
fn every_way_out_is_closed() {
    let Some(place) = CaseDirectory::new() else {
        return skip("every_way_out_is_closed", "needs root: sandboxes mount programs from /opt");
    };
    let begun = Instant::now();
    let only = std::env::var(ONLY).unwrap_or_default();
    let cases: Vec<_> =
        HostileCase::all().into_iter().filter(|case| case.name.contains(&only)).collect();
    assert!(cases.len() >= 250 || !only.is_empty(), "only {} cases", cases.len());
    let built = BuiltCase::all(&cases, &place);
    let host = HostTargets::new();
    let mut table = CaseTable::of(&cases);
    let mut wrong = Vec::new();
    for mode in CaseMode::ALL.iter().copied() {
        run_mode(mode, &cases, &built, &host, &mut table, &mut wrong);
    }
    println!("our columns took {:?}", begun.elapsed());
    for launcher in ForeignLauncher::ALL {
        run_elsewhere(launcher, &cases, &built, &place, &host, &mut table);
    }
    table.note(format!("The whole suite took {} s.", begun.elapsed().as_secs()));
    let text = table.markdown();
    println!("{text}");
    if let Some(file) = table_file(&only) {
        fs::write(file, &text).unwrap();
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Returns the file for the table: the requested one, or the default if no cases are left out.
fn table_file(only: &str) -> Option<PathBuf> {
    let named = std::env::var_os(TABLE).map(PathBuf::from);
    named.or_else(|| {
        // target/<profile>/deps/<test>
        let test = std::env::current_exe().unwrap();
        only.is_empty().then(|| test.ancestors().nth(3).unwrap().join("hostile.txt"))
    })
}

/// Runs all cases in one mode, which adds one column.
fn run_mode(
    mode: CaseMode,
    cases: &[HostileCase],
    built: &[BuiltCase],
    host: &HostTargets,
    table: &mut CaseTable,
    wrong: &mut Vec<String>,
) {
    let test = format!("hostile::{}", mode.as_str());
    let bench = match mode {
        CaseMode::System => Bench::as_root(&test),
        CaseMode::User => Bench::as_ordinary_user(&test),
    };
    let Some(bench) = bench else {
        return table.column(mode.as_str(), vec!["skipped".to_owned(); cases.len()]);
    };
    let runner = CaseRunner::new(mode, bench, host);
    runner.warm_up();
    let before = HostLeftovers::now();
    let all: Vec<_> = cases.iter().zip(built).collect();
    let results = two_at_a_time(&all, |(case, built)| run_case(&runner, case, built));
    for (case, (verdict, _)) in cases.iter().zip(&results) {
        match verdict {
            CaseVerdict::Differs(in_what) => {
                wrong.push(format!("{} ({}): {in_what:?}", case.name, mode.as_str()));
            }
            // Logged like a skip, so that the summary of a passing suite shows it.
            CaseVerdict::Known(why) => {
                skip(&format!("{test}::{}", case.name), &format!("KNOWN GAP: {why}"));
            }
            CaseVerdict::Skipped(why) => skip(&format!("{test}::{}", case.name), why),
            CaseVerdict::Expected => {}
        }
    }
    let row = |(verdict, got): &(CaseVerdict, Option<CaseRun>)| verdict.table_text(got.as_ref());
    table.column(mode.as_str(), results.iter().map(row).collect());
    runner.check_records();
    let left = HostLeftovers::left_since(&before);
    table.note(format!("Left behind in {} mode: {}.", mode.as_str(), join_or_nothing(&left)));
    wrong.extend(left.into_iter().map(|line| format!("left behind ({}): {line}", mode.as_str())));
}

fn join_or_nothing(left: &[String]) -> String {
    if left.is_empty() { "nothing".to_owned() } else { left.join(", ") }
}

fn run_case(
    runner: &CaseRunner,
    case: &HostileCase,
    built: &BuiltCase,
) -> (CaseVerdict, Option<CaseRun>) {
    if let BuiltCase::Unavailable(why) = built {
        return (CaseVerdict::Skipped(why.clone()), None);
    }
    if let Some(why) = unmet_requirement(case) {
        return (CaseVerdict::Skipped(why), None);
    }
    let known = KNOWN_GAPS.iter().find(|gap| gap.case == case.name);
    // Of several sandboxes at once, the worst result counts.
    let judged = runner.run(case, built).into_iter().map(|got| {
        let verdict = judge(case, runner.mode, &got);
        let verdict = match known {
            Some(gap) => gap.judge(runner.mode, verdict),
            None => verdict,
        };
        (verdict, got)
    });
    let (verdict, got) = judged.max_by_key(|(verdict, _)| severity(verdict)).unwrap();
    let verdict = match (known, verdict) {
        (Some(_), CaseVerdict::Expected) => {
            CaseVerdict::Differs(vec!["no gap any more: take it off the list".to_owned()])
        }
        (_, verdict) => verdict,
    };
    if let CaseVerdict::Differs(_) = verdict {
        println!("{} ({}): {}", case.name, runner.mode.as_str(), got.brief());
    }
    (verdict, Some(got))
}

impl KnownGap {
    fn judge(&self, mode: CaseMode, verdict: CaseVerdict) -> CaseVerdict {
        let [system, user] = self.why;
        let why = if mode == CaseMode::System { system } else { user };
        match verdict {
            CaseVerdict::Differs(faults) if faults == self.faults => {
                CaseVerdict::Known(why.to_owned())
            }
            verdict => verdict,
        }
    }
}

fn severity(verdict: &CaseVerdict) -> u8 {
    match verdict {
        CaseVerdict::Expected | CaseVerdict::Skipped(_) => 0,
        CaseVerdict::Known(_) => 1,
        CaseVerdict::Differs(_) => 2,
    }
}

/// Returns a requirement of a case that this host does not meet.
fn unmet_requirement(case: &HostileCase) -> Option<String> {
    match case.first_value("needs", CaseMode::System)? {
        "x86_64" if cfg!(target_arch = "x86_64") => None,
        "setuid root" => None,
        path if path.starts_with('/') && Path::new(path).exists() => None,
        other => Some(format!("needs {other}")),
    }
}

/// Runs all cases under another launcher, which adds one column.
fn run_elsewhere(
    launcher: ForeignLauncher,
    cases: &[HostileCase],
    built: &[BuiltCase],
    place: &CaseDirectory,
    host: &HostTargets,
    table: &mut CaseTable,
) {
    let begun = Instant::now();
    let values = match OtherLauncherRunner::new(launcher, place.path(), host.case_input()) {
        Err(why) => {
            table.note(format!("{}: {why}.", launcher.as_str()));
            vec!["-".to_owned(); cases.len()]
        }
        Ok(elsewhere) => {
            table.note(format!("{}, {}.", launcher.as_str(), launcher.usage()));
            let all: Vec<_> = cases.iter().zip(built).collect();
            two_at_a_time(&all, |(case, built)| elsewhere.run(case, built))
        }
    };
    table.column(launcher.as_str(), values);
    println!("{} took {:?}", launcher.as_str(), begun.elapsed());
}
