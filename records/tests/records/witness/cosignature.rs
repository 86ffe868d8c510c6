//! Cosignatures, as the specification and other implementations have them.

use records::base64;
use records::log::{
    Checkpoint, CosignedCheckpoint, WitnessKey, WitnessReplyError, WitnessSigner, WitnessedLog,
    judge_add_checkpoint,
};
use ring::signature::{ED25519, UnparsedPublicKey};
use signed_note::{Note, Verifier, VerifierList};

use super::{GrownLog, PUBLIC, SEED, origin, reader, signer, time, unseen};
use crate::log::log_key;

/// Made by OpenSSL, from the specification, for the log of three entries at [`time`].
const COSIGNATURE: &str = "\u{2014} host-b-witness \
                           ZV4oQwAAAABrAXbgTGE7oatNosv1pxxhydQBdodnRvin8HzjzaXF8bsdqk1XP8iSs1X\
                           lLON5Uxdd9OaVR2ekZ/dlQEN1IjJbUsVaBQ==\n";

#[test]
fn a_cosignature_has_the_bytes_of_the_specification() {
    let log = GrownLog::new(3, 3);
    let signer = signer();
    assert_eq!((signer.name(), signer.verifier_line().as_str()), ("host-b-witness", PUBLIC));
    let key = log_key();
    let judged = judge_add_checkpoint(&log.body(0, 3), key.public(), &unseen()).unwrap();
    assert_eq!(signer.cosign(&judged, time()), COSIGNATURE);
    // The log's own key and the proof have no part in it.
    let judged = judge_add_checkpoint(&log.body(2, 3), key.public(), &log.cosigned(2)).unwrap();
    assert_eq!(signer.cosign(&judged, time()), COSIGNATURE);
}

#[test]
fn a_cosignature_is_read_by_the_reader_of_replies_and_of_kept_notes() {
    let (log, key) = (GrownLog::new(9, 9), log_key());
    let judged = judge_add_checkpoint(&log.body(0, 9), key.public(), &unseen()).unwrap();
    let line = signer().cosign(&judged, time());
    let cosigned = CosignedCheckpoint::from_reply(judged.checkpoint(), &line, Some(&reader()));
    let cosigned = cosigned.unwrap();
    assert_eq!((cosigned.name(), cosigned.time()), ("host-b-witness", Some(time())));
    assert_eq!(cosigned.note(), format!("{}{line}", log.note(9)));
    // The note that is kept is a checkpoint of the log, with the state of the witness in it.
    let kept = Checkpoint::verify(cosigned.note(), key.public()).unwrap();
    assert_eq!(reader().cosigned_at(&kept), Some(time()));
    assert_eq!(WitnessedLog::of_kept(cosigned.note()), Some(log.cosigned(9)));
    // Another key, another name, another checkpoint, and a time that was not signed.
    let other = WitnessSigner::from_seed(&origin("host-b"), &[8; 32]).verifier_line();
    let other = WitnessKey::from_verifier_line(&other).unwrap();
    let renamed = WitnessSigner::from_seed(&origin("host-c"), &SEED).verifier_line();
    let renamed = WitnessKey::from_verifier_line(&renamed).unwrap();
    for key in [&other, &renamed] {
        let read = CosignedCheckpoint::from_reply(judged.checkpoint(), &line, Some(key));
        assert_eq!(read, Err(WitnessReplyError::Unsigned));
        assert_eq!(key.cosigned_at(&kept), None);
    }
    let older = Checkpoint::verify(log.note(8), key.public()).unwrap();
    assert!(CosignedCheckpoint::from_reply(&older, &line, Some(&reader())).is_err());
    let moved = Checkpoint::verify(&format!("{}{line}", log.note(8)), key.public()).unwrap();
    assert_eq!(reader().cosigned_at(&moved), None);
}

/// A verifier of cosignatures for another reader of notes, with another implementation of Ed25519.
struct OracleVerifier {
    name: String,
    id: u32,
    key: Vec<u8>,
}

impl OracleVerifier {
    fn new(line: &str) -> Self {
        let mut parts = line.splitn(3, '+');
        let (name, id, key) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let key = base64::decode(key).unwrap();
        assert_eq!((key.len(), key[0]), (33, 4));
        assert_eq!(format!("{:08x}", signed_note::key_id(name, &key)), id);
        Self { name: name.to_owned(), id: signed_note::key_id(name, &key), key: key[1..].to_vec() }
    }
}

impl Verifier for OracleVerifier {
    fn name(&self) -> &str {
        &self.name
    }

    fn key_id(&self) -> u32 {
        self.id
    }

    fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        let Some((time, signature)) = signature.split_first_chunk::<8>() else { return false };
        let head = format!("cosignature/v1\ntime {}\n", u64::from_be_bytes(*time));
        let signed = [head.as_bytes(), text].concat();
        UnparsedPublicKey::new(&ED25519, &self.key).verify(&signed, signature).is_ok()
    }
}

#[test]
fn another_reader_of_notes_accepts_the_cosignature() {
    let (log, key) = (GrownLog::new(5, 5), log_key());
    let judged = judge_add_checkpoint(&log.body(0, 5), key.public(), &unseen()).unwrap();
    let signer = signer();
    let note = format!("{}{}", log.note(5), signer.cosign(&judged, time()));
    let list = || {
        let witness = OracleVerifier::new(&signer.verifier_line());
        VerifierList::new(vec![Box::new(witness) as Box<dyn Verifier>])
    };
    let (signed, unknown) = Note::from_bytes(note.as_bytes()).unwrap().verify(&list()).unwrap();
    assert_eq!((signed.len(), unknown.len()), (1, 1));
    assert_eq!(signed[0].name(), "host-b-witness");
    let moved = note.replacen("\n5\n", "\n6\n", 1);
    assert!(Note::from_bytes(moved.as_bytes()).unwrap().verify(&list()).is_err());
}
