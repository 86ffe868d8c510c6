//! Known sums, computed by another program, and their independence of how fields are divided.

use fleet::model::FleetState;

use super::{RowSum, addition_sum, request_sum, result_sum};
use crate::database::model::RequestKind;
use crate::database::sample_tests::{claim, request, result, start};
use crate::database::start_rules::start_facts;

#[test]
fn sums_are_those_of_the_stored_rows() {
    let mut local = request();
    (local.kind, local.manifest_sha256, local.audience) = (RequestKind::Local, None, None);
    (local.bytes, local.signatures) = (0, Vec::new());
    let known = [
        (
            request_sum(&request()),
            "8b8395afe000633ed120c1c698ca07c1f96b51d42158dd04cc9c252e654fd7b5",
        ),
        (request_sum(&local), "450648086d91fdec02b04c001cec6defd0d1ac8b188465c4157a1539ce75487c"),
        (
            addition_sum(&request()),
            "5dd2e3e584ee393997efa6e59d4831ab3838307f927aaa7c261517e70f04563d",
        ),
        (
            claim(FleetState::Claimed).sum(),
            "00dec49807d9b04dd99ea478756c1016498cc7159e13032f1c26663af4851a6f",
        ),
        (
            claim(FleetState::Queued).sum(),
            "d5779bb999f7d92b3a8d3b96e59f82b3e6c6b27e27c8e7f1175466ea8fecd12d",
        ),
        (
            start_facts(&start()).sum(),
            "3b3ad58eafd8837f2abe3f8a266284438988952d5fd07bea4f22f88b79af94cd",
        ),
        (result_sum(&result()), "56a92abf2c9beb367de9a77ca04cec4aecaa46cadd3d7ef884be2d699c56afaf"),
    ];
    for (sum, known) in known {
        assert_eq!(sum, known);
    }
}

#[test]
fn a_sum_is_of_one_division_into_fields() {
    let of = |fields: &[Option<&str>]| {
        fields.iter().fold(RowSum::of("t"), |sum, field| sum.optional(*field)).finish()
    };
    let divisions = [
        of(&[Some("ab"), Some("c")]),
        of(&[Some("a"), Some("bc")]),
        of(&[Some("abc")]),
        of(&[Some("abc"), None]),
        of(&[Some("abc"), Some("")]),
        of(&[Some("abc"), Some("-")]),
        of(&[Some("ab\n1:c")]),
    ];
    for (at, sum) in divisions.iter().enumerate() {
        assert!(!divisions[..at].contains(sum), "{at}");
    }
    assert_ne!(RowSum::of("claim").finish(), RowSum::of("start").finish());
}

#[test]
fn the_role_and_nothing_else_of_a_document_may_differ() {
    let (mut other, sum) = (request(), request_sum(&request()));
    "other".clone_into(&mut other.submitted_by);
    assert_eq!(request_sum(&other), sum);
    let mut audience = request();
    audience.audience = None;
    let mut signatures = request();
    signatures.signatures.pop();
    let mut bytes = request();
    bytes.bytes += 1;
    for changed in [audience, signatures, bytes] {
        assert_ne!(request_sum(&changed), sum);
    }
}
