//! A connection to a host. Every byte is counted, and none passes beyond the run's allowance.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use egress::frame::EgressRefusalReason;

use super::counters::{CounterState, TrafficDirection};
use super::idle_timer::IdleTimer;
use super::model::ServedRun;

#[derive(Debug)]
pub(super) struct CountedStream {
    host: TcpStream,
    run: Arc<ServedRun>,
    rule: usize,
    idle_timer: Arc<IdleTimer>,
}

impl CountedStream {
    pub(super) fn new(host: TcpStream, run: Arc<ServedRun>, rule: usize) -> Self {
        Self { host, run, rule, idle_timer: Arc::new(IdleTimer::new()) }
    }

    pub(super) fn idle_timer(&self) -> Arc<IdleTimer> {
        Arc::clone(&self.idle_timer)
    }
}

fn exhausted(pages: &mut CounterState, rule: usize) -> io::Error {
    let name = pages.host_name(rule).to_owned();
    pages.refuse(&name, EgressRefusalReason::Bytes);
    io::Error::new(io::ErrorKind::QuotaExceeded, "the run's byte limit is used up")
}

impl AsyncRead for CountedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut pages = this.run.counters.lock();
        let host = Pin::new(&mut this.host);
        if pages.remaining() == 0 {
            // The end is not a byte: an answer that uses exactly the allowance ends normally.
            let mut one = [0];
            let mut one = ReadBuf::new(&mut one);
            ready!(host.poll_read(cx, &mut one))?;
            let ended = one.filled().is_empty();
            return Poll::Ready(if ended { Ok(()) } else { Err(exhausted(&mut pages, this.rule)) });
        }
        let mut within =
            ReadBuf::new(buf.initialize_unfilled_to(pages.remaining().min(buf.remaining())));
        ready!(host.poll_read(cx, &mut within))?;
        let read = within.filled().len();
        buf.advance(read);
        pages.count_bytes(this.rule, TrafficDirection::FromHost, read);
        this.idle_timer.reset();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut pages = this.run.counters.lock();
        let within = &buf[..buf.len().min(pages.remaining())];
        if within.is_empty() && !buf.is_empty() {
            return Poll::Ready(Err(exhausted(&mut pages, this.rule)));
        }
        let written = ready!(Pin::new(&mut this.host).poll_write(cx, within))?;
        pages.count_bytes(this.rule, TrafficDirection::ToHost, written);
        this.idle_timer.reset();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().host).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().host).poll_shutdown(cx)
    }
}
