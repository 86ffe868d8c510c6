//! The five languages, each with its shipped runtime entry. An independent computation confirms the
//! result of each example, and the environment is exactly the policy's. An interpreter may be in
//! its own directory or root file system. Caches (`toolexec doctor --build-cache`) come from
//! `TOOLEXEC_CACHES`, or from the place where `tests/prepare` creates them. A test without its
//! interpreter logs a skip.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, Record, RequestText, edited_policy, skip, workspace};

toolexec_tests::as_both!(
    the_node_example_is_right,
    the_ts_example_is_right,
    the_go_example_is_right,
    the_ruby_example_is_right,
    the_environment_is_what_policy_says,
    node_counts_processors_where_proc_is_full,
    an_interpreter_may_have_a_place_of_its_own,
    a_home_is_never_shown,
    a_runtime_root_is_the_only_file_system,
);

/// Returns true if one of these programs is installed. Otherwise logs a skip.
fn is_installed(bench: &Bench, test: &str, names: &[&str]) -> bool {
    let places = ["/usr/bin", "/usr/local/bin"];
    let mut paths =
        places.iter().flat_map(|place| names.iter().map(move |it| format!("{place}/{it}")));
    let found = paths.any(|path| Path::new(&path).is_file());
    if !found {
        skipped(bench, test, &format!("{} is not installed", names[0]));
    }
    found
}

fn skipped(bench: &Bench, test: &str, reason: &str) {
    let user = if bench.is_root() { "as_root" } else { "as_an_ordinary_user" };
    skip(&format!("{user}::{test}"), reason);
}

/// Copies the cache of a language to the place where this user's runs look for it.
fn copy_cache(bench: &Bench, name: &str) -> bool {
    let named = std::env::var_os("TOOLEXEC_CACHES").map(PathBuf::from);
    let made = named.unwrap_or_else(|| workspace().join("target/tools/state/caches")).join(name);
    if !made.is_dir() {
        return false;
    }
    // The user may not have access to the original directory.
    let caches = bench.scratch().dir("caches");
    let copied = Command::new("cp").arg("-r").arg(made).arg(&caches).status().unwrap();
    assert!(copied.success());
    let state = bench.state();
    let output = CliOutput::of(bench.command("mkdir").args(["-p", "-m", "700"]).arg(&state));
    output.assert_code(0);
    let link = CliOutput::of(bench.command("ln").arg("-s").arg(&caches).arg(state.join("caches")));
    link.assert_code(0);
    true
}

/// Runs an example as a user does, and returns its record.
#[track_caller]
fn example(bench: &Bench, name: &str) -> (PathBuf, Record) {
    let examples = bench.scratch().examples();
    let output = CliOutput::of(bench.command(examples.join("run")).arg(name));
    output.assert_code(0);
    let record = output.stdout.lines().find_map(|line| line.strip_prefix("record     ")).unwrap();
    (examples.join(name), Record::at(record.as_ref()))
}

fn artifact(record: &Record, name: &str) -> String {
    fs::read_to_string(record.path.join("artifacts").join(name)).unwrap()
}

fn the_node_example_is_right(bench: &Bench) {
    if !is_installed(bench, "the_node_example_is_right", &["node", "nodejs"]) {
        return;
    }
    let (place, record) = example(bench, "access-log");
    let summary: Value = serde_json::from_str(&artifact(&record, "summary.json")).unwrap();
    let log = fs::read_to_string(place.join("access.log")).unwrap();
    let whole: Vec<Vec<&str>> = log
        .lines()
        .map(|line| line.split(' ').collect())
        .filter(|it: &Vec<_>| it.len() == 10)
        .collect();
    let bytes: u64 = whole.iter().filter_map(|it| it[9].parse::<u64>().ok()).sum();
    let failed = whole.iter().filter(|it| it[8] >= "400").count();
    assert!(whole.len() > 40 && failed > 0, "{log}");
    assert_eq!(summary["requests"], whole.len());
    assert_eq!(summary["damaged_lines"], log.lines().count() - whole.len());
    assert_eq!((&summary["bytes"], &summary["failed"]), (&bytes.into(), &failed.into()));
}

