//! Tests of the environment that a request names: what the policy permits, what this host has, the
//! program that a word chooses, and what the grant shows of the environment. No file is opened.

use crate::scene;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::EnvironmentReference;
use policies::{
    BuilderEvidence, EnvironmentEvidence, InstalledRuntime, InstalledRuntimes, OpenedEnvironment,
    Policy, RunGrant, SignerKey, Verdict, bound_violations,
};
use scene::{DecisionScene, approved, codes, policy, reason, refused, request, shipped, verdict};
use validator::Request;

const TREE: &str = "/state/environments/sha256-3f/content/tree";

fn digest() -> String {
    format!("sha256:{}", "3f".repeat(32))
}

fn reference() -> EnvironmentReference {
    format!("charts@{}", digest()).parse().expect("a reference")
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Returns the request for a command, which names the environment.
fn naming(language: &str, command: &str) -> Request {
    let named = format!("x-environment: \"{}\"\npurpose", reference());
    let language = format!("language: \"{language}\"");
    request(&[
        ("purpose", &named),
        ("language: \"python\"", &language),
        ("python -c 'print(1 + 1)'", command),
    ])
}

fn libraries() -> OpenedEnvironment {
    OpenedEnvironment {
        reference: reference(),
        is_root: false,
        programs: map(&[("pytest", "bin/pytest")]),
        variables: map(&[("PYTHONPATH", "/cache/env")]),
        needs: map(&[("python", "3.11")]),
        tree: PathBuf::from(TREE),
        identity: (1, 2),
        builder: BuilderEvidence::Unsigned,
    }
}

fn root() -> OpenedEnvironment {
    OpenedEnvironment {
        is_root: true,
        programs: map(&[("jq", "usr/bin/jq"), ("python", "usr/bin/python3"), ("tsx", "bin/tsx")]),
        variables: map(&[("PATH", "/usr/bin:/bin")]),
        needs: BTreeMap::new(),
        ..libraries()
    }
}

fn scene_of(opened: OpenedEnvironment) -> DecisionScene {
    let environment = EnvironmentEvidence::Opened(Box::new(opened));
    DecisionScene { environment, ..DecisionScene::default() }
}

/// Returns the grant of a request that the embedded policy approves.
fn granted(scene: &DecisionScene, request: Request) -> RunGrant {
    approved(scene.decide(request, &shipped("embedded"))).into_parts().1
}

/// Returns the message of the only violation, which has this code.
fn objection(scene: &DecisionScene, request: Request, policy: &Policy, code: &str) -> String {
    let (violations, _) = refused(scene.decide(request, policy));
    assert_eq!(codes(&violations), [code]);
    assert!(violations[0].hint.is_some());
    violations[0].message.clone()
}

/// Returns the message of the mismatch that the embedded policy refuses.
fn mismatch(opened: OpenedEnvironment, request: Request) -> String {
    objection(&scene_of(opened), request, &shipped("embedded"), "environment.mismatch")
}

fn value<'a>(grant: &'a RunGrant, name: &str) -> Vec<&'a str> {
    let named = grant.env().iter().filter(|(it, _)| it == name);
    named.map(|(_, value)| value.as_str()).collect()
}

#[test]
fn libraries_are_one_more_cache_of_a_runtime() {
    let scene = scene_of(libraries());
    let decided = scene.decide(naming("python", "python -c 'print(1)'"), &shipped("embedded"));
    let approved = approved(decided);
    let shown = reason(&approved.rationale().rules, "environment");
    assert_eq!(shown, format!("{}: /cache/env is {TREE}", reference()));
    let grant = approved.grant();
    assert_eq!(grant.environment(), Some(&reference()));
    assert_eq!((grant.runtime_name(), grant.root()), ("python", None));
    assert_eq!(grant.binary(), Path::new("/usr/bin/python3.11"));
    assert_eq!(grant.mounts(), [PathBuf::from("/usr")]);
    assert_eq!(grant.caches().get(Path::new("/cache/env")), Some(&PathBuf::from(TREE)));
    assert_eq!(grant.caches().len(), 1);
    let last = grant.env().last().expect("a variable");
    assert_eq!(*last, ("PYTHONPATH".to_owned(), "/cache/env".to_owned()));
}

