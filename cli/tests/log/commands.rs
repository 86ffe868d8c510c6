//! Output of the log commands, and their errors for wrong arguments.

use std::fs;
use std::time::{Duration, Instant};

use records::attest;
use records::log::entry::{Heartbeat, LogEntry};
use records::log::{Inclusion, LogView, PublicLogKey};
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::Hash;

use crate::fixture::{RecordCase, flip, put};
use crate::test_log::{ORIGIN, TestLog};

#[test]
fn head_is_accepted_by_another_implementation() {
    let bench = TestLog::new(300);
    let key = bench.key("state").public().clone();
    let view = LogView::open(&bench.path("state/log"), &key).unwrap();
    let root = view.head().root().to_string();
    let human = bench.on_state(&["head"]).assert(0, &[ORIGIN, "size       300", &root]);
    assert!(human.out.contains(&key.id().to_string()) && human.out.contains("heartbeat  none"));
    let json = bench.on_state(&["head", "--format", "json"]).assert(0, &[]).json();
    assert_eq!((json["size"].as_u64(), json["root"].as_str()), (Some(300), Some(root.as_str())));
    let note = bench.on_state(&["head", "--note"]).assert(0, &[]).out;
    assert_eq!((note.as_str(), json["note"].as_str()), (view.head().note(), Some(note.as_str())));
    let verifier = StandardVerifier::new(&key.verifier_line()).unwrap();
    let list = VerifierList::new(vec![Box::new(verifier)]);
    assert_eq!(Note::from_bytes(note.as_bytes()).unwrap().verify(&list).unwrap().0.len(), 1);
    // The same log under its other locations.
    bench.save("host1.vkey", &key.verifier_line());
    fs::rename(bench.path("state/log"), bench.path("log")).unwrap();
    for place in [["--log", "log"], ["--spool", "."]] {
        bench.log(&["head", place[0], place[1], "--log-key", "host1.vkey"]).assert(0, &[&root]);
    }
}

#[test]
fn wrong_arguments_are_named() {
    let bench = TestLog::new(3);
    bench.rewrite("other", 2);
    let own = bench.key("state").public().verifier_line();
    bench.save("own.vkey", &own);
    let stranger = records::log::LogKey::from_seed(ORIGIN.parse().unwrap(), &[7; 32]);
    bench.save("stranger.vkey", &stranger.public().verifier_line());
    let named = records::log::LogKey::from_seed("b.example".parse().unwrap(), &[7; 32]);
    bench.save("named.vkey", &named.public().verifier_line());
    bench.save("text", "hello\n");
    fs::create_dir(bench.path("empty")).unwrap();
    let cases: [(&[&str], i32, &[&str]); 18] = [
        (&["head", "--state", "nowhere"], 3, &["nowhere/keys/log.pub: no key of a log", "--state"]),
        (&["head", "--log", "state/log"], 3, &["--log-key: missing"]),
        (&["head", "--log", "state/log", "--log-key", "nowhere"], 3, &["nowhere: No such file"]),
        (&["head", "--log", "none", "--log-key", "own.vkey"], 3, &["none: no such log", "--spool"]),
        (&["head", "--log", "empty", "--log-key", "own.vkey"], 3, &["empty: not a log"]),
        (&["head", "--log", "state/log", "--log-key", "text"], 3, &["text: not the public key"]),
        (&["head", "--log", "state/log", "--log-key", "stranger.vkey"], 1, &["another log"]),
        (&["head", "--log", "state/log", "--log-key", "named.vkey"], 1, &["--log-key"]),
        (&["prove", "3", "--state", "state"], 3, &["entry 3: not in the log, which has 3 entries"]),
        (&["prove", "text", "--state", "state"], 3, &["text: not a bundle"]),
        (&["prove", "none", "--state", "state"], 3, &["none: No such file"]),
        (&["prove", "empty", "--state", "state"], 3, &["empty: no bundle of a record"]),
        (
            &["consistency", "4", "--state", "state"],
            3,
            &["entry 4: not in the log, which has 3 entries"],
        ),
        (&["consistency", "3", "2", "--state", "state"], 3, &["name the older first"]),
        (&["consistency", "text", "--state", "state"], 3, &["text: not a checkpoint"]),
        (&["witness", "--to", "x", "--witness-key", "own.vkey", "--state", "state"], 3, &["0x04"]),
        (&["witness", "--to", "ftp://w/x", "--state", "state"], 3, &["ftp://w/x: not an http"]),
        (&["heartbeat", "--state", "empty"], 3, &["empty/keys/log.pub: no key of a log"]),
    ];
    for (words, code, texts) in cases {
        let output = bench.log(words).assert(code, texts);
        assert!(output.err.starts_with("toolexec: ") && output.out.is_empty(), "{words:?}");
    }
    let json = ["head", "--log", "state/log", "--log-key", "stranger.vkey", "--format", "json"];
    assert_eq!(bench.log(&json).assert(1, &[]).json()["ok"], false);
}

