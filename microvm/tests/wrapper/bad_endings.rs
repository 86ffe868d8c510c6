//! Runs with a broken machine, a slow guest or a hostile guest: each has its own outcome, and
//! leaves nothing in `/out`.

use model::RejectReason;
use toolexec_microvm::{GuestMessage, GuestToolEnd, GuestToolUsage};

use crate::scene::{WrapperEnd, WrapperScene};

/// Runs a guest that must not reach `/out`.
fn fails(name: &str, body: &str, replaced: &[&str], status: i32, outcome: &str) -> WrapperEnd {
    let scene = WrapperScene::new(name);
    let end = scene.run_with(body, replaced);
    end.assert(status, outcome);
    assert_eq!(scene.out(), Vec::<String>::new());
    let last = format!("toolexec-microvm: {outcome}: {}\n", end.reason());
    assert!(end.stderr.ends_with(&last), "{}", end.stderr);
    end
}

#[test]
fn a_guest_without_a_start_message_has_not_booted() {
    let body = "echo 'tsc: could not calculate TSC khz' >&$console\nexec sleep 60\n";
    let end = fails("boot", body, &["--boot-sec", "5"], 125, "no-boot");
    assert_eq!(end.report["console"], "tsc: could not calculate TSC khz\n");
    assert!(end.reason().contains("within 5 s; help: "), "{}", end.reason());
}

#[test]
fn an_init_that_fails_before_the_start_has_not_booted() {
    let scene = WrapperScene::new("failed");
    scene.message("failed", &GuestMessage::Failed { why: "mount /out: \x1b".to_owned() });
    let end = scene.run("send failed\nexec sleep 60\n");
    end.assert(125, "no-boot");
    assert_eq!(end.reason(), "the guest reports: mount /out: ?");
    let late = WrapperScene::new("failed-late");
    late.message("failed", &GuestMessage::Failed { why: "disk out".to_owned() });
    late.run("send started\nsend failed\nexec sleep 60\n").assert(119, "guest-failed");
}

#[test]
fn a_tool_beyond_its_time_is_killed() {
    let body = "send started\narchive good.tar\nexec sleep 60\n";
    let end = fails("time", body, &["--time-ms", "300"], 124, "time-limit");
    assert!(end.report["tool_ms"].as_u64().unwrap() >= 300, "{}", end.report);
    assert!(end.report["exit_code"].is_null());
}

#[test]
fn a_machine_that_exits_says_why() {
    let body = "echo 'qemu: could not access KVM' >&2\nexit 1\n";
    let end = fails("exits", body, &[], 121, "qemu-exited");
    assert!(end.reason().starts_with("QEMU exited before the tool started"), "{}", end.reason());
    assert!(end.reason().ends_with("qemu: could not access KVM"), "{}", end.reason());
    assert_eq!(end.report["qemu_messages"], "qemu: could not access KVM\n");
    let end = fails("exits-late", "send started\nexit 0\n", &[], 121, "qemu-exited");
    assert!(end.reason().starts_with("QEMU exited while the tool ran"), "{}", end.reason());
    let body = "send started\nsend ended\narchive good.tar\n";
    let end = fails("exits-last", body, &[], 121, "qemu-exited");
    assert_eq!(end.report["exit_code"], 5, "the guest had reported it");
}

#[test]
fn a_panic_of_the_guest_is_named() {
    let panic = "[ 1.0] Kernel panic - not syncing: no \\033init\\r\\n[ 1.1] Offset: none\\r\\n";
    let body = format!("printf '{panic}' >&$console\n");
    let end = fails("panic", &body, &[], 121, "qemu-exited");
    let named = "; the console has: Kernel panic - not syncing: no \\u{1b}init";
    assert!(end.reason().ends_with(named), "{}", end.reason());
}

#[test]
fn nonsense_on_the_port_is_refused() {
    for (name, body, fault) in [
        ("garbage", "printf garbage >&$ctl", "magic"),
        ("long", "printf 'TXS2\\1\\0\\0\\0\\377\\377\\377\\377' >&$ctl", "length"),
        ("kind", "printf 'TXS2\\11\\0\\0\\0\\0\\0\\0\\0' >&$ctl", "content"),
        ("order", "send ended", "order"),
        ("again", "send started\nsend started", "order"),
        ("early", "send started\nsend written", "order"),
        ("cut", "printf 'TXS2\\1' >&$ctl\nexit", "incomplete"),
    ] {
        let body = format!("archive good.tar\n{body}\nexec sleep 60\n");
        let end = fails(name, &body, &[], 123, "bad-status");
        assert!(end.reason().contains(fault), "{name}: {}", end.reason());
    }
}

