//! The result ids that were assigned from this state directory in the last seconds. An id contains
//! whole seconds, and checking one results directory is not enough: two replays of one record may
//! publish to different directories in the same second. Nothing here is synced: a power cut loses
//! only entries that are seconds old, and the host takes longer to restart.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use model::ResultId;

use crate::error::SpoolError;
use crate::lock::{FileLock, LockMode, lock_file};

/// The file in the state directory, one id per line.
const ASSIGNED_IDS_FILE: &str = "given";
/// Ids are assigned for the current second. Older entries than this are dropped.
const RETAINED_SEC: u64 = 5;
/// More bytes than are ever written in that time.
const ASSIGNED_BYTES_MAX: u64 = 1024 * 1024;

/// Assigns an id. Returns false if it was assigned before.
///
/// # Errors
/// An I/O error, or another process holds the file for too long.
pub(crate) fn assign_id(state: &Path, id: &ResultId) -> Result<bool, SpoolError> {
    let path = state.join(ASSIGNED_IDS_FILE);
    let mut options = OpenOptions::new();
    let opened =
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let given = opened.and_then(|file| {
        lock_file(&file, LockMode::Exclusive)?;
        assign_in(&FileLock::from_locked(file), id)
    });
    match given.map_err(SpoolError::io(&path, "assign a result id in")) {
        // Without disk space no run begins from this state, so no two runs can get the same id.
        Err(error) if error.is_full() => Ok(true),
        given => given,
    }
}

fn assign_in(file: &FileLock, id: &ResultId) -> io::Result<bool> {
    let mut given = recent(file.file(), id)?;
    if given.iter().any(|one| one == id) {
        return Ok(false);
    }
    given.push(id.clone());
    let text: String = given.iter().map(|one| format!("{one}\n")).collect();
    file.file().write_all_at(text.as_bytes(), 0)?;
    file.file().set_len(u64::try_from(text.len()).unwrap_or(u64::MAX))?;
    Ok(true)
}

/// Returns the ids of about the same time as this one. A torn line is dropped.
fn recent(file: &File, id: &ResultId) -> io::Result<Vec<ResultId>> {
    let mut text = Vec::new();
    file.take(ASSIGNED_BYTES_MAX).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let ids = text.lines().filter_map(|line| line.parse::<ResultId>().ok());
    let is_recent = |one: &ResultId| one.at().unix().abs_diff(id.at().unix()) <= RETAINED_SEC;
    Ok(ids.filter(is_recent).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::UtcTime;

    use super::*;

    fn id(second: i64, slug: &str) -> ResultId {
        let request = format!("TR-20260209-160501Z-{slug}").parse().unwrap();
        ResultId::for_request(UtcTime::from_unix(1_800_000_000 + second), &request)
    }

    fn state(name: &str) -> std::path::PathBuf {
        let state = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        fs::create_dir(&state).unwrap();
        state
    }

    #[test]
    fn an_id_is_given_once_and_forgotten_when_its_second_is_long_over() {
        let state = state("given");
        assert!(assign_id(&state, &id(0, "a")).unwrap());
        assert!(!assign_id(&state, &id(0, "a")).unwrap());
        assert!(assign_id(&state, &id(0, "b")).unwrap());
        assert!(assign_id(&state, &id(1, "a")).unwrap());
        assert!(!assign_id(&state, &id(0, "b")).unwrap());
        let file = File::create(state.join(ASSIGNED_IDS_FILE)).unwrap();
        file.write_all_at(format!("torn\0\n{}\nTS-2026", id(2, "a")).as_bytes(), 0).unwrap();
        assert!(!assign_id(&state, &id(2, "a")).unwrap());
        assert!(assign_id(&state, &id(1_000, "a")).unwrap());
        assert_eq!(
            fs::read_to_string(state.join(ASSIGNED_IDS_FILE)).unwrap(),
            format!("{}\n", id(1_000, "a"))
        );
        // A clock that was set back does not prevent an id from being assigned.
        assert!(assign_id(&state, &id(0, "a")).unwrap());
        fs::remove_dir_all(state).unwrap();
    }

    #[test]
    fn of_many_who_ask_at_once_one_is_given_it() {
        let state = state("given-at-once");
        let given: usize = std::thread::scope(|scope| {
            let ask = || usize::from(assign_id(&state, &id(0, "a")).unwrap());
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!(given, 1);
        fs::remove_dir_all(state).unwrap();
    }
}
