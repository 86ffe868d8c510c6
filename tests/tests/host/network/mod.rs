//! Requests that name hosts: the hosts that they reach, those that they do not, and their records.
//! The servers belong to the tests, on the host's loopback, which each test's policy names.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod unknown_hosts;

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, Service, ServiceConfig, SmallDisk, kill_if_running,
    list, skip, unused_port, wait_for_no_process, wait_for_process,
};
use unknown_hosts::{
    a_lost_proxy_is_unknown_not_nothing, a_report_that_cannot_be_true_is_not_signed,
};

toolexec_tests::as_both!(
    a_page_comes_through_the_proxy,
    a_page_comes_through_tls,
    what_is_not_named_is_not_reached_but_reported,
    there_is_no_way_past_the_proxy,
    a_host_beyond_the_policy_is_refused_by_name,
    without_the_proxys_program_nothing_runs,
    a_lost_proxy_is_unknown_not_nothing,
    a_report_that_cannot_be_true_is_not_signed,
    sandboxes_with_hosts_share_no_network,
    without_hosts_nothing_of_it_is_there,
);

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nsome data\n";

/// Answers every request with a page, and counts them.
struct PageServer {
    port: u16,
    requests: Arc<AtomicU32>,
}

impl PageServer {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, requests) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU32::new(0)));
        let count = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let mut head = [0; 4096];
                // A client that disconnects early gets no page.
                if stream.read(&mut head).is_ok_and(|read| read > 0) {
                    stream.write_all(PAGE.as_bytes()).unwrap();
                }
            }
        });
        Self { port, requests }
    }

    fn request_count(&self) -> u32 {
        self.requests.load(Ordering::SeqCst)
    }
}

/// The embedded policy with this port of the host's loopback as its only host.
fn policy(bench: &Bench, port: u16) -> PathBuf {
    let shown = bench.toolexec(["policy", "show", "embedded"]);
    shown.assert_code(0);
    let hosts = format!("hosts: [{{host: 127.0.0.1, ports: [{port}], private: []}}]");
    assert!(shown.stdout.contains("hosts: []\n"));
    let text = shown.stdout.replacen("hosts: []\n", &format!("{hosts}\n"), 1);
    bench.scratch().file("policy.yaml", text)
}

/// A request with a script that may connect to this port.
fn request_with_port(script: &str, port: u16) -> RequestText {
    RequestText::python(script)
        .edit("network: \"none\"", "network: \"allowlist\"")
        .edit("network_allowlist: []", &format!("network_allowlist: [\"127.0.0.1:{port}\"]"))
        .edit("Network rationale: none", "Network rationale: the data is there.")
}

fn command(bench: &Bench, request: &RequestText, policy: &PathBuf) -> Command {
    let mut command = bench.command("toolexec");
    command.arg("run").arg(bench.save(request).path).args(["--format", "json", "--policy"]);
    command.arg(policy);
    command
}

#[track_caller]
fn record_of(bench: &Bench, request: &RequestText, port: u16) -> (CliOutput, Record) {
    let output = CliOutput::of(&mut command(bench, request, &policy(bench, port)));
    let record = Record::of(&output);
    (output, record)
}

fn a_page_comes_through_the_proxy(bench: &Bench) {
    let pages = PageServer::new();
    let port = pages.port;
    let script = format!(
        "import urllib.request\nfor i in range(2):\n  \
         print(urllib.request.urlopen('http://127.0.0.1:{port}/').read().decode(), end='')"
    );
    let (_, record) = record_of(bench, &request_with_port(&script, port), port);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "some data\nsome data\n", "{}", record.stderr());
    assert_eq!(pages.request_count(), 2);
    assert_eq!(record.front_matter_value("network_used"), "allowlist");
    assert_eq!(record.front_matter_value("network_destinations"), "[\"127.0.0.1\"]");
    assert_eq!(record.front_matter_value("addresses"), "[\"127.0.0.1\"]");
    assert_eq!(record.front_matter_value("connections"), "2");
    assert_eq!(record.front_matter_value("bytes_in"), (2 * PAGE.len()).to_string());
    assert!(record.front_matter_value("bytes_out").parse::<u32>().unwrap() > 0);
    assert_eq!(record.front_matter_value("refusals"), "[]");
    let line = "Network confirmation: allowlist: 127.0.0.1 (2 connections, ";
    assert!(record.text.contains(line), "{}", record.text);
}

