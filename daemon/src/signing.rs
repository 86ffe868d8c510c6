//! The key that signs records, and the order of records and key changes. The time of a record must
//! be within the validity of its key.

use std::sync::{Arc, PoisonError, RwLock};

use model::UtcTime;
use records::{ResultKey, TakeoverError};

use crate::system;

pub(crate) struct RecordSigner {
    key: RwLock<Arc<ResultKey>>,
}

impl RecordSigner {
    pub(crate) fn new(key: ResultKey) -> Self {
        Self { key: RwLock::new(Arc::new(key)) }
    }

    pub(crate) fn key(&self) -> Arc<ResultKey> {
        Arc::clone(&self.key.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `sign` with the current time and key. The key does not change meanwhile.
    pub(crate) fn sign<T>(&self, sign: impl FnOnce(UtcTime, &ResultKey) -> T) -> T {
        let key = self.key.read().unwrap_or_else(PoisonError::into_inner);
        sign(system::now(), &key)
    }

    /// Changes the key while no record is being signed. `change` gets the time from which the new
    /// key signs. Once both keys have signed the change, the new key is used, even if the change is
    /// not finished.
    pub(crate) fn change<T>(
        &self,
        successor: &Arc<ResultKey>,
        change: impl FnOnce(UtcTime) -> Result<T, TakeoverError>,
    ) -> Result<T, TakeoverError> {
        let mut key = self.key.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(system::now());
        if !matches!(changed, Err(TakeoverError::NotBegun(_))) {
            *key = Arc::clone(successor);
        }
        changed
    }
}