#[test]
fn proofs_are_accepted_by_another_implementation() {
    let bench = TestLog::new(700);
    let log = bench.grown("state", 700);
    let root = Hash(*log.head().root().as_bytes());
    for index in [0_u64, 255, 256, 511, 699] {
        let entry = format!("entry {index}").into_bytes();
        let text = bench.on_state(&["prove", &index.to_string()]).assert(0, &[]).out;
        Inclusion::verify(&text, &entry, log.key()).unwrap();
        let (head, _) = text.split_once("\n\n").unwrap();
        let path: Vec<Hash> =
            head.lines().skip(2).map(|line| Hash::parse_hash(line).unwrap()).collect();
        tlog_tiles::check_record(&path, 700, root, index, tlog_tiles::record_hash(&entry)).unwrap();
    }
    // A file that is not a proof is not overwritten.
    let out = bench.save("proof", "older");
    bench.on_state(&["prove", "3", "--out", "proof"]).assert(3, &["proof: exists"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "older");
    fs::remove_file(&out).unwrap();
    bench.on_state(&["prove", "4", "--out", "proof"]).assert(0, &[]);
    let output = bench.on_state(&["prove", "3", "--out", "proof"]).assert(0, &[]);
    let written = fs::read_to_string(out).unwrap();
    assert!(output.out.is_empty() && written.starts_with("c2sp.org/tlog-proof@v1\nindex 3\n"));
    // A damaged log yields no proofs.
    flip(&bench.path("state/log/tile/0/001"));
    bench.on_state(&["prove", "300"]).assert(1, &["does not match the checkpoint"]);
}

#[test]
fn consistency_distinguishes_growth_from_a_fork() {
    let bench = TestLog::new(300);
    let note = bench.on_state(&["head", "--note"]).out;
    bench.save("seen", &note);
    let root = bench.grown("state", 300).head().root().to_string();
    drop(bench.grown("state", 520));
    let root_now = bench.grown("state", 520).head().root().to_string();
    let view = LogView::open(&bench.path("state/log"), bench.key("state").public()).unwrap();
    let proof: Vec<String> =
        view.consistency(300, 520).unwrap().iter().map(ToString::to_string).collect();
    assert!(proof.len() > 3);
    for words in [&["consistency", "seen"][..], &["consistency", "300", "520"]] {
        let output =
            bench.on_state(words).assert(0, &[&root, &root_now, "consistent: the log of 520"]);
        assert!(output.out.lines().take(proof.len()).eq(&proof), "{}", output.out);
    }
    bench.on_state(&["consistency", "0", "256"]).assert(0, &["begins with that of 0"]);
    let json = bench.on_state(&["consistency", "seen", "--format", "json"]).assert(0, &[]).json();
    assert_eq!(
        (json["consistent"].as_bool(), json["old"]["size"].as_u64()),
        (Some(true), Some(300))
    );
    // Rewritten by a holder of the key.
    bench.rewrite("anew", 400);
    let other = bench.log(&["consistency", "seen", "--state", "anew"]);
    let there = LogView::open(&bench.path("anew/log"), bench.key("anew").public()).unwrap();
    let theirs = there.root(300).unwrap().to_string();
    let other = other.assert(1, &["NOT CONSISTENT", &root, &theirs, "a different root"]);
    assert!(!other.out.starts_with(&proof[0]));
    let words = ["consistency", "seen", "--state", "anew", "--format", "json"];
    assert_eq!(bench.log(&words).assert(1, &[]).json()["consistent"], false);
    bench.rewrite("short", 200);
    bench
        .log(&["consistency", "seen", "--state", "short"])
        .assert(1, &["300 entries", "truncated"]);
    // Not signed by the log.
    bench.save("forged", &note.replacen("\n300\n", "\n301\n", 1));
    bench
        .on_state(&["consistency", "forged"])
        .assert(1, &["forged: its signature does not verify"]);
}

#[test]
fn fsck_finds_a_changed_byte() {
    let bench = TestLog::new(515);
    bench
        .on_state(&["fsck"])
        .assert(0, &["515 entries", "every entry and tile matches the signed tree"]);
    for name in ["tile/entries/000", "tile/0/001", "tile/1/000.p/2", "tile/entries/002.p/3"] {
        let path = bench.path("state/log").join(name);
        flip(&path);
        bench.on_state(&["fsck"]).assert(1, &["DAMAGED"]);
        let json = bench.on_state(&["fsck", "--format", "json"]).assert(1, &[]).json();
        assert!(!json["faults"].as_array().unwrap().is_empty(), "{name}");
        flip(&path);
    }
    bench.on_state(&["fsck", "--format", "json"]).assert(0, &[]);
}

/// Signs records into the log and a tree of results. Returns their directories.
fn records(bench: &TestLog, count: usize) -> Vec<std::path::PathBuf> {
    let mut log = bench.grown("state", 0);
    (0..count)
        .map(|number| {
            let mut case = RecordCase::plain();
            let id = format!("TS-20261121-1210{:02}Z-TR-20261121-120000Z-stats", number + 30);
            case.result_id = id.parse().unwrap();
            let attested = attest(&case.statement(), &bench.result_key()).unwrap();
            let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
            let directory = case.publish_run(&bench.path("results"), attested.record());
            for (name, bytes) in attested.proofs(&inclusion).unwrap() {
                put(&directory.join(name), &bytes);
            }
            directory
        })
        .collect()
}

#[test]
fn log_and_records_account_for_each_other() {
    let bench = TestLog::new(0);
    let found = records(&bench, 3);
    let beat = Heartbeat::new("2026-11-22T10:00:00Z".parse().unwrap(), None);
    bench.grown("state", 0).append(&beat.entry()).unwrap();
    let fsck = ["fsck", "--results", "results"];
    bench.on_state(&fsck).assert(0, &["records    3 in the log, 3 of them here", "heartbeats 1"]);
    // A record's proof against the present head.
    let prove = |what: &str| bench.on_state(&["prove", what]);
    let text = prove(found[1].to_str().unwrap()).assert(0, &["index 1\n"]).out;
    assert!(text.contains(&format!("{ORIGIN}\n4\n")));
    // Other directories and a result that is still being collected are ignored.
    fs::create_dir_all(bench.path("results/notes")).unwrap();
    fs::create_dir_all(bench.path("results/.part")).unwrap();
    bench.on_state(&fsck).assert(0, &[]);
    // A deleted record.
    let aside = bench.path("aside");
    fs::rename(&found[1], &aside).unwrap();
    let output = bench.on_state(&fsck).assert(1, &["3 in the log, 2 of them here"]);
    assert!(output.out.contains("no record here for entry 1\n"), "{}", output.out);
    // A record in another tree.
    fs::create_dir(bench.path("more")).unwrap();
    fs::rename(&aside, bench.path("more").join(found[1].file_name().unwrap())).unwrap();
    let both = [&fsck[..], &["--results", "more"]].concat();
    bench.on_state(&both).assert(0, &[]);
    // A duplicate record, one without its bundle, and one at a wrong index.
    crate::test_log::copy(&found[0], &bench.path("results/again"));
    bench.on_state(&both).assert(1, &["claims to be entry 0, as"]);
    fs::remove_dir_all(bench.path("results/again")).unwrap();
    let id = found[2].file_name().unwrap().to_str().unwrap();
    let bundle = found[2].join(format!("{id}.bundle.json"));
    let bytes = fs::read(&bundle).unwrap();
    fs::remove_file(&bundle).unwrap();
    bench.on_state(&both).assert(1, &["no bundle of a record", "no record here for entry 2"]);
    let moved =
        String::from_utf8(bytes).unwrap().replace("\"logIndex\":\"2\"", "\"logIndex\":\"3\"");
    put(&bundle, moved.as_bytes());
    bench.on_state(&both).assert(1, &["not entry 3 of the log"]);
    prove(bundle.to_str().unwrap()).assert(1, &["entry 3 of the log is a different record"]);
    // An entry of an unknown kind.
    bench.grown("state", 0).append(b"{}").unwrap();
    bench.on_state(&both).assert(1, &["unknown kind of entry 4"]);
}

#[test]
fn heartbeat_states_its_time() {
    let bench = TestLog::new(2);
    let json = bench.on_state(&["heartbeat", "--format", "json"]).assert(0, &[]).json();
    assert_eq!(json["index"], 2);
    let key: PublicLogKey = bench.key("state").public().clone();
    let view = LogView::open(&bench.path("state/log"), &key).unwrap();
    let (bytes, _) = view.entry(2).unwrap();
    let LogEntry::Heartbeat(beat) = LogEntry::read(&bytes) else { panic!("no heartbeat") };
    assert_eq!(json["time"].as_str().unwrap(), beat.time().to_string());
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(beat.boot_id().unwrap().to_string(), boot.trim());
    bench.on_state(&["head"]).assert(0, &["entry 2, 0 entries since"]);
    drop(bench.grown("state", 700));
    bench.on_state(&["head"]).assert(0, &[&beat.time().to_string(), "697 entries since"]);
    let view = LogView::open(&bench.path("state/log"), &key).unwrap();
    assert_eq!(view.latest_heartbeat().unwrap(), Some((2, beat)));
}

#[test]
fn head_signed_by_a_retired_key_is_rejected() {
    let bench = TestLog::new(3);
    let lines = bench.key("state").public().verifier_line();
    let newer = records::log::LogKey::from_seed(ORIGIN.parse().unwrap(), &[7; 32]);
    let newer = newer.public().verifier_line();
    bench.save("keys", &format!("{newer}\n{lines}\n"));
    let place = ["--log", "state/log", "--log-key", "keys"];
    for words in [&["head"][..], &["fsck"], &["export", "copy"]] {
        bench.log(&[words, &place].concat()).assert(1, &["checkpoint: signed by", "retired"]);
    }
    assert!(!bench.path("copy").exists());
    // In the reverse order the same key is the active one.
    bench.save("keys", &format!("{lines}\n{newer}\n"));
    bench.log(&[&["head"][..], &place].concat()).assert(0, &["size       3"]);
}

#[test]
fn missing_log_of_a_state_is_reported() {
    let bench = TestLog::new(0);
    let place = records::log::LogLocation::of_state(&bench.path("state"));
    let mut log = records::log::Log::open_or_create(place, bench.key("state")).unwrap();
    log.append(b"one").unwrap();
    drop(log);
    bench.on_state(&["head"]).assert(0, &["size       1"]);
    fs::rename(bench.path("state/log"), bench.path("aside")).unwrap();
    for words in [&["head"][..], &["heartbeat"]] {
        bench.on_state(words).assert(1, &["had 1 entries and is missing", "state/log.head"]);
    }
    assert!(!bench.path("state/log").exists());
    fs::rename(bench.path("aside"), bench.path("state/log")).unwrap();
    bench.on_state(&["heartbeat"]).assert(0, &["entry 1"]);
}

#[test]
fn record_being_published_is_not_missing() {
    let bench = TestLog::new(0);
    let found = records(&bench, 2);
    let aside = bench.path("aside");
    loop {
        fs::rename(&found[1], &aside).unwrap();
        let begun = Instant::now();
        let fsck = bench.command(&["fsck", "--results", "results", "--state", "state"]).spawn();
        std::thread::sleep(Duration::from_millis(500));
        fs::rename(&aside, &found[1]).unwrap();
        // It looks again after a second, which is too early only if this process was paused.
        let is_late = begun.elapsed() >= Duration::from_secs(1);
        if fsck.unwrap().wait().unwrap().success() {
            break;
        }
        assert!(is_late, "a record that was published in time is missing");
    }
}

#[test]
fn export_refuses_a_directory_with_other_files() {
    let bench = TestLog::new(2);
    fs::create_dir(bench.path("mine")).unwrap();
    bench.save("mine/letter", "hello");
    bench.on_state(&["export", "mine"]).assert(3, &["mine: has other files"]);
    assert!(!bench.path("mine/checkpoint").exists());
    fs::remove_file(bench.path("mine/letter")).unwrap();
    bench.on_state(&["export", "mine"]).assert(0, &[]);
    bench.on_state(&["export", "mine"]).assert(0, &[]);
    // A request for a witness does not overwrite another file either.
    let letter = bench.save("letter", "hello");
    bench.on_state(&["witness", "--to", "letter"]).assert(3, &["letter: exists"]);
    assert_eq!(fs::read_to_string(letter).unwrap(), "hello");
    bench.on_state(&["witness", "--to", "request"]).assert(0, &[]);
    bench.on_state(&["witness", "--to", "request"]).assert(0, &[]);
}