/// A server that ends with the test.
struct TlsServer(Child);

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts `openssl s_server` with a certificate for 127.0.0.1. Returns its port and certificate.
fn tls_server(test: &str, bench: &Bench) -> Option<(TlsServer, u16, Vec<u8>)> {
    let place = bench.scratch().dir("tls");
    let (key, certificate) = (place.join("key.pem"), place.join("certificate.pem"));
    let mut make = Command::new("openssl");
    make.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=t"]);
    make.args(["-addext", "subjectAltName=IP:127.0.0.1", "-keyout"]).arg(&key);
    make.arg("-out").arg(&certificate);
    match make.output() {
        Ok(made) => assert!(made.status.success(), "{made:?}"),
        Err(error) => {
            skip(test, &format!("openssl cannot be started: {error}"));
            return None;
        }
    }
    let (server, port) = (0..8).find_map(|_| listening_server(&key, &certificate)).unwrap();
    Some((server, port, std::fs::read(&certificate).unwrap()))
}

/// Starts the server on a port of its own. Returns nothing if another process took that port first.
fn listening_server(key: &Path, certificate: &Path) -> Option<(TlsServer, u16)> {
    let port = unused_port();
    let mut serve = Command::new("openssl");
    serve.args(["s_server", "-www", "-quiet", "-accept", &format!("127.0.0.1:{port}"), "-key"]);
    serve.arg(key).arg("-cert").arg(certificate);
    serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = TlsServer(serve.spawn().unwrap());
    for _ in 0..200 {
        let answered = std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        if server.0.try_wait().unwrap().is_some() {
            return None;
        }
        if answered {
            return Some((server, port));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("openssl s_server does not listen");
}

fn a_page_comes_through_tls(bench: &Bench) {
    let Some((_server, port, certificate)) = tls_server("a_page_comes_through_tls", bench) else {
        return;
    };
    let script = format!(
        "import ssl, urllib.request\n\
         known = ssl.create_default_context(cafile='/in/ca.pem')\n\
         page = urllib.request.urlopen('https://127.0.0.1:{port}/', context=known).read()\n\
         print(b's_server' in page)\n\
         try: urllib.request.urlopen('https://127.0.0.1:{port}/')\n\
         except OSError as error: print('CERTIFICATE_VERIFY_FAILED' in str(error))\n"
    );
    let request = request_with_port(&script, port).input("ca.pem", certificate);
    let (_, record) = record_of(bench, &request, port);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "True\nTrue\n", "{}", record.stderr());
    assert_eq!(record.front_matter_value("connections"), "2");
    assert_eq!(record.front_matter_value("refusals"), "[]");
}

/// A certificate authority of this host, which no interpreter includes.
#[test]
fn what_the_host_trusts_every_language_does() {
    const PYTHON: &str = "import urllib.request\n\
        print(urllib.request.urlopen('https://127.0.0.1:PORT/').status)\n";
    const NODE: &str = "const proxy = new URL(process.env.https_proxy)\n\
        const host = '127.0.0.1:PORT'\n\
        const to = { host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: host,\n  \
          headers: { host } }\n\
        require('http').request(to).on('connect', (_, socket) => require('https')\n  \
          .get({ host: '127.0.0.1', socket, agent: false }, page => {\n    \
            console.log(page.statusCode); process.exit() })\n  \
          .on('error', error => console.log(error.code))).end()\n";
    let test = "what_the_host_trusts_every_language_does";
    let Some(bench) = &Bench::as_root(test) else { return };
    let Some((_server, port, certificate)) = tls_server(test, bench) else { return };
    let certificates = bench.scratch().dir("certificates");
    std::fs::write(certificates.join("ca-certificates.crt"), certificate).unwrap();
    if !std::path::Path::new("/etc/ssl/certs/ca-certificates.crt").is_file() {
        return skip(test, "this host keeps its certificates elsewhere");
    }
    for (language, file, script) in [("python", "page.py", PYTHON), ("node", "page.js", NODE)] {
        if language == "node" && !std::path::Path::new("/usr/bin/node").is_file() {
            skip(test, "no node here");
            continue;
        }
        let request = RequestText::of(language, &format!("{language} {file}")).memory_mb(512);
        let request = request.input(file, script.replace("PORT", &port.to_string()));
        let request = bench.save(&with_hosts(request, &[format!("127.0.0.1:{port}")]));
        // In its own mount namespace, the certificates of the host are those of the test.
        let mut run = bench.command("unshare");
        run.args(["--mount", "sh", "-c", "mount --bind \"$0\" /etc/ssl/certs && exec \"$@\""]);
        run.arg(&certificates).arg(bench.scratch().path().join("bin/toolexec")).arg("run");
        run.arg(request.path).args(["--format", "json", "--policy"]).arg(policy(bench, port));
        let record = Record::of(&CliOutput::of(&mut run));
        record.assert_outcome("ok");
        assert_eq!(record.stdout(), "200\n", "{language}: {}", record.stderr());
        assert_eq!(record.front_matter_value("refusals"), "[]");
    }
}

fn what_is_not_named_is_not_reached_but_reported(bench: &Bench) {
    let (pages, other) = (PageServer::new(), PageServer::new());
    let script = format!(
        "import urllib.request, urllib.error\n\
         for url in ['http://127.0.0.1:{}/', 'http://example.org/', 'https://example.org/']:\n  \
         try: print(urllib.request.urlopen(url).status)\n  \
         except urllib.error.HTTPError as error: print(error.code)\n  \
         except OSError as error: print('403' in str(error))\n",
        other.port
    );
    let (_, record) = record_of(bench, &request_with_port(&script, pages.port), pages.port);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "403\n403\nTrue\n", "{}", record.stderr());
    assert_eq!((pages.request_count(), other.request_count()), (0, 0));
    assert_eq!(record.front_matter_value("network_used"), "allowlist");
    assert_eq!(record.front_matter_value("network_destinations"), "[]");
    for part in [
        "reason: \"port: not among this host's ports\"",
        "- asked: \"GET http://example.org\"",
        "- asked: \"CONNECT example.org:443\"",
        "reason: \"host: not among this run's hosts\"",
        "Network confirmation: allowlist, no destination reached",
        "3 requests to destinations refused: ",
    ] {
        assert!(record.text.contains(part), "{part} is not in {}", record.text);
    }
}