#[test]
fn a_program_of_libraries_runs_on_the_runtime_that_they_need() {
    let scene = scene_of(libraries());
    let grant = granted(&scene, naming("python", "pytest -q"));
    assert_eq!(grant.binary(), Path::new("/cache/env/bin/pytest"));
    assert_eq!((grant.runtime_name(), grant.argv().join(" ")), ("python", "pytest -q".to_owned()));
    assert_eq!(grant.mounts(), [PathBuf::from("/usr")]);
    let embedded = shipped("embedded");
    objection(&scene, naming("node", "pytest -q"), &embedded, "language.mismatch");
    let bare = DecisionScene { binaries: InstalledRuntimes::new(), ..scene_of(libraries()) };
    objection(&bare, naming("python", "pytest -q"), &embedded, "runtime.missing");
}

#[test]
fn a_program_of_an_environment_takes_no_arguments_of_the_runtime() {
    for needs in [&[("node", "18")][..], &[]] {
        let programs = map(&[("eslint", "bin/eslint")]);
        let opened = OpenedEnvironment { programs, needs: map(needs), ..libraries() };
        let grant = granted(&scene_of(opened), naming("node", "eslint -v"));
        assert_eq!((grant.runtime_name(), grant.argv()[0].as_str()), ("node", "eslint"));
        assert_eq!(grant.argv().len(), 2);
    }
    let opened = OpenedEnvironment { programs: map(&[("node", "bin/node")]), ..root() };
    let grant = granted(&scene_of(opened), naming("node", "node -v"));
    assert_eq!(grant.argv().join(" "), "node --max-old-space-size=768 -v");
    assert_eq!(grant.binary(), Path::new("/bin/node"));
}

#[test]
fn a_root_replaces_the_programs_of_the_host() {
    // No runtime is installed on this host.
    let scene = DecisionScene { binaries: InstalledRuntimes::new(), ..scene_of(root()) };
    for (command, binary) in [("jq -n 1", "/usr/bin/jq"), ("python -V", "/usr/bin/python3")] {
        let grant = granted(&scene, naming("python", command));
        assert_eq!(grant.binary(), Path::new(binary));
        assert_eq!((grant.root(), grant.runtime_name()), (Some(Path::new(TREE)), "python"));
        assert!(grant.mounts().is_empty() && grant.caches().is_empty());
        assert_eq!(value(&grant, "PATH"), ["/usr/bin:/bin"]);
        assert_eq!(value(&grant, "PYTHONHASHSEED"), ["0"]);
    }
    let decided = scene.decide(naming("ruby", "jq -n 1"), &shipped("embedded"));
    let approved = approved(decided);
    assert_eq!(approved.grant().runtime_name(), "ruby");
    let rules = &approved.rationale().rules;
    assert_eq!(reason(rules, "environment"), format!("{}: the root is {TREE}", reference()));
    assert_eq!(reason(rules, "runtime"), format!("jq is /usr/bin/jq in {TREE}"));
}

#[test]
fn a_word_must_be_offered() {
    let message = mismatch(root(), naming("ruby", "ruby -v"));
    let wanted = format!("command: `ruby` is not offered by {}: jq, python, tsx", reference());
    assert!(message.ends_with(&wanted), "{message}");
    let message = mismatch(libraries(), naming("python", "perl -v"));
    assert!(message.contains("command: `perl` is not offered by"), "{message}");
    let needs = map(&[("julia", "1.9")]);
    let opened = OpenedEnvironment { needs, ..libraries() };
    let message = mismatch(opened, naming("python", "pytest -q"));
    assert!(message.contains("`pytest` needs runtime julia, which the policy does not have"));
    // No runtime says how programs of this language are confined.
    let policy = policy("embedded", &[("language: ruby", "language: python")]);
    let submitted = naming("ruby", "jq -n 1");
    let message = objection(&scene_of(root()), submitted, &policy, "environment.mismatch");
    assert!(message.contains("`jq` needs a runtime of language ruby"), "{message}");
}

