//! Servers played by the tests: HTTP, TLS, and DNS servers that change their answers. Each counts
//! or reports the bytes that reached it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::net::{self, AddressFamily, SocketType};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use crate::support::LOOPBACK;

/// A server on its own port, with one message per ended connection.
pub(crate) struct TestServer<T> {
    pub(crate) port: u16,
    pub(crate) seen: Receiver<T>,
}

impl<T: Send + 'static> TestServer<T> {
    pub(crate) fn new(serve: impl Fn(TcpStream) -> T + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let ((say, seen), serve) = (channel(), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (say, serve, stream) = (say.clone(), Arc::clone(&serve), stream.unwrap());
                // The receiver is gone if the test is over.
                thread::spawn(move || drop(say.send(serve(stream))));
            }
        });
        Self { port, seen }
    }

    #[track_caller]
    pub(crate) fn next(&self) -> T {
        self.seen.recv_timeout(std::time::Duration::from_secs(20)).unwrap()
    }
}

/// A listening port that must get no connection.
pub(crate) struct UnvisitedServer {
    pub(crate) port: u16,
    listener: TcpListener,
}

impl UnvisitedServer {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { port: listener.local_addr().unwrap().port(), listener }
    }

    /// Returns true if no connection arrived. One that has ended already counts.
    pub(crate) fn is_unvisited(&self) -> bool {
        self.listener.accept().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// Sends this answer to every request, and reports the request's bytes: head and counted body.
pub(crate) fn http(answer: &'static str) -> TestServer<Vec<u8>> {
    TestServer::new(move |mut stream| {
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        while !complete(&bytes) {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return bytes,
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
            }
        }
        stream.write_all(answer.as_bytes()).unwrap();
        bytes
    })
}

pub(crate) const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";

fn complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split_once("content-length: ").map(|it| it.1.lines().next().unwrap());
    match length {
        Some(length) => body.len() >= length.parse().unwrap(),
        None if head.contains("chunked") => body.ends_with("0\r\n\r\n"),
        None => true,
    }
}

pub(crate) fn sink() -> TestServer<usize> {
    TestServer::new(|mut stream| {
        let mut all = Vec::new();
        // A reset is an end, too.
        drop(stream.read_to_end(&mut all));
        all.len()
    })
}

/// A separate certificate for each name.
pub(crate) struct TestIdentity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    name: String,
}

impl TestIdentity {
    pub(crate) fn new(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = made.signing_key.serialize_der();
        Self { certificate: made.cert.der().clone(), key, name: name.to_owned() }
    }

    pub(crate) fn pem(&self) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for (number, three) in self.certificate.chunks(3).enumerate() {
            let bits =
                (0..3).fold(0, |bits, at| bits << 8 | usize::from(*three.get(at).unwrap_or(&0)));
            let digit = |at: usize| match at <= three.len() {
                true => char::from(DIGITS[bits >> (18 - 6 * at) & 63]),
                false => '=',
            };
            text.extend((0..4).map(digit));
            // Lines of 64 digits.
            text.push_str(if number % 16 == 15 { "\n" } else { "" });
        }
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", text.trim_end())
    }

    pub(crate) fn server(&self, provider: CryptoProvider) -> Arc<ServerConfig> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let chain = vec![self.certificate.clone()];
        let config = ServerConfig::builder_with_provider(Arc::new(provider));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        Arc::new(config.with_single_cert(chain, key).unwrap())
    }

    /// Starts TLS over a stream, with or without the server name.
    pub(crate) fn client<S: Read + Write>(&self, stream: S, say_name: bool) -> Tls<S> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let config = ClientConfig::builder().with_root_certificates(roots);
        let mut config = config.with_no_client_auth();
        config.enable_sni = say_name;
        let name = ServerName::try_from(self.name.clone()).unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(connection, CountingStream { inner: stream, read: 0, written: 0 })
    }
}

pub(crate) type Tls<S> = StreamOwned<ClientConnection, CountingStream<S>>;

/// A stream that counts the bytes in both directions.
pub(crate) struct CountingStream<S> {
    inner: S,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl<S: Read> Read for CountingStream<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.read += u64::try_from(read).unwrap();
        Ok(read)
    }
}

