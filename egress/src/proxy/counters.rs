//! The counters and refusals of one run: the only source of the report. Bytes are subtracted from
//! the run's allowance here, while they are copied. So the sum of all hosts never exceeds it, and
//! every copied byte is counted.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use egress::frame::{
    EgressHostUse, EgressRefusal, EgressRefusalReason, REFUSALS_MAX, REQUEST_TEXT_BYTES_MAX, Report,
};

use super::rules::RunHostRules;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrafficDirection {
    ToHost,
    FromHost,
}

#[derive(Debug)]
pub(super) struct TrafficCounters(Mutex<CounterState>);

#[derive(Debug)]
pub(super) struct CounterState {
    bytes_left: u64,
    report: Report,
}

impl TrafficCounters {
    pub(super) fn new(rules: &RunHostRules, bytes_max: u64) -> Self {
        let unused = |name| EgressHostUse {
            name,
            addresses: Vec::new(),
            connections: 0,
            bytes_out: 0,
            bytes_in: 0,
        };
        let hosts = rules.hosts().map(|host| unused(host.to_string())).collect();
        let report = Report { hosts, refusals: Vec::new(), refusals_left_out: 0 };
        Self(Mutex::new(CounterState { bytes_left: bytes_max, report }))
    }

    /// No code that panics runs under the lock, so a poisoned lock is still consistent.
    pub(super) fn lock(&self) -> MutexGuard<'_, CounterState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn refuse(&self, request: &str, reason: EgressRefusalReason) {
        self.lock().refuse(request, reason);
    }

    pub(super) fn set_addresses(&self, rule: usize, addresses: &[IpAddr]) {
        self.lock().report.hosts[rule].addresses = addresses.to_vec();
    }

    pub(super) fn count_connection(&self, rule: usize) {
        self.lock().report.hosts[rule].connections += 1;
    }

    pub(super) fn report(&self) -> Report {
        self.lock().report.clone()
    }
}

impl CounterState {
    /// Returns the number of bytes that may still be copied, at most `usize::MAX`.
    pub(super) fn remaining(&self) -> usize {
        usize::try_from(self.bytes_left).unwrap_or(usize::MAX)
    }

    /// Counts copied bytes, never more than [`Self::remaining`] returned under the same lock.
    pub(super) fn count_bytes(&mut self, rule: usize, way: TrafficDirection, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        let host = &mut self.report.hosts[rule];
        match way {
            TrafficDirection::ToHost => host.bytes_out += bytes,
            TrafficDirection::FromHost => host.bytes_in += bytes,
        }
    }

    pub(super) fn host_name(&self, rule: usize) -> &str {
        &self.report.hosts[rule].name
    }

    pub(super) fn refuse(&mut self, request: &str, reason: EgressRefusalReason) {
        let request = printable(request);
        let report = &mut self.report;
        let known =
            report.refusals.iter().position(|it| it.reason == reason && it.asked == request);
        match known {
            Some(known) => report.refusals[known].times += 1,
            None if report.refusals.len() < REFUSALS_MAX => {
                report.refusals.push(EgressRefusal { asked: request, reason, times: 1 });
            }
            None => report.refusals_left_out += 1,
        }
    }
}

/// Makes the tool's text safe for terminals, and limits its size in a frame.
pub(super) fn printable(request: &str) -> String {
    let plain = |c: char| match c {
        '"' | '\\' => '?',
        c if c == ' ' || c.is_ascii_graphic() => c,
        _ => '?',
    };
    request.chars().take(REQUEST_TEXT_BYTES_MAX).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::super::limit::PrivateAddressLimit;
    use super::*;
    use egress::frame::{
        ADDRESSES_MAX, EgressHostRule, FRAME_BYTES_MAX, ProxyAnswer, RULES_MAX, ServeOrder,
    };

    /// All counters are at their limits.
    fn full() -> TrafficCounters {
        let name =
            |number| format!("{number:03}{}.{}", "a".repeat(60), "b.".repeat(90)) + &"c".repeat(9);
        let hosts = (0..RULES_MAX).map(|it| EgressHostRule {
            name: name(it),
            ports: Vec::new(),
            private: Vec::new(),
        });
        let order = ServeOrder {
            hosts: hosts.collect(),
            bytes_max: u64::MAX,
            connections_max: 1,
            time_ms_max: 1,
        };
        let ledger = TrafficCounters::new(
            &RunHostRules::new(&order, &PrivateAddressLimit::Unlimited).expect("good rules"),
            u64::MAX,
        );
        let address: IpAddr = "2001:1111:2222:3333:4444:5555:6666:7777".parse().expect("address");
        for rule in 0..RULES_MAX {
            ledger.set_addresses(rule, &[address; ADDRESSES_MAX]);
            let mut pages = ledger.lock();
            let host = &mut pages.report.hosts[rule];
            (host.connections, host.bytes_out, host.bytes_in) = (u64::MAX, u64::MAX, u64::MAX);
        }
        ledger
    }

    #[test]
    fn the_largest_report_fits_a_frame() {
        let ledger = full();
        for number in 0..2 * REFUSALS_MAX {
            let request = format!("{number:03}{}", "\"\u{1f600}\\\n".repeat(99));
            ledger.refuse(&request, EgressRefusalReason::MetadataAddress);
        }
        let report = ledger.report();
        assert_eq!(report.hosts[0].name.len(), 253);
        assert_eq!(report.refusals.len(), REFUSALS_MAX);
        assert_eq!(report.refusals_left_out, u64::try_from(REFUSALS_MAX).expect("small"));
        let bytes = serde_json::to_vec(&ProxyAnswer::Report(report)).expect("JSON").len();
        assert!(bytes <= FRAME_BYTES_MAX, "{bytes}");
    }

    #[test]
    fn the_same_refusal_is_counted_not_listed_again() {
        let ledger = full();
        ledger.refuse("a:1", EgressRefusalReason::Host);
        ledger.refuse("a:1", EgressRefusalReason::Port);
        ledger.refuse("a:1", EgressRefusalReason::Host);
        let times: Vec<_> = ledger.report().refusals.iter().map(|it| it.times).collect();
        assert_eq!(times, [2, 1]);
    }
}
