//! Signing keys that change while the daemon serves: a reload activates and logs them, and every
//! record verifies. An unusable key rejects the reload; the next start finishes a change.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use toolexec_tests::{Bench, Record, RequestText, Service, ServiceConfig, wait_for_process};

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

/// Returns the private key files of another host of the same name.
fn keys_of_another_host(bench: &Bench, service: &Service<'_>) -> PathBuf {
    let own = fs::read_to_string(service.state().join("keys/log.pub")).unwrap();
    let origin = own.split('+').next().unwrap();
    let state = bench.home().join("others");
    let words = ["keys", "init", "--origin", origin, "--state", state.to_str().unwrap()];
    bench.toolexec(words).assert_code(0);
    state.join("keys")
}

/// Runs `keys show` on the daemon's keys.
fn show_keys(bench: &Bench, service: &Service<'_>, words: &[&str]) -> String {
    let config = service.config();
    let all = [&["keys", "show", "--config", config.to_str().unwrap()], words].concat();
    let output = bench.toolexec(all);
    output.assert_code(0);
    output.stdout
}

/// Sends SIGHUP, and waits until the log contains this text once more.
fn reload(service: &Service<'_>, line: &str) {
    let before = service.log().matches(line).count();
    service.signal("HUP");
    service.wait_for(line, |it| it.log().matches(line).count() > before);
}

fn ran(service: &Service<'_>) -> Record {
    let request = service.submit(&good());
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    record
}

#[test]
fn a_reload_takes_over_a_key_from_its_place_or_from_beside_it() {
    let bench = Bench::new();
    for (role, name) in
        [("result", "result"), ("log", "log"), ("result", "result.new"), ("log", "log.new")]
    {
        let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
        let others = keys_of_another_host(&bench, &service);
        let line = |service: &Service<'_>| {
            show_keys(&bench, service, &["--format", "openssh", "--key", role])
        };
        let old = line(&service);
        ran(&service);
        // A run in progress during the change.
        let slow = RequestText::python("import time; time.sleep(6); print('slept')");
        let word = format!("word-of-{}", slow.id);
        let slow = service.submit(&slow.command(&format!("python script.py {word}")));
        assert!(!wait_for_process(&word).is_empty());
        let file = service.state().join("keys").join(name);
        fs::write(&file, fs::read(others.join(role)).unwrap()).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        reload(&service, " key-changed ");
        let new = line(&service);
        assert_ne!(old, new);
        assert!(!file.exists() || name == role, "{name}");
        service.record_of(&slow.id).assert_outcome("ok");
        ran(&service);
        // No change is pending.
        reload(&service, " reloaded ");
        assert_eq!(service.log().matches(" key-changed ").count(), 1, "{}", service.log());
        service.verify().assert_code(0);
        service.signal("TERM");
        assert_eq!(service.wait(), Some(0), "{}", service.log());
        service.fsck().assert_code(0);
        service.spawn();
        ran(&service);
        assert_eq!(line(&service), new);
        service.verify().assert_code(0);
        service.signal("TERM");
        assert_eq!(service.wait(), Some(0), "{}", service.log());
        for state in [service.spool(), service.state(), bench.home().join("others")] {
            fs::remove_dir_all(state).unwrap();
        }
    }
}

#[test]
fn a_key_that_cannot_be_used_refuses_the_reload_and_the_old_one_goes_on() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let others = keys_of_another_host(&bench, &service);
    let place = |name: &str| service.state().join("keys").join(name);
    for (role, other) in [("result", "log"), ("log", "result")] {
        let new = format!("{role}.new");
        let key = fs::read(others.join(role)).unwrap();
        let put = |name: &str, bytes: &[u8], mode: u32| {
            fs::write(place(name), bytes).unwrap();
            fs::set_permissions(place(name), Permissions::from_mode(mode)).unwrap();
        };
        let own = fs::read(place(role)).unwrap();
        let refused = |line: &str| {
            let before = service.log().matches("reload-refused").count();
            reload(&service, line);
            assert!(service.log().matches("reload-refused").count() > before, "{}", service.log());
            ran(&service);
        };
        for name in [role, new.as_str()] {
            put(name, b"no key\n", 0o600);
            refused(&format!("keys/{name}: "));
            put(name, &fs::read(others.join(other)).unwrap(), 0o600);
            refused(&format!("keys/{name}: "));
            put(name, &key, 0o644);
            refused("private key has mode 0644");
            match name == role {
                true => put(role, &own, 0o600),
                false => fs::remove_file(place(&new)).unwrap(),
            }
        }
        fs::remove_file(place(role)).unwrap();
        refused(&format!("keys/{role}: "));
        put(role, &own, 0o600);
    }
    reload(&service, " reloaded ");
    assert!(!service.log().contains(" key-changed "), "{}", service.log());
    service.verify().assert_code(0);
}

#[test]
fn what_was_interrupted_is_finished_by_the_next_start() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let others = keys_of_another_host(&bench, &service);
    ran(&service);
    let old = show_keys(&bench, &service, &["--format", "openssh"]);
    let keys = service.state().join("keys");
    let new = keys.join("result.new");
    fs::write(&new, fs::read(others.join("result")).unwrap()).unwrap();
    fs::set_permissions(&new, Permissions::from_mode(0o600)).unwrap();
    // The public key file cannot be replaced.
    let public = keys.join("allowed_signers");
    let before = fs::read(&public).unwrap();
    fs::remove_file(&public).unwrap();
    fs::create_dir_all(public.join("in the way")).unwrap();
    service.signal("HUP");
    assert_eq!(service.wait(), Some(3), "{}", service.log());
    assert!(service.log().contains("the next start finishes it"), "{}", service.log());
    fs::remove_dir_all(&public).unwrap();
    fs::write(&public, before).unwrap();
    service.spawn();
    assert!(service.log().contains(" key-changed "), "{}", service.log());
    assert_ne!(show_keys(&bench, &service, &["--format", "openssh"]), old);
    ran(&service);
    service.verify().assert_code(0);
}
