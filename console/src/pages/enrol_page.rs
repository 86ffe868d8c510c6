//! `/enrol`: makes a passkey and prints its line for `allowed_signers`. The console cannot add it:
//! the administrator who adds the line decides who may approve.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Html;
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use maud::{Markup, html};
use policies::{
    APPROVE_NAMESPACE, BATCH_NAMESPACE, ORDER_NAMESPACE, REJECT_NAMESPACE, STANDING_NAMESPACE,
};
use spool::{published_policy, random_bytes};

use crate::frame::{PageFrame, PageKind};
use crate::origin::ConsoleOrigin;
use crate::page_error::PageError;
use crate::state::{ConsoleState, blocking};

/// The uses of an approver's key.
const NAMESPACES: [&str; 5] =
    [APPROVE_NAMESPACE, BATCH_NAMESPACE, STANDING_NAMESPACE, REJECT_NAMESPACE, ORDER_NAMESPACE];

pub(crate) async fn enrol(
    State(console): State<Arc<ConsoleState>>,
    Extension(origin): Extension<ConsoleOrigin>,
) -> Result<Html<String>, PageError> {
    blocking(console, move |console| Ok(Html(page(console, &origin)?.into_string()))).await
}

fn page(console: &ConsoleState, origin: &ConsoleOrigin) -> Result<Markup, PageError> {
    let policy = published_policy(&console.spool).ok();
    let listed = policy.as_ref().and_then(|policy| policy.passkey_domain(origin.as_str()));
    let rp_id = listed.unwrap_or_else(|| origin.host());
    let challenge = random_bytes::<32>().map_err(PageError::internal)?;
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(challenge);
    let frame = PageFrame::new(PageKind::Enrol, "Enrol a passkey");
    Ok(frame.page(html! {
        @if listed.is_none() {
            p.wait {
                "The policy does not accept passkeys from " code { (origin.as_str()) }
                " yet. An administrator lists the domain and this origin in approval.webauthn."
            }
        }
        (form(rp_id, &challenge))
        (line_section())
    }))
}

fn form(rp_id: &str, challenge: &str) -> Markup {
    html! {
        p {
            "The passkey is made for " code { (rp_id) } " and works for no other domain. It must "
            "verify you by a PIN, a finger or a face."
        }
        noscript { p.bad { "Enrolment needs JavaScript." } }
        form id="enrol-form" data-rp-id=(rp_id) data-challenge=(challenge)
            data-namespaces=(NAMESPACES.join(",")) {
            p {
                label for="principal" { "Your name in allowed_signers, for example alice" }
                br;
                input id="principal" type="text" name="principal" required
                    pattern="[A-Za-z0-9._@+\\-]+" autocomplete="username" maxlength="64";
            }
            button.primary type="submit" { "Make a passkey" }
        }
    }
}

fn line_section() -> Markup {
    html! {
        section id="enrol-result" hidden aria-labelledby="enrol-title" {
            h2 id="enrol-title" { "The line for allowed_signers" }
            pre id="enrol-line" tabindex="0" {}
            p {
                "An administrator checks by other means that the line is yours, and adds it to "
                code { "/etc/toolexec/allowed_signers" } "."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passkey_is_for_each_use_of_an_approver() {
        let page = form("localhost", "AAAA").into_string();
        let namespaces = "approve.tool-exec@threegate,batch.tool-exec@threegate,\
                          standing.tool-exec@threegate,reject.tool-exec@threegate,\
                          order.tool-exec@threegate";
        assert!(page.contains(&format!("data-namespaces=\"{namespaces}\"")), "{page}");
        assert!(page.contains("data-rp-id=\"localhost\" data-challenge=\"AAAA\""), "{page}");
    }
}
