//! A full disk of the database: what cannot be stored is refused or waits, and nothing is lost.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, SmallDisk, TestFleet, skip};

/// A database with its tables has about 9 MiB.
const KIB: u32 = 20 * 1024;
const LARGER_KIB: u32 = 64 * 1024;
/// Smaller than the limit of one blob in the database.
const INPUT_BYTES: usize = 400_000;

/// Fills a file system to its last block.
fn fill(place: &Path) {
    let mut file = File::create(place.join("filler")).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}

/// Bytes that the database cannot compress to a few.
fn incompressible() -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..INPUT_BYTES / 8).flat_map(|_| next()).collect()
}

#[test]
fn a_full_disk_of_the_database_loses_nothing() {
    let test = "a_full_disk_of_the_database_loses_nothing";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let place = benches[0].scratch().dir("small");
    // Declared first, because the server uses it to its end.
    let Some(disk) = SmallDisk::mount(&place, KIB) else {
        return skip(test, "this user may not mount a tmpfs");
    };
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.database.move_database_to(&place);
    fleet.spawn();
    let before = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[before]);

    // Its run is permitted, and its record finds no place.
    let loud = fleet.submit(&fleet.request_that("loud"));
    fleet.wait_for("the run", |fleet| fleet.runs_of(&loud) == 1);
    let saved = fleet.save(&fleet.request().input("large.bin", incompressible()));
    fill(&place);
    fleet.hosts[0].service.record_of(&loud).assert_outcome("ok");
    let failed = fleet.submit_saved(&saved);
    failed.assert_code(3);
    failed.assert_stderr(&["its disk is full", "help: free space on the disk of the server"]);
    fleet.wait_for("the reason", |fleet| fleet.hosts[0].agent_log().contains("its disk is full"));
    assert_ne!(fleet.state_of(&loud), "ended");
    assert!(fleet.rows().iter().all(|row| row["request_id"] != saved.id.as_str()));

    disk.grow(LARGER_KIB);
    fleet.assert_run_once(&[loud]);
    fleet.submit_saved(&saved).assert_code(0);
    fleet.assert_run_once(&[saved.id]);
    fleet.status().assert_code(0);
    fleet.stop();
}
