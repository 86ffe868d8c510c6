//! A file in `approved/` that changes while the daemon reads it.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toolexec_tests::{Bench, Record, RequestText, Service, list};

use super::{assert_still_works, request_without_inputs, started};

/// A change of a file while the daemon reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ConcurrentChange {
    Overwrite,
    Truncate,
    Grow,
    Swap,
}

/// Returns one version of a request, long enough to catch a reader in the middle.
fn version(text: &RequestText, letter: &str) -> String {
    let line = format!("{}\n", letter.repeat(79));
    text.text().replacen("# A test\n", &format!("# A test\n\n{}\n", line.repeat(2500)), 1)
}

/// Changes a submitted object until it is stopped.
fn change_until_stopped(
    mischief: ConcurrentChange,
    path: &Path,
    versions: &[String; 2],
    stop: &AtomicBool,
) {
    let hidden = path.with_file_name(format!(".{}", path.file_name().unwrap().to_str().unwrap()));
    fs::write(&hidden, &versions[0]).unwrap();
    let file = OpenOptions::new().write(true).open(&hidden).unwrap();
    fs::rename(&hidden, path).unwrap();
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let bytes = versions[(round + 1) % 2].as_bytes();
        match mischief {
            ConcurrentChange::Overwrite => file.write_all_at(bytes, 0).unwrap(),
            ConcurrentChange::Truncate => {
                file.set_len(0).unwrap();
                file.write_all_at(bytes, 0).unwrap();
            }
            ConcurrentChange::Grow => {
                file.set_len(bytes.len() as u64 + 1024 * 1024).unwrap();
                file.set_len(bytes.len() as u64).unwrap();
            }
            ConcurrentChange::Swap => {
                fs::write(&hidden, bytes).unwrap();
                // Only while the old one is still there: each version is one object.
                if fs::symlink_metadata(path).is_err() {
                    fs::remove_file(&hidden).unwrap();
                    return;
                }
                fs::rename(&hidden, path).unwrap();
            }
        }
    }
}

/// Returns the records of a request, including those of an unreadable one.
fn records_naming(service: &Service<'_>, text: &RequestText) -> Vec<Record> {
    let mut records = service.records();
    records.retain(|record| record.text.contains(&format!("{}.md", text.id)));
    records
}

#[test]
fn a_changing_file_never_runs_as_a_mixture() {
    let bench = Bench::as_root("a_changing_file_never_runs_as_a_mixture");
    let Some(bench) = bench else { return };
    let service = started(&bench);
    let (mut ran, mut refused) = (0, 0);
    for round in 0..24 {
        let mischief = [
            ConcurrentChange::Overwrite,
            ConcurrentChange::Truncate,
            ConcurrentChange::Overwrite,
            ConcurrentChange::Grow,
            ConcurrentChange::Overwrite,
            ConcurrentChange::Swap,
        ][round % 6];
        let text = request_without_inputs();
        let versions = ["a", "b"].map(|letter| version(&text, letter));
        let path = service.path(&format!("approved/{}.md", text.id));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| change_until_stopped(mischief, &path, &versions, &stop));
            let begun = Instant::now();
            while records_naming(&service, &text).is_empty() && begun.elapsed().as_secs() < 20 {
                std::thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
        });
        service.wait_for("it to leave", |it| {
            fs::symlink_metadata(&path).is_err() && list(&it.path("work")).is_empty()
        });
        let records = records_naming(&service, &text);
        let runs: Vec<_> = records.iter().filter(|it| it.outcome() == "ok").collect();
        assert!(runs.len() <= 1, "{mischief:?}: {records:#?}");
        assert!(
            mischief == ConcurrentChange::Swap || records.len() == 1,
            "{mischief:?}: {records:#?}"
        );
        for record in runs {
            let copy = record.path.join("request").join(format!("{}.md", text.id));
            let bytes = fs::read_to_string(&copy).unwrap();
            assert!(versions.contains(&bytes), "{mischief:?}: {} is a mixture", copy.display());
            ran += 1;
        }
        refused += records.iter().filter(|it| it.outcome() == "refused").count();
    }
    assert_still_works(&service);
    assert_eq!(service.records().len(), ran + refused + 1);
    assert!(ran > 0, "nothing ran: {refused} were refused");
}
