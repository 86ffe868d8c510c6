//! The beginning of every approval: the arguments, the approver and the key.

use validator::OneLine;

use super::args::ApproveCommand;
use super::confirm::check_confirmable;
use crate::commands::approve::signing::{SignerError, SigningIdentity, principal};
use crate::failure::Failure;

/// Checks the arguments and opens the key. The inner error is the reason why the key may not sign.
pub(super) fn open_signer(
    args: &ApproveCommand,
) -> Result<Result<(OneLine, SigningIdentity), String>, Failure> {
    check_confirmable(args)?;
    let by = principal(&args.signing.principal)?;
    match SigningIdentity::open(&args.signing) {
        Ok(signer) => Ok(Ok((by, signer))),
        Err(SignerError::Refused(why)) => Ok(Err(why)),
        Err(SignerError::Failed(failure)) => Err(failure),
    }
}