fn there_is_no_way_past_the_proxy(bench: &Bench) {
    let (pages, other) = (PageServer::new(), PageServer::new());
    let script = format!(
        "import errno, socket\n\
         def attempt(what, kind, act):\n  \
         try: act(socket.socket(socket.AF_INET, kind)); print(what, 'done')\n  \
         except OSError as error: print(what, errno.errorcode[error.errno])\n\
         tcp, udp = socket.SOCK_STREAM, socket.SOCK_DGRAM\n\
         attempt('other', tcp, lambda it: it.connect(('127.0.0.1', {})))\n\
         attempt('host', tcp, lambda it: it.connect(('127.0.0.1', {})))\n\
         attempt('listen', tcp, lambda it: it.bind(('127.0.0.1', 4000)))\n\
         attempt('udp', udp, lambda it: it.sendto(b'x', ('192.0.2.1', 53)))\n\
         attempt('proxy', tcp, lambda it: it.connect(('127.0.0.1', 3128)))\n\
         for index in range(1, 100):\n  \
         try: print(socket.if_indextoname(index))\n  \
         except OSError: pass\n",
        other.port, pages.port
    );
    let (_, record) = record_of(bench, &request_with_port(&script, pages.port), pages.port);
    record.assert_outcome("ok");
    let tcp_held = record.front_matter_value("abi").parse::<u32>().unwrap() >= 4;
    let (refused, bound) = if tcp_held { ("EACCES", "EACCES") } else { ("ECONNREFUSED", "done") };
    let expected = format!(
        "other {refused}\nhost {refused}\nlisten {bound}\nudp EAFNOSUPPORT\nproxy done\nlo\n"
    );
    assert_eq!(record.stdout(), expected, "{}", record.stderr());
    assert_eq!((pages.request_count(), other.request_count()), (0, 0));
}

