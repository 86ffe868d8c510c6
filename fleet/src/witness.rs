//! The witnesses of a fleet. Each host posts the newest checkpoint of its log, and cosigns those of
//! the others. The protocol is C2SP tlog-witness, with the database in place of HTTP.
//!
//! The database is not trusted. The witness judges each checkpoint with the log's key in the signed
//! list and with this host's own files. It judges each cosignature with the key of its witness. A
//! database can withhold posts, or repeat old ones. It cannot get a fork cosigned.
//!
//! The new state of a witness is durable before its cosignature is posted. After an interruption in
//! between, the kept cosignature is posted again.
//!
//! The witness disputes a checkpoint that contradicts the cosigned one. It does so at once if the
//! log signed two roots for one size, else when the host posts the contradiction again. A database
//! that was restored from a backup has an older row, and its host posts a newer one next.

mod error;
mod files;
mod hosts;
mod judge;
mod model;
mod own_log;
mod suspects;
#[cfg(test)]
mod tests;

use std::mem;
use std::path::Path;
use std::sync::Arc;

use fleet::model::HostName;
use policies::FleetList;
use records::log::{LogOrigin, WitnessSigner};
use spool::clock;

use self::files::WitnessFiles;
use self::hosts::{WitnessHosts, unreadable_key};
use self::judge::{LogContradiction, WitnessJudgement, judge_all};
use self::model::WitnessFaults;
use self::own_log::OwnLog;
use self::suspects::SuspectLogs;
use crate::blocking::blocking;
use crate::database::{CosignatureRow, WitnessRows};

pub(crate) use self::error::WitnessError;

/// The witness of this host, and the poster of its own checkpoint.
pub(crate) struct Witness {
    host: HostName,
    signer: Arc<WitnessSigner>,
    files: WitnessFiles,
    own: OwnLog,
    suspects: SuspectLogs,
    faults: WitnessFaults,
}

impl Witness {
    /// Opens the witness of this host. On first use it makes its key and its directories in
    /// `state`, an existing directory.
    ///
    /// # Errors
    /// A file cannot be used, or the directory of cosigned checkpoints was lost.
    pub(crate) fn open(state: &Path, key: &Path, host: &str) -> Result<Self, WitnessError> {
        let wrong = || WitnessError::Host(host.to_owned());
        let origin: LogOrigin = host.parse().map_err(|_| wrong())?;
        let host = HostName::parse(host).map_err(|_| wrong())?;
        let files = WitnessFiles::open(state, key)?;
        let signer = WitnessSigner::open_or_create(key, &origin).map_err(WitnessError::Key)?;
        Ok(Self {
            host,
            signer: Arc::new(signer),
            files,
            own: OwnLog::default(),
            suspects: SuspectLogs::default(),
            faults: WitnessFaults::default(),
        })
    }

    /// Returns the line for `witness_key` of this host in the fleet list.
    pub(crate) fn verifier_line(&self) -> String {
        self.signer.verifier_line()
    }