fn the_ts_example_is_right(bench: &Bench) {
    let test = "the_ts_example_is_right";
    if !is_installed(bench, test, &["node", "nodejs"]) {
        return;
    }
    if !copy_cache(bench, "ts") {
        return skipped(
            bench,
            test,
            "tsx is not there: toolexec doctor --build-cache ts --state target/tools/state",
        );
    }
    let (place, record) = example(bench, "gpx-length");
    let answer: Value = serde_json::from_str(&artifact(&record, "length.json")).unwrap();
    let gpx = fs::read_to_string(place.join("track.gpx")).unwrap();
    let number = |text: &str| text.parse::<f64>().unwrap();
    let points: Vec<(f64, f64)> = gpx
        .lines()
        .filter(|line| line.contains("<trkpt"))
        .map(|line| line.split('"').collect::<Vec<_>>())
        .map(|parts| (number(parts[1]), number(parts[3])))
        .collect();
    // Over so short a distance the Earth is flat.
    let degree = 6_371_008.8_f64.to_radians();
    let length: f64 = points
        .windows(2)
        .map(|pair| {
            let (a, b) = (pair[0], pair[1]);
            let east = (b.1 - a.1) * degree * f64::midpoint(a.0, b.0).to_radians().cos();
            ((b.0 - a.0) * degree).hypot(east)
        })
        .sum();
    assert_eq!(answer["points"], points.len());
    assert!((answer["length_m"].as_f64().unwrap() - length).abs() < 1.0, "{answer} and {length}");
}

fn the_go_example_is_right(bench: &Bench) {
    if !is_installed(bench, "the_go_example_is_right", &["go"]) {
        return;
    }
    // Without its cache it is slow, but gives the same result.
    let warmed = copy_cache(bench, "go");
    let (place, record) = example(bench, "manifest");
    let manifest: Value = serde_json::from_str(&artifact(&record, "manifest.json")).unwrap();
    for (entry, name) in manifest.as_array().unwrap().iter().zip(["notes.txt", "orders.csv"]) {
        let path = place.join(name);
        let stock = |program: &str, word: &str| {
            let output = CliOutput::of(Command::new(program).arg(word).arg(&path));
            output.stdout.split_whitespace().next().unwrap().to_owned()
        };
        assert_eq!(entry["name"], name);
        assert_eq!(entry["sha256"], stock("sha256sum", "-b"));
        assert_eq!(entry["lines"].to_string(), stock("wc", "-l"));
        assert_eq!(entry["bytes"], fs::metadata(&path).unwrap().len());
    }
    let cpu_us: u64 = record.front_matter_value("cpu_user_us").parse().unwrap();
    assert!(!warmed || cpu_us < 4_000_000, "the library was compiled again: {cpu_us} us");
}

/// Slow, so it runs only once, as the user who runs the tests.
#[test]
fn go_runs_without_its_cache() {
    let bench = Bench::new();
    if !["/usr/bin/go", "/usr/local/bin/go"].iter().any(|path| Path::new(path).is_file()) {
        return skip("go_runs_without_its_cache", "go is not installed");
    }
    let (_, record) = example(&bench, "manifest");
    assert_eq!(artifact(&record, "manifest.json").matches("sha256").count(), 2);
}

/// After an upgrade of Go no entry of the cache fits. As slow as without a cache.
#[test]
fn go_runs_with_a_cache_of_another_version() {
    let bench = Bench::new();
    if !copy_cache(&bench, "go") {
        return skip("go_runs_with_a_cache_of_another_version", "the cache of Go is missing");
    }
    for number in 0..=255 {
        let entries = bench.state().join(format!("caches/go/{number:02x}"));
        fs::remove_dir_all(&entries).unwrap();
        // Go cannot make the directory in a read-only cache.
        fs::create_dir(&entries).unwrap();
    }
    let (_, record) = example(&bench, "manifest");
    assert_eq!(artifact(&record, "manifest.json").matches("sha256").count(), 2);
}

fn the_ruby_example_is_right(bench: &Bench) {
    if !is_installed(bench, "the_ruby_example_is_right", &["ruby"]) {
        return;
    }
    let (place, record) = example(bench, "expenses");
    let table = fs::read_to_string(place.join("expenses.csv")).unwrap();
    let amounts = table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap());
    let cents: u32 = amounts.map(|it| it.replace('.', "").parse::<u32>().unwrap()).sum();
    let total = format!("{}.{:02}", cents / 100, cents % 100);
    let last = artifact(&record, "expenses.md").lines().last().unwrap().to_owned();
    assert!(last.starts_with("| total ") && last.ends_with(&format!(" {total} |")), "{last}");
}

