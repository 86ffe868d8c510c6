//! Tests of the decision, rule by rule. Each rule passes and refuses for its own subject, every
//! rule is always evaluated, and the grant contains what the request and the policy specify. No
//! signature is verified.

use crate::scene;

use std::path::{Path, PathBuf};

use policies::{
    Decision, InstalledRuntime, InstalledRuntimes, Policy, ProcRule, RuleName, SubmissionOrigin,
    TmpRule, Verdict,
};
use scene::{
    DecisionScene, ID, accepts, approved, changed, codes, dropped, policy, reason, refused,
    request, shipped, time, verdict,
};
use validator::OwnerUid;

/// A change of the request, the refusing rule, its code, and a part of the message.
const REFUSED: &[(&str, &str, &str, &str, &str)] = &[
    (
        "cpu_limit: \"2\"",
        "cpu_limit: \"8.5\"",
        "limits.cpu",
        "limits.over-policy",
        "cpu_limit: 8.5 is above limits.cpu_cores_max (8)",
    ),
    (
        "memory_limit_mb: 1024",
        "memory_limit_mb: 16385",
        "limits.memory",
        "limits.over-policy",
        "memory_limit_mb: 16385 is above limits.memory_mb_max (16384)",
    ),
    (
        "time_limit_sec: 120",
        "time_limit_sec: 3601",
        "limits.time",
        "limits.over-policy",
        "time_limit_sec: 3601 is above limits.time_sec_max (3600)",
    ),
    (
        "network: \"none\"\nnetwork_allowlist: []",
        "network: \"allowlist\"\nnetwork_allowlist: [pypi.org]",
        "network",
        "network.not-permitted",
        "network_allowlist: pypi.org:443 not permitted",
    ),
    (
        "language: \"python\"",
        "language: \"python\"\nbackend: ERA",
        "backend",
        "backend.unavailable",
        "backend: `ERA` is not available",
    ),
];

#[test]
fn a_good_request_of_the_invoker_is_approved() {
    let decision = DecisionScene::default().decide(request(&[]), &shipped("embedded"));
    let approved = approved(decision);
    assert_eq!(approved.request().id().as_str(), ID);
    for rule in ["backend", "command", "language", "runtime", "network", "constraints", "layers"] {
        assert_eq!(verdict(&approved.rationale().rules, rule), Verdict::Pass, "{rule}");
    }
    for rule in ["limits.cpu", "limits.memory", "limits.time", "approval.submitter"] {
        assert_eq!(verdict(&approved.rationale().rules, rule), Verdict::Pass, "{rule}");
    }
    for rule in ["age", "signature", "count", "principal", "rejected"] {
        let rule = format!("approval.{rule}");
        assert_eq!(verdict(&approved.rationale().rules, &rule), Verdict::NotApplicable, "{rule}");
    }
}

#[test]
fn the_grant_says_everything_about_the_run() {
    let policy = shipped("embedded");
    let (request, grant) =
        approved(DecisionScene::default().decide(request(&[]), &policy)).into_parts();
    assert_eq!(grant.runtime_name(), "python");
    assert_eq!(grant.binary(), Path::new("/usr/bin/python3.11"));
    assert_eq!(grant.mounts(), [PathBuf::from("/usr")]);
    assert_eq!(grant.proc(), ProcRule::Pid);
    assert_eq!(grant.argv(), request.argv());
    let env: Vec<String> =
        grant.env().iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        env,
        [
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "HOME=/tmp",
            "LANG=C.UTF-8",
            "TZ=UTC",
            "PYTHONDONTWRITEBYTECODE=1",
            "PYTHONHASHSEED=0",
            "PYTHONNOUSERSITE=1",
        ]
    );
    let limits = grant.limits();
    assert_eq!((limits.cpu_milli, limits.memory_bytes, limits.time_sec), (2000, 1 << 30, 120));
    assert_eq!(limits.cpu_time_ms, 240_000);
    assert_eq!((limits.pids, limits.open_files, limits.stream_bytes), (64, 1024, 16 << 20));
    assert_eq!(limits.out_bytes, 1 << 29);
    assert_eq!(limits.tmp_bytes, 1 << 28);
    assert_eq!(limits.shm_bytes, 1 << 27);
    // The policy allows 4 GiB, but one file never gets more than the memory limit.
    assert_eq!(limits.file_bytes, 1 << 30);
    assert_eq!((limits.out_inodes, limits.artifacts, limits.artifact_depth), (65536, 1000, 16));
    assert_eq!((grant.input_bytes_max(), limits.input_bytes), (1 << 30, 1 << 30));
    assert_eq!(grant.layers_required().len(), 6);
    assert_eq!((grant.landlock_abi_min(), grant.cgroup_exception()), (1, true));
    assert_eq!(grant.start_sec_max(), 30);
    assert_eq!(grant.approval_text(), "unsigned, by the invoker");
    assert!(grant.approvals().is_empty());
    assert!(!grant.outputs_strict());
    assert_eq!((grant.policy_name(), grant.policy_sha256()), ("embedded", policy.sha256()));
}