#[test]
fn a_root_without_a_cache_that_the_runtime_needs_is_refused() {
    let message = mismatch(root(), naming("ts", "tsx -e 1"));
    assert!(message.contains("runtime `ts` needs /cache/ts"), "{message}");
    let grant = granted(&scene_of(root()), naming("ts", "jq -n 1"));
    assert_eq!((grant.runtime_name(), grant.argv().join(" ")), ("ts", "jq -n 1".to_owned()));
}

#[test]
fn an_environment_sets_no_variable_of_the_policy() {
    let with = |name: &str, value: &str, of: OpenedEnvironment| OpenedEnvironment {
        variables: map(&[(name, value)]),
        ..of
    };
    let submitted = || naming("python", "python -V");
    for (name, value) in [("PATH", "/cache/env/bin"), ("LD_PRELOAD", "/in/x.so")] {
        let message = mismatch(with(name, value, libraries()), submitted());
        assert!(message.contains(&format!("the variable `{name}`, which an")), "{message}");
    }
    for of in [libraries(), root()] {
        let message = mismatch(with("LD_LIBRARY_PATH", "/lib", of.clone()), submitted());
        assert!(message.contains("`LD_LIBRARY_PATH`"), "{message}");
        // They lead a run to its proxy and to its home directory.
        for name in ["HOME", "HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
            let message = mismatch(with(name, "x", of.clone()), submitted());
            assert!(message.contains(&format!("the variable `{name}`, which an")), "{message}");
        }
        let message = mismatch(with("PYTHONHASHSEED", "1", of.clone()), submitted());
        assert!(message.contains("`PYTHONHASHSEED`, which runtime `python`"), "{message}");
        // The same value is set once; a base variable may be replaced, as by a runtime.
        for (name, set) in [("PYTHONHASHSEED", "0"), ("LANG", "de_DE.UTF-8")] {
            let grant = granted(&scene_of(with(name, set, of.clone())), submitted());
            assert_eq!(value(&grant, name), [set]);
        }
    }
    for name in ["GOCACHE", "GOMEMLIMIT"] {
        let mut scene = scene_of(with(name, "x", libraries()));
        scene.binaries.insert("go", InstalledRuntime::binary("/usr/bin/go"));
        let submitted = naming("go", "go version");
        let embedded = shipped("embedded");
        let message = objection(&scene, submitted, &embedded, "environment.mismatch");
        assert!(message.contains(&format!("`{name}`, which runtime `go`")), "{message}");
    }
}

#[test]
fn libraries_for_another_version_are_refused() {
    let opened = OpenedEnvironment { needs: map(&[("python", "3.12")]), ..libraries() };
    for command in ["python -V", "pytest -q"] {
        let message = mismatch(opened.clone(), naming("python", command));
        assert!(message.contains("it needs python 3.12; runtime `python` is python 3.11"));
    }
    // The name of this program has no second part, and node needs nothing of the libraries.
    let mut scene = scene_of(opened);
    assert_eq!(granted(&scene, naming("node", "node -v")).runtime_name(), "node");
    scene.binaries.insert("python", InstalledRuntime::binary("/usr/bin/python3"));
    assert_eq!(granted(&scene, naming("python", "pytest -q")).runtime_name(), "python");
}

