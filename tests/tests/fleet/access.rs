//! The way to the database: passwords come from a file, and a network has TLS with a known
//! authority.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, CliOutput, TestFleet, skip};

/// Everyone logs in with a password, except the owner at the Unix socket.
const WITH_PASSWORDS: &str = "local all postgres trust\nlocal all all scram-sha-256\n\
                              hostssl all all 127.0.0.1/32 scram-sha-256\n";

/// An authority with a certificate for the name `localhost`, and an authority that signed nothing.
const CERTIFICATES: &str = "
for name in authority stranger; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \\
        -subj \"/CN=$name\" -keyout $name.key -out $name.pem 2>/dev/null
done
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \\
    -keyout server.key -out server.csr 2>/dev/null
printf 'subjectAltName=DNS:localhost\\nbasicConstraints=CA:FALSE\\n' >extensions
openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \\
    -extfile extensions -out server.pem 2>/dev/null
";

/// Runs `toolexec list` with an address and more words.
fn list(fleet: &TestFleet<'_>, url: &str, words: &[&str]) -> CliOutput {
    let mut command = fleet.hosts[0].bench.command("toolexec");
    CliOutput::of(command.args(["list", "--fleet", url]).args(words))
}

#[test]
fn a_password_comes_from_a_private_file() {
    let test = "a_password_comes_from_a_private_file";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    for role in ["alice", "host-a"] {
        fleet.database.query(&format!("ALTER ROLE \"{role}\" PASSWORD 'open sesame'"));
    }
    fleet.database.set_logins(WITH_PASSWORDS);
    let [right, wrong, public] = ["right", "wrong", "public"].map(|name| {
        let word = if name == "wrong" { "shut sesame\n" } else { "open sesame\n" };
        let path = fleet.scratch_file(name, word);
        let mode = if name == "public" { 0o644 } else { 0o600 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let url = fleet.database.url("alice");
    list(&fleet, &url, &["--password-file", &right]).assert_code(0);
    for (words, reason) in [
        (Vec::new(), "it refuses the login"),
        (vec!["--password-file", wrong.as_str()], "it refuses the login"),
        (vec!["--password-file", public.as_str()], "every user of this host may use it"),
        (vec!["--password-file", "/does/not/exist"], "/does/not/exist"),
    ] {
        let output = list(&fleet, &url, &words);
        output.assert_code(3);
        output.assert_stderr(&[reason, "help: "]);
        assert!(!output.stderr.contains("sesame"), "{output:#?}");
    }
    let with_password = url.replace("&user=alice", "&user=alice&password=open%20sesame");
    let output = list(&fleet, &with_password, &[]);
    output.assert_code(3);
    output.assert_stderr(&["it has a password, which other users of this host can see", "help: "]);
    assert!(!output.stderr.contains("sesame"), "{output:#?}");
    // The agent reads it in the same way.
    fleet.hosts[0].set_agent("password_file", &right);
    fleet.spawn();
    let saved = fleet.save(&fleet.request());
    let path = saved.path.to_str().unwrap();
    let mut submit = benches[0].command("toolexec");
    submit.args(["submit", path, "--fleet", &url, "--password-file", &right]);
    CliOutput::of(&mut submit).assert_code(0);
    fleet.hosts[0].service.record_of(&saved.id).assert_outcome("ok");
    fleet.stop();
}

#[test]
fn a_network_has_tls_with_a_known_authority() {
    let test = "a_network_has_tls_with_a_known_authority";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let place = benches[0].scratch().dir("certificates");
    let mut shell = benches[0].shell(CERTIFICATES);
    let made = CliOutput::of(shell.current_dir(&place));
    if made.code != Some(0) {
        return skip(test, &format!("openssl cannot be used: {}", made.stderr));
    }
    let file = |name: &str| fs::read_to_string(place.join(name)).unwrap();
    fleet.database.write_private("server.crt", &file("server.pem"));
    fleet.database.write_private("server.key", &file("server.key"));
    fleet.database.query("ALTER ROLE alice PASSWORD 'open sesame'");
    fleet.database.append("ssl = on\n");
    let port = fleet.database.listen_on_loopback();
    fleet.database.set_logins(WITH_PASSWORDS);
    let password = fleet.scratch_file("password", "open sesame\n");
    fs::set_permissions(&password, Permissions::from_mode(0o600)).unwrap();
    let password = password.to_str().unwrap();
    let [authority, stranger] =
        ["authority.pem", "stranger.pem"].map(|name| place.join(name).to_str().unwrap().to_owned());
    let url = format!("postgres://alice@localhost:{port}/toolexec");
    let with =
        |url: &str, ca: &str| list(&fleet, url, &["--password-file", password, "--ca-file", ca]);
    with(&url, &authority).assert_code(0);
    let by_address = url.replace("localhost", "127.0.0.1");
    for (url, ca) in [(&url, &stranger), (&by_address, &authority)] {
        let output = with(url, ca);
        output.assert_code(3);
        output.assert_stderr(&["TLS failed", "help: name the authority"]);
    }
    // Plain text is for loopback only, where this server does not accept it.
    let output = list(&fleet, &url, &["--password-file", password]);
    output.assert_code(3);
    output.assert_stderr(&["it refuses the login"]);
    let elsewhere = "postgres://alice@db.example/toolexec?sslmode=disable";
    let output = list(&fleet, elsewhere, &[]);
    output.assert_code(3);
    output.assert_stderr(&["it asks for TCP without TLS to another host", "help: "]);
}

#[test]
fn an_address_that_cannot_be_used_is_explained() {
    let test = "an_address_that_cannot_be_used_is_explained";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let good = fleet.database.url("alice");
    let no_database = fleet.database.url_of("alice", "nowhere");
    let no_role = fleet.database.url("mallory");
    let options = format!("{good}&options=-c%20search_path=x");
    for (url, reason) in [
        ("mysql://alice@localhost/toolexec", "not a URL of PostgreSQL"),
        ("postgres://", "help: "),
        ("postgres:///toolexec?host=/does/not/exist&user=alice", "it cannot be reached"),
        (no_database.as_str(), "the database does not exist"),
        (no_role.as_str(), "it refuses the login"),
        (options.as_str(), "it has `options`, which change the session"),
    ] {
        let output = list(&fleet, url, &[]);
        assert_eq!(output.code, Some(3), "{url}: {output:#?}");
        output.assert_stderr(&[reason, "help: "]);
    }
}
