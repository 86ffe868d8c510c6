//! Publishes signed records: logged, proved, durable and visible, in this order. Must never publish
//! a record that is not durable itself, or whose log entry is not.

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

    /// The log has other writers, so each entry is made durable by itself.
    fn publish_shared(&self, letter: PendingRecord) -> Result<Receipt, DaemonError> {
        match self.log_shared(&letter) {
            Err(error) if error.shortage() == Some(Shortage::DiskSpace) => {
                let _reserve = self.spool.use_reserve();
                remove_proofs(&letter)?;
                self.log_shared(&letter)?;
            }
            logged => logged?,
        }
        let placed = vec![letter.result.place()?];
        self.spool.commit_names(placed)?.pop().ok_or(DaemonError::BatchFailed)
    }

    /// Makes the record durable before the log has its entry, so that after a crash the log has no
    /// entry without its record.
    fn log_shared(&self, letter: &PendingRecord) -> Result<(), DaemonError> {
        let (entry, key) = (letter.attested.envelope().log_entry(), self.log.key());
        self.log.append_proved(&entry, system::now(), |inclusion| {
            prove(letter, inclusion, &key)?;
            self.spool.commit(&[&letter.result])?;
            reach(Failpoint::ResultDurable);
            Ok::<_, DaemonError>(())
        })
    }

    /// Publishes all records or none: an error of one is an error of all. Recovery records each.
    fn publish_all(&self, letters: Vec<PendingRecord>) -> Vec<Result<Receipt, DaemonError>> {
        let count = letters.len();
        match self.publish_batch(letters) {
            Ok(receipts) => receipts.into_iter().map(Ok).collect(),
            Err(error) => {
                let why = error.shortage().map(|want| (want, error.to_string()));
                let other = || match why.clone() {
                    Some((want, why)) => DaemonError::BatchShortage(want, why),
                    None => DaemonError::BatchFailed,
                };
                let others: Vec<_> = (1..count).map(|_| Err(other())).collect();
                std::iter::once(Err(error)).chain(others).collect()
            }
        }
    }

    fn publish_batch(&self, letters: Vec<PendingRecord>) -> Result<Vec<Receipt>, DaemonError> {
        let mut reserve = None;
        loop {
            let mut log = self.log.lock().ok_or(DaemonError::BatchFailed)?;
            let error = match self.write_batch(&mut log, &letters) {
                Ok(prepared) => break log.with(|log| log.adopt(prepared))?,
                Err(error) if error.shortage().is_some() => error,
                Err(error) => return Err(error),
            };
            log.close();
            // While this thread waits, others may append, and the event loop checks the space.
            drop(log);
            letters.iter().try_for_each(remove_proofs)?;
            if reserve.is_none() && error.shortage() == Some(Shortage::DiskSpace) {
                tracing::error!("using the emergency reserve: {error}");
                reserve = Some(self.spool.use_reserve());
            } else if !self.shortage.wait(error.shortage(), &error) {
                return Err(error);
            }
        }
        self.log.note_append(system::now());
        reach(Failpoint::LogAdopted);
        let placed: Result<Vec<_>, SpoolError> =
            letters.into_iter().map(|letter| letter.result.place()).collect();
        let receipts = self.spool.commit_names(placed?)?;
        drop(reserve);
        Ok(receipts)
    }

    /// Writes everything durably, under hidden names.
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

/// Verifies the bundle and the proof before they are added.
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
