//! Each reason for which a witness does not cosign.

use model::Sha256;
use records::base64;
use records::log::{CheckpointError, LogKey, WitnessRefusal, WitnessedLog, judge_add_checkpoint};

use super::{GrownLog, body, origin, unseen};
use crate::log::log_key;

fn refusal(body: &str, known: &WitnessedLog) -> WitnessRefusal {
    judge_add_checkpoint(body, log_key().public(), known).unwrap_err()
}

#[test]
fn a_checkpoint_that_was_cosigned_is_cosigned_again() {
    let (log, key) = (GrownLog::new(4, 4), log_key());
    for size in [0, 4] {
        let known = log.cosigned(size);
        let judged = judge_add_checkpoint(&log.body(size, size), key.public(), &known).unwrap();
        assert_eq!(judged.checkpoint().note(), log.note(size));
    }
    assert_eq!(log.cosigned(0), unseen());
}

#[test]
fn a_log_that_was_cut_back_is_refused() {
    let log = GrownLog::new(9, 9);
    let known = log.cosigned(7);
    for size in 0..7 {
        let shrunk = WitnessRefusal::Shrunk { size, cosigned: 7 };
        for old in 0..=size {
            assert_eq!(refusal(&log.body(old, size), &known), shrunk);
        }
        assert_eq!(known.check(log.note(size), log_key().public()), Err(shrunk));
        assert!(shrunk.is_contradiction() && !shrunk.is_evidence());
    }
}

#[test]
fn a_fork_is_refused_at_every_size() {
    let (log, fork) = (GrownLog::new(12, 12), GrownLog::new(5, 12));
    for cosigned in 6..=12 {
        let known = log.cosigned(cosigned);
        for size in cosigned..=12 {
            let found = refusal(&fork.body(cosigned, size), &known);
            let root = fork.cosigned(size).root();
            let expected = match size == cosigned {
                true => WitnessRefusal::OtherRoot { size, root, cosigned: known.root() },
                false => WitnessRefusal::NotExtended { size, cosigned },
            };
            assert_eq!(found, expected);
            assert!(found.is_contradiction());
            assert_eq!(found.is_evidence(), size == cosigned);
        }
        // Two signed roots of one size are found without a proof too.
        let found = known.check(fork.note(cosigned), log_key().public()).unwrap_err();
        assert!(found.is_evidence(), "{found}");
        // A larger log without a proof shows nothing yet.
        assert_eq!(known.check(log.note(12), log_key().public()).unwrap().note(), log.note(12));
    }
}

#[test]
fn a_proof_from_another_size_is_no_contradiction() {
    let log = GrownLog::new(9, 9);
    let known = log.cosigned(5);
    for old in [0, 4, 6, 9] {
        let found = refusal(&log.body(old, 9), &known);
        assert_eq!(found, WitnessRefusal::OtherOld { old, cosigned: 5 });
        assert!(!found.is_contradiction());
    }
    for (old, size) in [(6, 5), (10, 9), (u64::MAX, 9)] {
        let found = refusal(&body(old, &[], log.note(size)), &known);
        assert_eq!(found, WitnessRefusal::OldBeyondSize { old, size });
        assert!(!found.is_contradiction());
    }
}

#[test]
fn another_log_is_refused() {
    let log = GrownLog::new(3, 3);
    let refused = |body: &str, known: &WitnessedLog, fault| {
        let found = refusal(body, known);
        assert_eq!(found, WitnessRefusal::Checkpoint(fault));
        assert!(!found.is_contradiction());
    };
    let named = GrownLog::of_key(LogKey::from_seed(origin("other.example"), &[42; 32]), 3);
    refused(&named.body(0, 3), &unseen(), CheckpointError::Origin);
    let keyed = LogKey::from_seed(origin("toolexec.host1.example"), &[43; 32]);
    refused(&GrownLog::of_key(keyed, 3).body(0, 3), &unseen(), CheckpointError::Unsigned);
    // The state of another log, although the checkpoint is right.
    refused(&log.body(3, 3), &named.cosigned(3), CheckpointError::Origin);
    let changed = log.body(0, 3).replacen("\n3\n", "\n4\n", 1);
    refused(&changed, &unseen(), CheckpointError::Signature);
}

