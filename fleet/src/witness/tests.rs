//! Rounds of several hosts: logs that grow are cosigned, others are disputed, and neither a lost
//! answer nor a lying database changes that.

mod contradictions;
mod rows;
mod scene;

use std::fs;

use records::log::{Checkpoint, WitnessKey, WitnessedLog};

use self::scene::{WitnessScene, host, write};
use super::suspects::SuspectLogs;

#[test]
fn each_log_that_grows_is_cosigned_by_the_others() {
    let mut scene = WitnessScene::new(&["host-a", "host-b", "host-c"]);
    for size in [3, 4, 40, 300] {
        for name in ["host-a", "host-b", "host-c"] {
            scene.host(name).grow(size);
        }
        scene.rounds(3);
        for owner in ["host-a", "host-b", "host-c"] {
            for witness in ["host-a", "host-b", "host-c"] {
                let expected = (owner != witness).then_some(size);
                assert_eq!(scene.cosigned(owner, witness), expected, "{owner} {witness}");
            }
        }
    }
    assert!(scene.rows.disputes.is_empty());
    // The copy of the owner and the memory of the witness are the same checkpoint.
    let reader = WitnessKey::from_verifier_line(&scene.host("host-b").listed).unwrap();
    let memory = scene.host("host-b").read("witness/host-a");
    let owner = scene.host("host-a");
    let copy = owner.read("cosigned/host-b");
    assert_eq!(copy, memory);
    assert!(copy.starts_with(&owner.note()));
    let checkpoint = Checkpoint::verify(&copy, owner.log_key().public()).unwrap();
    assert_eq!(checkpoint.size(), 300);
    assert!(reader.cosigned_at(&checkpoint).is_some());
}

#[test]
fn nothing_is_written_while_no_log_grows() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.rounds(3);
    let (memory, cosigned) =
        (scene.host("host-b").read("witness/host-a"), scene.rows.cosignatures.clone());
    scene.rounds(3);
    scene.host("host-b").reopen().unwrap();
    scene.rounds(3);
    assert_eq!(scene.host("host-b").read("witness/host-a"), memory);
    assert_eq!(scene.rows.cosignatures, cosigned);
}

#[test]
fn a_cosignature_whose_post_failed_is_posted_again() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.round("host-a");
    scene.rows.is_failing = true;
    assert!(scene.try_round("host-b").is_err());
    // The memory was durable before.
    let memory = scene.host("host-b").read("witness/host-a");
    assert_eq!(WitnessedLog::of_kept(&memory).unwrap().size(), 3);
    assert_eq!(scene.cosigned("host-a", "host-b"), None);
    scene.host("host-b").reopen().unwrap();
    scene.host("host-a").grow(5);
    scene.round("host-a");
    assert_eq!(scene.round("host-b"), Vec::<String>::new());
    // The same cosignature, not another one, and then the next.
    let posted = scene.rows.cosignatures[&(host("host-a"), host("host-b"))].clone();
    assert_eq!(posted.0, 3);
    assert!(memory.ends_with(&posted.1), "{posted:?}");
    scene.rounds(2);
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(5));
}

#[test]
fn a_database_that_lost_its_rows_gets_them_again() {
    let mut scene = WitnessScene::new(&["host-a", "host-b", "host-c"]);
    let empty = scene.rows.clone();
    scene.rounds(3);
    scene.rows = empty;
    scene.rounds(3);
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(3));
    scene.host("host-a").grow(9);
    scene.rounds(3);
    assert_eq!(scene.cosigned("host-a", "host-c"), Some(9));
    assert!(scene.rows.disputes.is_empty());
}

#[test]
fn a_witness_whose_key_is_not_listed_cosigns_nothing() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    let listed = scene.host("host-b").listed.clone();
    let other = scene.host("host-a").listed.replace("host-a", "host-x");
    scene.host("host-a").listed.clone_from(&listed);
    scene.host("host-b").listed = other;
    scene.round("host-a");
    let faults = scene.round("host-b");
    assert!(faults[0].contains(&format!("`witness_key: \"{listed}\"`")), "{faults:?}");
    assert!(faults[0].contains("; help: "), "{faults:?}");
    assert_eq!(scene.cosigned("host-a", "host-b"), None);
    assert!(!scene.host("host-b").file("witness/host-a").exists());
    // It posts its own log all the same.
    assert!(scene.rows.checkpoints.contains_key(&host("host-b")));
}