#[test]
fn policy_permits_stored_listed_or_no_environments() {
    let scene = scene_of(libraries());
    let submitted = || naming("python", "pytest -q");
    let with = |allowed: &str, digests: &str| {
        let allowed = format!("allowed: {allowed}");
        let digests = format!("digests: [{digests}]");
        policy("embedded", &[("allowed: stored", &allowed), ("digests: []", &digests)])
    };
    let other = format!("sha256:{}", "0".repeat(64));
    let code = "environment.not-permitted";
    let message = objection(&scene, submitted(), &with("none", ""), code);
    assert!(message.contains("x-environment: the policy permits no environment"), "{message}");
    let message = objection(&scene, submitted(), &with("listed", &other), code);
    assert!(message.contains("not in environments.digests of the policy"), "{message}");
    for permitting in [with("stored", ""), with("listed", &format!("{other}, {}", digest()))] {
        scene::accepts(scene.decide(submitted(), &permitting));
        assert!(permitting.permits_environments());
    }
    // A policy of before environments.
    let text = Policy::shipped_text("embedded").expect("a shipped profile");
    let (before, rest) = text.split_once("\nenvironments:\n").expect("the key");
    let (_, after) = rest.split_once("\n# Ceilings").expect("the next key");
    let older = format!("{before}\n# Ceilings{after}");
    let older = Policy::parse(older.as_bytes(), "older.yaml").expect("a policy");
    objection(&scene, submitted(), &older, code);
}

