//! Types docs/fleet.md from the first line to the last, for three hosts on this one. `systemctl` is
//! a short function of this test, and the database is a server of the test. `.ci/fleet` types the
//! same page on three booted hosts.

use std::fs;
use std::path::Path;

use toolexec_tests::{
    ANSWERED_PROMPTS, Bench, CliOutput, DocPage, HOST_FILES, PostgresServer, list,
    ssh_keygen_works, workspace,
};

const HOSTS: [&str; 3] = ["host-a", "host-b", "host-c"];
const FLEET_ID: &str = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";
const REQUEST: &str = "TR-20260209-160501Z-stats";
/// The addresses of the page, by role.
const SERVER: &str = "@db.example/toolexec";
/// The address of the page on the server itself.
const SOCKET: &str = "'postgres:///toolexec?host=/run/postgresql&user=postgres'";

/// The hosts before the page begins: each has a package, a policy, an approver and keys. The server
/// asks for no password, and the files have one.
const HOST: &str = r#"
cd ~
mkdir -p ~/.ssh
ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/id_ed25519
ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/operator
cp ~/.ssh/operator.pub ~/operator.pub
(umask 077; for role in host-{a,b,c} alice postgres; do echo secret > ~/$role.password; done)
for host in host-a host-b host-c; do
    mkdir -p ~/$host/etc ~/$host/spool/{approved,results,public,log}
    echo "alice namespaces=\"approve.tool-exec@threegate\" $(cat ~/.ssh/id_ed25519.pub)" > ~/$host/etc/allowed_signers
    command toolexec policy show standard > ~/$host/etc/policy.yaml
    fit_policy ~/$host
    write_config ~/$host
    echo "log: {origin: $host}" >> ~/$host/etc/toolexecd.yaml
    command toolexec keys init --config ~/$host/etc/toolexecd.yaml > ~/said
done
echo "print('ran')" > ~/stats.py
command toolexec draft --slug stats --purpose 'A test' --language python --input stats.py --risk low \
    --sensitivity public --justification 'it is a test' --dir ~ -- python stats.py > ~/said
"#;

/// The commands of the page that this test replaces. A host that is started is stopped at the end.
const REPLACED: &str = r#"
cd ~
declare -A agents daemons
ended() {
    local programs="${agents[$1]:-} ${daemons[$1]:-}"
    kill $programs || true
    wait $programs || true
    unset "agents[$1]" "daemons[$1]"
}
trap 'for host in "${!agents[@]}"; do ended $host; done' EXIT
systemctl() {
    case $* in
        'enable --now toolexec-fleet')
            toolexec-fleet serve --config ~/$host/etc/toolexec-fleet.yaml > ~/$host/agent.log 2>&1 &
            agents[$host]=$!
            ;;
        'restart toolexecd')
            toolexecd --config ~/$host/etc/toolexecd.yaml > ~/$host/daemon.log 2>&1 &
            daemons[$host]=$!
            timeout 90 sh -c "until grep -q ready ~/$host/daemon.log; do sleep 0.05; done"
            ;;
        *) return 1 ;;
    esac
}
id=$(basename ~/TR-*-stats.md .md)
"#;

/// The page with the server and the request of the test.
struct TypedPage<'a> {
    server: &'a PostgresServer,
    home: &'a Path,
}

impl TypedPage<'_> {
    /// Replaces the addresses and the request of the page.
    fn localized(&self, block: &str) -> String {
        let mut block = block.replace(REQUEST, "$id");
        for role in HOSTS.into_iter().chain(["alice", "postgres"]) {
            let ours = format!("'{}'", self.server.url(role));
            block = block.replace(&format!("postgres://{role}{SERVER}"), &ours);
        }
        let block = block.replace(SOCKET, &format!("'{}'", self.server.owner_url()));
        assert!(!block.contains("db.example"), "{block}");
        // The operator types on a host that has the approvers.
        block.replace("/etc/toolexec/", &format!("{}/host-a/etc/", self.home.display()))
    }

    /// Returns a block of `host-a` as it is typed on a host.
    fn on_host(&self, block: &str, host: &str) -> String {
        let place = self.home.join(host);
        let place = place.display();
        let check = "sudo -u toolexec-fleet /usr/libexec/toolexec/toolexec-fleet check";
        assert_eq!(block.matches(check).count(), 1, "{block}");
        let block = block.replace("host-a", host);
        let block = block
            .replace(
                check,
                &format!("toolexec-fleet check --config {place}/etc/toolexec-fleet.yaml"),
            )
            // One user is all users of this host.
            .replace("install -m 640 -g toolexec-fleet ", "install -m 640 ")
            .replace("/run/toolexec-fleet/gate", &format!("{place}/gate"))
            .replace("/etc/toolexec/", &format!("{place}/etc/"))
            // The keys that the package's paths make unnecessary.
            .replace(
                "without_audience: true\n",
                &format!(
                    "without_audience: true\nspool: {place}/spool\nstate: {place}/agent\nsocket: \
                     {place}/gate\nfleet_list: {place}/etc/fleet.yaml\nallowed_signers: \
                     {place}/etc/allowed_signers\n"
                ),
            );
        format!("host={host}\n{}", self.localized(&block))
    }

    fn on_each_host(&self, block: &str) -> String {
        HOSTS.map(|host| self.on_host(block, host)).concat()
    }

    /// Waits for the first beat of each host.
    fn wait_for_hosts(&self) -> String {
        let status = format!("toolexec fleet status --database '{}'", self.server.url("alice"));
        let of_host = |host: &str| {
            let seen = format!("{status} | grep -qx 'host      {host}'");
            format!("timeout 90 bash -c \"until {seen}; do sleep 0.1; done\"\n")
        };
        HOSTS.map(of_host).concat()
    }
}

