//! Standing approvals: each bound refuses what is beyond it, by name, and a second checker, written
//! from the documentation alone, agrees about generated requests. `STANDING_REQUESTS` sets their
//! number: `STANDING_REQUESTS=1000000 cargo test --release -p policies --test policies -- \
//! standing::the_second_checker_agrees --nocapture`.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod generator;
mod passkey;
mod scene;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use model::HostAudience;
use policies::standing::{InputSize, StandingUses, UseRefusal, admits, check_use};
use validator::StandingApproval;

use generator::Generator;
use scene::{StandingCase, TestReference, TestRequest, at, environment};

fn differences(
    standing: &StandingApproval,
    request: &TestRequest,
    host: HostAudience<'_>,
) -> Option<Vec<String>> {
    let parsed = request.parse(standing)?;
    let sizes: Vec<_> = request.sizes().collect();
    let sizes: Vec<_> =
        sizes.iter().map(|(name, bytes)| InputSize { name, bytes: *bytes }).collect();
    Some(match admits(standing, &parsed, host, &sizes) {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(ToString::to_string).collect(),
    })
}

fn desk(number: u8) -> HostAudience<'static> {
    HostAudience::of(Some(if number == 1 { "desk-1" } else { "desk-2" }))
}

const NOT_A_REQUEST: &str = "not a request";

type Change = fn(&mut TestRequest);