#[test]
fn the_grant_has_the_patch_of_the_request() {
    let inputs = format!("inputs:\n  - name: \"a/repo/\"\n    sha256: \"{}\"", "0".repeat(64));
    let outputs = "outputs_expected:\n  - path: \"b/changes.patch\"\n    description: \"the \
                   changes\"\n    x-patch-of: \"a/repo/\"";
    let changes = [
        ("inputs: []", inputs.as_str()),
        ("outputs_expected: []", outputs),
        ("python -c 'print(1 + 1)'", "python fix.py"),
        ("## Input Files\n\nNone.", "## Input Files\n\n- /in/a/repo/"),
        ("## Output Expectations\n\nNone.", "## Output Expectations\n\n- /out/b/changes.patch"),
    ];
    let granted = |changes: &[(&str, &str)]| {
        let decided = DecisionScene::default().decide(request(changes), &shipped("embedded"));
        approved(decided).into_parts().1
    };
    let grant = granted(&changes);
    assert_eq!(grant.work_folder(), Some("a/repo"));
    assert_eq!(grant.patch_path(), Some("b/changes.patch"));
    let without = granted(&[]);
    assert_eq!((without.work_folder(), without.patch_path()), (None, None));
}

#[test]
fn one_file_is_granted_what_the_policy_says_where_memory_holds_more() {
    let policy = policy("embedded", &[("file_bytes_max: 4 GiB", "file_bytes_max: 16 MiB")]);
    let approved = approved(DecisionScene::default().decide(request(&[]), &policy));
    assert_eq!(approved.grant().limits().file_bytes, 16 << 20);
}

#[test]
fn node_gets_its_heap_size_after_the_first_word() {
    let submitted = request(&[
        ("language: \"python\"", "language: \"node\""),
        ("python -c 'print(1 + 1)'", "nodejs -e 'console.log(1)'"),
    ]);
    let approved = approved(DecisionScene::default().decide(submitted, &shipped("embedded")));
    let argv = ["nodejs", "--max-old-space-size=768", "-e", "console.log(1)"];
    assert_eq!(approved.grant().argv(), argv);
    assert_eq!(approved.grant().binary(), Path::new("/usr/bin/node"));
    assert_eq!(approved.grant().env().len(), 4);
}

#[test]
fn a_cache_is_named_only_where_it_is() {
    let submitted = || {
        request(&[
            ("language: \"python\"", "language: \"go\""),
            ("python -c 'print(1 + 1)'", "go version"),
        ])
    };
    let target = PathBuf::from("/cache/go");
    for there in [false, true] {
        let mut installed = InstalledRuntime::binary("/opt/go/bin/go");
        installed.prefix = Some("/opt/go".into());
        if there {
            installed.caches.insert(target.clone(), "/var/warm/go".into());
        }
        let mut scene = DecisionScene::default();
        scene.binaries.insert("go", installed);
        let approved = approved(scene.decide(submitted(), &shipped("embedded")));
        let grant = approved.grant();
        let value = |name: &str| grant.env().iter().find(|(it, _)| it == name).map(|(_, it)| &**it);
        assert_eq!(value("GOCACHE"), there.then_some("/cache/go"));
        assert_eq!(grant.caches().get(&target).is_some(), there);
        assert_eq!(value("GOMEMLIMIT"), Some("768MiB"));
        assert_eq!(grant.argv(), ["go", "version"]);
        assert_eq!(grant.mounts(), [PathBuf::from("/usr"), PathBuf::from("/opt/go")]);
        assert_eq!(grant.tmp(), TmpRule::Programs);
        let cache = if there { ", /cache/go is /var/warm/go" } else { "" };
        let expected = format!("go is /opt/go/bin/go with /opt/go{cache}");
        assert_eq!(reason(&approved.rationale().rules, "runtime"), expected);
    }
}

