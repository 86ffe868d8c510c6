//! Kernel memory queued in a sandbox's sockets, as the kernel reports it (sock_diag(7)). Without a
//! control group nothing else counts it. The answer includes every socket of a network namespace
//! that has a descriptor anywhere, even one in flight. A kernel without the modules `unix_diag` and
//! `tcp_diag` only lists sockets, in `/proc`. A Unix socket that is connected or of datagrams then counts as
//! full, one of TCP by twice its listed queues.

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;

use rustix::net::sockopt::socket_send_buffer_size;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use super::procfs;

/// The cost of an empty socket: `struct unix_sock` with its file and inode.
const SOCKET_BYTES: u64 = 2048;
/// The most that one queued byte costs: the kernel's record of it and a block to hold it.
const BYTE_ALONE_BYTES: u64 = 1024;
/// Answers come in parts of up to 32 KiB.
const PART_BYTES: usize = 64 * 1024;

// linux/netlink.h, linux/sock_diag.h, linux/unix_diag.h, linux/inet_diag.h.
const HEADER_BYTES: usize = 16;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x1 | 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const SHOW_PEER_QUEUE_MEMORY: u32 = 0x4 | 0x10 | 0x20;
const UNIX_MESSAGE_BYTES: usize = 16;
const UNIX_PEER: u16 = 2;
const UNIX_QUEUE: u16 = 4;
const UNIX_MEMORY: u16 = 5;
const UNIX_DATAGRAMS: u8 = 2;
const UNIX_LISTENS: u8 = 10;
/// The most datagrams in one socket: `net.unix.max_dgram_qlen` of a new network, plus one.
const DATAGRAMS_MAX: u64 = 11;
const INET_MESSAGE_BYTES: usize = 72;
const INET_MEMORY: u16 = 7;
const INET_SHOW_MEMORY: u8 = 1 << (INET_MEMORY - 1);
const TCP: u8 = 6;
/// The state of a TCP socket that waits for its connection, in `/proc`. The kernel has not set both
/// ends of its queue yet, and may report any length. Only the first segment can be queued.
const TCP_CONNECTS: &str = "02";
const SEGMENT_BYTES_MAX: u64 = 64 * 1024;
/// Indexes of a socket's memory values: `SK_MEMINFO_*`.
const RECEIVED: usize = 0;
const SENT: usize = 2;
const SEND_MAX: usize = 3;
const FORWARD: usize = 4;
const QUEUED: usize = 5;

/// Opens a socket that reports on the sockets of the current network namespace.
pub(super) fn open_diag() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    Ok(socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?)
}

/// The socket kinds that can hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketKinds {
    /// No interface is up, so that TCP reaches nothing.
    Unix,
    UnixAndTcp,
}

/// The source of the queued amount.
pub(super) enum Sockets {
    Diag(DiagSockets),
    /// The most that a connected Unix socket can hold, where sockets are only listed.
    Listed(u64),
}

impl Sockets {
    pub(super) fn new(diag: OwnedFd, kinds: SocketKinds) -> io::Result<Self> {
        let mut sockets = DiagSockets { diag, kinds, part: vec![0; PART_BYTES] };
        if sockets.memory_bytes().is_ok() {
            return Ok(Self::Diag(sockets));
        }
        Ok(Self::Listed(2 * send_max_bytes()?))
    }

    /// Returns the queued memory; `proc_dir` is the sandbox's `/proc`.
    pub(super) fn memory_bytes(&mut self, proc_dir: &OwnedFd) -> io::Result<u64> {
        match self {
            Self::Diag(sockets) => sockets.memory_bytes(),
            Self::Listed(full_bytes) => {
                let list = |name| procfs::sockets(proc_dir, name);
                let tcp = tcp_listed(&list("tcp")?) + tcp_listed(&list("tcp6")?);
                Ok(unix_listed(&list("unix")?, *full_bytes) + tcp)
            }
        }
    }
}

/// Returns the limit of what a new socket sends, `net.core.wmem_default`. In Linux 6.1 that file
/// exists in the first network namespace only, but every socket has the value.
fn send_max_bytes() -> io::Result<u64> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    u64::try_from(socket_send_buffer_size(&socket)?).map_err(io::Error::other)
}

