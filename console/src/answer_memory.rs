//! The memory of large answers until their clients have read them. Without a limit, clients that
//! read slowly could keep hundreds of pages of many MiB in memory.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::page_error::PageError;
use crate::state::ConsoleState;

/// A smaller answer is not counted: the limit of connections bounds these.
const SMALL_BYTES_MAX: u64 = 256 * 1024;
/// The size of the parts that leave the counted memory.
const PART_BYTES: usize = 64 * 1024;

/// An answer that is counted until its last part is taken.
struct CountedBody {
    bytes: Bytes,
    /// One permit for each byte.
    _place: OwnedSemaphorePermit,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.bytes.len().min(PART_BYTES);
        let part = self.bytes.split_to(length);
        // A copy, because a part in the buffer of the connection would keep all bytes in memory.
        Poll::Ready((length > 0).then(|| Ok(Frame::data(Bytes::copy_from_slice(&part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.bytes.len()).unwrap_or(u64::MAX))
    }
}

/// Counts a large answer, or replaces it if too much waits for other clients.
pub(crate) async fn count(
    State(console): State<Arc<ConsoleState>>,
    response: Response,
) -> Response {
    counted(&console.unread, response).await.unwrap_or_else(PageError::into_response)
}

async fn counted(unread: &Arc<Semaphore>, response: Response) -> Result<Response, PageError> {
    // A body of unknown length is made part by part.
    let length = response.body().size_hint().exact();
    let Some(length) = length.filter(|length| *length > SMALL_BYTES_MAX) else {
        return Ok(response);
    };
    let length = u32::try_from(length).map_err(|_| PageError::busy())?;
    let place = Arc::clone(unread).try_acquire_many_owned(length);
    let place = place.map_err(|_| PageError::busy())?;
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(PageError::internal)?;
    Ok(Response::from_parts(parts, Body::new(CountedBody { bytes, _place: place })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_answer_is_counted_until_it_is_read() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let unread = Arc::new(Semaphore::new(500_000));
            let answer = |length: usize| Response::new(Body::from(vec![b'x'; length]));
            let first = counted(&unread, answer(300_000)).await.unwrap();
            assert_eq!(unread.available_permits(), 200_000);
            assert!(counted(&unread, answer(300_000)).await.is_err());
            assert!(counted(&unread, answer(1000)).await.is_ok());
            let read = to_bytes(first.into_body(), usize::MAX).await.unwrap();
            assert!(read.len() == 300_000 && read.iter().all(|byte| *byte == b'x'));
            assert_eq!(unread.available_permits(), 500_000);
        });
    }
}
