//! Tests of policy files. The shipped files are complete, and a broken file is refused with line,
//! key and advice. The tests must never rely on more than the text that an operator sees.

use crate::scene;

use std::path::PathBuf;

use model::{Language, Sha256};
use policies::{
    BinaryRule, CacheSource, HeapRule, POLICY_BYTES_MAX, Policy, ProcRule, TmpRule, WithoutCache,
};
use scene::{changed, shipped};

#[test]
fn shipped_profiles_are_complete() {
    for name in ["embedded", "standard", "strict"] {
        let text = Policy::shipped_text(name).unwrap();
        let policy = Policy::parse(text.as_bytes(), name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(policy.name(), name);
        assert_eq!(policy.sha256(), Sha256::of(text.as_bytes()));
        assert_eq!(shipped(name).sha256(), policy.sha256());
    }
    assert!(Policy::shipped("lax").is_none());
    assert!(Policy::shipped_text("").is_none());
}

#[test]
fn every_line_of_a_shipped_profile_is_explained() {
    for name in ["embedded", "standard", "strict"] {
        let mut explained = false;
        for (index, line) in Policy::shipped_text(name).unwrap().lines().enumerate() {
            assert!(line.chars().count() <= 100, "{name}:{} is too long", index + 1);
            let line = line.trim();
            // The lines directly below an explanation share it. A mapping's own key needs none.
            let opens = line.ends_with(':');
            if line.starts_with('#') {
                explained = true;
            } else if line.is_empty() {
                explained = false;
            } else {
                assert!(explained || opens, "{name}:{}: {line} is not explained", index + 1);
                explained = explained && (!opens || line == "env:") && line != "pids_min: 1";
                explained |= opens;
            }
        }
    }
}

#[test]
fn runtimes_list_the_programs_for_the_daemon() {
    let embedded = shipped("embedded");
    let names: Vec<&str> = embedded.runtimes().map(policies::RuntimeRule::name).collect();
    assert_eq!(names, ["go", "node", "python", "ruby", "ts"]);
    let of = |name: &str| embedded.runtimes().find(|it| it.name() == name).unwrap();
    let node = of("node");
    assert_eq!(node.language(), Language::Node);
    let auto = BinaryRule::Auto { names: vec!["node".to_owned(), "nodejs".to_owned()] };
    assert_eq!(*node.binary(), auto);
    assert_eq!(node.proc(), ProcRule::Pid);
    assert_eq!(*node.heap(), HeapRule::Flag("--max-old-space-size".to_owned()));
    assert_eq!((node.tmp(), node.caches()), (TmpRule::Data, &[][..]));
    assert_eq!((node.tool_category().as_str(), node.risk_domain().as_str()), ("write", "research"));

    let go = of("go");
    assert_eq!(*go.heap(), HeapRule::Variable("GOMEMLIMIT".to_owned()));
    assert_eq!(go.tmp(), TmpRule::Programs);
    let [cache] = go.caches() else { panic!("{:?}", go.caches()) };
    assert_eq!((&cache.source, cache.without), (&CacheSource::Warm, WithoutCache::Run));
    assert_eq!(cache.target, PathBuf::from("/cache/go"));
    assert_eq!(cache.variable.as_deref(), Some("GOCACHE"));
    let ts = of("ts");
    // People type tsx; the program is node.
    let names = vec!["node".to_owned(), "nodejs".to_owned()];
    assert_eq!((ts.words(), ts.binary()), (&["tsx".to_owned()][..], &BinaryRule::Auto { names }));
    assert_eq!(ts.caches()[0].without, WithoutCache::Refuse);

    let standard = shipped("standard");
    let caches = standard.runtimes().flat_map(|it| it.caches());
    assert!(caches.map(|it| &it.source).all(|source| matches!(source, CacheSource::Path(_))));
    let python = standard.runtimes().find(|it| it.name() == "python").unwrap();
    assert_eq!(*python.binary(), BinaryRule::Path(PathBuf::from("/usr/bin/python3")));
    assert_eq!(python.mounts(), [PathBuf::from("/usr")]);
    assert_eq!(standard.ceilings().stream_bytes, 16 << 20);
    assert_eq!(standard.ceilings().artifacts, 1000);
}

#[test]
fn start_sec_max_may_be_omitted() {
    let text = Policy::shipped_text("embedded").unwrap();
    let without = text.replacen("start_sec_max: 30\n", "", 1);
    assert!(without.len() < text.len());
    Policy::parse(without.as_bytes(), "without").unwrap();
}

/// The replaced text of `embedded`, its replacement, and a part of the message.
const BROKEN: &[(&str, &str, &str)] = &[
    // Errors of the YAML reader.
    ("name: embedded", "nane: embedded", "nane: unknown key; help: use one of policy_version"),
    ("  pids_max: 64", "  pid_max: 64", "limits.pid_max: unknown key"),
    ("  invoker: true\n", "", "approval.invoker: missing"),
    ("  age_sec_max: null\n", "", "approval.age_sec_max: missing"),
    ("  cpu_seconds_max: null\n", "", "limits.cpu_seconds_max: missing"),
    ("backend: confined\n", "", "backend: missing"),
    ("  pids_max: 64", "  pids_max: 64\n  pids_max: 65", "limits.pids_max: appears twice"),
    ("  node:\n", "  python:\n", "runtimes.python: appears twice"),
    (
        "name: embedded",
        "name: &n embedded",
        "name: anchors and aliases are not supported; help: write out every value",
    ),
    ("outputs: lenient", "outputs: lenient\n<<: {a: b}", "merge keys are not supported"),
    ("name: embedded", "name: !mine embedded", "unsupported tag"),
    ("invoker: true", "invoker: yes", "approval.invoker: not a boolean; help: write true or false"),
    ("pids_max: 64", "pids_max: many", "limits.pids_max: `many` is not a whole number"),
    ("pids_max: 64", "pids_max: 0x40", "limits.pids_max: `0x40` is not a whole number"),
    ("pids_max: 64", "pids_max: -1", "limits.pids_max: `-1` is not a whole number"),
    ("16 MiB", "16 MB", "limits.stream_bytes_max: `16 MB` is not a size such as 16 MiB"),
    ("cpu_cores_max: 8", "cpu_cores_max: 1e3", "limits.cpu_cores_max: `1e3` is not a number of"),
    ("proc: pid", "proc: all", "runtimes.python.proc: `all` is not one of none, pid, full"),
    ("tmp: data", "tmp: exec", "runtimes.python.tmp: `exec` is not one of data, programs"),
    ("    tmp: data\n", "", "runtimes.python.tmp: missing"),
    ("without: refuse", "without: hope", "`hope` is not one of run, refuse"),
    ("        without: refuse\n", "", "runtimes.ts.caches.without: missing"),
    ("to: /cache/ts", "at: /cache/ts", "at: unknown key; help: use one of from, to"),
    ("outputs: lenient", "outputs: loose", "outputs: `loose` is not one of lenient, strict"),
    ("constraints: stated", "constraints: stated\n---\na: b", "document"),
    ("name: embedded", "name: [embedded", "embedded"),
    ("hosts: []", "hosts: 5", "hosts: expected a list; help: see a complete policy"),
    ("profiles: {}", "profiles: 5", "expected `key: value` lines; help: see a complete policy"),
    // Not implemented yet.
    ("mode: enforce", "mode: dream", "aana.mode: `dream` is not one of enforce, shadow"),
    ("held_sec_max: 0\n", "", "held_sec_max: missing"),
    ("start_sec_max: 30", "start_sec_max: 0", "start_sec_max: 0 is out of range; help: write 1"),
    ("start_sec_max: 30", "start_sec_max: 3601", "start_sec_max: 3601 is out of range"),
    ("covers: none", "covers: agents", "permissions.covers: `agents` is not one of none, core_"),
    ("domains: null", "domains: [a/b]", "permissions.domains: domains: a domain must have"),
    ("answer_uids: []", "answer_uids: [alice]", "permissions.answer_uids"),
    (
        "answer_uids: []",
        "answer_uids: []\n  workflow_idle_sec: 0",
        "permissions.workflow_idle_sec: 0 is too low; help: write 1 or more",
    ),
    ("hs256: refused", "hs256: allowed", "ais.rules.hs256: `allowed` is not one of refused, demo"),
    ("coverage_min: 0.8", "coverage_min: 8", "ais.rules: rules: 8 is not from 0 to 1"),
    ("profiles: {}", "profile: {}", "ais.rules.profile: unknown key"),
    ("hosts: []", "hosts: [{host: pypi.org, ports: [443]}]", "private: missing"),
    (
        "hosts: []",
        "hosts: [{host: \"*.org\", ports: [443], private: []}]",
        "network.hosts: `*.org` is not a host; help: write a name or an IPv4 address",
    ),
    (
        "hosts: []",
        "hosts: [{host: pypi.org:443, ports: [443], private: []}]",
        "network.hosts: `pypi.org:443` is not a host",
    ),
    (
        "hosts: []",
        "hosts: [{host: pypi.org, ports: [], private: []}]",
        "network.hosts: pypi.org: no ports; help: write `ports: [443]`",
    ),
    (
        "hosts: []",
        "hosts: [{host: pypi.org, ports: [443, 443], private: []}]",
        "network.hosts: pypi.org: port 443 is not valid or appears twice",
    ),
    (
        "hosts: []",
        "hosts: [{host: pypi.org, ports: [443], private: [10.0.0.0/8]}]",
        "network.hosts: pypi.org: `10.0.0.0/8` is not an IP address; help: write single addresses",
    ),
    (
        "hosts: []",
        "hosts: [{host: a.org, ports: [1], private: []}, {host: A.org, ports: [2], private: []}]",
        "network.hosts: `a.org` appears twice",
    ),
    ("connections_max: 32", "connections_max: 257", "network.connections_max: 257 is out of range"),
    (
        "bytes_max: 1 GiB\n  # Of one run at",
        "bytes_max: 0\n  # Of one run at",
        "network.bytes_max: is 0",
    ),
    // Values that contradict each other or this version.
    ("policy_version: 1", "policy_version: 2", "policy_version: version 2 is not supported"),
    ("name: embedded", "name: My Policy", "name: `My Policy` is not a valid name"),
    (
        "backend: confined",
        "backend: monty",
        "backend: `monty` is not a backend of this policy; help:",
    ),
    ("pids_max: 64", "pids_max: 15", "limits.pids_max: 15 is below pids_min of runtimes.node"),
    ("pids_max: 64", "pids_max: 0", "limits.pids_max: is 0; help: write a value above 0"),
    ("time_sec_max: 3600", "time_sec_max: 0", "limits.time_sec_max: is 0"),
    ("cpu_cores_max: 8", "cpu_cores_max: 0.000", "limits.cpu_cores_max: is 0"),
    ("cpu_seconds_max: null", "cpu_seconds_max: 0", "limits.cpu_seconds_max: is 0"),
    ("artifacts_max: 1000", "artifacts_max: 1001", "limits.artifacts_max: too large; help:"),
    ("out_percent: 50", "out_percent: 64", "add up to 101.5; help: reduce them to at most 100"),
    ("out_percent: 50", "out_percent: 63.5", "add up to 101; help: reduce them to at most 100"),
    ("out_percent: 50", "out_percent: 101", "limits.out_percent: too large; help: write 100"),
    ("shm_percent: 12.5", "shm_percent: 1/8", "limits.shm_percent: `1/8` is not a percentage"),
    ("shm_percent: 12.5", "shm_percent: 0", "limits.shm_percent: is 0; help: write a value"),
    ("file_bytes_max: 4 GiB", "file_bytes_max: 0", "limits.file_bytes_max: is 0; help: write"),
    ("file_bytes_max: 4 GiB", "file_bytes_max: 2048 GiB", "limits.file_bytes_max: too large"),
    ("  file_bytes_max: 4 GiB\n", "", "limits.file_bytes_max: missing"),
    ("pids_max: 64", "pids_max: 4194304", "limits.pids_max: too large; help: write 4194303 or"),
    ("open_files_max: 1024", "open_files_max: 2", "limits.open_files_max: 2 is too low; help:"),
    ("out_inodes_max: 65536", "out_inodes_max: 65537", "limits.out_inodes_max: too large; help:"),
    (
        "words: [node, nodejs]",
        "words: [node, nodejs, node]",
        "`node` appears twice; help: use each word for one runtime of its",
    ),
    ("[python, python3]", "[python, python]", "runtimes.python.words: `python` appears twice"),
    ("[python, python3]", "[]", "runtimes.python.words: is empty"),
    ("[python, python3]", "[/usr/bin/python]", "`+` and `-`, and no path"),
    ("language: python", "language: shell", "python.language: `shell` is not a known value"),
    ("mounts: [/usr]", "mounts: [usr]", "runtimes.python.mounts: `usr` is not an absolute path"),
    ("mounts: [/usr]", "mounts: [/usr/../etc]", "`/usr/../etc` is not an absolute path"),
    ("mounts: [/usr]", "mounts: [/]", "runtimes.python.mounts: `/` must not be shown to a run"),
    ("mounts: [/usr]", "mounts: [/proc/1]", "`/proc/1` must not be shown to a run"),
    ("mounts: [/usr]", "mounts: [/usr, /usr/]", "runtimes.python.mounts: `/usr/` appears twice"),
    ("mounts: [/usr]", "mounts: [/cache/x]", "`/cache/x` must not be shown to a run"),
    ("mounts: [/usr]", "mounts: [/home]", "`/home` must not be shown to a run"),
    ("mounts: [/usr]", "mounts: [/home/alice]", "`/home/alice` must not be shown to a run"),
    ("mounts: [/usr]", "mounts: [/root]", "`/root` must not be shown to a run"),
    (
        "mounts: [/usr]",
        "mounts: [/usr]\n    root: /srv/x",
        "python.mounts: cannot be combined with root; help: write",
    ),
    (
        "mounts: [/usr]",
        "mounts: []\n    root: /srv/x",
        "python.binary: `auto` cannot be combined with root",
    ),
    ("binary: auto", "binary: /bin/x\n    root: /", "runtimes.python.root: `/` must not be shown"),
    ("binary: auto", "binary: /bin/x\n    root: srv", "root: `srv` is not an absolute path"),
    ("binary: auto", "binary: /bin/x\n    names: [x]", "python.names: is for `binary: auto` only"),
    ("names: [node, nodejs]", "names: []", "runtimes.ts.names: is empty"),
    ("names: [node, nodejs]", "names: [/bin/node]", "`/bin/node` is not the name of a program"),
    ("from: warm", "from: cold", "runtimes.ts.caches: `cold` is not an absolute path"),
    ("from: warm", "from: /home/alice", "caches: `/home/alice` must not be shown to a run"),
    ("to: /cache/ts", "to: /usr/ts", "`/usr/ts` is not a path for a cache; help: write a path"),
    ("to: /cache/ts", "to: /cache", "`/cache` is not a path for a cache"),
    ("to: /cache/ts", "to: /cache/a/b", "`/cache/a/b` is not a path for a cache"),
    ("to: /cache/ts", "to: /cache/env", "caches: `/cache/env` is the place of environments; help:"),
    ("allowed: stored", "allowed: all", "environments.allowed: `all` is not one of stored, listed"),
    ("  digests: []\n", "", "environments.digests: missing"),
    (
        "digests: []",
        "digests: [charts]",
        "environments.digests: `charts` is not a digest; help: write sha256: and the 64 digits",
    ),
    ("variable: GOCACHE", "variable: GO-CACHE", "`GO-CACHE` is not a variable name"),
    ("variable: GOCACHE", "variable: GOPROXY", "runtimes.go.caches: `GOPROXY` is set twice"),
    ("heap_variable: GOMEMLIMIT", "heap_variable: GOENV", "heap_variable: `GOENV` is set twice"),
    (
        "heap_variable: GOMEMLIMIT",
        "heap_variable: GOMEMLIMIT\n    heap_flag: \"--heap\"",
        "runtimes.go.heap_variable: cannot be combined with heap_flag",
    ),
    (
        "arguments: [\"--import\", ",
        "arguments: [\"\", ",
        "runtimes.ts.arguments: `` is not an argument",
    ),
    ("binary: auto", "binary: python3", "`python3` is not an absolute path"),
    ("binary: auto", "binary: /", "`/` is not an absolute path"),
    ("binary: auto", "binary: /usr/bin/../x", "not an absolute path; help: write it from the root"),
    ("env: {}", "env: {A-B: c}", "runtimes.node.env: `A-B` is not a variable name"),
    ("env: {}", "env: {A: \"b\\nc\"}", "node.env: the value of `A` contains a control character"),
    ("\"--max-old-space-size\"", "\"--max-old-space-size=1\"", "is not a long option"),
    ("pids_min: 1\n", "pids_min: 0\n", "runtimes.python.pids_min: is 0"),
    ("tool_category: write", "tool_category: harmless", "tool_category: `harmless` is not a known"),
    ("risk_domain: research", "risk_domain: fun", "risk_domain: `fun` is not a known value"),
    ("invoker: true", "invoker: false", "approval: no user could approve a request of low risk"),
    ("owners: []", "owners: [alice, 1000, alice]", "approval.owners: `alice` appears twice"),
    ("owners: []", "owners: [\"a b\"]", "approval.owners: `a b` is neither a user name nor a uid"),
    ("owners: []", "owners: [007]", "approval.owners: `007` is neither a user name nor a uid"),
    ("owners: []", "owners: [4294967296]", "`4294967296` is neither a user name nor a uid"),
    ("    low: 0\n", "    low: 1\n", "approval.signatures_min: decreases as the risk rises"),
    ("hosts: high", "hosts: grave", "risk.hosts: `grave` is not one of low, medium, high"),
    ("    high: 0", "    high: 17", "17 is more than 16 signature files"),
    ("age_sec_max: null", "age_sec_max: 0", "approval.age_sec_max: is 0; help: write null"),
    ("seccomp, ", "", "layers.required: `seccomp` is missing; help: list every layer"),
    ("seccomp, ", "apparmor, seccomp, ", "layers.required: `apparmor` is not a layer"),
    ("seccomp, ", "seccomp, seccomp, ", "layers.required: `seccomp` appears twice"),
    ("exceptions: [cgroup]", "exceptions: [seccomp]", "layers.exceptions: `seccomp` cannot be"),
    ("landlock_abi_min: 1", "landlock_abi_min: 0", "layers.landlock_abi_min: 0 is not a Landlock"),
];

#[test]
fn broken_policy_is_refused_with_a_message() {
    for (old, new, expected) in BROKEN {
        let text = changed("embedded", &[(old, new)]);
        match Policy::parse(text.as_bytes(), "policy.yaml") {
            Ok(_) => panic!("accepted: {new}"),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains(expected), "{new}\n  gave: {message}\n  not: {expected}");
                for line in message.lines() {
                    assert!(line.starts_with("policy.yaml:"), "{line}");
                    assert!(!line.contains("DuplicateKeyPolicy") && !line.contains("Option<"));
                }
            }
        }
    }
}