pub(super) struct DiagSockets {
    diag: OwnedFd,
    kinds: SocketKinds,
    part: Vec<u8>,
}

impl DiagSockets {
    fn memory_bytes(&mut self) -> io::Result<u64> {
        let mut unix = UnixSockets::default();
        self.dump(&unix_request(), |message| unix.add(message))?;
        let mut bytes = unix.memory_bytes();
        if self.kinds == SocketKinds::UnixAndTcp {
            for family in [AddressFamily::INET, AddressFamily::INET6] {
                self.dump(&tcp_request(family), |message| bytes += tcp_bytes(message))?;
            }
        }
        Ok(bytes)
    }

    /// Sends a request and passes on each message of the answer.
    fn dump(&mut self, question: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        send(&self.diag, question, SendFlags::empty())?;
        loop {
            let (len, whole) = recv(&self.diag, &mut self.part[..], RecvFlags::TRUNC)?;
            if whole > len || len < HEADER_BYTES {
                return Err(io::Error::other("sock_diag: incomplete answer"));
            }
            for (kind, message) in messages(&self.part[..len]) {
                match kind {
                    DONE => return Ok(()),
                    ERROR => {
                        let errno = number(message, 0).unwrap_or(0).cast_signed();
                        return Err(io::Error::from_raw_os_error(errno.saturating_neg()));
                    }
                    _ => each(message),
                }
            }
        }
    }
}

/// The Unix sockets of one answer.
#[derive(Default)]
struct UnixSockets {
    inodes: HashSet<u32>,
    sent_bytes: u64,
    /// Sockets with queued data: the peer's inode, the amount, and the most that it can cost.
    waiting: Vec<(u32, u64, u64)>,
}

impl UnixSockets {
    fn add(&mut self, message: &[u8]) {
        let Some((fixed, attributes)) = message.split_at_checked(UNIX_MESSAGE_BYTES) else {
            return;
        };
        self.inodes.extend(number(fixed, 1));
        let (mut peer, mut waits, mut most) = (0, 0, 0);
        for (kind, value) in attributes_of(attributes) {
            match kind {
                UNIX_PEER => peer = number(value, 0).unwrap_or(0),
                UNIX_QUEUE => waits = count(value, 0),
                UNIX_MEMORY => {
                    self.sent_bytes += SOCKET_BYTES + count(value, SENT);
                    most = 2 * count(value, SEND_MAX);
                }
                _ => {}
            }
        }
        if fixed[2] == UNIX_LISTENS {
            // `waits` connections are queued, each possibly full; the answer lists none of them.
            self.sent_bytes += waits * (SOCKET_BYTES + most);
        } else if waits > 0 && fixed[1] == UNIX_DATAGRAMS {
            // Only the first datagram is reported, and each may have a sender that has closed.
            self.sent_bytes += DATAGRAMS_MAX * most;
        } else if waits > 0 {
            self.waiting.push((peer, waits, most));
        }
    }

    /// Returns the memory. Queued data is charged to its sender; a closed one is not in the answer.
    fn memory_bytes(&self) -> u64 {
        let orphaned = self.waiting.iter().filter(|(peer, ..)| !self.inodes.contains(peer));
        let of_orphaned = orphaned.map(|(_, waits, most)| (waits * BYTE_ALONE_BYTES).min(*most));
        self.sent_bytes + of_orphaned.sum::<u64>()
    }
}

fn tcp_bytes(message: &[u8]) -> u64 {
    let attributes = message.get(INET_MESSAGE_BYTES..).unwrap_or_default();
    let memory = attributes_of(attributes).find(|(kind, _)| *kind == INET_MEMORY);
    let memory = memory.map_or(&[][..], |(_, value)| value);
    let parts = [RECEIVED, FORWARD, QUEUED].map(|part| count(memory, part));
    SOCKET_BYTES + parts.iter().sum::<u64>()
}

/// proc_net_unix(5): the fifth field is the type, the sixth the state; 01 means not connected.
fn unix_listed(list: &str, full_bytes: u64) -> u64 {
    let bytes = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(4);
        SOCKET_BYTES
            + match (words.next(), words.next()) {
                (Some("0002"), _) => DATAGRAMS_MAX * full_bytes,
                (_, Some("01")) => 0,
                _ => full_bytes,
            }
    };
    list.lines().skip(1).map(bytes).sum()
}

