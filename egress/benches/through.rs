//! Measures the cost of the proxy (`cargo bench -p egress --bench through`): the same bytes
//! directly to a server and through the proxy, interleaved in one run. It prints medians and their
//! ratios and asserts nothing. It must only connect to its own server on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot prepare its server must end, and keeps no files"
)]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egress::client::{Egress, EgressSession};
use egress::frame::{EgressHostRule, ServeOrder};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const NAME: &str = "bench.example";
/// The number of rounds, if `ROUNDS` of the environment does not set it.
const ROUNDS: usize = 200;
/// Rounds between two transfers of [`BULK_BYTES`], which take as long as many other rounds.
const ROUNDS_PER_BULK: usize = 20;
const BULK_BYTES: u64 = 128 << 20;
const ROUND_TRIPS: u32 = 50;
const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";

/// One letter from the client to the server, after its ClientHello.
#[derive(Clone, Copy)]
enum BenchCommand {
    /// Bytes from the server.
    Down,
    /// Bytes to the server, and one back.
    Up,
    /// Single bytes in sequence, there and back.
    Echo,
}

impl BenchCommand {
    fn letter(self) -> u8 {
        match self {
            Self::Down => b'd',
            Self::Up => b'u',
            Self::Echo => b'e',
        }
    }
}

/// Serves a page for GET, and commands after a ClientHello.
fn server(hello_bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            // A client that is done closes the connection during this call.
            std::thread::spawn(move || drop(answer(stream, hello_bytes)));
        }
    });
    address
}

fn answer(mut stream: TcpStream, hello_bytes: usize) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut piece = vec![0; 64 * 1024];
    stream.read_exact(&mut piece[..4])?;
    if piece.starts_with(b"GET ") {
        // The head is short enough to arrive as a whole.
        return match stream.read(&mut piece)? {
            0 => Ok(()),
            _ => stream.write_all(PAGE),
        };
    }
    // Read no further: the bytes after the letter belong to the command.
    stream.read_exact(&mut piece[4..hello_bytes])?;
    // The proxy holds back later bytes until the host has accepted the ClientHello.
    stream.write_all(&server_hello())?;
    stream.read_exact(&mut piece[..1])?;
    match piece[0] {
        b'd' => {
            for _ in 0..BULK_BYTES / 65_536 {
                stream.write_all(&piece)?;
            }
            Ok(())
        }
        b'u' => {
            std::io::copy(&mut (&stream).take(BULK_BYTES), &mut std::io::sink())?;
            stream.write_all(b"!")
        }
        _ => loop {
            stream.read_exact(&mut piece[..1])?;
            stream.write_all(&piece[..1])?;
        },
    }
}

/// A minimal ServerHello (RFC 8446, section 4.1.3) that asks for no other ClientHello.
fn server_hello() -> Vec<u8> {
    const RANDOM: [u8; 32] = [7; 32];
    let body = [&[3, 3][..], &RANDOM, &[0, 0x13, 0x01, 0, 0, 0]].concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[0x16, 3, 3, 0, length + 4, 2, 0, 0, length], &body[..]].concat()
}

/// The bytes after this ClientHello are not TLS, and the proxy must not examine them.
fn hello() -> Vec<u8> {
    let config = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
    let name = ServerName::try_from(NAME).unwrap();
    let config = Arc::new(config.with_no_client_auth());
    let mut bytes = Vec::new();
    ClientConnection::new(config, name).unwrap().write_tls(&mut bytes).unwrap();
    bytes
}

#[derive(Clone, Copy)]
enum BenchRoute {
    Straight,
    Through(SocketAddr),
}

struct BenchSetup {
    server: SocketAddr,
    hello: Vec<u8>,
}