fn a_host_beyond_the_policy_is_refused_by_name(bench: &Bench) {
    let port = unused_port();
    let (output, record) =
        record_of(bench, &request_with_port("print(1)", port), port.wrapping_add(1));
    output.assert_code(2);
    record.assert_violation("network.not-permitted");
    let message =
        format!("network_allowlist: 127.0.0.1:{port} not permitted by policy network.hosts");
    assert!(record.text.contains(&message), "{}", record.text);
    assert_eq!(record.front_matter_value("network_used"), "none");
}

fn without_the_proxys_program_nothing_runs(bench: &Bench) {
    std::fs::remove_file(bench.scratch().path().join("bin/toolexec-egress")).unwrap();
    let port = unused_port();
    let (output, record) = record_of(bench, &request_with_port("print(1)", port), port);
    output.assert_code(2);
    record.assert_violation("network.not-permitted");
    output.assert_stderr(&["the proxy toolexec-egress is not installed"]);
    assert_eq!(record.front_matter_value("network_used"), "none");
    bench.assert_nothing_left();
}

fn network_of(record: &Record) -> String {
    let (_, rest) = record.text.split_once("- kind: \"net\"\n").unwrap();
    rest.lines().next().unwrap().trim().to_owned()
}

fn sandboxes_with_hosts_share_no_network(bench: &Bench) {
    let pages = PageServer::new();
    let script = "import time; time.sleep(6); print(1)";
    let policy = policy(bench, pages.port);
    let begun: Vec<Child> = (0..2)
        .map(|_| {
            let mut run = command(bench, &request_with_port(script, pages.port), &policy);
            run.arg("--state").arg(bench.home().join(format!("state-{}", unused_port())));
            run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let networks: Vec<String> = begun
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            let record = Record::of(&CliOutput::from_output(&output, Duration::ZERO));
            record.assert_outcome("ok");
            network_of(&record)
        })
        .collect();
    assert_ne!(networks[0], networks[1]);
}

fn without_hosts_nothing_of_it_is_there(bench: &Bench) {
    let script = "import os\n\
        print([name for name in os.environ if 'proxy' in name.lower() or name.startswith('SSL_')])\n\
        print(os.path.exists('/etc/ssl'), os.path.exists('/etc/ssl/certs'))";
    let port = unused_port();
    let (_, record) = record_of(bench, &RequestText::python(script), port);
    assert_eq!(record.stdout(), "[]\nFalse False\n", "{}", record.stderr());
    assert_eq!(record.front_matter_value("network"), "null");
    assert!(record.text.contains("Network confirmation: none used"));
    let (_, record) = record_of(bench, &request_with_port(script, port), port);
    let proxies = "'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', \
                   'all_proxy', 'NO_PROXY', 'no_proxy'";
    assert!(record.stdout().contains(proxies), "{}", record.stdout());
    let host_has = std::path::Path::new("/etc/ssl/certs").exists();
    assert_eq!(record.stdout().contains("True True"), host_has, "{}", record.stdout());
}

