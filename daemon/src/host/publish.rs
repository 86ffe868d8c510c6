//! Publishes signed records: logged, proved, durable and visible, in this order. Must never publish
//! a record whose log entry is not durable, nor a record that is not durable itself.

use records::log::{Inclusion, Prepared, PublicLogKey};
use records::verify_bundle;
use spool::failpoint::{Failpoint, reach};
use spool::{Receipt, SpoolError, Want};

use super::Host;
use crate::model::Halt;
use crate::outbox::Letter;
use crate::record_log::HeldLog;
use crate::system;

impl Host {
    /// Logs and publishes a signed record.
    ///
    /// # Errors
    /// [`Halt`]; nothing of the record is visible then.
    pub(crate) fn publish(&self, letter: Letter) -> Result<Receipt, Halt> {
        match self.log.is_shared() {
            true => self.publish_alone(letter),
            false => self.outbox.send(letter, |letters| self.publish_all(letters)),
        }
    }

    /// Publishes a record to a log with other writers. Each entry is made durable by itself.
    fn publish_alone(&self, letter: Letter) -> Result<Receipt, Halt> {
        // The record is durable before its log entry: after a crash the log never has an incomplete
        // record.
        let entry = letter.attested.envelope().log_entry();
        let inclusion = match self.log.append(&entry, system::now()) {
            Err(error) if error.failed_call().and_then(Want::of) == Some(Want::Room) => {
                let _room = self.spool.use_reserve();
                self.log.append(&entry, system::now())?
            }
            logged => logged?,
        };
        let key = self.log.key();
        match prove(&letter, &inclusion, &key) {
            Err(Halt::Spool(error)) if error.is_full() => {
                let _room = self.spool.use_reserve();
                take_proofs_back(&letter)?;
                prove(&letter, &inclusion, &key)?;
            }
            proved => proved?,
        }
        self.spool.commit(&[&letter.result])?;
        let placed = vec![letter.result.place()?];
        self.spool.commit_names(placed)?.pop().ok_or(Halt::Together)
    }

    /// Publishes all records or none. An error of one is an error of all, and recovery records
    /// each.
    fn publish_all(&self, letters: Vec<Letter>) -> Vec<Result<Receipt, Halt>> {
        let count = letters.len();
        match self.publish_batch(letters) {
            Ok(receipts) => receipts.into_iter().map(Ok).collect(),
            Err(halt) => {
                let why = halt.want().map(|want| (want, halt.to_string()));
                let other = || match why.clone() {
                    Some((want, why)) => Halt::Wanting(want, why),
                    None => Halt::Together,
                };
                let others: Vec<_> = (1..count).map(|_| Err(other())).collect();
                std::iter::once(Err(halt)).chain(others).collect()
            }
        }
    }

    fn publish_batch(&self, letters: Vec<Letter>) -> Result<Vec<Receipt>, Halt> {
        let mut room = None;
        loop {
            let mut log = self.log.hold().ok_or(Halt::Together)?;
            let halt = match self.write_out(&mut log, &letters) {
                Ok(prepared) => break log.act(|log| log.adopt(prepared))?,
                Err(halt) if halt.want().is_some() => halt,
                Err(halt) => return Err(halt),
            };
            log.let_go();
            // While this thread waits, other threads may append, and the event loop checks the
            // space.
            drop(log);
            letters.iter().try_for_each(take_proofs_back)?;
            if room.is_none() && halt.want() == Some(Want::Room) {
                tracing::error!("using the emergency reserve: {halt}");
                room = Some(self.spool.use_reserve());
            } else if !self.room_wanted.wait(halt.want(), &halt) {
                return Err(halt);
            }
        }
        self.log.appended(system::now());
        reach(Failpoint::LogAdopted);
        let placed: Result<Vec<_>, SpoolError> =
            letters.into_iter().map(|letter| letter.result.place()).collect();
        let receipts = self.spool.commit_names(placed?)?;
        drop(room);
        Ok(receipts)
    }

    /// Writes the log entries, proofs and results durably, under hidden names.
    fn write_out(&self, log: &mut HeldLog<'_>, letters: &[Letter]) -> Result<Prepared, Halt> {
        let entries: Vec<Vec<u8>> =
            letters.iter().map(|one| one.attested.envelope().log_entry()).collect();
        let prepared = log.act(|log| {
            log.prepare_proved(&entries, |inclusions| {
                let key = self.log.key();
                letters.iter().zip(inclusions).try_for_each(|(one, proof)| prove(one, proof, &key))
            })
        })?;
        reach(Failpoint::LogWritten);
        self.spool.commit(&letters.iter().map(|one| &one.result).collect::<Vec<_>>())?;
        reach(Failpoint::ResultDurable);
        Ok(prepared)
    }
}

/// Adds the bundle and the proof to the result, after verifying them.
fn prove(letter: &Letter, inclusion: &Inclusion, log: &PublicLogKey) -> Result<(), Halt> {
    let [bundle, proof] = letter.attested.proofs(inclusion)?;
    let verified = verify_bundle(&bundle.1, letter.attested.key(), log).map_err(Halt::Unproved)?;
    let text = String::from_utf8_lossy(&proof.1);
    let _proved = verified.check_proof(&text, log)?;
    for (name, bytes) in [bundle, proof] {
        letter.result.add(&name, &bytes)?;
    }
    Ok(())
}

/// Removes the proofs that a full disk left incomplete.
fn take_proofs_back(letter: &Letter) -> Result<(), Halt> {
    for name in letter.attested.proof_names() {
        letter.result.take_back(&name)?;
    }
    Ok(())
}