/// proc_net_tcp(5): the fourth field is the state, the fifth the bytes to send and to read, in hex.
/// Blocks can be half empty.
fn tcp_listed(list: &str) -> u64 {
    let bytes = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(3);
        let most = if words.next()? == TCP_CONNECTS { SEGMENT_BYTES_MAX } else { u64::MAX };
        let queued = words.next()?.split(':').map(|it| u32::from_str_radix(it, 16).unwrap_or(0));
        // The kernel takes no lock, so that a difference of its numbers can be negative.
        let queued = queued.filter(|it| it.cast_signed() >= 0).map(u64::from);
        Some(queued.sum::<u64>().min(most))
    };
    list.lines().skip(1).map(|line| SOCKET_BYTES + 2 * bytes(line).unwrap_or(0)).sum()
}

fn unix_request() -> Vec<u8> {
    let mut body = vec![family(AddressFamily::UNIX), 0, 0, 0];
    // Every state, and no particular socket.
    for word in [u32::MAX, 0, SHOW_PEER_QUEUE_MEMORY, 0, 0] {
        body.extend(word.to_ne_bytes());
    }
    request(&body)
}

fn tcp_request(address_family: AddressFamily) -> Vec<u8> {
    let mut body = vec![family(address_family), TCP, INET_SHOW_MEMORY, 0];
    body.extend(u32::MAX.to_ne_bytes());
    // `struct inet_diag_sockid`: no particular socket.
    body.extend([0; 48]);
    request(&body)
}

fn family(family: AddressFamily) -> u8 {
    u8::try_from(family.as_raw()).unwrap_or(0)
}

fn request(body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(HEADER_BYTES + body.len()).unwrap_or(0);
    let mut bytes = len.to_ne_bytes().to_vec();
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    // Neither numbered nor from a chosen port.
    bytes.extend([0; 8]);
    bytes.extend(body);
    bytes
}

/// Returns the kind and content of each message.
fn messages(part: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    pieces(part, HEADER_BYTES, |head| {
        let len = usize::try_from(number(head, 0)?).ok()?;
        Some((len, short(head, 2)?))
    })
}

/// Returns the kind and value of each attribute.
fn attributes_of(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    pieces(bytes, 4, |head| Some((short(head, 0)?.into(), short(head, 1)?)))
}

/// Splits into pieces at multiples of four bytes, with the length in the head; ends at a misfit.
fn pieces(
    mut bytes: &[u8],
    head_bytes: usize,
    head: impl Fn(&[u8]) -> Option<(usize, u16)>,
) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (len, kind) = head(bytes.get(..head_bytes)?)?;
        let content = bytes.get(head_bytes..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, content))
    })
}

/// Returns the 32-bit number at this index.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.as_chunks::<4>().0.get(at).map(|it| u32::from_ne_bytes(*it))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.as_chunks::<2>().0.get(at).map(|it| u16::from_ne_bytes(*it))
}

