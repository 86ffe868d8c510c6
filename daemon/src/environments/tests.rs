//! An environment is opened as it was stored, and not after a change.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use model::{Sha256, UtcTime};
use policies::BuilderEvidence;
use records::{
    BuildStatement, BuildTotals, BuilderKey, ResultKey, StatedSource, reason_with_help, sign_build,
};
use trees::{BuildFacts, SourceFacts, TreeLimits};

use super::*;

const LIMITS: TreeLimits = TreeLimits { entries_max: 100, bytes_max: 1 << 20, depth_max: 10 };
const FILE: &str = "rows = []\n";

/// A store with one environment, in a directory that is removed at the end.
struct EnvironmentScene {
    top: PathBuf,
    store: PathBuf,
    named: EnvironmentReference,
}

impl EnvironmentScene {
    fn new(test: &str, kind: EnvironmentKind) -> Self {
        let unique = format!("toolexec-environments-{test}-{}", std::process::id());
        let top = std::env::temp_dir().join(unique);
        let path = environments_dir(&top);
        let store = EnvironmentStore::create(&path).unwrap();
        let draft = store.draft(1).unwrap();
        File::create(draft.tree().join("data.py")).unwrap().write_all(FILE.as_bytes()).unwrap();
        let pair = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let content = EnvironmentContent {
            kind,
            programs: pair("data", "data.py"),
            variables: pair("PYTHONPATH", "/cache/env"),
            needs: pair("python", "3.11"),
        };
        let source = SourceFacts {
            kind: "directory".to_owned(),
            file: "data".to_owned(),
            sha256: Sha256::of(b"source"),
        };
        let facts = BuildFacts {
            name: "data".parse().unwrap(),
            source,
            built: UtcTime::from_unix(1_700_000_000),
            uid: 1000,
        };
        let named = store.add(draft, &content, &facts, &LIMITS).unwrap().reference();
        Self { top, store: path, named }
    }

    fn open(&self) -> Result<OpenedEnvironment, String> {
        match evidence(Some(&self.named), &self.store) {
            EnvironmentEvidence::Opened(opened) => Ok(*opened),
            EnvironmentEvidence::Unavailable(why) => Err(why),
            EnvironmentEvidence::Unnamed => panic!("the request names one"),
        }
    }

    fn stored(&self, below: &str) -> PathBuf {
        self.store.join(format!("sha256-{}", self.named.sha256)).join(below)
    }

