//! Approvals over the other ways to a console: TLS that it ends itself, and a Unix socket.

use std::fs;

use toolexec_tests::{Bench, CliOutput, skip, unused_port};

use super::approver::ApproverPage;
use super::forwarded_port::forward;
use super::scene::ConsoleScene;

const APPROVE: &str = "approve.tool-exec@threegate";
/// Writes a certificate and its key, and prints the digest by which a browser accepts it.
const CERTIFICATE: &str = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -keyout key.pem -out certificate.pem
    openssl x509 -in certificate.pem -pubkey -noout | openssl pkey -pubin -outform der \
    | openssl dgst -sha256 -binary | openssl enc -base64";

/// Makes a passkey at an origin, and approves a request with it.
#[track_caller]
fn enrol_and_approve(page: &mut ApproverPage<'_>, origin: String) {
    page.use_origin(origin);
    let line = page.enrol("alice");
    page.scene.trust(&line);
    let id = page.open_draft("approved");
    page.perform("approve");
    let record = page.scene.service.record_of(&id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "approved\n");
    page.scene.assert_stock_verifies(&record.path, APPROVE);
    assert_eq!(page.touches(), 1);
    assert_eq!(page.browser.errors(), Vec::<String>::new());
}

#[test]
fn a_page_over_tls_of_the_console_approves_a_request() {
    let test = "a_page_over_tls_of_the_console_approves_a_request";
    let bench = Bench::new();
    let place = bench.home().join("tls");
    fs::create_dir(&place).unwrap();
    let made = CliOutput::of(bench.shell(CERTIFICATE).current_dir(&place));
    if made.code != Some(0) {
        return skip(test, &format!("openssl cannot be used: {}", made.stderr));
    }
    let port = unused_port();
    let origin = format!("https://localhost:{port}");
    let scene = ConsoleScene::start_for(&bench, &[&origin]);
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| place.join(name));
    let [certificate, key] = [&certificate, &key].map(|path| path.to_str().unwrap());
    let _console = scene.console_at(port, &["--tls-cert", certificate, "--tls-key", key]);
    let option = format!("--ignore-certificate-errors-spki-list={}", made.stdout.trim());
    let Some(mut page) = ApproverPage::start_with(&scene, test, &[&option]) else { return };
    enrol_and_approve(&mut page, origin);
}

#[test]
fn a_page_over_a_unix_socket_approves_a_request() {
    let test = "a_page_over_a_unix_socket_approves_a_request";
    let bench = Bench::new();
    let port = unused_port();
    let origin = format!("http://localhost:{port}");
    let scene = ConsoleScene::start_for(&bench, &[&origin]);
    let socket = bench.home().join("console.sock");
    let _console = scene.console_at_socket(&socket, &origin);
    forward(port, &socket);
    let Some(mut page) = ApproverPage::start(&scene, test) else { return };
    enrol_and_approve(&mut page, origin);
}