#[test]
fn a_host_without_a_log_posts_nothing_and_witnesses() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    fs::remove_dir_all(scene.host("host-b").log_directory()).unwrap();
    scene.rounds(1);
    assert!(!scene.rows.checkpoints.contains_key(&host("host-b")));
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(3));
    fs::create_dir(scene.host("host-b").log_directory()).unwrap();
    scene.rounds(1);
    assert!(!scene.rows.checkpoints.contains_key(&host("host-b")));
}

#[test]
fn a_log_of_another_key_is_a_fault_and_no_dispute() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.rounds(2);
    let checkpoint = scene.host("host-a").log_directory().join("checkpoint");
    let other = scene.host("host-b").note();
    write(&checkpoint, &other);
    let faults = scene.round("host-a");
    assert!(faults[0].contains("(`log_key` of the fleet list); help: "), "{faults:?}");
    // As a database would show it.
    scene.rows.checkpoints.get_mut(&host("host-a")).unwrap().1 = other;
    for _ in 0..3 {
        scene.rows.checkpoints.get_mut(&host("host-a")).unwrap().2 += 1;
        let faults = scene.round("host-b");
        assert!(faults[0].starts_with("log of host host-a: its checkpoint: belongs"), "{faults:?}");
        assert!(faults[0].contains("; help: "), "{faults:?}");
    }
    assert!(scene.rows.disputes.is_empty());
}

#[test]
fn a_witness_that_lost_its_memory_does_not_start() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.rounds(2);
    let memory = scene.host("host-b").file("witness");
    let away = scene.host("host-b").file("away");
    rustix::fs::rename(&memory, &away).unwrap();
    let why = scene.host("host-b").reopen().unwrap_err().to_string();
    assert!(why.contains("missing, but the witness key exists; help: "), "{why}");
    rustix::fs::rename(&away, &memory).unwrap();
    scene.host("host-b").reopen().unwrap();
    // Without the key it begins as another witness, with an empty memory.
    let before = scene.host("host-b").witness.verifier_line();
    fs::remove_dir_all(&memory).unwrap();
    fs::remove_file(scene.host("host-b").file("witness.key")).unwrap();
    scene.host("host-b").reopen().unwrap();
    assert_ne!(scene.host("host-b").witness.verifier_line(), before);
}

#[test]
fn a_damaged_memory_is_not_that_of_a_new_host() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.rounds(2);
    let memory = scene.host("host-b").read("witness/host-a");
    let long = memory.repeat(1000);
    for text in ["", "x\n", &memory[..memory.len() / 3], long.as_str()] {
        write(&scene.host("host-b").file("witness/host-a"), text);
        scene.host("host-a").rewrite(1, 4);
        scene.round("host-a");
        let faults = scene.round("host-b");
        assert!(faults[0].contains("witness/host-a: not a checkpoint that this"), "{faults:?}");
        assert_eq!(scene.host("host-b").read("witness/host-a"), text);
        assert_eq!(scene.cosigned("host-a", "host-b"), Some(3));
    }
}

#[test]
fn a_note_with_too_many_signatures_is_not_cosigned() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    let note = scene.host("host-a").note() + &"\u{2014} x AAAAAAAA\n".repeat(15);
    assert!(Checkpoint::verify(&note, scene.host("host-a").log_key().public()).is_ok());
    scene.rows.checkpoints.insert(host("host-a"), (3, note.clone(), 1));
    let body = format!("old 0\n\n{note}");
    scene.rows.proofs.insert((host("host-a"), host("host-b")), (3, body));
    let faults = scene.round("host-b");
    assert!(faults[0].starts_with("log of host host-a: not a request"), "{faults:?}");
    assert!(!scene.host("host-b").file("witness/host-a").exists());
}

#[test]
fn a_contradiction_counts_when_it_is_posted_again() {
    let (a, b, mut suspects) = (host("host-a"), host("host-b"), SuspectLogs::default());
    assert!(!suspects.is_repeated(&a, 7));
    assert!(!suspects.is_repeated(&a, 7), "the same post");
    assert!(!suspects.is_repeated(&b, 8), "another host");
    assert!(suspects.is_repeated(&a, 8));
    suspects.clear(&a);
    assert!(!suspects.is_repeated(&a, 9));
    assert!(suspects.is_repeated(&b, 9));
}
