//! Publishes signed records: logged, proved, durable and visible, in this order. Must never publish
//! a record whose log entry is not durable, nor a record that is not durable itself.

use records::log::{Inclusion, PreparedBatch, PublicLogKey};
use records::verify_bundle;
use spool::failpoint::{Failpoint, reach};
use spool::{Receipt, Shortage, SpoolError};

use super::Daemon;
use crate::model::DaemonError;
use crate::publish_queue::PendingRecord;
use crate::record_log::LockedLog;
use crate::system;

impl Daemon {
    /// Logs and publishes a signed record.
    ///
    /// # Errors
    /// [`DaemonError`]; nothing of the record is visible then.
    pub(crate) fn publish(&self, letter: PendingRecord) -> Result<Receipt, DaemonError> {
        match self.log.is_shared() {
            true => self.publish_shared(letter),
            false => self.publish_queue.publish(letter, |letters| self.publish_all(letters)),
        }
    }

    /// Publishes a record to a log with other writers. Each entry is made durable by itself.
    fn publish_shared(&self, letter: PendingRecord) -> Result<Receipt, DaemonError> {
        // The record is durable before its log entry: after a crash the log never has an incomplete
        // record.
        let entry = letter.attested.envelope().log_entry();
        let inclusion = match self.log.append(&entry, system::now()) {
            Err(error) if error.io_error().and_then(Shortage::of) == Some(Shortage::DiskSpace) => {
                let _room = self.spool.use_reserve();
                self.log.append(&entry, system::now())?
            }
            logged => logged?,
        };
        let key = self.log.key();
        match prove(&letter, &inclusion, &key) {
            Err(DaemonError::Spool(error)) if error.is_full() => {
                let _room = self.spool.use_reserve();
                remove_proofs(&letter)?;
                prove(&letter, &inclusion, &key)?;
            }
            proved => proved?,
        }
        self.spool.commit(&[&letter.result])?;
        let placed = vec![letter.result.place()?];
        self.spool.commit_names(placed)?.pop().ok_or(DaemonError::BatchFailed)
    }

    /// Publishes all records or none. An error of one is an error of all, and recovery records
    /// each.
    fn publish_all(&self, letters: Vec<PendingRecord>) -> Vec<Result<Receipt, DaemonError>> {
        let count = letters.len();
        match self.publish_batch(letters) {
            Ok(receipts) => receipts.into_iter().map(Ok).collect(),
            Err(halt) => {
                let why = halt.shortage().map(|want| (want, halt.to_string()));
                let other = || match why.clone() {
                    Some((want, why)) => DaemonError::BatchShortage(want, why),
                    None => DaemonError::BatchFailed,
                };
                let others: Vec<_> = (1..count).map(|_| Err(other())).collect();
                std::iter::once(Err(halt)).chain(others).collect()
            }
        }
    }

    fn publish_batch(&self, letters: Vec<PendingRecord>) -> Result<Vec<Receipt>, DaemonError> {
        let mut room = None;
        loop {
            let mut log = self.log.lock().ok_or(DaemonError::BatchFailed)?;
            let halt = match self.write_batch(&mut log, &letters) {
                Ok(prepared) => break log.with(|log| log.adopt(prepared))?,
                Err(halt) if halt.shortage().is_some() => halt,
                Err(halt) => return Err(halt),
            };
            log.close();
            // While this thread waits, other threads may append, and the event loop checks the
            // space.
            drop(log);
            letters.iter().try_for_each(remove_proofs)?;
            if room.is_none() && halt.shortage() == Some(Shortage::DiskSpace) {
                tracing::error!("using the emergency reserve: {halt}");
                room = Some(self.spool.use_reserve());
            } else if !self.shortage.wait(halt.shortage(), &halt) {
                return Err(halt);
            }
        }
        self.log.note_append(system::now());
        reach(Failpoint::LogAdopted);
        let placed: Result<Vec<_>, SpoolError> =
            letters.into_iter().map(|letter| letter.result.place()).collect();
        let receipts = self.spool.commit_names(placed?)?;
        drop(room);
        Ok(receipts)
    }

    /// Writes the log entries, proofs and results durably, under hidden names.
    fn write_batch(
        &self,
        log: &mut LockedLog<'_>,
        letters: &[PendingRecord],
    ) -> Result<PreparedBatch, DaemonError> {
        let entries: Vec<Vec<u8>> =
            letters.iter().map(|one| one.attested.envelope().log_entry()).collect();
        let prepared = log.with(|log| {
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
fn prove(
    letter: &PendingRecord,
    inclusion: &Inclusion,
    log: &PublicLogKey,
) -> Result<(), DaemonError> {
    let [bundle, proof] = letter.attested.proofs(inclusion)?;
    let verified =
        verify_bundle(&bundle.1, letter.attested.key(), log).map_err(DaemonError::InvalidBundle)?;
    let text = String::from_utf8_lossy(&proof.1);
    let _proved = verified.check_proof(&text, log)?;
    for (name, bytes) in [bundle, proof] {
        letter.result.add(&name, &bytes)?;
    }
    Ok(())
}

/// Removes the proofs that a full disk left incomplete.
fn remove_proofs(letter: &PendingRecord) -> Result<(), DaemonError> {
    for name in letter.attested.proof_names() {
        letter.result.remove_file(&name)?;
    }
    Ok(())
}
