//! Work that blocks, on threads of its own: the one thread of the program must not wait for a file.

use tokio::task::{JoinError, spawn_blocking};

/// Runs work that blocks on a thread for it. A panic there goes on here.
///
/// # Errors
/// The runtime ends.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(error),
        },
    }
}