impl<S: Write> Write for CountingStream<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buf)?;
        self.written += u64::try_from(written).unwrap();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Answers five bytes over TLS with the same five, and reports the raw bytes read and written.
pub(crate) fn tls_echo(identity: &TestIdentity) -> TestServer<(u64, u64)> {
    tls_saying(identity, None)
}

/// With another answer.
pub(crate) fn tls_saying(
    identity: &TestIdentity,
    answer: Option<&'static str>,
) -> TestServer<(u64, u64)> {
    tls_with(identity.server(default_provider()), answer)
}

/// With this configuration.
pub(crate) fn tls_with(
    config: Arc<ServerConfig>,
    answer: Option<&'static str>,
) -> TestServer<(u64, u64)> {
    TestServer::new(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let counting = CountingStream { inner: stream, read: 0, written: 0 };
        let mut tls = StreamOwned::new(connection, counting);
        let mut five = [0; 5];
        if tls.read_exact(&mut five).is_ok() {
            tls.write_all(answer.map_or(&five[..], str::as_bytes)).unwrap();
            tls.conn.send_close_notify();
            tls.flush().unwrap();
            tls.sock.inner.shutdown(Shutdown::Write).unwrap();
            // Until the other side is done as well.
            drop(io::copy(&mut tls.sock, &mut io::sink()));
        }
        (tls.sock.read, tls.sock.written)
    })
}

/// Sends five bytes and receives them back. Returns the raw bytes written and read.
pub(crate) fn five(identity: &TestIdentity, stream: TcpStream) -> io::Result<(u64, u64)> {
    let mut tls = identity.client(stream, true);
    tls.write_all(b"12345")?;
    tls.flush()?;
    let mut back = [0; 5];
    tls.read_exact(&mut back)?;
    assert_eq!(&back, b"12345");
    tls.conn.send_close_notify();
    tls.flush()?;
    tls.sock.inner.shutdown(Shutdown::Write)?;
    io::copy(&mut tls.sock, &mut io::sink())?;
    Ok((tls.sock.written, tls.sock.read))
}

/// A loopback port that refuses connections. No process gets the port while the socket is held.
pub(crate) fn closed_port() -> (OwnedFd, u16) {
    let socket = net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    net::bind(&socket, &SocketAddr::new(LOOPBACK, 0)).unwrap();
    let address = SocketAddr::try_from(net::getsockname(&socket).unwrap()).unwrap();
    (socket, address.port())
}

/// Starts a DNS server; port 0 is any. Its n-th answer to any name is the n-th of these, then the
/// last. Returns its port and the number of queries for IPv4 addresses so far. A query that the
/// client repeats because the answer is late is counted once.
pub(crate) fn name_server(port: u16, answers: &'static [Ipv4Addr]) -> (u16, Arc<Mutex<usize>>) {
    let socket = UdpSocket::bind((LOOPBACK, port)).unwrap();
    let port = socket.local_addr().unwrap().port();
    let queries = Arc::new(Mutex::new(0));
    let count = Arc::clone(&queries);
    thread::spawn(move || {
        let mut question = [0; 512];
        let mut last: Option<([u8; 2], Ipv4Addr)> = None;
        loop {
            let (length, from) = socket.recv_from(&mut question).unwrap();
            // One question follows the head: labels, then two bytes each of type and class.
            let labels = question[12..length].iter().position(|it| *it == 0).unwrap();
            let end = 12 + labels + 5;
            let for_v4 = question[end - 4..end] == [0, 1, 0, 1];
            let mut answer = question[..end].to_vec();
            answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(for_v4), 0, 0, 0, 0]);
            if for_v4 {
                let id = [question[0], question[1]];
                let address = match last {
                    // A repeated query has the id of the first.
                    Some((answered, address)) if answered == id => address,
                    _ => {
                        let mut count = count.lock().unwrap();
                        let address = answers[(*count).min(answers.len() - 1)];
                        *count += 1;
                        address
                    }
                };
                last = Some((id, address));
                // Its name is the question's, and its lifetime is 0.
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                answer.extend(address.octets());
            }
            socket.send_to(&answer, from).unwrap();
        }
    });
    (port, queries)
}