#[test]
fn compiler_arguments_precede_the_script() {
    let submitted = request(&[
        ("language: \"python\"", "language: \"ts\""),
        ("python -c 'print(1 + 1)'", "tsx -e 1"),
    ]);
    let mut scene = DecisionScene::default();
    scene.binaries.insert("ts", InstalledRuntime::binary("/usr/bin/node"));
    let approved = approved(scene.decide(submitted, &shipped("embedded")));
    let argv = approved.grant().argv().join(" ");
    let loader = "/cache/ts/node_modules/tsx/dist/loader.mjs";
    assert_eq!(argv, format!("tsx --max-old-space-size=768 --import {loader} -e 1"));
}

#[test]
fn one_word_may_serve_two_languages() {
    let policy = policy("embedded", &[("words: [tsx]", "words: [tsx, node]")]);
    for (language, runtime) in [("node", "node"), ("ts", "ts")] {
        let declared = format!("language: \"{language}\"");
        let submitted = request(&[
            ("language: \"python\"", &declared),
            ("python -c 'print(1 + 1)'", "node -p 1"),
        ]);
        let mut scene = DecisionScene::default();
        scene.binaries.insert("ts", InstalledRuntime::binary("/usr/bin/node"));
        assert_eq!(approved(scene.decide(submitted, &policy)).grant().runtime_name(), runtime);
    }
}

#[test]
fn reason_of_an_unusable_runtime_is_reported() {
    let mut scene =
        DecisionScene { binaries: InstalledRuntimes::new(), ..DecisionScene::default() };
    scene.binaries.insert_missing("python", "/home/alice is a home directory".to_owned().into());
    let (violations, _) = refused(scene.decide(request(&[]), &shipped("embedded")));
    assert_eq!(codes(&violations), ["runtime.missing"]);
    assert!(violations[0].message.contains("/home/alice is a home directory"), "{violations:?}");
}

#[test]
fn runtime_may_replace_a_base_variable() {
    let policy = policy("embedded", &[("PYTHONHASHSEED: \"0\"", "TZ: Europe/Berlin")]);
    let approved = approved(DecisionScene::default().decide(request(&[]), &policy));
    let zones: Vec<&str> = approved
        .grant()
        .env()
        .iter()
        .filter(|(name, _)| name == "TZ")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(zones, ["Europe/Berlin"]);
}

#[test]
fn cpu_seconds_are_a_ceiling_where_policy_sets_one() {
    for (seconds, expected) in [("10", 10_000), ("1000000", 240_000)] {
        let line = format!("cpu_seconds_max: {seconds}");
        let policy = policy("embedded", &[("cpu_seconds_max: null", &line)]);
        let approved = approved(DecisionScene::default().decide(request(&[]), &policy));
        assert_eq!(approved.grant().limits().cpu_time_ms, expected);
    }
}

#[test]
fn each_rule_refuses_its_own_subject() {
    for (old, new, rule, code, words) in REFUSED {
        let decision =
            DecisionScene::default().decide(request(&[(old, new)]), &shipped("embedded"));
        let (violations, rules) = refused(decision);
        assert_eq!(codes(&violations), [*code], "{new}");
        assert!(violations[0].message.starts_with(&format!("{ID}: ")), "{:?}", violations[0]);
        assert!(violations[0].message.contains(words), "{:?}", violations[0]);
        assert!(violations[0].hint.is_some(), "{new}");
        assert_eq!(verdict(&rules, rule), Verdict::Refuse);
        let refusing = rules.iter().filter(|it| it.verdict == Verdict::Refuse).count();
        assert_eq!(refusing, 1, "{new}");
    }
}

#[test]
fn a_limit_at_its_ceiling_passes() {
    let submitted = request(&[
        ("cpu_limit: \"2\"", "cpu_limit: \"8\""),
        ("memory_limit_mb: 1024", "memory_limit_mb: 16384"),
        ("time_limit_sec: 120", "time_limit_sec: 3600"),
        ("language: \"python\"", "language: \"python\"\nbackend: confined"),
    ]);
    accepts(DecisionScene::default().decide(submitted, &shipped("embedded")));
}

