//! Logs that contradict what a witness cosigned, and databases that lie about them.

use super::scene::{WitnessScene, host};

/// Two hosts; `host-b` has cosigned five entries of `host-a`.
fn cosigned_five() -> WitnessScene {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.host("host-a").grow(5);
    scene.rounds(3);
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(5));
    scene
}

#[test]
fn a_log_that_was_cut_back_is_disputed_when_it_is_posted_again() {
    let mut scene = cosigned_five();
    scene.host("host-a").rewrite(4, 4);
    let faults = scene.round("host-a");
    assert!(faults[0].starts_with("own log: has 4 entries, but witness host-b cosigned 5: "));
    for _ in 0..3 {
        let faults = scene.round("host-b");
        assert!(faults[0].contains("; help: look at that host"), "{faults:?}");
        assert_eq!(scene.dispute("host-a", "host-b"), None, "one post is not enough");
    }
    scene.round("host-a");
    let faults = scene.round("host-b");
    assert!(faults[0].contains("disputed, so the host starts nothing; help: "), "{faults:?}");
    let reason = "its log has 4 entries, but 5 were cosigned";
    assert_eq!(scene.dispute("host-a", "host-b"), Some(reason));
    let posted = scene.host("host-a").note();
    assert_eq!(scene.rows.disputes[&(host("host-a"), host("host-b"))].1, posted);
    // The other direction goes on.
    scene.host("host-b").grow(9);
    for _ in 0..2 {
        scene.round("host-b");
        scene.round("host-a");
    }
    assert_eq!(scene.cosigned("host-b", "host-a"), Some(9));
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(5));
}

#[test]
fn an_older_copy_of_the_database_is_not_a_contradiction() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.rounds(3);
    let copy = scene.rows.clone();
    scene.host("host-a").grow(5);
    scene.rounds(3);
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(5));
    scene.rows = copy;
    // The host is down for some time.
    for _ in 0..5 {
        assert_eq!(scene.round("host-b").len(), 1);
    }
    scene.rounds(3);
    assert!(scene.rows.disputes.is_empty());
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(5));
    // Nothing of it is remembered.
    scene.host("host-a").rewrite(4, 4);
    scene.round("host-a");
    scene.round("host-b");
    assert!(scene.rows.disputes.is_empty());
}

#[test]
fn two_roots_of_one_size_are_disputed_at_once() {
    let mut scene = cosigned_five();
    scene.host("host-a").rewrite(4, 5);
    scene.round("host-a");
    scene.round("host-b");
    let reason = scene.dispute("host-a", "host-b").unwrap();
    assert!(reason.starts_with("its log of 5 entries has root "), "{reason}");
    assert_eq!(scene.dispute("host-b", "host-a"), None);
}

#[test]
fn a_fork_that_grew_is_disputed_and_never_cosigned() {
    let mut scene = cosigned_five();
    let memory = scene.host("host-b").read("witness/host-a");
    scene.host("host-a").rewrite(4, 9);
    for _ in 0..3 {
        scene.round("host-a");
        scene.round("host-b");
    }
    let reason = "its log of 9 entries is not proved to begin with the 5 cosigned ones";
    assert_eq!(scene.dispute("host-a", "host-b"), Some(reason));
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(5));
    assert_eq!(scene.host("host-b").read("witness/host-a"), memory);
    // The first words stay, and a restarted witness comes to the same result.
    scene.rows.disputes.clear();
    scene.host("host-b").reopen().unwrap();
    for _ in 0..2 {
        scene.round("host-a");
        scene.round("host-b");
    }
    assert_eq!(scene.dispute("host-a", "host-b"), Some(reason));
}

#[test]
fn a_database_that_shows_another_checkpoint_gets_no_cosignature_of_it() {
    let mut scene = cosigned_five();
    let honest = scene.rows.clone();
    scene.host("host-a").rewrite(4, 9);
    scene.round("host-a");
    let forked = scene.rows.clone();
    let at = (host("host-a"), host("host-b"));
    // The note of the fork with the request of the log, and the reverse.
    for (row, proof) in [(&forked, &honest), (&honest, &forked)] {
        scene.rows = honest.clone();
        let (size, note, _) = row.checkpoints[&at.0].clone();
        scene.rows.checkpoints.insert(at.0.clone(), (size, note, 1));
        scene.rows.proofs.insert(at.clone(), (size, proof.proofs[&at].1.clone()));
        scene.round("host-b");
        assert_eq!(scene.rows.cosignatures, honest.cosignatures);
        assert!(scene.rows.disputes.is_empty());
    }
    // The fork alone, with requests that prove nothing about it.
    scene.rows = forked;
    let (memory, note) =
        (scene.host("host-b").read("witness/host-a"), scene.rows.checkpoints[&at.0].1.clone());
    for text in ["", "old 5\n", "old 0\n\nx\n", "\u{0}"] {
        scene.rows.proofs.insert(at.clone(), (9, text.to_owned()));
        assert_eq!(scene.round("host-b"), Vec::<String>::new(), "{text:?}");
        assert_eq!(scene.rows.cosignatures, honest.cosignatures, "{text:?}");
    }
    for text in [format!("old x\n\n{note}"), format!("old 5\nAAAA\n\n{note}")] {
        scene.rows.proofs.insert(at.clone(), (9, text.clone()));
        let faults = scene.round("host-b");
        assert!(faults[0].starts_with("log of host host-a: not a request"), "{text:?}: {faults:?}");
        assert_eq!(scene.rows.cosignatures, honest.cosignatures, "{text:?}");
    }
    assert_eq!(scene.cosigned("host-a", "host-b"), Some(5));
    assert_eq!(scene.host("host-b").read("witness/host-a"), memory);
    assert!(scene.rows.disputes.is_empty());
}

#[test]
fn a_cosignature_that_does_not_verify_is_not_kept() {
    let mut scene = WitnessScene::new(&["host-a", "host-b"]);
    scene.rounds(1);
    let at = (host("host-a"), host("host-b"));
    let good = scene.rows.cosignatures[&at].clone();
    let own = scene.host("host-a").note();
    let own = own.lines().last().unwrap().to_owned();
    for lines in ["", "x\n", &format!("{own}\n"), &good.1.replacen("host-b", "host-c", 1)] {
        scene.rows.cosignatures.insert(at.clone(), (3, lines.to_owned()));
        let faults = scene.round("host-a");
        assert!(faults[0].starts_with("cosignature of witness host-b: "), "{faults:?}");
        assert!(!scene.host("host-a").file("cosigned/host-b").exists());
    }
    // A size that the log does not have costs the host only its proof.
    scene.rows.cosignatures.insert(at.clone(), (u64::MAX, good.1.clone()));
    let faults = scene.round("host-a");
    assert!(faults[0].starts_with("own log: has 3 entries, but witness host-b"), "{faults:?}");
    scene.rows.cosignatures.insert(at, good);
    scene.rounds(1);
    assert!(scene.host("host-a").file("cosigned/host-b").exists());
}