#[test]
fn runtime_beyond_the_limits_of_the_launcher_is_refused() {
    let listed = |count: usize, of: &dyn Fn(usize) -> String| {
        (0..count).map(of).collect::<Vec<_>>().join(", ")
    };
    let variables = |count| format!("env: {{{}}}", listed(count, &|it| format!("V{it}: a")));
    let value = |bytes| format!("env: {{A: {}}}", "a".repeat(bytes));
    let arguments =
        |count| format!("pids_min: 1\n    arguments: [{}]", listed(count, &|_| "a".to_owned()));
    let cache = |it| format!("{{from: /srv/{it}, to: /cache/{it}, without: run}}");
    let caches = |count| format!("pids_min: 1\n    caches: [{}]", listed(count, &cache));
    let mounts = |count| format!("mounts: [{}]", listed(count, &|it| format!("/opt/{it}")));
    let cases = [
        ("env: {}", variables(128), variables(129), "env: has 129 variables; help: write 128 or"),
        ("env: {}", value(4095), value(4096), "env: has 4097 bytes; help: write at most 4096"),
        ("mounts: [/usr]", mounts(31), mounts(32), "mounts: has 32 paths; help: write 31 or less"),
        ("pids_min: 1", caches(31), caches(32), "caches: has 32 entries; help: write 31 or less"),
        ("pids_min: 1", arguments(64), arguments(65), "arguments: has 65 arguments of 65 bytes"),
    ];
    for (old, good, bad, expected) in &cases {
        let read = |new: &str| Policy::parse(changed("embedded", &[(old, new)]).as_bytes(), "p");
        read(good).unwrap();
        let message = read(bad).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn permission_request_is_open_as_long_as_a_request_may_be_held() {
    const WEEK: u64 = 7 * 24 * 3600;
    for (held_sec, open_sec) in [(0, WEEK), (WEEK, WEEK), (2 * WEEK, 2 * WEEK)] {
        let held = format!("held_sec_max: {held_sec}");
        let policy = scene::policy("strict", &[("held_sec_max: 604800", &held)]);
        let terms = policy.permission_terms().unwrap();
        assert_eq!(u64::try_from(terms.open_sec), Ok(open_sec), "{held}");
    }
}

#[test]
fn messages_name_the_line() {
    let text = changed("embedded", &[("pids_max: 64", "pids_max: 31")]);
    let line = 1 + text.lines().position(|line| line.contains("pids_max: 31")).unwrap();
    let error = Policy::parse(text.as_bytes(), "policy.yaml").unwrap_err();
    // Node needs only 16.
    let below = |name: &str| {
        format!(
            "policy.yaml:{line}: limits.pids_max: 31 is below pids_min of runtimes.{name}; help: \
             write at least 32"
        )
    };
    assert_eq!(error.to_string(), [below("go"), below("ts")].join("\n"));
    assert_eq!(error.problems()[0].line(), Some(line));
    assert_eq!(error.problems()[0].key(), "limits.pids_max");

    let text = changed("embedded", &[("  pids_max: 64", "  pid_max: 64")]);
    let line = 1 + text.lines().position(|line| line.contains("pid_max: 64")).unwrap();
    let error = Policy::parse(text.as_bytes(), "policy.yaml").unwrap_err();
    assert_eq!(error.problems()[0].line(), Some(line));
}

#[test]
fn all_problems_are_reported_at_once() {
    let changes = [
        ("pids_max: 64", "pids_max: 0"),
        ("out_percent: 50", "out_percent: 90"),
        ("[/usr]", "[a]"),
    ];
    let error = Policy::parse(changed("embedded", &changes).as_bytes(), "p").unwrap_err();
    // pids_max: 0 is also below the minimum of each of the five runtimes.
    assert_eq!(error.problems().len(), 8, "{error}");
    assert!(error.problems().is_sorted_by_key(|problem| problem.line()), "{error}");
}

#[test]
fn auto_is_for_the_invoker_only() {
    let text = changed("standard", &[("binary: /usr/bin/node", "binary: auto")]);
    let message = Policy::parse(text.as_bytes(), "p").unwrap_err().to_string();
    assert!(message.contains("runtimes.node.binary: `auto` needs approval.invoker: true"));
}

#[test]
fn non_utf8_and_oversized_policies_are_refused() {
    let message = |bytes: &[u8]| Policy::parse(bytes, "p").unwrap_err().to_string();
    assert_eq!(message(b"name: \xff"), "p: not UTF-8; help: save the file as UTF-8");
    assert!(message(b"").contains("p"), "an empty file");
    assert!(message(b"- a\n- b\n").contains("p:1: expected `key: value` lines; help: "));
    let mut long = Policy::shipped_text("embedded").unwrap().as_bytes().to_vec();
    long.resize(POLICY_BYTES_MAX, b'\n');
    assert!(Policy::parse(&long, "p").is_ok());
    long.push(b'\n');
    assert!(message(&long).contains("262145 bytes, larger than 256 KiB"));
}

#[test]
fn flow_style_and_other_numbers_mean_the_same() {
    let policy = scene::policy(
        "embedded",
        &[
            ("cpu_seconds_max: null", "cpu_seconds_max: 10"),
            ("cpu_cores_max: 8", "cpu_cores_max: 0.5"),
        ],
    );
    assert_eq!(policy.ceilings().cpu_seconds, Some(10));
    assert_eq!(policy.ceilings().cpu_milli, 500);
}

#[test]
fn each_language_has_a_runtime_in_every_profile() {
    for name in ["embedded", "standard", "strict"] {
        let policy = shipped(name);
        for language in Language::ALL {
            assert!(policy.runtimes().any(|it| it.language() == *language), "{name}: {language}");
        }
        for runtime in policy.runtimes() {
            for word in runtime.words() {
                let plain = word.trim_end_matches(|c: char| c.is_ascii_digit());
                let of = Language::of_program(plain);
                assert_eq!(of, Some(runtime.language()), "{name}: {word}");
            }
        }
    }
}
