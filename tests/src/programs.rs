//! The programs under test and the directory of the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) const PROGRAMS: [&str; 6] = [
    "toolexec",
    "toolexecd",
    "toolexec-launch",
    "toolexec-egress",
    "toolexec-console",
    "toolexec-fleet",
];

#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the directory with the programs under test:
///
/// - `TOOLEXEC_BIN`, if set;
/// - the release profile under the suite's runner, which has just built it;
/// - otherwise the profile of this test or the release profile, depending on which linked
///   `toolexec` last, so that an older build is not tested by mistake.
///
/// # Panics
/// Panics if the programs are not built; the message says how to build them.
#[must_use]
pub fn programs() -> PathBuf {
    if let Some(named) = std::env::var_os("TOOLEXEC_BIN") {
        let named = PathBuf::from(named);
        assert!(link_time(&named).is_some(), "TOOLEXEC_BIN={}: not all programs", named.display());
        return fs::canonicalize(named).unwrap();
    }
    // target/<profile>/deps/<test>
    let test = fs::canonicalize(std::env::current_exe().unwrap()).unwrap();
    let profile = test.ancestors().nth(2).unwrap().to_owned();
    let release = profile.parent().unwrap().join("release");
    let runner = std::env::var_os("TOOLEXEC_SKIP_LOG").is_some();
    let places = if runner { vec![release] } else { vec![profile, release] };
    let chosen = places.into_iter().max_by_key(|place| link_time(place)).unwrap();
    assert!(
        link_time(&chosen).is_some(),
        "the programs are not built; run\n\n    cargo build --release --workspace --locked\n\nor \
         name their directory in TOOLEXEC_BIN (tests/run builds them itself)"
    );
    chosen
}

/// Returns the time at which `toolexec` was linked, if all programs exist; a change of any library
/// links it again. The launcher's time does not count, because `cargo test` also builds it alone.
fn link_time(place: &Path) -> Option<SystemTime> {
    if !PROGRAMS.iter().all(|name| place.join(name).is_file()) {
        return None;
    }
    fs::metadata(place.join(PROGRAMS[0])).and_then(|it| it.modified()).ok()
}