/// Returns the logs of the hosts, for a failure.
fn logs(home: &Path) -> String {
    let logs = HOSTS.iter().flat_map(|host| {
        let place = home.join(host);
        ["agent.log", "daemon.log"].map(|name| fs::read_to_string(place.join(name)))
    });
    logs.flatten().collect()
}

/// Types the block that makes the tables, and makes the roles. Returns the id of the fleet.
fn make_tables(bench: &Bench, typed: &TypedPage<'_>, init: &str, roles: &str) -> String {
    // The server of the test has the database.
    let init = init.strip_prefix("createdb toolexec\n").expect("the database first");
    let init =
        CliOutput::of(&mut bench.shell(&format!("{HOST_FILES}{HOST}{}", typed.localized(init))));
    init.assert_code(0);
    let sql = roles.strip_prefix("psql toolexec <<'SQL'\n").and_then(|it| it.strip_suffix("SQL\n"));
    let sql = sql.expect("the SQL of the roles");
    for line in sql.lines() {
        assert!(init.stdout.contains(line), "`init` does not print {line}: {init:#?}");
    }
    typed.server.query(sql);
    let id = init.stdout.lines().find_map(|line| line.strip_prefix("  fleet_id: "));
    id.unwrap_or_else(|| panic!("no id: {init:#?}")).to_owned()
}

#[test]
fn three_hosts_share_requests_as_the_page_says() {
    let test = "three_hosts_share_requests_as_the_page_says";
    if !ssh_keygen_works(test) {
        return;
    }
    let Some(server) = PostgresServer::start(test) else { return };
    let bench = Bench::new();
    let home = bench.home();
    let typed = TypedPage { server: &server, home: &home };
    let blocks = DocPage::open("docs/fleet.md").blocks("sh");
    let [init, roles, describe, sign, start, use_it, fetch, look, lost] = &blocks[..] else {
        panic!("{} blocks", blocks.len());
    };
    let id = make_tables(&bench, &typed, init, roles);
    assert_eq!(sign.matches(FLEET_ID).count(), 1, "{sign}");
    let script = [
        format!("{ANSWERED_PROMPTS}{REPLACED}"),
        typed.on_each_host(describe),
        sign.replace(FLEET_ID, &id),
        typed.on_each_host(start),
        typed.wait_for_hosts(),
        typed.localized(use_it),
        typed.localized(fetch),
        typed.localized(look),
        "ended host-c\n".to_owned(),
        typed.localized(lost),
    ];
    let output = CliOutput::of(&mut bench.shell(&script.concat()));
    assert_eq!(output.code, Some(0), "{output:#?}\n{}", logs(&home));
    for words in [
        "submitted to the fleet",
        "  ok  on host-",
        "verified: ok",
        " of host host-",
        "host-c: declared lost",
    ] {
        assert!(output.stdout.contains(words), "no {words:?}: {output:#?}");
    }
    let records = HOSTS.map(|host| list(&home.join(host).join("spool/results")).len());
    assert_eq!(records.iter().sum::<usize>(), 1, "{records:?}");
}

/// The keys of the configuration, as the program reads them.
fn keys_of_the_agent() -> Vec<String> {
    let source = fs::read_to_string(workspace().join("fleet/src/agent/raw_config.rs")).unwrap();
    let (_, form) = source.split_once("struct RawAgentConfig {\n").unwrap();
    let (form, _) = form.split_once("\n}\n").unwrap();
    let fields = form.lines().filter_map(|line| line.trim().strip_prefix("pub(super) "));
    let keys = fields.filter_map(|field| field.split_once(": "));
    let keys: Vec<_> = keys.map(|(key, _)| key.to_owned()).collect();
    assert!(keys.len() > 10, "{keys:?}: the search is broken");
    keys
}

#[test]
fn the_page_has_every_key_of_the_configuration() {
    let section = DocPage::open("docs/fleet.md").section("Configuration of a host");
    let rows: Vec<&str> = section.text().lines().filter(|line| line.starts_with("| `")).collect();
    let named: Vec<&str> = rows
        .iter()
        .flat_map(|row| row[2..].split(" | ").next().unwrap().split('`').skip(1).step_by(2))
        .map(|key| key.split(':').next().unwrap())
        .collect();
    let keys = keys_of_the_agent();
    // The version of the form has one value so far.
    for key in keys.iter().filter(|key| *key != "config_version") {
        assert!(named.contains(&key.as_str()), "{key} is not in {named:?}");
    }
    for key in named {
        assert!(keys.iter().any(|it| it == key), "{key}: the agent has no such key");
    }
}