#[test]
fn all_violations_are_reported_at_once() {
    let submitted = request(&[
        ("cpu_limit: \"2\"", "cpu_limit: \"64\""),
        ("memory_limit_mb: 1024", "memory_limit_mb: 99999"),
        ("python -c 'print(1 + 1)'", "perl -v"),
    ]);
    let scene = DecisionScene { submission: dropped(), ..DecisionScene::default() };
    let (violations, rules) = refused(scene.decide(submitted, &shipped("embedded")));
    let expected =
        ["command.not-permitted", "limits.over-policy", "limits.over-policy", "approval.principal"];
    assert_eq!(codes(&violations), expected);
    assert_eq!(verdict(&rules, "language"), Verdict::NotApplicable);
    assert_eq!(
        violations[0].message,
        format!(
            "{ID}: command: `perl` is not a command of the policy: go (go), node, nodejs (node), \
             python, python3 (python), ruby (ruby), tsx (ts)"
        )
    );
}

#[test]
fn the_word_must_be_of_the_declared_language() {
    let policy = policy("embedded", &[("words: [node, nodejs]", "words: [node, nodejs, run]")]);
    let submitted = request(&[("python -c 'print(1 + 1)'", "run -e x")]);
    let (violations, rules) = refused(DecisionScene::default().decide(submitted, &policy));
    assert_eq!(codes(&violations), ["language.mismatch"]);
    assert!(violations[0].message.contains("`python` is declared, but the command runs node"));
    assert_eq!(verdict(&rules, "command"), Verdict::Pass);
    assert_eq!(verdict(&rules, "runtime"), Verdict::Pass);
}

#[test]
fn a_near_miss_of_a_word_chooses_nothing() {
    for word in ["Python", "python3.11", "./python"] {
        let command = format!("{word} -c x");
        let draft = scene::text(&[("python -c 'print(1 + 1)'", &command)]);
        let name = format!("{ID}.md");
        let draft = validator::Draft::new(draft.into_bytes(), &name, OwnerUid::new(1)).unwrap();
        let checked = draft.check(validator::FileLocation::Elsewhere, time(scene::NOW));
        // The validator may already have refused it.
        let Ok(submitted) = checked.verdict else { continue };
        let decision = DecisionScene::default().decide(submitted, &shipped("embedded"));
        let (violations, _) = refused(decision);
        assert!(codes(&violations).contains(&"command.not-permitted".to_owned()), "{word}");
    }
}

#[test]
fn missing_runtime_is_reported_with_the_searched_names() {
    for (profile, words) in [
        ("embedded", "no program named python or python3 was found in /usr/bin, /usr/local/bin"),
        ("standard", "runtime `python`: not available on this host: /usr/bin/python3 is missing"),
    ] {
        let scene =
            DecisionScene { binaries: InstalledRuntimes::new(), ..DecisionScene::default() };
        let (violations, rules) = refused(scene.decide(request(&[]), &shipped(profile)));
        assert_eq!(codes(&violations)[0], "runtime.missing");
        assert!(violations[0].message.contains(words), "{:?}", violations[0]);
        assert_eq!(verdict(&rules, "runtime"), Verdict::Refuse);
    }
    let mut relative = InstalledRuntimes::new();
    relative.insert("python", InstalledRuntime::binary("bin/python3"));
    assert_eq!(relative.get("python"), None);
}

#[test]
fn other_constraints_are_stated_or_refused() {
    let change = [("  - \"No persistence\"", "  - \"No persistence\"\n  - \"Be kind\"")];
    let stated = approved(DecisionScene::default().decide(request(&change), &shipped("embedded")));
    assert_eq!(
        reason(&stated.rationale().rules, "constraints"),
        "stated, not enforced: \"Be kind\""
    );
    let strict = policy("embedded", &[("constraints: stated", "constraints: refuse")]);
    let (violations, _) = refused(DecisionScene::default().decide(request(&change), &strict));
    assert_eq!(codes(&violations), ["frontmatter.value"]);
    accepts(DecisionScene::default().decide(request(&[]), &strict));
}

