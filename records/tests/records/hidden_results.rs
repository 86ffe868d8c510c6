//! A power cut before the barrier of a batch may keep the log and lose a record. The log must then
//! drop the batch, unless one of its records was published.

use std::fs;
use std::path::{Path, PathBuf};

use records::log::{Log, LogError, LogLocation, LogView, fsck};
use records::{AttestedRecord, Trust, attest, is_intact};

use crate::fixture::{RecordCase, RecordScratch, flip, put, replace};
use crate::log::{grown, log_key, opened};

/// A log of four entries with a batch of two records under their hidden names, not adopted.
struct InterruptedBatch {
    scratch: RecordScratch,
    hidden: [PathBuf; 2],
    published: [PathBuf; 2],
}

impl InterruptedBatch {
    fn new() -> Self {
        let scratch = RecordScratch::in_memory();
        let key = scratch.key("keys");
        let cases = [1, 2].map(RecordCase::numbered);
        let attested = [0, 1].map(|one| attest(&cases[one].statement(), &key).unwrap());
        let published = [0, 1].map(|one| scratch.path().join(id(&attested[one])));
        let hidden = [0, 1].map(|one| {
            let results = scratch.path().join("results");
            let made = cases[one].publish_run(&results, attested[one].record());
            let hidden = results.join(format!(".new-{}", id(&attested[one])));
            rustix::fs::rename(made, &hidden).unwrap();
            hidden
        });
        let published = published.map(|path| hidden[0].with_file_name(path.file_name().unwrap()));
        let mut log = grown(&scratch.path().join("log"), 4);
        let entries = [0, 1].map(|one| attested[one].envelope().log_entry());
        let prove = |inclusions: &[records::log::Inclusion]| {
            for one in 0..2 {
                for (name, bytes) in attested[one].proofs(&inclusions[one]).unwrap() {
                    put(&hidden[one].join(name), &bytes);
                }
            }
            Ok::<_, LogError>(())
        };
        drop(log.prepare_proved(&entries, prove).unwrap());
        drop(log);
        Self { scratch, hidden, published }
    }

    fn log_directory(&self) -> PathBuf {
        self.scratch.path().join("log")
    }

    fn open(&self) -> Log {
        let place = LogLocation::from(&self.log_directory());
        opened(place.with_results([self.scratch.path().join("results")])).unwrap()
    }
}

fn id(attested: &AttestedRecord) -> &str {
    attested.record().result_id().as_str()
}

#[test]
fn a_batch_whose_records_survived_is_completed() {
    let batch = InterruptedBatch::new();
    let trust = Trust::from_key(&batch.scratch.key("keys").public());
    assert!(batch.hidden.iter().all(|hidden| is_intact(hidden, &trust).unwrap()));
    assert_eq!(batch.open().head().size(), 6);
}

#[test]
fn a_batch_without_one_of_its_records_is_dropped() {
    let lose_file = |name: &'static str| {
        // A power cut may leave an empty file.
        move |hidden: &Path| replace(&hidden.join(name), b"")
    };
    let lose_bundle = |hidden: &Path| {
        let name = hidden.file_name().unwrap().to_str().unwrap().trim_start_matches(".new-");
        replace(&hidden.join(format!("{name}.bundle.json")), b"");
    };
    let lose_all = |hidden: &Path| fs::remove_dir_all(hidden).unwrap();
    let change = |hidden: &Path| flip(&hidden.join("artifacts/stats.json"));
    let losses: [&dyn Fn(&Path); 5] = [
        &lose_file("stdout"),
        &lose_file("artifacts/sub/extra.txt"),
        &lose_bundle,
        &lose_all,
        &change,
    ];
    for (number, lose) in losses.into_iter().enumerate() {
        for one in 0..2 {
            let batch = InterruptedBatch::new();
            lose(&batch.hidden[one]);
            let mut log = batch.open();
            assert_eq!(log.head().size(), 4, "loss {number} of record {one}");
            assert!(!batch.log_directory().join("checkpoint.next").exists());
            // The log continues as if the batch had never been.
            assert_eq!(log.append(b"next").unwrap().index(), 4);
            drop(log);
            assert_eq!(batch.open().head().size(), 5);
            let faults = fsck(&batch.log_directory(), log_key().public()).unwrap().faults;
            assert!(faults.is_empty(), "{faults:?}");
        }
    }
}

/// The power failed after the first result got its name, and the disk kept that name but not the
/// log's. A later fault of the other result does not undo the publication.
#[test]
fn a_batch_with_a_published_record_is_completed() {
    let batch = InterruptedBatch::new();
    rustix::fs::rename(&batch.hidden[0], &batch.published[0]).unwrap();
    fs::remove_dir_all(&batch.hidden[1]).unwrap();
    assert_eq!(batch.open().head().size(), 6);
    let view = LogView::open(&batch.log_directory(), log_key().public()).unwrap();
    assert_eq!(view.head().size(), 6);
}

/// A file that cannot be read now says nothing: the log is not opened, and nothing is removed.
#[test]
fn a_batch_whose_records_cannot_be_read_stays() {
    let batch = InterruptedBatch::new();
    let results = batch.scratch.path().join("results");
    let aside = batch.scratch.path().join("aside");
    rustix::fs::rename(&results, &aside).unwrap();
    // Listing a file fails for root too.
    put(&results, b"");
    let place = LogLocation::from(&batch.log_directory()).with_results([results.clone()]);
    assert!(matches!(opened(place).err(), Some(LogError::Io { .. })));
    assert!(batch.log_directory().join("checkpoint.next").exists());
    fs::remove_file(&results).unwrap();
    rustix::fs::rename(&aside, &results).unwrap();
    assert_eq!(batch.open().head().size(), 6);
}

/// The results of an unfinished run may be in another directory than the present one.
#[test]
fn records_count_in_each_directory_of_results() {
    let batch = InterruptedBatch::new();
    let (results, other) =
        (batch.scratch.path().join("results"), batch.scratch.path().join("other"));
    fs::create_dir(&other).unwrap();
    let name = batch.hidden[1].file_name().unwrap();
    rustix::fs::rename(&batch.hidden[1], other.join(name)).unwrap();
    let place = LogLocation::from(&batch.log_directory()).with_results([results, other]);
    assert_eq!(opened(place).unwrap().head().size(), 6);
}

#[test]
fn an_entry_is_in_the_log_only_after_its_record_is_proved() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 255);
    let failed = log.append_proved(b"next", |inclusion| {
        assert_eq!(inclusion.index(), 255);
        let view = LogView::open(scratch.path(), log_key().public()).unwrap();
        assert_eq!(view.head().size(), 255);
        Err(LogError::Stopped)
    });
    assert!(failed.is_err());
    drop(log);
    let mut log = opened(scratch.path()).unwrap();
    assert_eq!(log.head().size(), 255);
    log.append_proved(b"another", |_| Ok::<_, LogError>(())).unwrap();
    assert_eq!((log.head().size(), log.append(b"another").unwrap().index()), (256, 255));
    assert!(fsck(scratch.path(), log_key().public()).unwrap().faults.is_empty());
}
