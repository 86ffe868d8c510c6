//! Tests of the restrictions from inside the process. Each runs in a thread of its own, because a
//! restriction applies to the calling thread.

#[path = "../../../tests/src/skip.rs"]
mod skip;

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind::PermissionDenied;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

use super::*;

/// A spool, a state and a store of an agent, and a place that is none of them.
struct ConfinedScene {
    top: PathBuf,
}

impl ConfinedScene {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-fleet-confined-{name}-{}", std::process::id());
        let top = std::env::temp_dir().join(name);
        for place in ["spool/approved", "spool/results", "state/claims", "store", "config", "other"]
        {
            DirBuilder::new().recursive(true).create(top.join(place)).unwrap();
        }
        for file in ["spool/results/record", "config/fleet.yaml", "other/secret"] {
            File::create(top.join(file)).unwrap();
        }
        Self { top }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// Runs a check in a thread that is confined as an agent, after `restrict`.
    fn confined(
        &self,
        restrict: impl FnOnce(&AgentPlaces<'_>) + Send,
        check: impl FnOnce() + Send,
    ) {
        let (spool, state) = (self.path("spool"), self.path("state"));
        let (log, list) = (spool.join("log"), self.path("config/fleet.yaml"));
        let store = format!("file://{}", self.path("store").display());
        let confined = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let files = vec![list.as_path()];
                let store = Some(store.as_str());
                restrict(&AgentPlaces { spool: &spool, log: &log, state: &state, store, files });
                check();
            });
            thread.join()
        });
        confined.expect("holds");
    }
}

impl Drop for ConfinedScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

fn write_new(path: &Path) -> std::io::Result<()> {
    File::options().write(true).create_new(true).open(path).map(drop)
}

#[test]
fn an_agent_writes_its_own_places_and_reads_the_spool_alone() {
    let scene = ConfinedScene::new("files");
    let path = |name: &str| scene.path(name);
    let mut is_enforced = true;
    scene.confined(
        |places| {
            let status = restrict_files(places).unwrap();
            is_enforced = status != RulesetStatus::NotEnforced;
        },
        || {
            for name in ["spool/approved/a.md", "state/claims/a.json", "store/sha256-a"] {
                write_new(&path(name)).unwrap();
                fs::remove_file(path(name)).unwrap();
            }
            // A folder among the inputs, with a link.
            DirBuilder::new().create(path("spool/approved/a.inputs")).unwrap();
            symlink("b", path("spool/approved/a.inputs/link")).unwrap();
            fs::remove_dir_all(path("spool/approved/a.inputs")).unwrap();
            for name in ["spool/results/record", "config/fleet.yaml", "/etc/passwd"] {
                drop(File::open(path(name)).unwrap());
            }
        },
    );
    if !is_enforced {
        let test = "an_agent_writes_its_own_places_and_reads_the_spool_alone";
        return skip::skip(test, "this kernel has no Landlock");
    }
    let scene = ConfinedScene::new("denied");
    let path = |name: &str| scene.path(name);
    scene.confined(
        |places| assert!(restrict_files(places).is_ok()),
        || {
            for name in ["spool/results/a", "spool/a", "config/a", "other/a"] {
                let denied = write_new(&path(name)).map_err(|error| error.kind());
                assert_eq!(denied, Err(PermissionDenied), "{name}");
            }
            for name in ["other/secret", "/proc/self/environ"] {
                let denied = File::open(path(name)).map(drop).map_err(|error| error.kind());
                assert_eq!(denied, Err(PermissionDenied), "{name}");
            }
        },
    );
}

#[test]
fn a_serving_agent_connects_and_starts_no_program() {
    let scene = ConfinedScene::new("calls");
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let socket = scene.path("spool/database");
    let unix = UnixListener::bind(&socket).unwrap();
    scene.confined(
        |places| confine_serving(places).unwrap(),
        || {
            drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
            drop(UnixStream::connect(&socket).unwrap());
            drop(unix.accept().unwrap());
            write_new(&scene.path("state/claims/a.json")).unwrap();
            fs::remove_file(scene.path("state/claims/a.json")).unwrap();
            // A thread of the runtime, which makes directories.
            std::thread::spawn({
                let made = scene.path("state/incoming");
                move || DirBuilder::new().create(made).unwrap()
            })
            .join()
            .expect("a thread");
            assert!(TcpListener::bind("127.0.0.1:0").is_err());
            assert!(UnixStream::pair().is_err());
            assert!(Command::new("/bin/true").status().is_err());
        },
    );
}

#[test]
fn an_agent_needs_its_directories_before_it_is_confined() {
    let scene = ConfinedScene::new("missing");
    fs::remove_dir_all(scene.path("spool/approved")).unwrap();
    scene.confined(
        |places| {
            let why = confine_serving(places).unwrap_err();
            assert!(why.contains("spool/approved: not a directory; help: "), "{why}");
        },
        || (),
    );
}

#[test]
fn the_environment_names_files_of_clouds_only() {
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/run/tokens/aws/token"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/key.json"),
        ("SSL_CERT_DIR", "/proc:/sys"),
        ("AWS_ENDPOINT_URL", "https://store.example"),
        ("AZURE_TENANT_ID", "a/b"),
        ("HOME", "/root"),
    ];
    let found = variable_places(variables.iter().map(|(key, value)| (key.into(), value.into())));
    let found: Vec<&str> = found.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(found, ["/run/tokens/aws", "/key.json", "/proc", "/sys"]);
    assert_eq!(directory_of_store("file:///srv/store"), Some(PathBuf::from("/srv/store")));
    assert_eq!(directory_of_store("s3://bucket/srv"), None);
}

/// A group of calls that grows must not add one of these calls unnoticed.
#[test]
fn no_call_starts_a_program_or_listens_or_changes_an_owner() {
    let allowed = syscalls::allowed();
    for denied in [
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_kill,
        libc::SYS_ptrace,
        libc::SYS_listen,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_mknodat,
        libc::SYS_linkat,
    ] {
        assert!(!allowed.numbers().contains(&denied), "{denied}");
    }
}
