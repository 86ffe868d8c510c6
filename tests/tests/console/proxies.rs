//! The examples of docs/console.md for nginx and Caddy, tried with these programs as ordinary
//! processes on loopback.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, DocPage, skip, unused_port, workspace};

use super::console_process::ConsoleProcess;
use super::exchange::get;
use super::scene::ConsoleScene;

const NAME: &str = "approve.example";
const PASSWORD: &str = "correct-horse";
const CERTIFICATE: &str = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -days 2 -subj /CN=approve.example -addext subjectAltName=DNS:approve.example \
    -keyout key.pem -out certificate.pem";
const JSON: &str = "Content-Type: application/json";
/// The answers of the proxy, and of the console's guard.
const NOT_PASSED_ON: [u16; 4] = [401, 403, 415, 421];

/// The program of a proxy that `tests/prepare` has unpacked. Logs a skip if there is none.
fn installed(test: &str, name: &str) -> Option<PathBuf> {
    let program = workspace().join("target/tools/proxies/usr").join(name);
    if !program.is_file() {
        let shown = program.display();
        skip(test, &format!("{shown}: no such file; help: run tests/prepare proxies"));
        return None;
    }
    Some(program)
}

/// Returns the example of docs/console.md that begins with these words, with its places replaced.
fn example(begin: &str, edits: &[(&str, &str)]) -> String {
    let blocks = DocPage::open("docs/console.md").section("TLS").blocks("text");
    let block = blocks.into_iter().find(|block| block.starts_with(begin)).unwrap();
    edits.iter().fold(block, |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from:?} is not once in\n{text}");
        text.replace(from, to)
    })
}

/// A console behind a proxy. Both end with the test.
struct ProxiedConsole<'s> {
    scene: &'s ConsoleScene<'s>,
    console: ConsoleProcess,
    origin: String,
    port: u16,
    /// The directory of the proxy's files.
    place: PathBuf,
    proxy: Option<Child>,
}

impl<'s> ProxiedConsole<'s> {
    /// Starts the console, and makes a certificate. Logs a skip without openssl or curl.
    fn prepare(scene: &'s ConsoleScene<'s>, test: &str) -> Option<Self> {
        let place = scene.bench.home().join("proxy");
        fs::create_dir(&place).unwrap();
        let script = format!("curl --version >curl; {CERTIFICATE}");
        let made = CliOutput::of(scene.bench.shell(&script).current_dir(&place));
        if made.code != Some(0) {
            skip(test, &format!("curl or openssl cannot be used: {}", made.stderr));
            return None;
        }
        let port = unused_port();
        let origin = format!("https://{NAME}:{port}");
        let console = scene.console_behind(&origin);
        Some(Self { scene, console, origin, port, place, proxy: None })
    }

    fn upstream(&self) -> String {
        format!("127.0.0.1:{}", self.console.port)
    }

    fn file(&self, name: &str) -> String {
        self.place.join(name).to_str().unwrap().to_owned()
    }

    /// Starts the proxy with a command, and waits until it listens.
    fn start(&mut self, mut command: Command) {
        let log = self.place.join("log");
        let output = fs::File::create(&log).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let proxy = self.proxy.insert(command.current_dir(&self.place).spawn().unwrap());
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let log = fs::read_to_string(&log).unwrap();
            assert_eq!(proxy.try_wait().unwrap(), None, "{log}");
            assert!(begun.elapsed() < Duration::from_secs(20) * time_factor(), "silent: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn curl(&self, path: &str, words: &[&str]) -> Command {
        let mut command = self.scene.bench.command("curl");
        command.args(["-sS", "--noproxy", "*", "--cacert"]).arg(self.file("certificate.pem"));
        command.arg("--resolve").arg(format!("{NAME}:{}:127.0.0.1", self.port));
        command.args(words).arg(format!("{}{path}", self.origin));
        command
    }

    /// Returns the status of an answer, and its head with its body.
    fn ask(&self, path: &str, words: &[&str]) -> (u16, String) {
        let mut command = self.curl(path, words);
        let output = CliOutput::of(command.args(["-i", "-w", "\n%{http_code}"]));
        output.assert_code(0);
        let (text, status) = output.stdout.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), text.to_owned())
    }

    fn post(&self, headers: &[&str]) -> (u16, String) {
        let user = format!("alice:{PASSWORD}");
        let mut words = vec!["-u", &user, "-H", JSON, "-d", "{}"];
        words.extend(headers.iter().flat_map(|header| ["-H", *header]));
        self.ask("/prepare", &words)
    }

    fn assert_works(&self) {
        let user = format!("alice:{PASSWORD}");
        assert_eq!(self.ask("/", &[]).0, 401, "without a password");
        assert_eq!(self.ask("/", &["-u", "alice:other"]).0, 401, "another password");
        let (status, page) = self.ask("/", &["-u", &user]);
        assert_eq!(status, 200, "{page}");
        for words in ["data-page=\"queue\"", "default-src 'none'"] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
        // The name for which the proxy is asked reaches the console, with its port.
        let (status, answer) = self.post(&[&format!("Origin: {}", self.origin)]);
        assert!((200..500).contains(&status) && !NOT_PASSED_ON.contains(&status), "{answer}");
        assert!(answer.contains("\"error\""), "{answer}");
        for wrong in [
            format!("Origin: http://localhost:{}", self.console.port),
            format!("Origin: https://{NAME}"),
            "Origin: https://evil.example".to_owned(),
        ] {
            let (status, answer) = self.post(&[&wrong]);
            assert_eq!(status, 403, "{wrong}: {answer}");
        }
        let own = format!("Origin: {}", self.origin);
        assert_eq!(self.post(&[&own, "Sec-Fetch-Site: cross-site"]).0, 403);
        assert_eq!(self.post(&[]).0, 403, "without an origin");
        // nginx passes the name on, and the console refuses it. Caddy answers nothing itself.
        let (status, page) = self.ask("/", &["-u", &user, "-H", "Host: evil.example"]);
        assert!(status == 421 || !page.contains("data-page="), "{page}");
        // The console has no other origin.
        assert_eq!(get(self.console.port, "/").status, 421);
        self.assert_events_arrive(&user);
    }

    /// Asserts that the proxy keeps no event back.
    fn assert_events_arrive(&self, user: &str) {
        // The queue differs from this version, so the stream begins with an event.
        let mut command = self.curl("/events?version=0", &["-u", user, "-N", "--max-time", "60"]);
        let mut follower = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines =
            BufReader::new(follower.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut arrives = || lines.any(|line| line == "event: changed");
        let first = arrives();
        self.scene.draft_that_prints("new");
        let second = arrives();
        follower.kill().unwrap();
        follower.wait().unwrap();
        assert!(first && second, "the first event: {first}, the one of a new draft: {second}");
    }
}