#[test]
fn digests_have_one_spelling_and_appear_once() {
    let upper = digest().to_uppercase().replace("SHA256", "sha256");
    let twice = format!("{0}, {0}", digest());
    let bare = "3f".repeat(32);
    for (digests, what) in [
        (upper.as_str(), "is not a digest"),
        (bare.as_str(), "is not a digest"),
        (twice.as_str(), "appears twice; help: keep one of them"),
    ] {
        let text = scene::changed("embedded", &[("digests: []", &format!("digests: [{digests}]"))]);
        let error = Policy::parse(text.as_bytes(), "test.yaml").expect_err("a wrong digest");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn digests_without_effect_are_a_problem() {
    for allowed in ["stored", "none"] {
        let (allows, lists) = (format!("allowed: {allowed}"), format!("digests: [{}]", digest()));
        let changes = [("allowed: stored", allows.as_str()), ("digests: []", lists.as_str())];
        let text = scene::changed("embedded", &changes);
        let error = Policy::parse(text.as_bytes(), "test.yaml").expect_err("a useless list");
        let what = format!("environments.digests: has no effect with {allows}; help: write");
        assert!(error.to_string().contains(&what), "{error}");
    }
}

const BUILDER: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";
const OTHER_BUILDER: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYA\
    AABBBMCm01W8OtX/J7WngE8twOfof3RdZX/wtg13mQhHbyNlrp4/kpwv5zqiduoJqDOUqqKZaKxrkAwIUV9I0k8ZtUA=";

/// Returns the embedded policy with these keys of builders, as YAML.
fn with_builders(keys: &str) -> String {
    let builders = format!("digests: []\n  builders: [{keys}]");
    scene::changed("embedded", &[("digests: []", &builders)])
}

fn signed_by(key: &str) -> OpenedEnvironment {
    let key = SignerKey::read(key).expect("a key");
    OpenedEnvironment { builder: BuilderEvidence::Signed(key), ..libraries() }
}

#[test]
fn a_policy_may_demand_one_of_its_builders() {
    let text = with_builders(&format!("\"{BUILDER} ci@example\""));
    let demanding = Policy::parse(text.as_bytes(), "test.yaml").expect("a policy");
    let submitted = || naming("python", "pytest -q");
    scene::accepts(scene_of(signed_by(BUILDER)).decide(submitted(), &demanding));
    let unverified = BuilderEvidence::Unverified("it is too large".to_owned());
    for (opened, why) in [
        (libraries(), "its build is not signed"),
        (signed_by(OTHER_BUILDER), "not by a key of environments.builders"),
        (
            OpenedEnvironment { builder: unverified, ..libraries() },
            "its build record does not verify: it is too large",
        ),
    ] {
        let scene = scene_of(opened);
        let message = objection(&scene, submitted(), &demanding, "environment.not-permitted");
        assert!(message.contains(why), "{message}");
        scene::accepts(scene.decide(submitted(), &shipped("embedded")));
    }
}

#[test]
fn builders_are_sound_keys_and_appear_once() {
    for (keys, what) in [
        (String::new(), "names no key"),
        (format!("\"{BUILDER}\", \"{BUILDER} again\""), "appears twice"),
        ("\"ssh-rsa AAAA\"".to_owned(), "key type `ssh-rsa` is not accepted"),
        ("\"ssh-ed25519 AAAA\"".to_owned(), "is damaged"),
    ] {
        let error = Policy::parse(with_builders(&keys).as_bytes(), "test.yaml");
        let error = error.expect_err("wrong keys").to_string();
        assert!(error.contains("environments.builders: "), "{error}");
        assert!(error.contains(what), "{error}");
    }
    let text = with_builders(&format!("\"{BUILDER}\"")).replace("allowed: stored", "allowed: none");
    let error = Policy::parse(text.as_bytes(), "test.yaml").expect_err("a useless list");
    assert!(error.to_string().contains("builders: has no effect with allowed: none"), "{error}");
}

#[test]
fn an_environment_that_was_not_opened_is_unavailable() {
    let other = OpenedEnvironment {
        reference: format!("charts@sha256:{}", "0".repeat(64)).parse().unwrap(),
        ..libraries()
    };
    for (environment, why) in [
        (EnvironmentEvidence::Unavailable("it is not in the store".to_owned()), "in the store"),
        (EnvironmentEvidence::Unnamed, "it was not opened"),
        (EnvironmentEvidence::Opened(Box::new(other)), "it was not opened"),
    ] {
        let scene = DecisionScene { environment, ..DecisionScene::default() };
        for (command, of_word) in
            [("python -V", Verdict::Pass), ("pytest -q", Verdict::NotApplicable)]
        {
            let decided = scene.decide(naming("python", command), &shipped("embedded"));
            let (violations, rules) = refused(decided);
            assert_eq!(codes(&violations), ["environment.unavailable"], "{command}");
            assert!(violations[0].message.contains(why), "{violations:?}");
            assert_eq!(verdict(&rules, "command"), of_word);
            assert_eq!(verdict(&rules, "environment"), Verdict::Refuse);
        }
    }
}

#[test]
fn a_request_that_names_none_sees_none() {
    let scene = scene_of(libraries());
    let decided = scene.decide(request(&[]), &shipped("embedded"));
    let approved = approved(decided);
    assert_eq!(verdict(&approved.rationale().rules, "environment"), Verdict::NotApplicable);
    let grant = approved.grant();
    assert!(grant.environment().is_none() && grant.caches().is_empty());
    assert!(value(grant, "PYTHONPATH").is_empty());
    let submitted = request(&[("python -c 'print(1 + 1)'", "pytest -q")]);
    objection(&scene, submitted, &shipped("embedded"), "command.not-permitted");
}

#[test]
fn authors_learn_what_the_policy_permits_on_any_host() {
    let none = policy("embedded", &[("allowed: stored", "allowed: none")]);
    let found = |request: &Request, policy: &Policy| codes(&bound_violations(request, policy));
    assert_eq!(found(&naming("python", "pytest -q"), &none), ["environment.not-permitted"]);
    let embedded = shipped("embedded");
    // Only the environment itself says whether it offers the word.
    assert!(found(&naming("python", "pytest -q"), &embedded).is_empty());
    let unnamed = request(&[("python -c 'print(1 + 1)'", "pytest -q")]);
    assert_eq!(found(&unnamed, &embedded), ["command.not-permitted"]);
    assert_eq!(found(&naming("node", "python -V"), &embedded), ["language.mismatch"]);
}