/// A change of an admitted request, and a part of the only difference that it makes.
const CHANGES: &[(&str, Change, &str)] = &[
    ("a word more", |it| it.words.push("more".into()), "7 words instead of 6"),
    (
        "a word less",
        |it| {
            it.words.pop();
        },
        "5 words instead of 6",
    ),
    ("an empty word", |it| it.words.insert(2, String::new()), "7 words instead of 6"),
    ("a variable before the command", |it| it.words.insert(1, "A=1".into()), NOT_A_REQUEST),
    ("another program", |it| it.words[0] = "node".into(), "word 1 is another"),
    ("the program by its path", |it| it.words[0] = "/usr/bin/python".into(), NOT_A_REQUEST),
    ("the program in capitals", |it| it.words[0] = "Python".into(), "word 1 is another"),
    ("another script", |it| it.words[1] = "sales-1.csv".into(), "word 2 is another"),
    ("the script by another path", |it| it.words[1] = "./means.py".into(), "word 2 is another"),
    ("a fixed file for the slot's", |it| it.words[2] = "/in/means.py".into(), "{in:table}"),
    ("a file outside", |it| it.words[2] = "/etc/passwd".into(), NOT_A_REQUEST),
    ("a path through ..", |it| it.words[2] = "/in/../in/sales-1.csv".into(), NOT_A_REQUEST),
    ("two slashes", |it| it.words[2] = "/in//sales-1.csv".into(), "{in:table}"),
    ("another beginning", |it| it.words[3] = "--first=7".into(), "{last}"),
    ("no beginning", |it| it.words[3] = "7".into(), "{last}"),
    ("an empty value", |it| it.words[3] = "--last=".into(), "{last}"),
    ("one below", |it| it.words[3] = "--last=0".into(), "{last}"),
    ("one above", |it| it.words[3] = "--last=3651".into(), "{last}"),
    ("a plus sign", |it| it.words[3] = "--last=+7".into(), "{last}"),
    ("a minus sign", |it| it.words[3] = "--last=-7".into(), "{last}"),
    ("a leading zero", |it| it.words[3] = "--last=07".into(), "{last}"),
    ("hexadecimal", |it| it.words[3] = "--last=0x7".into(), "{last}"),
    ("an exponent", |it| it.words[3] = "--last=7e1".into(), "{last}"),
    ("a decimal point", |it| it.words[3] = "--last=7.0".into(), "{last}"),
    ("a blank", |it| it.words[3] = "--last= 7".into(), "{last}"),
    ("Arabic-Indic digits", |it| it.words[3] = "--last=\u{667}".into(), "{last}"),
    ("beyond 64 bits", |it| it.words[3] = "--last=18446744073709551623".into(), "{last}"),
    ("an option as text", |it| it.words[4] = "--config".into(), "{column}"),
    ("a dash", |it| it.words[4] = "-".into(), "{column}"),
    ("a command in text", |it| it.words[4] = "a;id".into(), "{column}"),
    ("a substitution in text", |it| it.words[4] = "$(id)".into(), "{column}"),
    ("a tilde", |it| it.words[4] = "~".into(), NOT_A_REQUEST),
    ("a variable", |it| it.words[4] = "$HOME".into(), "{column}"),
    ("a slash in text", |it| it.words[4] = "a/b".into(), "{column}"),
    ("two words in one", |it| it.words[4] = "a --exec".into(), "{column}"),
    ("text too long", |it| it.words[4] = "a".repeat(33), "{column}"),
    ("text that begins with a digit", |it| it.words[4] = "7a".into(), "{column}"),
    ("the name of the parameter", |it| it.words[4] = "{column}".into(), "{column}"),
    ("a star", |it| it.words[4] = "*".into(), "{column}"),
    ("a choice in capitals", |it| it.words[5] = "Week".into(), "{by}"),
    ("a choice and a blank", |it| it.words[5] = "week ".into(), "{by}"),
    ("the beginning of a choice", |it| it.words[5] = "wee".into(), "{by}"),
    (
        "other bytes of the script",
        |it| it.inputs[0].1 = digest(b"other"),
        "`means.py` has other bytes",
    ),
    (
        "no script",
        |it| {
            it.inputs.remove(0);
        },
        NOT_A_REQUEST,
    ),
    ("a module beside it", |it| it.add("pandas.py", 7), "`pandas.py` is not foreseen"),
    ("a folder for a table", |it| it.add("sales-2.csv/", 7), "`sales-2.csv/` is not foreseen"),
    ("a name of another form", |it| it.add("people.csv", 7), "`people.csv` is not foreseen"),
    ("a table too large", |it| it.inputs[1].2 = Some((8 << 20) + 1), "`sales-1.csv` is too large"),
    ("a size that is unknown", |it| it.inputs[1].2 = None, "is too large"),
    ("more cores", |it| it.cpu = "1.001".into(), "cpu_limit"),
    ("more memory", |it| it.memory_mb = 513, "memory_limit_mb"),
    ("more time", |it| it.time_sec = 61, "time_limit_sec"),
    ("a host", |it| it.hosts.push("a.example".into()), "a.example:443 is not listed"),
    ("an output more", |it| it.outputs.push("b.json".into()), "`b.json` is in one of both only"),
    ("an output less", |it| it.outputs.clear(), "`mean.json` is in one of both only"),
    (
        "a constraint less",
        |it| {
            it.constraints.pop();
        },
        "`No persistence` is missing",
    ),
    (
        "an environment",
        |it| it.environment = Some(environment("charts", "1")),
        "environment: not that of the standing approval",
    ),
    ("a higher risk", |it| it.risk = "medium", "risk"),
    ("a higher sensitivity", |it| it.sensitivity = "confidential", "sensitivity"),
    ("another agent", |it| it.agent = Some(("fetch".into(), "wf-1".into())), "agent is not listed"),
    ("an agent in capitals", |it| it.agent = Some(("Core".into(), "wf-1".into())), "agent is not"),
    ("no agent", |it| it.agent = None, "agent is not listed"),
    ("another host", |it| it.audience = Some("desk-2".into()), "names another host"),
    ("no host", |it| it.audience = None, "names another host"),
    ("another document", |it| it.reference = TestReference::OtherBytes, "x-standing"),
    ("no standing approval", |it| it.reference = TestReference::None, "x-standing"),
    ("an extension key", |it| it.extra = "x-other: \"1\"\n", "extension key"),
    ("another approver", |it| it.approved_by = "alice".into(), "approved_by"),
    ("another time of approval", |it| it.approved = "2026-02-09T16:12:01Z".into(), "approved_utc"),
];

fn digest(bytes: &[u8]) -> model::Sha256 {
    model::Sha256::of(bytes)
}

