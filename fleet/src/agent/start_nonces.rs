//! One nonce for each start that the daemon asks for, kept in memory until the request is reported.
//! The database keeps the nonce of a committed start. So this process learns after a lost answer
//! that the start is its own, and a later process learns that it is not.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The query of one request.
struct AskedStart {
    document_sha256: String,
    nonce: String,
    is_in_flight: bool,
}

/// The nonces, by the id of their request.
#[derive(Default)]
pub(super) struct StartNonces {
    asked: RefCell<BTreeMap<String, AskedStart>>,
}

impl StartNonces {
    /// Begins a query. Returns the nonce of its earlier tries, or `fresh` for a new one. Returns
    /// `None` while another query of the request is being decided.
    pub(super) fn begin(
        &self,
        request: &str,
        document_sha256: &str,
        fresh: [u8; 16],
    ) -> Option<String> {
        let mut asked = self.asked.borrow_mut();
        if let Some(known) = asked.get_mut(request) {
            if known.is_in_flight {
                return None;
            }
            if known.document_sha256 == document_sha256 {
                known.is_in_flight = true;
                return Some(known.nonce.clone());
            }
        }
        let nonce: String = fresh.iter().map(|byte| format!("{byte:02x}")).collect();
        let document_sha256 = document_sha256.to_owned();
        let query = AskedStart { document_sha256, nonce: nonce.clone(), is_in_flight: true };
        asked.insert(request.to_owned(), query);
        Some(nonce)
    }

    /// Ends a query, with any answer. Its nonce is kept.
    pub(super) fn end(&self, request: &str) {
        if let Some(known) = self.asked.borrow_mut().get_mut(request) {
            known.is_in_flight = false;
        }
    }

    /// Forgets a request that is reported or refused. A query that is being decided keeps its
    /// nonce.
    pub(super) fn forget(&self, request: &str) {
        let mut asked = self.asked.borrow_mut();
        if asked.get(request).is_some_and(|known| !known.is_in_flight) {
            asked.remove(request);
        }
    }

    /// Returns the number of queries that are being decided.
    pub(super) fn in_flight(&self) -> usize {
        self.asked.borrow().values().filter(|known| known.is_in_flight).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_is_asked_again_keeps_its_nonce() {
        let nonces = StartNonces::default();
        let first = nonces.begin("a", "d", [1; 16]).unwrap();
        assert_eq!(first, "01".repeat(16));
        assert_eq!(nonces.begin("a", "d", [2; 16]), None, "it is being decided");
        assert_eq!(nonces.in_flight(), 1);
        nonces.end("a");
        assert_eq!(nonces.begin("a", "d", [3; 16]), Some(first));
    }

    #[test]
    fn another_document_and_a_reported_request_get_a_new_nonce() {
        let nonces = StartNonces::default();
        assert!(nonces.begin("a", "d", [1; 16]).is_some());
        nonces.forget("a");
        nonces.end("a");
        assert_eq!(nonces.begin("a", "e", [2; 16]).unwrap(), "02".repeat(16));
        nonces.end("a");
        nonces.forget("a");
        assert_eq!(nonces.begin("a", "e", [3; 16]).unwrap(), "03".repeat(16));
        assert_eq!(nonces.in_flight(), 1);
    }
}