#[test]
fn endless_messages_are_refused() {
    let scene = WrapperScene::new("endless");
    let (reason, name) = (RejectReason::Fifo, "x".to_owned());
    scene.message("left", &GuestMessage::LeftOut { reason, name });
    let end = scene.run("send started\nsend ended\nwhile send left; do :; done\n");
    end.assert(123, "bad-status");
    assert!(end.reason().contains("count"), "{}", end.reason());
}

#[test]
fn output_that_is_missing_is_a_failure_of_the_guest() {
    let scene = WrapperScene::new("missing-output");
    let usage = GuestToolUsage { output_bytes: 10, ..GuestToolUsage::default() };
    scene.message("ended", &GuestMessage::Ended(GuestToolEnd::Exited(5), usage));
    let end = scene
        .run("send started\nprintf hello >&$out\narchive good.tar\nsend ended\nsend written\n");
    end.assert(119, "guest-failed");
    assert_eq!(end.reason(), "the guest wrote 10 bytes of output; 5 arrived");
    assert_eq!((end.stdout.as_str(), scene.out()), ("hello", Vec::new()));
}

#[test]
fn a_hostile_archive_is_refused_whole() {
    let scene = WrapperScene::new("archive");
    let mut bytes = std::fs::read(scene.path("good.tar")).unwrap();
    // After the good entry of two blocks, a header that is none.
    bytes[1024..1536].fill(0xaa);
    scene.write("bad.tar", &bytes);
    let end = scene.run("send started\narchive bad.tar\nsend ended\nsend written\n");
    end.assert(122, "bad-archive");
    assert!(end.reason().contains("checksum"), "{}", end.reason());
    assert!(end.report["console"].is_string(), "{}", end.report);
    assert!(end.report["qemu_messages"].is_string(), "{}", end.report);
    assert_eq!(scene.out(), Vec::<String>::new());
    assert_eq!(end.report["exit_code"], 5, "the guest had reported it");
}

#[test]
fn an_archive_with_other_entries_than_reported_is_refused() {
    let scene = WrapperScene::new("entries");
    scene.message("written", &GuestMessage::Written { entries: 2, left_out: 0 });
    let end = scene.run("send started\narchive good.tar\nsend ended\nsend written\n");
    end.assert(122, "bad-archive");
    assert!(end.reason().ends_with("it has entries: 1; the guest reported 2"), "{}", end.reason());
    assert_eq!(scene.out(), Vec::<String>::new());
}

#[test]
fn a_file_that_exists_in_out_is_not_replaced() {
    let scene = WrapperScene::new("exists");
    scene.write("out/result", b"mine");
    let end = scene.run("send started\narchive good.tar\nsend ended\nsend written\n");
    end.assert(122, "bad-archive");
    assert!(end.reason().ends_with("\"result\": the name is reserved"), "{}", end.reason());
    assert!(end.report["console"].is_string(), "{}", end.report);
    assert_eq!(std::fs::read(scene.path("out/result")).unwrap(), b"mine");
}

#[test]
fn missing_files_and_programs_are_named() {
    let scene = WrapperScene::new("missing");
    std::fs::remove_file(scene.path("files/initrd")).unwrap();
    let end = scene.run("");
    end.assert(120, "wrapper-failed");
    assert!(end.reason().contains("files/initrd: no such file; help: "), "{}", end.reason());
    for option in ["--qemu", "--mkfs"] {
        let end = fails("program", "", &[option, "/nowhere/x"], 120, "wrapper-failed");
        assert!(end.reason().contains("/nowhere/x: "), "{}", end.reason());
    }
    let end = fails("mkfs", "", &["--mkfs", "/bin/false"], 120, "wrapper-failed");
    assert!(end.reason().contains("image of /in: "), "{}", end.reason());
}

#[test]
fn a_report_that_exists_is_not_replaced() {
    let scene = WrapperScene::new("report");
    scene.write("report", b"{}");
    let end = scene.run("send started\n");
    assert_eq!(end.status, Some(120));
    assert!(end.stderr.contains("report: File exists"), "{}", end.stderr);
}