const GO_ENV: &str = "package main\nimport (\"fmt\"; \"os\")\n\
                      func main() { for _, it := range os.Environ() { fmt.Println(it) } }\n";

fn the_environment_is_what_policy_says(bench: &Bench) {
    let test = "the_environment_is_what_policy_says";
    let base = ["HOME=/tmp", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "TZ=UTC"];
    let python = "import os\nfor it in os.environ.items(): print('='.join(it))";
    let node = "for (const it of Object.entries(process.env)) console.log(it.join('='))";
    let ruby = "ENV.each { |it| puts it.join('=') }";
    let of_python = ["PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0", "PYTHONNOUSERSITE=1"];
    // Variables that the `go` command adds for the program it starts.
    let of_go = [
        "CGO_ENABLED=0",
        "GODEBUG=goindex=0",
        "GOENV=off",
        "GOFLAGS=-trimpath",
        "GOMEMLIMIT=768MiB",
        "GOPROXY=off",
        "GOSUMDB=off",
        "GOTOOLCHAIN=local",
        "GOWORK=off",
    ];
    let cases: [(&str, &str, &str, &str, &[&str]); 4] = [
        ("python", "python3", "x.py", python, &of_python),
        ("node", "node", "x.js", node, &[]),
        ("ruby", "ruby", "x.rb", ruby, &[]),
        ("go", "go run", "x.go", GO_ENV, &of_go),
    ];
    copy_cache(bench, "go");
    for (language, words, name, script, more) in cases {
        if !is_installed(bench, test, &[words.split(' ').next().unwrap()]) {
            continue;
        }
        let request = RequestText::of(language, &format!("{words} {name}")).input(name, script);
        let request = bench.save(&request.memory_mb(1024).cpu("2").time_sec(120));
        let mut command = bench.command("toolexec");
        command.env("SECRET_TOKEN", "x").env("NODE_OPTIONS", "--x").env("RUBYOPT", "-x");
        command.env("PYTHONPATH", "/x").env("GOFLAGS", "-x").env("TMPDIR", "/var/tmp");
        let output =
            CliOutput::of(command.arg("run").arg(&request.path).args(["--format", "json"]));
        let record = Record::of(&output);
        record.assert_outcome("ok");
        let mut stdout = record.stdout();
        // Go 1.24, unlike 1.19, starts the program with its own directory first in PATH.
        if let Some((before, rest)) = stdout.split_once("PATH=/usr/lib/go-") {
            stdout = format!("{before}PATH={}", rest.split_once("/bin:").unwrap().1);
        }
        let of_cache = |line: &&str| language == "go" && line.starts_with("GOCACHE=/cache/go");
        let mut got: Vec<&str> = stdout.lines().filter(|line| !of_cache(line)).collect();
        let mut expected: Vec<&str> = base.iter().chain(more).copied().collect();
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected, "{language}");
    }
}

/// Returns the embedded policy with the first occurrence of each text replaced.
fn policy(bench: &Bench, changes: &[(&str, &str)]) -> PathBuf {
    let text = bench.toolexec(["policy", "show", "embedded"]).stdout;
    bench.scratch().file("policy.yaml", edited_policy(text, changes))
}

fn run_under(
    bench: &Bench,
    policy: &Path,
    path: &str,
    home: &Path,
    request: &RequestText,
) -> CliOutput {
    let request = bench.save(request);
    let mut command = bench.command("toolexec");
    command.env("PATH", path).env("HOME", home).arg("run").arg(&request.path);
    CliOutput::of(
        command
            .arg("--policy")
            .arg(policy)
            .args(["--format", "json"])
            .arg("--state")
            .arg(bench.state()),
    )
}

fn node_counts_processors_where_proc_is_full(bench: &Bench) {
    if !is_installed(bench, "node_counts_processors_where_proc_is_full", &["node", "nodejs"]) {
        return;
    }
    let script = "console.log(require('os').cpus().length > 0)";
    let request = || RequestText::of("node", "node x.js").input("x.js", script);
    for (proc, answer) in [("full", "true\n"), ("pid", "false\n")] {
        let proc = format!("    proc: {proc}");
        // Python's entry, which is the first, and node's.
        let policy =
            policy(bench, &[("    proc: pid", "    proc: none"), ("    proc: pid", &proc)]);
        let output = run_under(bench, &policy, "/usr/bin:/bin", &bench.home(), &request());
        assert_eq!(Record::of(&output).stdout(), answer, "{output:#?}");
    }
}

