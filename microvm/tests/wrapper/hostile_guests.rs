//! Each way in which a guest can attack its wrapper has an outcome and a message of its own, and
//! reaches nothing but `/out`. Modes that need a real QEMU are tests of the whole product.

use std::fs;
use std::path::Path;

use model::RejectReason;
use toolexec_microvm::GuestMessage;

use crate::scene::{WrapperEnd, WrapperScene};
use crate::tar_bytes::{BLOCK, changed, disk, entry, header, put};

/// The raw disk of the scene: 64 KiB of files, 8 headers with their padding, and the end.
const DISK_BYTES: usize = 83_968;
const FLOOD_BYTES: usize = 100_000_000;
/// The wrapper's own memory beside any flood, in KiB, also without optimisation.
const WRAPPER_KIB_MAX: u64 = 32 * 1024;
/// The space for a report in `/out` of the sandbox.
const REPORT_BYTES_MAX: usize = 2 << 20;

/// One attack, and its expected end.
struct HostileMode {
    name: &'static str,
    /// The commands of the guest.
    body: &'static str,
    /// The raw disk, written by the command `archive bad.tar`.
    disk: Vec<u8>,
    outcome: &'static str,
    message: &'static str,
}

/// A size of 0.
const ZERO: &[u8] = b"00000000000";
/// The guest reports one entry.
const ARCHIVES: &str = "send started\narchive bad.tar\nsend ended\nsend written\nexec sleep 60\n";

fn archive(name: &'static str, disk: Vec<u8>, message: &'static str) -> HostileMode {
    HostileMode { name, body: ARCHIVES, disk, outcome: "bad-archive", message }
}

fn messages(name: &'static str, body: &'static str, message: &'static str) -> HostileMode {
    HostileMode { name, body, disk: disk(&[]), outcome: "bad-status", message }
}

fn file(name: &[u8]) -> Vec<u8> {
    entry(name, b'0', b"evil")
}

/// Archives with names that lead elsewhere, and with other objects than files.
fn names_and_kinds() -> Vec<HostileMode> {
    let kind = |kind| disk(&[entry(b"a", kind, b"")]);
    let linked = changed(b"a", b'2', ZERO, |block| put(block, 157, b"/etc/passwd"));
    vec![
        archive("absolute name", disk(&[file(b"/tmp/toolexec-microvm-evil")]), "absolute-name"),
        archive("name with ..", disk(&[file(b"../evil")]), "\"../evil\": dot-part"),
        archive("name that is not UTF-8", disk(&[file(b"a\xff")]), "name-not-utf8"),
        archive("same name twice", disk(&[file(b"a"), file(b"a")]), "duplicate"),
        archive("file below a file", disk(&[file(b"a"), file(b"a/b")]), "no-parent"),
        archive("hard link", kind(b'1'), "link"),
        archive("symbolic link", disk(&[linked]), "link"),
        archive("character device", kind(b'3'), "device"),
        archive("block device", kind(b'4'), "device"),
        archive("named pipe", kind(b'6'), "device"),
    ]
}

/// Archives with false numbers.
fn sizes_and_counts() -> Vec<HostileMode> {
    let sized = |kind, size: &[u8]| disk(&[header(b"a", kind, size)]);
    let base_256 = sized(b'0', b"\x80\0\0\0\0\0\0\0\0\0\x10\0");
    // As many headers as the disk has blocks, without an end.
    let headers = (0..DISK_BYTES / BLOCK).map(|it| header(format!("{it}").as_bytes(), b'5', ZERO));
    let headers: Vec<_> = headers.collect();
    let large = entry(b"a", b'0', &[7; 16 * 4096 + 1]);
    let no_end = [file(b"a"), vec![0xaa; BLOCK]].concat();
    let half_end = [file(b"a"), vec![0; BLOCK], file(b"b")].concat();
    vec![
        archive("sparse header of GNU", sized(b'S', b"00000000001"), "sparse"),
        archive("size beyond the disk", sized(b'0', b"77777777777"), "beyond-disk"),
        archive("size in base 256", base_256, "number"),
        archive("more bytes than allowed", disk(&[large]), "too-large"),
        archive("as many entries as fit", headers.concat(), "\"8\": too-many"),
        archive("no end mark", no_end, "checksum"),
        archive("half an end mark", half_end, "after \"a\": lone-zero-block"),
        archive("no entry, but one reported", disk(&[]), "it has entries: 0; the guest reported 1"),
        HostileMode {
            body: "send started\n: >\"$disk\"\nsend ended\nsend written\nexec sleep 60\n",
            ..archive("disk cut to nothing", Vec::new(), "the beginning: truncated")
        },
    ]
}