impl Drop for ProxiedConsole<'_> {
    fn drop(&mut self) {
        if let Some(mut proxy) = self.proxy.take() {
            proxy.kill().unwrap_or_default();
            proxy.wait().unwrap();
        }
    }
}

/// The part around a `server` block that makes nginx an ordinary process.
fn nginx_file(server: &str, place: &str) -> String {
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary: String =
        kinds.iter().map(|kind| format!("    {kind}_temp_path {place}/{kind};\n")).collect();
    format!(
        "daemon off;\nmaster_process off;\npid {place}/pid;\nerror_log stderr;\nevents {{}}\n\
         http {{\n    access_log off;\n{temporary}{server}}}\n"
    )
}

#[test]
fn the_example_of_nginx_works() {
    let test = "the_example_of_nginx_works";
    let Some(program) = installed(test, "sbin/nginx") else { return };
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let Some(mut proxied) = ProxiedConsole::prepare(&scene, test) else { return };
    // As docs/console.md writes the file.
    let password = bench.shell(&format!("openssl passwd -apr1 {PASSWORD}")).output().unwrap();
    let password = String::from_utf8(password.stdout).unwrap();
    fs::write(proxied.file("approvers"), format!("alice:{password}")).unwrap();
    let server = example(
        "server {",
        &[
            ("listen 443 ssl;", format!("listen 127.0.0.1:{} ssl;", proxied.port).as_str()),
            ("/etc/ssl/approve.example.pem", proxied.file("certificate.pem").as_str()),
            ("/etc/ssl/private/approve.example.key", proxied.file("key.pem").as_str()),
            ("/etc/nginx/approvers", proxied.file("approvers").as_str()),
            ("127.0.0.1:8440", proxied.upstream().as_str()),
        ],
    );
    let file = proxied.file("nginx.conf");
    fs::write(&file, nginx_file(&server, proxied.place.to_str().unwrap())).unwrap();
    let mut command = bench.command(program);
    command.args(["-e", "stderr", "-c", &file]);
    proxied.start(command);
    proxied.assert_works();
}

#[test]
fn the_example_of_caddy_works() {
    let test = "the_example_of_caddy_works";
    let Some(program) = installed(test, "bin/caddy") else { return };
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let Some(mut proxied) = ProxiedConsole::prepare(&scene, test) else { return };
    let mut hash = bench.command(&program);
    let hash = CliOutput::of(hash.args(["hash-password", "--plaintext", PASSWORD]));
    hash.assert_code(0);
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| proxied.file(name));
    let port = proxied.port;
    // Without these words it asks an authority on the Internet for a certificate.
    let tls = format!("https://{NAME}:{port} {{\n    bind 127.0.0.1\n    tls {certificate} {key}");
    let site = example(
        "approve.example {",
        &[
            ("approve.example {", tls.as_str()),
            ("$2a$14$…", hash.stdout.trim()),
            ("127.0.0.1:8440", proxied.upstream().as_str()),
        ],
    );
    let file = proxied.file("Caddyfile");
    let options = "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n";
    fs::write(&file, format!("{options}{site}")).unwrap();
    let mut command = bench.command(&program);
    command.args(["run", "--adapter", "caddyfile", "--config", &file]);
    proxied.start(command);
    proxied.assert_works();
}