    /// Posts this host's checkpoint, judges those of the others, and posts cosignatures and
    /// disputes. `log` is the directory of this host's log. A fault of one host is logged, and does
    /// not stop the others.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn round(
        &mut self,
        rows: &mut impl WitnessRows,
        list: &FleetList,
        log: &Path,
    ) -> Result<(), WitnessError> {
        let hosts = WitnessHosts::of(list, &self.host);
        self.faults.begin();
        self.post_own(rows, &hosts, log).await?;
        if hosts.has_witness_key(&self.verifier_line()) {
            self.judge_others(rows, hosts).await?;
        } else {
            let line = self.verifier_line();
            self.faults.add(format!(
                "fleet list: does not have the witness key of host {}; help: write `witness_key: \
                 \"{line}\"` into its entry, and have the list signed",
                self.host
            ));
        }
        self.faults.end();
        Ok(())
    }

    /// Posts the newest checkpoint, with a proof for each witness from the size that it cosigned.
    async fn post_own(
        &mut self,
        rows: &mut impl WitnessRows,
        hosts: &WitnessHosts,
        log: &Path,
    ) -> Result<(), WitnessError> {
        let Some(key) = hosts.own_log().cloned() else {
            self.faults.add(unreadable_key("log_key", self.host.as_str()));
            return Ok(());
        };
        let cosignatures = rows.cosignatures(&self.host).await?;
        let sizes = hosts.cosigned_sizes(&cosignatures);
        let (mut own, directory) = (mem::take(&mut self.own), log.to_owned());
        let read = move || {
            let read = own.read(&directory, &key, &sizes);
            (own, read)
        };
        let (own, read) = blocking(read).await?;
        self.own = own;
        match read {
            Ok(Some(post)) => {
                rows.put_checkpoint(&self.host, post.size, &post.note, &post.proofs).await?;
                post.faults.into_iter().for_each(|fault| self.faults.add(fault));
            }
            // The daemon has not made its log yet.
            Ok(None) => {}
            Err(why) => self.faults.add(why),
        }
        self.keep_cosigned(&cosignatures, hosts).await
    }

    /// Keeps this host's checkpoints with the cosignatures of others in files, for auditors.
    async fn keep_cosigned(
        &mut self,
        cosignatures: &[CosignatureRow],
        hosts: &WitnessHosts,
    ) -> Result<(), WitnessError> {
        let mut verified = Vec::new();
        for row in cosignatures {
            let Some(host) = hosts.other(&row.witness) else { continue };
            match self.own.verified(row, host) {
                Some(Ok(cosigned)) => verified.push((row.witness.clone(), row.size, cosigned)),
                Some(Err(why)) => self.faults.add(why),
                None => {}
            }
        }
        if verified.is_empty() {
            return Ok(());
        }
        let files = self.files.clone();
        let store = move || {
            let stored = verified.into_iter().map(|(witness, size, cosigned)| {
                let stored = files.store_cosigned(&witness, cosigned.note());
                (witness, size, stored.map_err(|error| error.to_string()))
            });
            stored.collect::<Vec<_>>()
        };
        for (witness, size, stored) in blocking(store).await? {
            match stored {
                Ok(()) => self.own.note_stored(witness, size),
                Err(why) => self.faults.add(why),
            }
        }
        Ok(())
    }

    async fn judge_others(
        &mut self,
        rows: &mut impl WitnessRows,
        hosts: WitnessHosts,
    ) -> Result<(), WitnessError> {
        let found = rows.checkpoints(&self.host).await?;
        let (files, signer, now) = (self.files.clone(), Arc::clone(&self.signer), clock::now());
        let judge = move || judge_all(&found, &hosts, &files, &signer, now);
        for (host, judgement) in blocking(judge).await? {
            self.publish(rows, &host, judgement).await?;
        }
        Ok(())
    }

    /// Posts the outcome for one host.
    async fn publish(
        &mut self,
        rows: &mut impl WitnessRows,
        host: &HostName,
        judgement: WitnessJudgement,
    ) -> Result<(), WitnessError> {
        match judgement {
            WitnessJudgement::Nothing => self.suspects.clear(host),
            WitnessJudgement::Cosigned { size, lines } => {
                self.suspects.clear(host);
                rows.put_cosignature(host, &self.host, size, &lines).await?;
            }
            WitnessJudgement::Contradiction(found) => self.contradict(rows, host, found).await?,
            WitnessJudgement::Fault(why) => self.faults.add(why),
        }
        Ok(())
    }

    /// Disputes a contradiction, unless the database may be the cause.
    async fn contradict(
        &mut self,
        rows: &mut impl WitnessRows,
        host: &HostName,
        found: LogContradiction,
    ) -> Result<(), WitnessError> {
        let LogContradiction { reason, note, posted_us, is_evidence } = found;
        let is_repeated = self.suspects.is_repeated(host, posted_us);
        if !is_evidence && !is_repeated {
            self.faults.add(format!(
                "log of host {host}: {reason}; help: look at that host: the log is disputed if the \
                 host posts it again"
            ));
            return Ok(());
        }
        rows.put_dispute(host, &self.host, &reason, &note).await?;
        self.faults.add(format!(
            "log of host {host}: {reason}: disputed, so the host starts nothing; help: compare the \
             logs as docs/fleet.md describes"
        ));
        Ok(())
    }
}
