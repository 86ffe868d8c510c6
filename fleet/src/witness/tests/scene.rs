//! Hosts of a fleet with their logs.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fleet::model::HostName;
use policies::FleetList;
use records::ResultKey;
use records::log::{Log, LogKey};
use tokio::runtime::{Builder, Runtime};

use super::rows::MemoryLogRows;
use crate::witness::{Witness, WitnessError};

static COUNT: AtomicU64 = AtomicU64::new(0);

pub(super) fn host(name: &str) -> HostName {
    HostName::parse(name).unwrap()
}

pub(super) fn write(path: &Path, text: &str) {
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A host with its log and its witness.
pub(super) struct WitnessSceneHost {
    directory: PathBuf,
    seed: u8,
    log: Option<Log>,
    pub(super) witness: Witness,
    /// The line in the fleet list.
    pub(super) listed: String,
    record_key: String,
}

impl WitnessSceneHost {
    fn new(top: &Path, name: &str, seed: u8) -> Self {
        let directory = top.join(name);
        let state = directory.join("state");
        DirBuilder::new().mode(0o700).recursive(true).create(&state).unwrap();
        let witness = Witness::open(&state, &state.join("witness.key"), name).unwrap();
        let record_key = ResultKey::open_or_create(&directory.join("keys")).unwrap();
        let record_key = record_key.public().allowed_signers_line();
        let listed = witness.verifier_line();
        Self { directory, seed, log: None, witness, listed, record_key }
    }

    /// Returns the key of the log.
    pub(super) fn log_key(&self) -> LogKey {
        let name = self.directory.file_name().unwrap().to_str().unwrap();
        LogKey::from_seed(name.parse().unwrap(), &[self.seed; 32])
    }

    pub(super) fn state(&self) -> PathBuf {
        self.directory.join("state")
    }

    pub(super) fn log_directory(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// Returns a file of the witness.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.state().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    /// Grows the log to this size.
    pub(super) fn grow(&mut self, size: u64) {
        self.grow_from(size, size);
    }

    /// Grows the log to this size. Entries from `prefix` on differ from those of [`Self::grow`].
    fn grow_from(&mut self, prefix: u64, size: u64) {
        let (directory, key) = (self.log_directory(), self.log_key());
        let log = self.log.get_or_insert_with(|| Log::open_or_create(&directory, key).unwrap());
        for number in log.head().size()..size {
            let kind = if number < prefix { "entry" } else { "other" };
            log.append(format!("{kind} {number}").as_bytes()).unwrap();
        }
    }

    /// Replaces the log by one of this size, with the first entries of the former one.
    pub(super) fn rewrite(&mut self, prefix: u64, size: u64) {
        self.log = None;
        fs::remove_dir_all(self.log_directory()).unwrap();
        self.grow_from(prefix, size);
    }

    /// Returns the newest note of the log.
    pub(super) fn note(&self) -> String {
        fs::read_to_string(self.log_directory().join("checkpoint")).unwrap()
    }

    /// Starts the witness again.
    pub(super) fn reopen(&mut self) -> Result<(), WitnessError> {
        let name = self.directory.file_name().unwrap().to_str().unwrap();
        self.witness = Witness::open(&self.state(), &self.file("witness.key"), name)?;
        Ok(())
    }
}

/// The hosts and their database.
pub(super) struct WitnessScene {
    top: PathBuf,
    hosts: BTreeMap<String, WitnessSceneHost>,
    runtime: Runtime,
    pub(super) rows: MemoryLogRows,
}

impl WitnessScene {
    /// Makes hosts with logs of three entries.
    pub(super) fn new(names: &[&str]) -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-fleet-witness-{}-{count}", std::process::id());
        let top = std::env::temp_dir().join(name);
        fs::create_dir(&top).unwrap();
        let mut hosts = BTreeMap::new();
        for (name, seed) in names.iter().zip(1..) {
            let mut host = WitnessSceneHost::new(&top, name, seed);
            host.grow(3);
            hosts.insert((*name).to_owned(), host);
        }
        let runtime = Builder::new_current_thread().build().unwrap();
        Self { top, hosts, runtime, rows: MemoryLogRows::default() }
    }

    pub(super) fn host(&mut self, name: &str) -> &mut WitnessSceneHost {
        self.hosts.get_mut(name).unwrap()
    }

    fn list(&self) -> FleetList {
        let rows = self.hosts.iter().map(|(name, host)| {
            let (log_key, witness_key) = (host.log_key().public().verifier_line(), &host.listed);
            format!(
                "  - name: {name}\n    record_keys: ['{}']\n    log_key: '{log_key}'\n    \
                 witness_key: '{witness_key}'\n",
                host.record_key
            )
        });
        let rows: String = rows.collect();
        let text = format!("fleet: farm\nfleet_id: 0b1c2d3e\nserial: 1\nhosts:\n{rows}");
        FleetList::parse(text.as_bytes(), "fleet.yaml").unwrap()
    }

    /// Lets one host do a round, and returns its faults.
    pub(super) fn try_round(&mut self, name: &str) -> Result<Vec<String>, WitnessError> {
        let list = self.list();
        let host = self.hosts.get_mut(name).unwrap();
        let log = host.log_directory();
        self.runtime.block_on(host.witness.round(&mut self.rows, &list, &log))?;
        Ok(host.witness.faults.last().into_iter().map(str::to_owned).collect())
    }

    pub(super) fn round(&mut self, name: &str) -> Vec<String> {
        self.try_round(name).unwrap()
    }

    /// Lets every host do this number of rounds. None of them may have a fault.
    pub(super) fn rounds(&mut self, count: usize) {
        let names: Vec<String> = self.hosts.keys().cloned().collect();
        for name in names.iter().cycle().take(count * names.len()) {
            assert_eq!(self.round(name), Vec::<String>::new(), "{name}");
        }
    }

    /// Returns the size that a witness cosigned last, as the database has it.
    pub(super) fn cosigned(&self, owner: &str, witness: &str) -> Option<u64> {
        let row = self.rows.cosignatures.get(&(host(owner), host(witness)))?;
        Some(row.0)
    }

    /// Returns the reason of a dispute.
    pub(super) fn dispute(&self, disputed: &str, witness: &str) -> Option<&str> {
        let row = self.rows.disputes.get(&(host(disputed), host(witness)))?;
        Some(&row.0)
    }
}

impl Drop for WitnessScene {
    fn drop(&mut self) {
        self.hosts.clear();
        fs::remove_dir_all(&self.top).unwrap();
    }
}