#[test]
fn grant_contains_strict_outputs_and_exceptions() {
    let changes =
        [("outputs: lenient", "outputs: strict"), ("exceptions: [cgroup]", "exceptions: []")];
    let approved =
        approved(DecisionScene::default().decide(request(&[]), &policy("embedded", &changes)));
    assert!(approved.grant().outputs_strict());
    assert!(!approved.grant().cgroup_exception());
    assert!(reason(&approved.rationale().rules, "layers").ends_with("exceptions: none"));
}

#[test]
fn an_owner_counts_only_where_policy_names_them() {
    let changes = [
        ("invoker: true", "invoker: false"),
        ("owners: []", "owners: [1000, bob]"),
        ("    names: [node, nodejs]\n", ""),
    ];
    // `auto` is only for an invoker.
    let text = changed("embedded", &changes).replace("binary: auto", "binary: /usr/bin/program");
    let policy = Policy::parse(text.as_bytes(), "test.yaml").unwrap();
    let by = |uid: u32, name: Option<&str>| DecisionScene {
        submission: SubmissionOrigin::Submitted {
            owner: OwnerUid::new(uid),
            owner_name: name.map(str::to_owned),
        },
        ..DecisionScene::default()
    };
    for (uid, name, text) in [
        (1000, None, "unsigned, by the file's owner 1000"),
        (1000, Some("alice"), "unsigned, by the file's owner alice"),
        (7, Some("bob"), "unsigned, by the file's owner bob"),
    ] {
        let approved = approved(by(uid, name).decide(request(&[]), &policy));
        assert_eq!(approved.grant().approval_text(), text);
    }
    for (uid, name, who) in [(7, None, "7"), (7, Some("1000"), "1000"), (7, Some("Bob"), "Bob")] {
        let (violations, _) = refused(by(uid, name).decide(request(&[]), &policy));
        assert_eq!(codes(&violations), ["approval.principal"]);
        assert_eq!(
            violations[0].message,
            format!("{ID}: owner {who} is not an approver of policy approval.owners")
        );
    }
    // The approver named in the text makes no difference.
    accepts(by(1000, None).decide(request(&[("\"alice\"", "\"Somebody Else\"")]), &policy));
    // The user who types the command is a user like any other here.
    accepts(DecisionScene::default().decide(request(&[]), &policy));
    let other = SubmissionOrigin::Invoked { uid: 7, name: None };
    let scene = DecisionScene { submission: other, ..DecisionScene::default() };
    let (violations, _) = refused(scene.decide(request(&[]), &policy));
    assert!(violations[0].message.contains("invoker 7 is not an approver"));
}

#[test]
fn submitted_file_does_not_count_as_invoked() {
    let scene = DecisionScene { submission: dropped(), ..DecisionScene::default() };
    let (violations, _) = refused(scene.decide(request(&[]), &shipped("embedded")));
    assert_eq!(codes(&violations), ["approval.principal"]);
}

#[test]
fn an_approval_ages() {
    let policy = policy("embedded", &[("age_sec_max: null", "age_sec_max: 3600")]);
    // approved_utc is 16:12:00; two minutes of skew are allowed everywhere.
    for (now, good) in [
        ("2026-02-09T16:12:00Z", true),
        ("2026-02-09T17:14:00Z", true),
        ("2026-02-09T17:14:01Z", false),
        ("2027-01-01T00:00:00Z", false),
    ] {
        let scene = DecisionScene { now: time(now), ..DecisionScene::default() };
        let decision = scene.decide(request(&[]), &policy);
        if good {
            let approved = approved(decision);
            assert_eq!(verdict(&approved.rationale().rules, "approval.age"), Verdict::Pass);
        } else {
            let (violations, _) = refused(decision);
            assert_eq!(codes(&violations), ["approval.expired"], "{now}");
        }
    }
}

#[test]
fn standard_requires_a_signature_from_any_submitter() {
    for submission in [scene::invoked(), dropped()] {
        let scene = DecisionScene { submission, ..DecisionScene::default() };
        let (violations, rules) = refused(scene.decide(request(&[]), &shipped("standard")));
        assert_eq!(codes(&violations), ["approval.signature", "approval.count"]);
        assert_eq!(verdict(&rules, "approval.submitter"), Verdict::NotApplicable);
        assert!(violations[0].message.contains("allowed_signers is not configured"));
        assert!(violations[1].message.contains("0 of 1 distinct approvers signed"));
    }
}

