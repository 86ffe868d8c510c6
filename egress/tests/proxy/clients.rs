//! Common HTTP clients, configured by the environment variables of a sandbox: a page by plain HTTP,
//! one over TLS, and a host that is not allowed. A client that is not installed is skipped.

use std::path::PathBuf;
use std::process::{Command, Output};

use egress::frame::EgressRefusalReason;

use crate::servers::{HELLO, TestIdentity, http, tls_saying};
use crate::skip::skip;
use crate::support::{HostsFile, ProxyRun, reasons, rule};

const ONE: &str = "127.0.0.1 one.example\n";

const PYTHON: &str = "import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode(), end='')";
const RUBY: &str = "require 'net/http'
page = Net::HTTP.get_response(URI(ARGV[0]))
abort page.code unless page.code == '200'
print page.body";
const NODE: &str =
    "fetch(process.argv[1]).then(page => page.ok ? page.text() : Promise.reject(page.status))
.then(text => process.stdout.write(text), why => { console.error(why); process.exit(1) })";
/// With `undici`, the library of Node's own fetch, configured for the proxy.
const UNDICI: &str = "const { fetch, EnvHttpProxyAgent, setGlobalDispatcher } = require('undici')
setGlobalDispatcher(new EnvHttpProxyAgent())
fetch(process.argv[1]).then(page => page.ok ? page.text() : Promise.reject(page.status))
.then(text => process.stdout.write(text), why => { console.error(why); process.exit(1) })";
/// For plain HTTP in an older Node, which itself names the proxy as the host.
const NODE_BY_HAND: &str =
    "const [asked, proxy] = [process.argv[1], new URL(process.env.http_proxy)]
require('http').get({ host: proxy.hostname, port: proxy.port, path: asked,
  headers: { host: new URL(asked).host } }, page => {
  process.exitCode = page.statusCode == 200 ? 0 : 1
  page.pipe(process.stdout)
})";
const GO: &str = "package main
import (\"fmt\"; \"io\"; \"net/http\"; \"os\")
func main() {
  page, err := http.Get(os.Args[1])
  if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) }
  if page.StatusCode != 200 { fmt.Fprintln(os.Stderr, page.Status); os.Exit(1) }
  io.Copy(os.Stdout, page.Body)
}";

/// The modules that `tests/prepare` has installed.
fn modules() -> Option<PathBuf> {
    std::env::var_os("TOOLEXEC_NODE_MODULES").map(PathBuf::from)
}

struct ProxyScene {
    run: ProxyRun,
    plain: u16,
    tls: u16,
    authorities: HostsFile,
}

impl ProxyScene {
    fn new() -> Self {
        let (plain, identity) = (http(HELLO).port, TestIdentity::new("one.example"));
        let tls = tls_saying(&identity, Some(HELLO)).port;
        let run = ProxyRun::among(ONE, vec![rule("one.example", &[plain, tls])]);
        Self { run, plain, tls, authorities: HostsFile::new(&identity.pem()) }
    }

    fn page(&self, scheme: &str, port: u16) -> String {
        format!("{scheme}://one.example:{port}/")
    }

    fn ask(&self, words: &[&str], url: &str) -> Output {
        let proxy = format!("http://{}", self.run.proxy);
        let mut command = Command::new(words[0]);
        // As in a sandbox, no variable of the host is inherited.
        command.args(&words[1..]).arg(url).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/");
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, &proxy).env(name.to_uppercase(), &proxy);
        }
        command.env("no_proxy", "").env("NO_PROXY", "").env("NODE_USE_ENV_PROXY", "1");
        command.env("SSL_CERT_FILE", self.authorities.path());
        command.env("NODE_EXTRA_CA_CERTS", self.authorities.path());
        if let Some(modules) = modules() {
            command.env("NODE_PATH", modules);
        }
        command.output().unwrap()
    }

    #[track_caller]
    fn assert_served(&self, words: &[&str], url: &str) {
        let got = self.ask(words, url);
        assert_eq!(String::from_utf8_lossy(&got.stdout), "hello\n", "{url}: {got:?}");
    }

    /// Checks that both pages arrive, and that a host that is not allowed does not answer.
    #[track_caller]
    fn assert_goes_through(self, words: &[&str]) {
        self.assert_served(words, &format!("http://one.example:{}/", self.plain));
        self.assert_served(words, &format!("https://one.example:{}/", self.tls));
        let refused = self.ask(words, &format!("https://two.example:{}/", self.tls));
        assert!(!refused.status.success(), "{refused:?}");
        let report = self.run.close();
        assert_eq!(report.hosts[0].connections, 2);
        assert_eq!(reasons(&report), [(EgressRefusalReason::Host, 1)], "{report:?}");
    }
}

/// Reports the test as skipped if the client is not installed.
fn is_here(test: &str, client: &str) -> bool {
    let found = Command::new("sh").args(["-c", "command -v \"$0\"", client]).output().unwrap();
    if !found.status.success() {
        skip(test, &format!("no {client} on this host"));
    }
    found.status.success()
}

#[test]
fn curl_goes_through() {
    if is_here("curl_goes_through", "curl") {
        ProxyScene::new().assert_goes_through(&["curl", "-sSf"]);
    }
}

#[test]
fn python_goes_through() {
    if is_here("python_goes_through", "python3") {
        ProxyScene::new().assert_goes_through(&["python3", "-c", PYTHON]);
    }
}

#[test]
fn ruby_goes_through() {
    if is_here("ruby_goes_through", "ruby") {
        ProxyScene::new().assert_goes_through(&["ruby", "-e", RUBY]);
    }
}

#[test]
fn go_goes_through() {
    if !is_here("go_goes_through", "go") {
        return;
    }
    let place = std::env::temp_dir().join(format!("toolexec-egress-go-{}", std::process::id()));
    std::fs::create_dir(&place).unwrap();
    let (source, program) = (place.join("main.go"), place.join("main"));
    std::fs::write(&source, GO).unwrap();
    let mut build = Command::new("go");
    // A separate cache would compile the whole library; without a home directory no cache is used.
    build.args(["build", "-o"]).arg(&program).arg(&source).env("CGO_ENABLED", "0");
    let built = build.env("GO111MODULE", "off").output().unwrap();
    if built.status.success() {
        ProxyScene::new().assert_goes_through(&[program.to_str().unwrap()]);
    } else {
        skip("go_goes_through", &String::from_utf8_lossy(&built.stderr).replace('\n', " "));
    }
    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn node_goes_through() {
    const TEST: &str = "node_goes_through";
    if !is_here(TEST, "node") {
        return;
    }
    let scene = ProxyScene::new();
    scene.assert_served(&["node", "-e", NODE_BY_HAND], &scene.page("http", scene.plain));
    let new = "const [major, minor] = process.versions.node.split('.').map(Number)
        process.exit(major > 23 || (major == 22 && minor > 20) ? 0 : 1)";
    let script = if Command::new("node").args(["-e", new]).status().unwrap().success() {
        NODE
    } else if modules().is_some_and(|it| it.join("undici").is_dir()) {
        UNDICI
    } else {
        // 22.21 and 24.0 are the first versions that know it.
        return skip(
            TEST,
            "this Node's fetch knows no proxy, and TOOLEXEC_NODE_MODULES has no undici",
        );
    };
    scene.assert_served(&["node", "-e", script], &scene.page("https", scene.tls));
}