/// Bytes that are not messages, or not the next one.
fn ports() -> Vec<HostileMode> {
    let long = "printf 'TXS2\\1\\0\\0\\0\\377\\377\\377\\377' >&$ctl\nexec sleep 60\n";
    let unknown = "printf 'TXS2\\11\\0\\0\\0\\0\\0\\0\\0' >&$ctl\nexec sleep 60\n";
    let twice = "send started\nsend ended\nsend ended\nexec sleep 60\n";
    let many = "send started\nsend ended\nexec cat $here/many >&$ctl\n";
    vec![
        messages("nonsense", "printf 'a shell of your host' >&$ctl\nexec sleep 60\n", "magic"),
        messages("huge length", long, "length"),
        messages("unknown kind", unknown, "content"),
        messages("exit code twice", twice, "order"),
        messages("end before the start", "send ended\nexec sleep 60\n", "order"),
        messages("100 000 messages", many, "count"),
        messages("cut message", "send started\nprintf 'TXS2\\2' >&$ctl\nexit\n", "incomplete"),
    ]
}

/// Guests that end, or never do.
fn ends() -> Vec<HostileMode> {
    let other = |name, body, outcome, message| HostileMode {
        name,
        body,
        disk: disk(&[]),
        outcome,
        message,
    };
    let early = "QEMU exited before the tool started";
    let late = "send started\nsend ended\nexit\n";
    vec![
        other("no message", "exec sleep 60\n", "no-boot", "no start message within 2 s"),
        other("off before the start", "exit\n", "qemu-exited", early),
        other("off after the start", "send started\nexit\n", "qemu-exited", "while the tool ran"),
        other("off before the archive", late, "qemu-exited", "while the guest archived /out"),
        other("halted for ever", "send started\nexec sleep 60\n", "time-limit", "within 2000 ms"),
    ]
}

fn modes() -> Vec<HostileMode> {
    [names_and_kinds(), sizes_and_counts(), ports(), ends()].into_iter().flatten().collect()
}

/// A scene with the messages of the file `many`.
fn scene(name: &str) -> WrapperScene {
    let scene = WrapperScene::new(name);
    let (reason, name) = (RejectReason::Fifo, "x".to_owned());
    let left = GuestMessage::LeftOut { reason, name }.encode();
    scene.write("many", &left.repeat(100_000));
    scene
}

fn run(at: usize, mode: &HostileMode) -> WrapperEnd {
    let scene = scene(&format!("mode-{at}"));
    assert!(mode.disk.len() <= DISK_BYTES, "{}: a guest cannot write so much", mode.name);
    scene.write("bad.tar", &mode.disk);
    let before = scene.names();
    // Only the modes that wait for a limit have a short one: a busy host is slow.
    let limits: &[&str] = match mode.outcome {
        "no-boot" => &["--boot-sec", "2"],
        "time-limit" => &["--time-ms", "2000"],
        _ => &[],
    };
    let end = scene.run_with(mode.body, limits);
    assert_eq!(scene.out(), Vec::<String>::new(), "{}", mode.name);
    let made = scene.names().into_iter().filter(|it| !before.contains(it));
    let made: Vec<_> = made.collect();
    // The test's commands, and the files of the wrapper.
    assert_eq!(made, ["body", "in.erofs", "out.raw", "report"], "{}", mode.name);
    assert!(!Path::new("/tmp/toolexec-microvm-evil").exists(), "{}", mode.name);
    end
}

