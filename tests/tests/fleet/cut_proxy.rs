//! A way to the database that can be cut: bytes disappear, and no connection is closed.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(20);

/// A forwarder on loopback. It ends with the test.
pub(super) struct CutProxy {
    pub(super) port: u16,
    is_cut: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

/// The state that the threads of a proxy share.
#[derive(Clone)]
struct ProxyState {
    is_cut: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

impl CutProxy {
    /// Forwards connections to a port of loopback.
    pub(super) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let own_port = listener.local_addr().unwrap().port();
        let state = ProxyState { is_cut: Arc::default(), is_over: Arc::default() };
        let (is_cut, is_over) = (Arc::clone(&state.is_cut), Arc::clone(&state.is_over));
        let accepting = std::thread::spawn(move || accept(&listener, port, &state));
        Self { port: own_port, is_cut, is_over, accepting: Some(accepting) }
    }

    /// From now on every byte disappears. A connection that has lost a byte stays silent for ever.
    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }

    /// New connections are forwarded again.
    pub(super) fn heal(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for CutProxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let joined = self.accepting.take().unwrap().join();
        assert!(joined.is_ok() || std::thread::panicking(), "the proxy failed");
    }
}

fn accept(listener: &TcpListener, port: u16, state: &ProxyState) {
    let mut running = Vec::new();
    while !state.is_over.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((client, _)) => running.extend(forward(&client, port, state)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(LOOK),
            Err(error) => panic!("accept: {error}"),
        }
        running.retain(|thread: &JoinHandle<()>| !thread.is_finished());
    }
    for thread in running {
        thread.join().unwrap();
    }
}

/// Starts a thread for each direction. A server that is down closes the connection.
fn forward(client: &TcpStream, port: u16, state: &ProxyState) -> Vec<JoinHandle<()>> {
    client.set_nonblocking(false).unwrap();
    let is_silent = Arc::new(AtomicBool::new(state.is_cut.load(Ordering::SeqCst)));
    let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else {
        client.shutdown(Shutdown::Both).unwrap_or_default();
        return Vec::new();
    };
    let directions = [(client, &server), (&server, client)];
    // Otherwise the kernel holds the second small message of a statement for 40 ms.
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let threads = directions.map(|(from, to)| {
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let (state, is_silent) = (state.clone(), Arc::clone(&is_silent));
        std::thread::spawn(move || copy(from, to, &state, &is_silent))
    });
    threads.into()
}

/// Copies until one side ends, or until the proxy does.
fn copy(mut from: TcpStream, mut to: TcpStream, state: &ProxyState, is_silent: &AtomicBool) {
    from.set_read_timeout(Some(LOOK)).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    while !state.is_over.load(Ordering::SeqCst) {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                continue;
            }
            Err(_) => break,
        };
        if state.is_cut.load(Ordering::SeqCst) {
            is_silent.store(true, Ordering::SeqCst);
        }
        // The end of a silent connection does not come through either.
        if !is_silent.load(Ordering::SeqCst) && to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    if !is_silent.load(Ordering::SeqCst) || state.is_over.load(Ordering::SeqCst) {
        from.shutdown(Shutdown::Both).unwrap_or_default();
        to.shutdown(Shutdown::Both).unwrap_or_default();
    }
}
