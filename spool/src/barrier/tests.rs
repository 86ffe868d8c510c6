//! A passed barrier was covered by a later sync, which serves many callers; a failure is final.

use std::sync::Barrier as Start;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::*;

#[test]
fn one_act_serves_all_who_wait_and_covers_what_each_wrote_before() {
    let (group, written, synced) = (SyncGroup::default(), AtomicU64::new(0), AtomicU64::new(0));
    let (acts, start) = (AtomicU32::new(0), Start::new(32));
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                start.wait();
                for _ in 0..20 {
                    let ours = written.fetch_add(1, Ordering::SeqCst) + 1;
                    let passed = group.pass(Path::new("x"), || {
                        acts.fetch_add(1, Ordering::SeqCst);
                        let seen = written.load(Ordering::SeqCst);
                        thread::sleep(Duration::from_micros(300));
                        synced.fetch_max(seen, Ordering::SeqCst);
                        Ok(())
                    });
                    assert!(passed.is_ok());
                    assert!(synced.load(Ordering::SeqCst) >= ours);
                }
            });
        }
    });
    let acts = acts.load(Ordering::SeqCst);
    assert!((20..320).contains(&acts), "{acts} acts for 640 passes");
}

#[test]
fn no_thread_passes_after_a_failure() {
    let group = SyncGroup::default();
    let failed = || Err(SpoolError::io(Path::new("x"), "sync")(io::Error::other("broken")));
    assert!(group.pass(Path::new("x"), || Ok(())).is_ok());
    assert!(group.pass(Path::new("x"), failed).is_err());
    let after = group.pass(Path::new("x"), || Ok(()));
    assert!(matches!(after, Err(SpoolError::EarlierSyncFailed { .. })));
}