/// Prepares a daemon whose configuration sets the program of the proxy and fixed DNS answers: two
/// names resolve to the host's loopback, and the policy allows one of them.
fn service_with_names(bench: &Bench, port: u16) -> Service<'_> {
    let mut settings = ServiceConfig::for_owner(bench);
    let hosts = format!(
        "hosts: [{{host: data.test, ports: [{port}], private: [127.0.0.1]}}, \
         {{host: inner.test, ports: [{port}], private: []}}]"
    );
    settings.policy = settings.policy.replacen("hosts: []\n", &format!("{hosts}\n"), 1);
    let names = bench.scratch().file("names", "127.0.0.1 data.test inner.test\n");
    let mut service = Service::prepare(bench, &settings);
    let program = bench.scratch().path().join("bin/toolexec-egress");
    let mut config = std::fs::read_to_string(service.config()).unwrap();
    let (program, names) = (program.display(), names.display());
    config.push_str(&format!("egress:\n  program: {program}\n  hosts_file: {names}\n"));
    std::fs::write(service.config(), config).unwrap();
    service.spawn();
    service
}

fn with_hosts(request: RequestText, hosts: &[String]) -> RequestText {
    request
        .edit("network: \"none\"", "network: \"allowlist\"")
        .edit("network_allowlist: []", &format!("network_allowlist: {hosts:?}"))
        .edit("Network rationale: none", "Network rationale: the data is there.")
}

#[test]
fn names_lead_where_the_policy_lets_them() {
    let bench = &Bench::new();
    let pages = PageServer::new();
    let port = pages.port;
    let service = service_with_names(bench, port);
    // One run may name both: the policy for one name applies to that name alone.
    let script = format!(
        "import urllib.request, urllib.error\n\
         for name in ['inner.test', 'data.test', 'inner.test']:\n  \
         try: print(urllib.request.urlopen(f'http://{{name}}:{port}/').status)\n  \
         except urllib.error.HTTPError as error: print(error.code)\n"
    );
    let hosts = ["data.test", "inner.test"].map(|name| format!("{name}:{port}"));
    let request = with_hosts(RequestText::python(&script), &hosts);
    let record = service.record_of(&service.submit(&request).id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "403\n200\n403\n", "{}", record.stderr());
    assert_eq!(pages.request_count(), 1);
    assert_eq!(record.front_matter_value("network_destinations"), "[\"data.test\"]");
    let (_, refusals) = record.text.split_once("refusals:\n").unwrap();
    for part in [
        &format!("asked: \"GET http://inner.test:{port} -> 127.0.0.1\""),
        "reason: \"address: the name does not resolve to a public address\"",
        "times: 2",
    ] {
        assert!(refusals.contains(part), "{part} is not in {}", record.text);
    }
}

#[test]
fn clients_of_other_languages_reach_their_hosts() {
    const RUBY: &str = "require 'net/http'\nprint Net::HTTP.get(URI('http://data.test:PORT/'))\n";
    // By hand: before 22.21 and 24.0 Node's own clients do not support a proxy.
    const NODE: &str = "const proxy = new URL(process.env.http_proxy)\n\
        const asked = 'http://data.test:PORT/'\n\
        require('http').get({ host: proxy.hostname, port: proxy.port, path: asked,\n  \
          headers: { host: new URL(asked).host } }, page => page.pipe(process.stdout))\n";
    let bench = &Bench::new();
    let pages = PageServer::new();
    let service = service_with_names(bench, pages.port);
    let mut clients = 0;
    for (language, file, script) in [("ruby", "page.rb", RUBY), ("node", "page.js", NODE)] {
        if !std::path::Path::new("/usr/bin").join(language).is_file() {
            skip("clients_of_other_languages_reach_their_hosts", &format!("no {language} here"));
            continue;
        }
        clients += 1;
        let script = script.replace("PORT", &pages.port.to_string());
        let request = RequestText::of(language, &format!("{language} {file}"));
        let hosts = [format!("data.test:{}", pages.port)];
        let request = with_hosts(request.input(file, &script).memory_mb(512), &hosts);
        let record = service.record_of(&service.submit(&request).id);
        record.assert_outcome("ok");
        assert_eq!(record.stdout(), "some data\n", "{language}: {}", record.stderr());
        assert_eq!(record.front_matter_value("refusals"), "[]");
    }
    assert_eq!(pages.request_count(), clients);
}