#[test]
fn each_hostile_mode_has_its_outcome() {
    println!("{:<28} {:<12} message (all against a fake QEMU)", "mode", "outcome");
    let mut wrong = Vec::new();
    for (at, mode) in modes().iter().enumerate() {
        let end = run(at, mode);
        let outcome = end.report["outcome"].as_str().unwrap_or("no report");
        println!("{:<28} {outcome:<12} {}", mode.name, end.reason());
        if outcome != mode.outcome || !end.reason().contains(mode.message) {
            let wanted = format!("{}: {}", mode.outcome, mode.message);
            wrong.push(format!("{}: {outcome}: {}, not {wanted}", mode.name, end.reason()));
        }
        assert!(end.report["console"].is_string(), "{}: no console", mode.name);
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn messages_after_the_last_are_not_read() {
    let scene = scene("after");
    let body = "send started\narchive good.tar\nsend ended\nsend written\nsend ended\n";
    let end = scene.run(&format!("{body}exec cat $here/many >&$ctl\n"));
    end.assert(5, "ended");
    assert_eq!(end.report["entries"], 1);
    assert_eq!(scene.out(), ["result"]);
}

/// The report of the backend is in `/out` before the guest starts.
#[test]
fn no_archive_replaces_the_report() {
    let scene = scene("reserved");
    scene.write("out/microvm.json", b"");
    scene.write("bad.tar", &disk(&[file(b"microvm.json")]));
    let end = scene.run(ARCHIVES);
    end.assert(122, "bad-archive");
    let reason = end.reason();
    assert!(reason.ends_with("\"microvm.json\": the name is reserved"), "{reason}");
    assert_eq!(fs::read(scene.path("out/microvm.json")).unwrap(), b"");
}

/// The memory of the wrapper is that of one buffer for each port, and of the console's end.
#[test]
fn floods_cost_no_memory() {
    let scene = scene("flood");
    let flood = |port| format!("head -c {FLOOD_BYTES} /dev/zero >&${port}\n");
    let (out, console) = (flood("out"), flood("console"));
    let memory = "grep VmHWM /proc/$PPID/status >$here/memory\n";
    let body = format!("send started\n{out}{console}{memory}exit\n");
    let end = scene.run_with(&body, &["--time-ms", "120000"]);
    end.assert(121, "qemu-exited");
    assert_eq!(end.stdout.len(), FLOOD_BYTES);
    let console = end.report["console"].as_str().unwrap();
    assert_eq!(console.len(), 64 * 1024);
    let memory = fs::read_to_string(scene.path("memory")).unwrap();
    let kib: u64 = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < WRAPPER_KIB_MAX, "{memory}");
}

/// Every text of a guest that JSON writes with more bytes, as long as it may be.
#[test]
fn the_longest_report_has_its_space() {
    let scene = scene("longest");
    let (reason, name) = (RejectReason::Fifo, "\"".repeat(512));
    let left = GuestMessage::LeftOut { reason, name }.encode();
    scene.write("named", &left.repeat(1000));
    let zeros = "head -c 100000 /dev/zero >&$console\nhead -c 100000 /dev/zero >&2\n";
    let end = scene.run(&format!("{zeros}send started\nsend ended\nsend named\nsend ended\n"));
    end.assert(123, "bad-status");
    assert_eq!(end.report["left_out"].as_array().unwrap().len(), 1000);
    let bytes = fs::read(scene.path("report")).unwrap().len();
    assert!(bytes > REPORT_BYTES_MAX / 2 && bytes < REPORT_BYTES_MAX, "{bytes} bytes");
}
