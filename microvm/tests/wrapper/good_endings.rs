//! Runs in which the guest reports everything.

use std::fs;

use model::RejectReason;
use toolexec_microvm::{GuestMessage, GuestToolEnd, GuestToolUsage, TarWriter};

use crate::scene::WrapperScene;

/// The guest has archived an empty `/out`.
const NOTHING: GuestMessage = GuestMessage::Written { entries: 0, left_out: 0 };

#[test]
fn files_output_and_status_of_the_tool_arrive() {
    let scene = WrapperScene::new("good");
    let end = scene.run(
        "head -c 4 <&$ctl >$here/magic\nsend started\nprintf hello >&$out\nprintf oops >&$err\n\
         archive good.tar\nsend ended\nsend written\nexec sleep 60\n",
    );
    end.assert(5, "ended");
    assert_eq!((end.stdout.as_str(), end.stderr.as_str()), ("hello", "oops"));
    assert_eq!(fs::read(scene.path("magic")).unwrap(), b"TXR1");
    assert_eq!(fs::read(scene.path("out/result")).unwrap(), b"good");
    let report = &end.report;
    assert_eq!(report["exit_code"], 5);
    assert_eq!(report["status_from"], "guest");
    assert_eq!(report["accelerator"], "tcg");
    assert_eq!(report["guest_kernel"], "6.1.0-test");
    assert_eq!(report["guest_memory_mb"], 64);
    assert_eq!(report["pids_refused"], 3);
    assert_eq!(report["out_full"], true);
    assert_eq!(report["entries"], 1);
    assert_eq!(report["bytes"], 4);
    assert!(report["boot_ms"].is_u64() && report["tool_ms"].is_u64(), "{report}");
    assert!(report["console"].is_null(), "{report}");
}

#[test]
fn a_signal_is_128_and_its_number() {
    let scene = WrapperScene::new("signal");
    let killed = GuestMessage::Ended(GuestToolEnd::Signalled(9), GuestToolUsage::default());
    scene.message("ended", &killed);
    scene.message("written", &NOTHING);
    let end = scene.run("send started\nsend ended\nsend written\n");
    end.assert(137, "ended");
    assert_eq!(end.report["signal"], 9);
}

#[test]
fn much_output_arrives_whole() {
    let scene = WrapperScene::new("output");
    scene.message("written", &NOTHING);
    let end =
        scene.run("send started\nhead -c 3000000 /dev/zero >&$out\nsend ended\nsend written\n");
    end.assert(5, "ended");
    assert_eq!(end.stdout.len(), 3_000_000);
}

#[test]
fn output_that_arrives_after_the_last_message_is_kept() {
    let scene = WrapperScene::new("late-output");
    let usage = GuestToolUsage { output_bytes: 3_000_004, ..GuestToolUsage::default() };
    scene.message("ended", &GuestMessage::Ended(GuestToolEnd::Exited(5), usage));
    scene.message("written", &NOTHING);
    let end = scene.run(
        "send started\nsend ended\nsend written\nsleep 0.2\nhead -c 3000000 /dev/zero >&$out\n\
         sleep 0.2\nprintf oops >&$err\nexec sleep 60\n",
    );
    end.assert(5, "ended");
    assert_eq!((end.stdout.len(), end.stderr.as_str()), (3_000_000, "oops"));
}

#[test]
fn objects_that_are_left_out_are_reported() {
    let scene = WrapperScene::new("left-out");
    let (reason, name) = (RejectReason::Symlink, "link".to_owned());
    scene.message("left", &GuestMessage::LeftOut { reason, name });
    scene.message("written", &GuestMessage::Written { entries: 0, left_out: 7 });
    let end = scene.run("send started\nsend ended\nsend left\nsend written\n");
    end.assert(5, "ended");
    assert_eq!(end.report["left_out_count"], 7);
    assert_eq!(end.report["left_out"][0]["name"], "link");
    assert_eq!(end.report["left_out"][0]["reason"], "symlink");
}

#[test]
fn files_beyond_the_limit_are_left_out_and_the_report_is_kept() {
    let scene = WrapperScene::new("artifacts");
    let mut writer = TarWriter::new(Vec::new());
    writer.directory("d").unwrap();
    for name in ["a", "d/b", "c"] {
        writer.file(name, 4, false, &mut &b"good"[..]).unwrap();
    }
    scene.write("many.tar", &writer.finish().unwrap());
    scene.message("written", &GuestMessage::Written { entries: 4, left_out: 0 });
    let body = "send started\narchive many.tar\nsend ended\nsend written\n";
    let end = scene.run_with(body, &["--artifacts", "2"]);
    end.assert(5, "ended");
    assert_eq!(fs::read(scene.path("out/d/b")).unwrap(), b"good");
    assert!(!scene.path("out/c").exists());
    assert_eq!((&end.report["entries"], &end.report["bytes"]), (&3.into(), &8.into()));
    assert_eq!(end.report["left_out_count"], 1);
    assert_eq!(end.report["left_out"][0]["name"], "c");
    assert_eq!(end.report["left_out"][0]["reason"], "too-many");
}

#[test]
fn a_probe_starts_no_tool() {
    let scene = WrapperScene::new("probe");
    let done = GuestMessage::Ended(GuestToolEnd::Exited(0), GuestToolUsage::default());
    scene.message("ended", &done);
    scene.message("written", &NOTHING);
    let body = "stat -c %a \"${disk%/*}\" >$here/mode\nsend started\nsend ended\nsend written\n";
    for _ in 0..2 {
        let end = scene.probe(body);
        end.assert(0, "ended");
        assert_eq!(end.report["qemu_version"], "QEMU emulator version 0 (fake)");
        assert_eq!(end.report["guest_kernel"], "6.1.0-test");
        assert_eq!(fs::read_to_string(scene.path("mode")).unwrap(), "700\n");
        assert_eq!(scene.probes_left(), 0);
    }
}

#[test]
fn a_probe_that_fails_leaves_no_directory() {
    let scene = WrapperScene::new("probe-fails");
    scene.probe("exit 1\n").assert(121, "qemu-exited");
    assert_eq!(scene.probes_left(), 0);
}
