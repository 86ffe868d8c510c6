//! Expiry, reuse and revocation. A revocation list that is not current must never count as one that
//! revokes nothing.

use model::UtcTime;
use serde_json::json;
use validator::CLOCK_SKEW_SEC;

use super::super::code::{AisCode, AisRefusal};
use super::super::crl::RevokedKind;
use super::super::field::Uri;
use super::super::rules::Presence;
use super::model::{GuardInput, GuardObservation, GuardResult};

fn is_past(end: UtcTime, now: UtcTime) -> bool {
    now.unix() > end.unix().saturating_add(CLOCK_SKEW_SEC)
}

fn times(end: UtcTime, now: UtcTime) -> serde_json::Value {
    json!({ "end": end.to_string(), "now": now.to_string(), "skew_seconds": CLOCK_SKEW_SEC })
}

pub(super) fn exp(case: &GuardInput<'_>) -> GuardResult {
    let exp = case.bundle.ibe().exp.utc();
    if is_past(exp, case.now) {
        let message = format!("the envelope expired at {exp}");
        return Err(AisRefusal::new(AisCode::IbeExpired, message).with(times(exp, case.now)));
    }
    Ok(GuardObservation::Passed(format!("until {exp}")))
}

pub(super) fn lifetime(case: &GuardInput<'_>) -> GuardResult {
    let (exp, most) = (case.bundle.ibe().exp.utc(), case.rules.envelope_seconds_max);
    let left = exp.unix().saturating_sub(case.now.unix());
    if u64::try_from(left).is_ok_and(|left| left > most) {
        let message = format!("the envelope ends at {exp}, more than {most} s from now");
        return Err(
            AisRefusal::new(AisCode::IbeLifetimeExceeded, message).with(times(exp, case.now))
        );
    }
    Ok(GuardObservation::Passed(format!("{left} s of at most {most}")))
}

pub(super) fn nonce(case: &GuardInput<'_>) -> GuardResult {
    let nonce = case.bundle.ibe().nonce.as_str();
    if (case.nonce_used)(nonce) {
        let message = format!("the nonce `{nonce}` was used before");
        return Err(AisRefusal::new(AisCode::IbeReplay, message).with(json!({ "nonce": nonce })));
    }
    Ok(GuardObservation::Passed(format!("{nonce}, not used before")))
}

pub(super) fn time_window(case: &GuardInput<'_>) -> GuardResult {
    let end = case.bundle.uia().constraints.time_window.not_after.utc();
    if is_past(end, case.now) {
        let message = format!("the intent expired at {end}");
        return Err(AisRefusal::new(AisCode::UiaExpired, message).with(times(end, case.now)));
    }
    Ok(GuardObservation::Passed(format!("until {end}")))
}

pub(super) fn crl(case: &GuardInput<'_>) -> GuardResult {
    let refuse = |message: String| Err(AisRefusal::new(AisCode::CrlStale, message));
    let Some(crl) = case.bundle.crl() else {
        return match case.rules.crl {
            Presence::Required => refuse("no revocation list, but policy requires one".into()),
            Presence::Optional => Ok(GuardObservation::NotApplicable("no revocation list")),
        };
    };
    let (issued, expires) = (crl.issued.utc(), crl.expires.utc());
    let (span, most) = (expires.unix().saturating_sub(issued.unix()), case.rules.crl_seconds_max);
    if issued.unix() > case.now.unix().saturating_add(CLOCK_SKEW_SEC) {
        return refuse(format!("the revocation list was issued in the future, at {issued}"));
    }
    if is_past(expires, case.now) {
        return refuse(format!("the revocation list expired at {expires}; a newer one is needed"));
    }
    if u64::try_from(span).is_ok_and(|span| span > most) {
        return refuse(format!(
            "the revocation list is valid for {span} s; policy allows {most} s"
        ));
    }
    Ok(GuardObservation::Passed(format!("issued {issued}, valid until {expires}")))
}

fn revoked(case: &GuardInput<'_>, kind: RevokedKind, id: &Uri, code: AisCode) -> GuardResult {
    let Some(crl) = case.bundle.crl() else {
        return Ok(GuardObservation::NotApplicable("no revocation list"));
    };
    match crl.revocation_of(kind, id) {
        Some(found) => {
            let why = found.reason.as_deref().unwrap_or("no reason given");
            let details = json!({ "id": id.as_str(), "reason": why });
            Err(AisRefusal::new(code, format!("{id} is revoked: {why}")).with(details))
        }
        None => Ok(GuardObservation::Passed(format!("{id} is not on the list"))),
    }
}

pub(super) fn uia_revoked(case: &GuardInput<'_>) -> GuardResult {
    revoked(case, RevokedKind::Uia, &case.bundle.uia().id, AisCode::UiaRevoked)
}

pub(super) fn apa_revoked(case: &GuardInput<'_>) -> GuardResult {
    revoked(case, RevokedKind::Apa, &case.bundle.apa().id, AisCode::ApaRevoked)
}