fn with_hosts(hosts: &str) -> policies::Policy {
    policy("embedded", &[("hosts: []", &format!("hosts: {hosts}"))])
}

fn asking_for(hosts: &str) -> validator::Request {
    let list = format!("network: \"allowlist\"\nnetwork_allowlist: {hosts}");
    request(&[("network: \"none\"\nnetwork_allowlist: []", &list)])
}

#[test]
fn grant_contains_only_requested_and_offered_hosts() {
    let policy = with_hosts(
        "[{host: pypi.org, ports: [443, 80], private: []},
         {host: data.lan, ports: [8080], private: [10.0.0.5, \"fd00::5\"]},
         {host: other.lan, ports: [443], private: [10.0.0.6]}]",
    );
    let submitted = asking_for("[PyPI.org, \"data.lan:8080\"]");
    let approved = approved(DecisionScene::default().decide(submitted, &policy));
    let network = approved.grant().network().expect("a network");
    let hosts: Vec<String> = network
        .hosts
        .iter()
        .map(|(name, host)| format!("{name} {:?} {:?}", host.ports, host.private))
        .collect();
    // Private addresses belong only to the host that lists them.
    assert_eq!(hosts, ["data.lan [8080] [10.0.0.5, fd00::5]", "pypi.org [443] []"]);
    assert_eq!((network.bytes_max, network.connections_max), (1 << 30, 32));
    assert!(reason(&approved.rationale().rules, "network").contains("pypi.org:443, data.lan:8080"));
}

#[test]
fn one_host_or_port_too_many_is_refused_by_name() {
    let policy = with_hosts("[{host: pypi.org, ports: [443], private: []}]");
    for (hosts, missing) in [
        ("[pypi.org, evil.org]", "network_allowlist: evil.org:443 not permitted"),
        ("[\"pypi.org:80\"]", "network_allowlist: pypi.org:80 not permitted"),
        ("[sub.pypi.org, pypi.org]", "network_allowlist: sub.pypi.org:443 not permitted"),
    ] {
        let (violations, rules) =
            refused(DecisionScene::default().decide(asking_for(hosts), &policy));
        assert_eq!(codes(&violations), ["network.not-permitted"], "{hosts}");
        assert!(reason(&rules, "network").contains(missing), "{rules:#?}");
    }
}

#[test]
fn a_run_without_hosts_has_no_network() {
    let policy = with_hosts("[{host: pypi.org, ports: [443], private: []}]");
    assert!(
        approved(DecisionScene::default().decide(request(&[]), &policy))
            .grant()
            .network()
            .is_none()
    );
}

#[test]
fn strict_requires_requester_host_and_intent() {
    let scene = DecisionScene { submission: scene::dropped(), ..DecisionScene::default() };
    let (violations, _) = refused(scene.decide(request(&[]), &shipped("strict")));
    let found = codes(&violations);
    for code in [
        "frontmatter.missing-key",
        "approval.self",
        "approval.count",
        "permission.requestable",
        "ais.bundle-missing",
    ] {
        assert!(found.iter().any(|it| it == code), "{code} in {found:?}");
    }
}

#[test]
fn each_rule_reports_one_verdict() {
    let changes = REFUSED.iter().map(|(old, new, ..)| vec![(*old, *new)]);
    for change in changes.chain([Vec::new()]) {
        let decision = DecisionScene::default().decide(request(&change), &shipped("embedded"));
        let rationale = match decision {
            Decision::Approve(approved) => approved.rationale().clone(),
            Decision::Hold { rationale, .. } | Decision::Refuse { rationale, .. } => rationale,
        };
        // This decision judges no bundle.
        for rule in RuleName::ALL.iter().filter(|rule| **rule != RuleName::AisLedger) {
            let verdicts = rationale.rules.iter().filter(|row| row.rule == rule.as_str()).count();
            assert_eq!(verdicts, 1, "{rule} of {change:?}");
        }
        for row in rationale.rules {
            assert!(row.rule.parse::<RuleName>().is_ok(), "{} is not a rule", row.rule);
        }
    }
}