/// A directory that no run creates, with a copy of Python in its `bin/`, removed when dropped.
struct RelocatedPython(PathBuf);

impl RelocatedPython {
    fn with(program: &str, name: &str) -> Self {
        let unique = format!("toolexec-elsewhere-{}-{name}", RequestText::python("").id);
        let place = Self(Path::new("/var/tmp").join(unique));
        fs::create_dir_all(place.0.join("bin")).unwrap();
        fs::create_dir_all(place.0.join("share")).unwrap();
        fs::copy(fs::canonicalize(program).unwrap(), place.0.join("bin").join(name)).unwrap();
        fs::write(place.0.join("share/marker"), "here\n").unwrap();
        for dir in ["", "bin", "share"] {
            fs::set_permissions(place.0.join(dir), Permissions::from_mode(0o755)).unwrap();
        }
        place
    }

    fn path(&self) -> String {
        format!("{}/bin:/usr/bin:/bin", self.0.display())
    }
}

impl Drop for RelocatedPython {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

const MINE: (&str, &str) = ("binary: auto", "binary: auto\n    names: [python-of-mine]");

fn an_interpreter_may_have_a_place_of_its_own(bench: &Bench) {
    let place = RelocatedPython::with("/usr/bin/python3", "python-of-mine");
    let shown = place.0.display();
    let script = format!(
        "import sys\nprint(sys.executable)\nprint(open('{shown}/share/marker').read().strip())\n\
         try: open('{shown}/x', 'w')\nexcept OSError as e: print(e.errno)"
    );
    let named = format!("binary: {shown}/bin/python-of-mine");
    for change in [MINE, ("binary: auto", &named)] {
        let policy = policy(bench, &[change]);
        let request = RequestText::python(&script);
        let output = run_under(bench, &policy, &place.path(), &bench.home(), &request);
        let record = Record::of(&output);
        record.assert_outcome("ok");
        let stdout = record.stdout();
        let lines: Vec<&str> = stdout.lines().collect();
        assert_eq!(lines[..2], [&format!("{shown}/bin/python-of-mine"), "here"], "{stdout}");
        // EROFS, or EACCES if Landlock denies it first.
        assert!(["30", "13"].contains(&lines[2]), "{stdout}");
    }
}

fn a_home_is_never_shown(bench: &Bench) {
    let place = RelocatedPython::with("/usr/bin/python3", "python-of-mine");
    let policy = policy(bench, &[MINE]);
    let request = || RequestText::python("print('ran')");
    let output = run_under(bench, &policy, &place.path(), &place.0, &request());
    output.assert_code(2);
    let shown = place.0.to_str().unwrap();
    output.assert_stderr(&["runtime.missing", shown, "never mounted in a sandbox"]);
    Record::of(&output).assert_outcome("refused");
    // With the same directory and another home it runs.
    run_under(bench, &policy, &place.path(), &bench.home(), &request()).assert_code(0);
}

fn a_runtime_root_is_the_only_file_system(bench: &Bench) {
    let root = bench.scratch().dir("root");
    let linked = Command::new("ldd").arg("/bin/sh").output().unwrap();
    let linked = String::from_utf8(linked.stdout).unwrap();
    let libraries = linked.split_whitespace().filter(|word| word.starts_with('/'));
    for name in libraries.chain(["/bin/sh"]) {
        let place = root.join(&name[1..]);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(fs::canonicalize(name).unwrap(), place).unwrap();
    }
    fs::create_dir_all(root.join("opt/tool")).unwrap();
    // An absolute link in an image refers to a file of the image.
    std::os::unix::fs::symlink("/bin/sh", root.join("opt/tool/run")).unwrap();
    let of_image = format!("binary: /opt/tool/run\n    root: {}", root.display());
    let policy = policy(bench, &[("binary: auto", &of_image), ("mounts: [/usr]", "mounts: []")]);
    let script = "echo $0; test -e /usr/bin/python3 && echo host; test -d /opt/tool && echo image";
    let request = RequestText::python(script);
    let output = run_under(bench, &policy, "/usr/bin:/bin", &bench.home(), &request);
    let record = Record::of(&output);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "script.py\nimage\n");
    let gone = root.join("bin/sh");
    fs::remove_file(gone).unwrap();
    let output =
        run_under(bench, &policy, "/usr/bin:/bin", &bench.home(), &RequestText::python(script));
    output.assert_stderr(&["runtime.missing", "/opt/tool/run in "]);
}
