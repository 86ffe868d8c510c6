//! The key that signs records, and the order between a record and a change of that key. No record may
//! say that it was made at a time at which its key is not in force.

use std::sync::{Arc, PoisonError, RwLock};

use model::UtcTime;
use records::{ResultKey, TakeoverError};

use crate::system;

/// The key that signs records.
pub(crate) struct Signing {
    key: RwLock<Arc<ResultKey>>,
}

impl Signing {
    pub(crate) fn new(key: ResultKey) -> Self {
        Self { key: RwLock::new(Arc::new(key)) }
    }

    /// The key in force.
    pub(crate) fn key(&self) -> Arc<ResultKey> {
        Arc::clone(&self.key.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has a record made now and signed by the key in force. The key does not change in between.
    pub(crate) fn with<T>(&self, sign: impl FnOnce(UtcTime, &ResultKey) -> T) -> T {
        let key = self.key.read().unwrap_or_else(PoisonError::into_inner);
        sign(system::now(), &key)
    }

    /// Has the key changed while no record is being signed. `change` is given the time from which on the
    /// new key signs. Once both keys signed the change the new one signs, even if it is not finished.
    ///
    /// # Errors
    /// The error of `change`.
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