#[test]
fn each_difference_is_refused_and_named() {
    let standing = StandingCase::means().parse();
    let good = TestRequest::means();
    assert_eq!(differences(&standing, &good, desk(1)), Some(Vec::new()));
    let mut wrong = Vec::new();
    for (name, change, expected) in CHANGES {
        let mut request = good.clone();
        change(&mut request);
        // Some changes are refused before, by the check of the request's text.
        let found = differences(&standing, &request, desk(1));
        let found = found.unwrap_or_else(|| vec![NOT_A_REQUEST.to_owned()]);
        if !found.iter().any(|it| it.contains(expected)) {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The host that reads the request.
    let found = differences(&standing, &good, desk(2)).unwrap();
    assert_eq!(found, ["x-audience: this host is another"]);
    // A host with this label.
    let labels = ["desk-1".to_owned()];
    assert_eq!(differences(&standing, &good, desk(2).with_labels(&labels)), Some(Vec::new()));
    // Changes within the bounds: fewer resources, another constraint more, another purpose.
    let mut less = good.clone();
    (less.memory_mb, less.time_sec, less.cpu) = (1, 1, "0.5".into());
    less.constraints.push("Be quick".into());
    less.sensitivity = "public";
    assert_eq!(differences(&standing, &less, desk(1)), Some(Vec::new()));
}

/// The digest decides what runs, but the name is part of what people read and sign.
#[test]
fn only_the_same_environment_is_admitted() {
    let its = environment("charts", "1");
    let case = StandingCase { environment: Some(its.clone()), ..StandingCase::means() };
    let standing = case.parse();
    let differences_of = |environment: Option<String>| {
        let request = TestRequest { environment, ..TestRequest::means() };
        differences(&standing, &request, desk(1)).unwrap()
    };
    assert_eq!(differences_of(Some(its)), [""; 0]);
    for other in [None, Some(environment("charts", "2")), Some(environment("plots", "1"))] {
        let found = differences_of(other.clone());
        assert_eq!(found, ["environment: not that of the standing approval"], "{other:?}");
    }
}

/// The digest of a folder is that of its tree, and its size that of all its files.
#[test]
fn a_fixed_folder_is_compared_as_a_file() {
    let mut case = StandingCase::means();
    let folder = format!("[{{\"name\": \"rates/\", \"sha256\": \"{}\"}}, ", digest(b"tree"));
    case.inputs = case.inputs.replacen('[', &folder, 1);
    let standing = case.parse();
    let differences_of = |name: &str, content: &[u8], bytes: u64| {
        let mut request = TestRequest::means();
        request.inputs.push((name.to_owned(), digest(content), Some(bytes)));
        differences(&standing, &request, desk(1)).unwrap().join("\n")
    };
    assert_eq!(differences_of("rates/", b"tree", 7), "");
    let other = differences_of("rates/", b"other", 7);
    assert_eq!(other, "inputs: `rates/` has other bytes");
    let large = differences_of("rates/", b"tree", 9 << 20);
    assert_eq!(large, "inputs_bytes_max: the request's is higher");
    for name in ["rates", "RATES/", "rates/a"] {
        let found = differences_of(name, b"tree", 7);
        assert!(found.contains(&format!("`{name}` is not foreseen")), "{found}");
        assert!(found.contains("`rates/` is missing"), "{found}");
    }
}

/// Such a request has its script as `/in/means.py`: the tool starts in the folder's copy.
#[test]
fn only_the_same_patch_is_admitted() {
    let mut case = StandingCase::means();
    let tree = digest(b"tree");
    let folder = |name: &str| format!("{{\"name\": \"{name}\", \"sha256\": \"{tree}\"}}, ");
    let folders = format!("[{}{}", folder("repo/"), folder("docs/"));
    case.inputs = case.inputs.replacen('[', &folders, 1);
    case.words[1] = "/in/means.py".to_owned();
    let differences_of = |case: &StandingCase, patch_of: Option<&str>| {
        let mut request = TestRequest::means();
        request.words[1] = "/in/means.py".to_owned();
        for name in ["repo/", "docs/"] {
            request.inputs.push((name.to_owned(), tree, Some(7)));
        }
        request.patch_of = patch_of.map(str::to_owned);
        differences(&case.parse(), &request, desk(1)).unwrap()
    };
    let other = ["outputs_expected: `mean.json` differs in x-patch-of"];
    assert_eq!(differences_of(&case, None), [""; 0]);
    assert_eq!(differences_of(&case, Some("repo/")), other);
    case.patch_of = Some("repo/".to_owned());
    assert_eq!(differences_of(&case, Some("repo/")), [""; 0]);
    for patch_of in [None, Some("docs/")] {
        assert_eq!(differences_of(&case, patch_of), other, "{patch_of:?}");
    }
}

/// A file that differs from the script only in case could replace it on some file systems.
#[test]
fn names_that_differ_in_case_belong_to_no_slot() {
    let mut case = StandingCase::means();
    case.inputs = case.inputs.replace("sales-*.csv", "m*");
    case.runs_code = true;
    case.risk = "medium";
    let standing = case.parse();
    let mut request = TestRequest::means();
    request.inputs[1].0 = "MEANS.py".into();
    request.words[2] = "/in/MEANS.py".into();
    let found = differences(&standing, &request, desk(1)).unwrap();
    assert!(found.iter().any(|it| it.contains("`MEANS.py` is not foreseen")), "{found:?}");
}

#[test]
fn a_use_is_refused_by_its_bound() {
    let standing = StandingCase::means().parse();
    let facts = StandingUses {
        now: at("2026-02-10T00:00:00Z"),
        uses: 0,
        uses_last_hour: 0,
        latest: None,
        is_revoked: false,
        is_signed: true,
    };
    let check = |facts: StandingUses| check_use(standing.terms(), &facts);
    assert_eq!(check(facts), Ok(1));
    assert_eq!(check(StandingUses { uses: 199, uses_last_hour: 19, ..facts }), Ok(200));
    for (expected, facts) in [
        (UseRefusal::UsedUp, StandingUses { uses: 200, ..facts }),
        (UseRefusal::Rate, StandingUses { uses_last_hour: 20, ..facts }),
        (UseRefusal::Early, StandingUses { now: at("2026-02-09T16:11:59Z"), ..facts }),
        (UseRefusal::Ended, StandingUses { now: at("2026-02-23T00:00:00Z"), ..facts }),
        (UseRefusal::Revoked, StandingUses { is_revoked: true, ..facts }),
        (UseRefusal::Signature, StandingUses { is_signed: false, ..facts }),
        (UseRefusal::Clock, StandingUses { latest: Some(at("2026-02-10T00:02:01Z")), ..facts }),
    ] {
        assert_eq!(check(facts), Err(expected), "{facts:?}");
    }
    let first = StandingUses { now: at("2026-02-09T16:12:00Z"), ..facts };
    let last = StandingUses { now: at("2026-02-22T23:59:59Z"), latest: Some(facts.now), ..facts };
    assert_eq!((check(first), check(last)), (Ok(1), Ok(1)));
}

/// The number of requests that one process of the second checker reads.
const BATCH: usize = 20_000;

#[test]
fn the_second_checker_agrees() {
    let count: usize =
        std::env::var("STANDING_REQUESTS").map_or(3_000, |text| text.parse().unwrap());
    let mut random = Generator::new(23);
    let cases: Vec<StandingCase> = (0..50).map(|_| random.standing()).collect();
    let (mut left, mut admitted) = (count, 0);
    while left > 0 {
        let Some(found) = check_batch(&mut random, &cases, left.min(BATCH)) else { return };
        admitted += found;
        left -= left.min(BATCH);
    }
    println!("{count} requests, {admitted} admitted by both");
    // A generator that is always or never admitted would test nothing.
    assert!((count / 10..count * 9 / 10).contains(&admitted), "{admitted} of {count}");
}

/// Compares both checks for generated requests, and returns the number of admitted ones.
fn check_batch(random: &mut Generator, cases: &[StandingCase], count: usize) -> Option<usize> {
    let standing: Vec<StandingApproval> = cases.iter().map(StandingCase::parse).collect();
    let mut lines = String::new();
    for case in cases {
        writeln!(lines, "{{\"standing\": {}}}", case.json()).unwrap();
    }
    let (mut judged, mut requests) = (Vec::new(), Vec::new());
    while judged.len() < count {
        let number = random.below(cases.len());
        let mut request = random.request(&cases[number]);
        for _ in 0..random.below(3) {
            random.mutate(&mut request);
        }
        let host = if random.below(50) == 0 { "desk-2" } else { "desk-1" };
        let on = HostAudience::of(Some(host));
        let Some(found) = differences(&standing[number], &request, on) else { continue };
        let json = request.json();
        writeln!(lines, "{{\"n\": {number}, \"host\": \"{host}\", \"request\": {json}}}").unwrap();
        judged.push(found);
        requests.push((number, json));
    }
    let answers = second_checker(&lines)?;
    assert_eq!(answers.len(), judged.len());
    for ((found, answer), (number, request)) in judged.iter().zip(answers).zip(&requests) {
        let ours = found.is_empty();
        assert_eq!(ours, answer == "1", "{found:?}\n{request}\n{}", cases[*number].json());
    }
    Some(judged.iter().filter(|found| found.is_empty()).count())
}

/// Returns the answers of the checker in Python, or `None` without Python.
fn second_checker(lines: &str) -> Option<Vec<String>> {
    let checker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standing/checker.py");
    let started =
        Command::new("python3").arg(checker).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = started else {
        println!("SKIPPED standing::the_second_checker_agrees: no python3");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let lines = lines.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}