    fn overwrite(&self, text: &str) {
        // Kernels before 6.13 keep coarse times: a change must not have the time of the last one.
        std::thread::sleep(Duration::from_millis(20));
        let path = self.stored("content/tree/data.py");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

impl Drop for EnvironmentScene {
    fn drop(&mut self) {
        // Its directories are read-only.
        for below in ["content/tree", "content", ""] {
            fs::set_permissions(self.stored(below), Permissions::from_mode(0o755)).unwrap();
        }
        fs::remove_dir_all(&self.top).unwrap();
    }
}

#[test]
fn a_stored_environment_is_opened_by_its_digest() {
    let scene = EnvironmentScene::new("open", EnvironmentKind::Libraries);
    let opened = scene.open().unwrap();
    assert_eq!((&opened.reference, opened.is_root), (&scene.named, false));
    assert_eq!(opened.programs["data"], "data.py");
    assert_eq!(opened.variables["PYTHONPATH"], "/cache/env");
    assert_eq!(opened.needs["python"], "3.11");
    assert_eq!(opened.tree, scene.stored("content/tree"));
    assert!(start_fault(&opened, &scene.store).is_none());
    let stated = stated(Some(&scene.named), &scene.store);
    assert_eq!(stated, EnvironmentEvidence::Opened(Box::new(opened.clone())));
    assert_eq!(evidence(None, &scene.store), EnvironmentEvidence::Unnamed);

    // The digest decides; the name is for people.
    let name = "other".parse().unwrap();
    let renamed = EnvironmentReference { name, ..scene.named.clone() };
    let renamed = OpenedEnvironment { reference: renamed, ..opened.clone() };
    assert!(start_fault(&renamed, &scene.store).is_none());
    let sha256 = Sha256::of(b"another");
    let other = EnvironmentReference { sha256, ..scene.named.clone() };
    let fault = start_fault(
        &OpenedEnvironment { reference: other.clone(), ..opened.clone() },
        &scene.store,
    )
    .unwrap();
    let place = format!("x-environment: {other}: it is not in {}", scene.store.display());
    assert!(fault.message.starts_with(&place), "{fault:?}");

    // The decision used what the environment states.
    let programs = BTreeMap::new();
    let changed = OpenedEnvironment { programs, ..opened.clone() };
    let fault = start_fault(&changed, &scene.store).unwrap();
    assert!(fault.message.ends_with("it was replaced while the run was prepared"), "{fault:?}");

    // A copy of the directory has the digest too, but the sandbox would show the other one.
    let (device, inode) = opened.identity;
    for identity in [(device, inode + 1), (device + 1, inode)] {
        let replaced = OpenedEnvironment { identity, ..opened.clone() };
        let fault = start_fault(&replaced, &scene.store).unwrap();
        assert!(fault.message.ends_with("replaced while the run was prepared"), "{fault:?}");
    }
}

#[test]
fn the_record_of_a_build_says_who_signed_it() {
    let scene = EnvironmentScene::new("builder", EnvironmentKind::Libraries);
    let decided = scene.open().unwrap();
    assert_eq!(decided.builder, BuilderEvidence::Unsigned);

    let keys = scene.top.join("keys");
    ResultKey::open_or_create(&keys).unwrap();
    let key = BuilderKey::of_host(&keys).unwrap();
    let stated = |sha256: Sha256| BuildStatement {
        environment: EnvironmentReference { sha256, ..scene.named.clone() },
        source: StatedSource {
            kind: "directory".to_owned(),
            file: "data".to_owned(),
            sha256: Sha256::of(b"source").to_string(),
        },
        installer: None,
        platform: "linux/x86_64".to_owned(),
        tool_version: "0.1.0".to_owned(),
        started: UtcTime::from_unix(1_700_000_000),
        ended: UtcTime::from_unix(1_700_000_000),
        uid: 1000,
        totals: BuildTotals { files: 1, directories: 0, links: 0, bytes: 10 },
    };
    let store = EnvironmentStore::open(&scene.store).unwrap();
    let put = |record: &[u8]| store.put_build_record(scene.named.sha256, record).unwrap();
    put(&sign_build(&stated(scene.named.sha256), &key).unwrap());
    assert_eq!(scene.open().unwrap().builder, BuilderEvidence::Signed(key.public().clone()));
    // The decision used another record.
    assert!(start_fault(&decided, &scene.store).is_some());

    for record in [b"{}\n".to_vec(), sign_build(&stated(Sha256::of(b"other")), &key).unwrap()] {
        put(&record);
        let builder = scene.open().unwrap().builder;
        assert!(matches!(builder, BuilderEvidence::Unverified(_)), "{builder:?}");
    }
}

#[test]
fn a_root_environment_is_opened_as_one() {
    let scene = EnvironmentScene::new("root", EnvironmentKind::Root);
    assert!(scene.open().unwrap().is_root);
}

#[test]
fn a_changed_environment_is_refused_until_its_files_have_their_digest() {
    let scene = EnvironmentScene::new("changed", EnvironmentKind::Libraries);
    let decided = scene.open().unwrap();
    scene.overwrite("rows = {}\n");
    let why = scene.open().err().unwrap();
    assert_eq!(why, "its files changed after it was built");
    let fault = start_fault(&decided, &scene.store).unwrap();
    assert!(fault.message.ends_with(&why) && fault.hint.is_some(), "{fault:?}");
    scene.overwrite(FILE);
    assert!(start_fault(&decided, &scene.store).is_none());
}

#[test]
fn a_host_without_a_store_has_no_environment() {
    let scene = EnvironmentScene::new("missing", EnvironmentKind::Libraries);
    let elsewhere = scene.top.join("elsewhere");
    let decided = scene.open().unwrap();
    let missing = |found: Option<Violation>| found.unwrap().message.contains("it is not in ");
    assert!(missing(start_fault(&decided, &elsewhere)));
    create_store(&elsewhere);
    assert!(elsewhere.is_dir());
    assert!(missing(start_fault(&decided, &elsewhere)));
}

#[test]
fn faults_can_stand_in_records() {
    let store = Path::new("/var/lib/toolexec/environments");
    let named = format!("data@sha256:{}", Sha256::of(b"data"));
    let errors = [
        StoreError::Changed { environment: named.clone() },
        StoreError::Missing { word: named.clone() },
        StoreError::Writable { path: store.to_owned() },
        StoreError::Io {
            path: store.to_owned(),
            act: "open",
            error: std::io::ErrorKind::PermissionDenied.into(),
        },
    ];
    let faults = errors.iter().map(|error| EnvironmentFault::of(error, store));
    for EnvironmentFault { problem, help } in faults.chain([EnvironmentFault::replaced()]) {
        let text = reason_with_help(&format!("environment {named}: {problem}"), help);
        assert_eq!(validator::withholding_code(&text), None, "{text}");
        assert_eq!(split_reason(&problem).1, None, "{problem}");
    }
}