#[test]
fn a_garbage_proof_is_refused() {
    let log = GrownLog::new(12, 12);
    let (known, proof, note) = (log.cosigned(7), log.proof(7, 12), log.note(12));
    assert!(proof.len() > 3);
    let other = base64::encode(Sha256::of(b"another").as_bytes());
    let mut wrong: Vec<Vec<String>> = vec![Vec::new(), vec![other.clone(); 63]];
    for at in 0..proof.len() {
        let mut changed = proof.clone();
        changed[at].clone_from(&other);
        wrong.push(changed);
        let mut shorter = proof.clone();
        shorter.remove(at);
        wrong.push(shorter);
        let mut longer = proof.clone();
        longer.insert(at, proof[at].clone());
        wrong.push(longer);
    }
    let not_extended = WitnessRefusal::NotExtended { size: 12, cosigned: 7 };
    for proof in wrong {
        assert_eq!(refusal(&body(7, &proof, note), &known), not_extended, "{proof:?}");
    }
    // A proof that proves nothing cannot make a log look forked.
    let with = |old, size| body(old, std::slice::from_ref(&other), log.note(size));
    assert_eq!(refusal(&with(0, 12), &unseen()), WitnessRefusal::Form);
    assert_eq!(refusal(&with(7, 7), &known), WitnessRefusal::Form);
}

#[test]
fn a_text_that_is_not_a_request_is_refused() {
    let log = GrownLog::new(12, 12);
    let (known, good) = (log.cosigned(7), log.body(7, 12));
    let (head, note) = good.split_once("\n\n").unwrap();
    let hashes = head.strip_prefix("old 7\n").unwrap();
    let first = hashes.lines().next().unwrap();
    assert!(judge_add_checkpoint(&good, log_key().public(), &known).is_ok());
    let wrong = [
        String::new(),
        "old 7\n\n".to_owned(),
        note.to_owned(),
        format!("old 07\n{hashes}\n\n{note}"),
        format!("old +7\n{hashes}\n\n{note}"),
        format!("old 7 \n{hashes}\n\n{note}"),
        format!("old  7\n{hashes}\n\n{note}"),
        format!("old -7\n{hashes}\n\n{note}"),
        format!("old 18446744073709551616\n{hashes}\n\n{note}"),
        format!("old 7\r\n{hashes}\n\n{note}"),
        format!("Old 7\n{hashes}\n\n{note}"),
        format!("old 7\n{hashes}\n{note}"),
        format!("old 7\n\n{hashes}\n\n{note}"),
        format!("\nold 7\n{hashes}\n\n{note}"),
        format!("old 7\n{hashes}\nAAAA\n\n{note}"),
        format!("old 7\n{hashes}\n*\n\n{note}"),
        format!("old 7\n{hashes} \n\n{note}"),
        format!("old 7\n{hashes}\n{}\n\n{note}", first.trim_end_matches('=')),
        format!("old 7\n{}\n\n{note}", vec![first; 64].join("\n")),
        format!("old 7\n{hashes}\n\n\n{note}"),
        format!("{good}more\n"),
        good.trim_end().to_owned(),
        format!("{good}{}", "x".repeat(128 * 1024)),
    ];
    for text in wrong {
        let found = refusal(&text, &known);
        let form = WitnessRefusal::Checkpoint(CheckpointError::Form);
        assert!(found == WitnessRefusal::Form || found == form, "{text:?}: {found}");
    }
    for text in ["", "x", "x\n", "x\n1\n\n", "a\n1\nAAAA\n\n\u{2014} a AAAAAAAA\n"] {
        assert_eq!(WitnessedLog::of_kept(text), None, "{text:?}");
    }
}