impl BenchSetup {
    fn connect(&self, way: BenchRoute) -> TcpStream {
        let to = match way {
            BenchRoute::Straight => self.server,
            BenchRoute::Through(proxy) => proxy,
        };
        let stream = TcpStream::connect(to).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    fn page(&self, way: BenchRoute) -> Duration {
        let begun = Instant::now();
        let mut stream = self.connect(way);
        let port = self.server.port();
        let place = match way {
            BenchRoute::Straight => String::new(),
            BenchRoute::Through(_) => format!("http://{NAME}:{port}"),
        };
        let head = format!("GET {place}/ HTTP/1.1\r\nHost: {NAME}:{port}\r\n");
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        assert!(page.ends_with("hello\n"), "{page}");
        begun.elapsed()
    }

    fn command(&self, way: BenchRoute, command: BenchCommand) -> TcpStream {
        let mut stream = self.connect(way);
        if let BenchRoute::Through(_) = way {
            let authority = format!("{NAME}:{}", self.server.port());
            write!(stream, "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
        }
        stream.write_all(&[&self.hello[..], &[command.letter()]].concat()).unwrap();
        stream.read_exact(&mut server_hello()).unwrap();
        stream
    }

    /// From connecting to the first byte of the answer.
    fn opened(&self, way: BenchRoute) -> Duration {
        let begun = Instant::now();
        echo(&mut self.command(way, BenchCommand::Echo));
        begun.elapsed()
    }

    /// One byte there and back on an open connection.
    fn round_trip(&self, way: BenchRoute) -> Duration {
        let mut stream = self.command(way, BenchCommand::Echo);
        echo(&mut stream);
        let begun = Instant::now();
        (0..ROUND_TRIPS).for_each(|_| echo(&mut stream));
        begun.elapsed() / ROUND_TRIPS
    }

    fn down(&self, way: BenchRoute) -> Duration {
        let begun = Instant::now();
        let mut stream = self.command(way, BenchCommand::Down).take(BULK_BYTES);
        let bytes = std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
        assert_eq!(bytes, BULK_BYTES);
        begun.elapsed()
    }

    fn up(&self, way: BenchRoute) -> Duration {
        let begun = Instant::now();
        let mut stream = self.command(way, BenchCommand::Up);
        let piece = vec![0; 64 * 1024];
        for _ in 0..BULK_BYTES / 65_536 {
            stream.write_all(&piece).unwrap();
        }
        stream.read_exact(&mut [0]).unwrap();
        begun.elapsed()
    }
}

fn echo(stream: &mut TcpStream) {
    stream.write_all(b"?").unwrap();
    stream.read_exact(&mut [0]).unwrap();
}

fn begin(port: u16, names: &Path) -> (EgressSession, SocketAddr) {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let rule = EgressHostRule { name: NAME.to_owned(), ports: vec![port], private: vec![LOOPBACK] };
    let order = ServeOrder {
        hosts: vec![rule],
        bytes_max: u64::MAX,
        connections_max: 32,
        time_ms_max: 3_600_000,
    };
    let program = Path::new(env!("CARGO_BIN_EXE_toolexec-egress"));
    let egress = Egress::spawn(program, &["--hosts-file".into(), names.into()]);
    (egress.serve(order, &listener).unwrap(), listener.local_addr().unwrap())
}

#[derive(Default)]
struct BenchRow {
    straight: Vec<Duration>,
    through: Vec<Duration>,
}

impl BenchRow {
    fn take(&mut self, proxy: SocketAddr, act: impl Fn(BenchRoute) -> Duration) {
        self.straight.push(act(BenchRoute::Straight));
        self.through.push(act(BenchRoute::Through(proxy)));
    }

    fn print(mut self, what: &str, show: impl Fn(Duration) -> String) {
        let at = |all: &mut Vec<Duration>, percent: usize| {
            all.sort_unstable();
            all[(all.len() - 1) * percent / 100]
        };
        let (straight, through) = (at(&mut self.straight, 50), at(&mut self.through, 50));
        println!(
            "| {what} | {} | {} (p90 {}) | {:.2} |",
            show(straight),
            show(through),
            show(at(&mut self.through, 90)),
            through.as_secs_f64() / straight.as_secs_f64()
        );
    }
}

fn micros(took: Duration) -> String {
    format!("{} µs", took.as_micros())
}

fn speed(took: Duration) -> String {
    format!("{} MiB/s", u128::from(BULK_BYTES >> 20) * 1_000_000 / took.as_micros().max(1))
}

fn main() {
    let hello = hello();
    let stand = BenchSetup { server: server(hello.len()), hello };
    let names = std::env::temp_dir().join(format!("toolexec-egress-bench-{}", std::process::id()));
    std::fs::write(&names, format!("127.0.0.1 {NAME}\n")).unwrap();
    let (session, proxy) = begin(stand.server.port(), &names);
    let [mut page, mut opened, mut trip, mut down, mut up] = [(); 5].map(|()| BenchRow::default());
    let mut begun = Vec::new();
    let rounds = std::env::var("ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(ROUNDS);
    for round in 0..rounds {
        page.take(proxy, |way| stand.page(way));
        opened.take(proxy, |way| stand.opened(way));
        trip.take(proxy, |way| stand.round_trip(way));
        if round % ROUNDS_PER_BULK == 0 {
            down.take(proxy, |way| stand.down(way));
            up.take(proxy, |way| stand.up(way));
            let from = Instant::now();
            drop(begin(stand.server.port(), &names).0.close().unwrap());
            begun.push(from.elapsed());
        }
    }
    let report = session.close().unwrap();
    std::fs::remove_file(&names).unwrap();
    assert!(report.refusals.is_empty(), "{report:?}");
    println!("{rounds} rounds, medians; {} MiB per move", BULK_BYTES >> 20);
    println!("| | straight | through the proxy | ratio |\n|---|---|---|---|");
    page.print("a page by plain HTTP, connection and all", micros);
    opened.print("a tunnel, from nothing to the first byte back", micros);
    trip.print("one byte there and back in an open tunnel", micros);
    down.print("bytes from the host", speed);
    up.print("bytes to the host", speed);
    begun.sort_unstable();
    println!(
        "a run's proxy, from the start of its process to its report: {:?}",
        begun[begun.len() / 2]
    );
}