fn count(bytes: &[u8], at: usize) -> u64 {
    number(bytes, at).unwrap_or(0).into()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use nix::sched::{CloneFlags, unshare};

    use super::*;

    fn attribute(kind: u16, words: &[u32]) -> Vec<u8> {
        let len = u16::try_from(4 + 4 * words.len()).unwrap();
        let mut bytes = [len.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    fn datagrams(waits: u32) -> Vec<u8> {
        let mut message = unix(7, 8, 0, waits, 0);
        message[1] = UNIX_DATAGRAMS;
        message
    }

    fn unix(state: u8, inode: u32, peer: u32, waits: u32, sent: u32) -> Vec<u8> {
        let mut message = vec![1, 1, state, 0];
        message.extend(inode.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(attribute(UNIX_PEER, &[peer]));
        message.extend(attribute(UNIX_QUEUE, &[waits, sent]));
        message.extend(attribute(UNIX_MEMORY, &[0, 9, sent, 100_000, 0, 0, 0, 0, 0]));
        message
    }

    fn bytes_of(answers: &[Vec<u8>]) -> u64 {
        let mut sockets = UnixSockets::default();
        answers.iter().for_each(|answer| sockets.add(answer));
        sockets.memory_bytes() - answers.len() as u64 * SOCKET_BYTES
    }

    #[test]
    fn queued_data_is_counted_once() {
        let (sender, receiver) = (unix(1, 7, 8, 0, 5000), unix(1, 8, 7, 4000, 0));
        assert_eq!(bytes_of(&[sender, receiver.clone()]), 5000);
        // The sender has closed: the most that so many bytes can cost, up to its send limit.
        assert_eq!(bytes_of(std::slice::from_ref(&receiver)), 200_000);
        assert_eq!(bytes_of(&[unix(1, 8, 7, 3, 0)]), 3 * 1024);
        assert_eq!(bytes_of(&[datagrams(0)]), 0);
        assert_eq!(bytes_of(&[datagrams(1)]), DATAGRAMS_MAX * 200_000);
        assert_eq!(bytes_of(&[unix(UNIX_LISTENS, 8, 0, 3, 0)]), 3 * (SOCKET_BYTES + 200_000));
    }

    #[test]
    fn a_truncated_answer_ends_early() {
        let whole = unix(1, 8, 7, 3, 77);
        for len in 0..whole.len() {
            let mut sockets = UnixSockets::default();
            sockets.add(&whole[..len]);
            assert!(sockets.memory_bytes() <= SOCKET_BYTES + 77 + 3 * 1024, "{len}");
        }
        assert_eq!(messages(&[1, 0, 0, 0]).count(), 0);
        assert_eq!(attributes_of(&[0; 8]).count(), 0);
    }

    #[test]
    fn the_kernel_reports_queued_data() {
        let reports = || {
            // The sockets of other tests do not count in another network namespace, which an
            // ordinary user cannot create.
            unshare(CloneFlags::CLONE_NEWNET).unwrap_or_default();
            assert_queued_data_is_reported();
        };
        std::thread::spawn(reports).join().unwrap();
    }

    fn assert_queued_data_is_reported() {
        let mut sockets = DiagSockets {
            diag: open_diag().unwrap(),
            kinds: SocketKinds::UnixAndTcp,
            part: vec![],
        };
        sockets.part.resize(PART_BYTES, 0);
        let before = match sockets.memory_bytes() {
            Ok(bytes) => bytes,
            Err(error) => return println!("skipped: this kernel has no unix_diag: {error}"),
        };
        let (mut end, _other) = UnixStream::pair().unwrap();
        end.write_all(&[0; 100_000]).unwrap();
        let grown = sockets.memory_bytes().unwrap().saturating_sub(before);
        assert!(grown >= 100_000, "{grown}");
    }

    #[test]
    fn a_new_socket_has_the_send_limit_of_the_host() {
        let file = std::fs::read_to_string("/proc/sys/net/core/wmem_default").unwrap();
        assert_eq!(send_max_bytes().unwrap().to_string(), file.trim());
    }

    #[test]
    fn a_listed_socket_counts_as_full() {
        let unix = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 35 \n\
            0000000000000000: 00000002 00000000 00010000 0001 01 36 /tmp/s\n";
        assert_eq!(unix_listed(unix, 1000), 2 * SOCKET_BYTES + 1000);
        let tcp = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n   \
            0: 0100007F:0C38 00000000:0000 0A 00000010:00000100 00:00000000 00000000 0 0 1\n";
        assert_eq!(tcp_listed(tcp), SOCKET_BYTES + 2 * 0x110);
        assert_eq!(unix_listed("", 1000) + tcp_listed("\n"), 0);
    }

    #[test]
    fn a_number_that_the_kernel_has_not_set_yet_does_not_count() {
        let line = |state: &str, queues: &str| {
            format!("sl\n 0: 0100007F:1 0100007F:2 {state} {queues} 0\n")
        };
        let bytes = |state: &str, queues: &str| tcp_listed(&line(state, queues)) - SOCKET_BYTES;
        // As Linux 6.18 reported it for a socket that connects.
        assert_eq!(bytes("02", "149BD8A1:00000000"), 2 * SEGMENT_BYTES_MAX);
        assert_eq!(bytes("02", "0000000B:00000000"), 2 * 11);
        assert_eq!(bytes("01", "FFFFFFF5:00000010"), 2 * 16);
        assert_eq!(bytes("01", "00200000:00000000"), 2 * 0x0020_0000);
    }
}
