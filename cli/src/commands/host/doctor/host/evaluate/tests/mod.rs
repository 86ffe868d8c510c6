//! Hosts of every kind, each with one fault: the expected finding, its severity, and a remedy.

mod remedies;

use std::path::PathBuf;

use model::UtcTime;
use sandbox::subordinate::NoSubordinateIds;

use super::evaluate;
use crate::commands::host::doctor::host::finding::{DoctorFinding, FindingVerdict};
use crate::commands::host::doctor::host::model::{
    Cgroups, ClockReading, DiskReading, DiskSpace, DoctorSubject, DoctorUser, ExpectedDirectory,
    ExpectedOwner, FileKind, FileReading, FileState, HostReadings, Kernel, KeyLocation,
    KeyReadings, LogReading, Namespaces, PolicyRequirements, ProgramReading, RuleFileReading,
    RuleFileState, RuleFiles, RuntimeReading, SandboxProbe, Socket,
};

const NOW_UNIX: i64 = 1_800_000_000;
const DAEMON: u32 = 990;
const OPERATORS: u32 = 995;

fn good_host() -> HostReadings {
    let program = |name| ProgramReading {
        name,
        found: Ok(PathBuf::from("/usr/bin").join(name)),
        version: Ok(env!("CARGO_PKG_VERSION").to_owned()),
    };
    HostReadings {
        user: DoctorUser { uid: 0 },
        subject: DoctorSubject::Embedded { state: "/root/state".into() },
        kernel: Kernel {
            release: "6.12.9+deb13-amd64".to_owned(),
            machine: "x86_64".to_owned(),
            lsm: Ok("capability,landlock,yama,apparmor".to_owned()),
            landlock_abi: Ok(6),
            seccomp_actions: Ok("kill_process kill_thread trap errno user_notif log allow".into()),
            namespaces: Namespaces {
                max: Some(15_000),
                unprivileged_clone: Some(1),
                apparmor_restricts: None,
                apparmor_profile: false,
                tried: Some(Ok(())),
            },
        },
        cgroups: Ok(Cgroups::V2 { missing: Vec::new(), writable: true }),
        delegated: None,
        programs: ["toolexec", "toolexecd", "toolexec-launch", "toolexec-egress"]
            .map(program)
            .to_vec(),
        sandbox: SandboxProbe::Starts("starts".to_owned()),
        uids: None,
        runtimes: vec![RuntimeReading {
            name: "python".to_owned(),
            found: Ok("/usr/bin/python3.13".into()),
            version: Ok("3.13.1".to_owned()),
        }],
        backends: Vec::new(),
        rules: RuleFiles {
            config: None,
            policy: RuleFileReading {
                name: "policy",
                state: RuleFileState::Good("embedded".to_owned()),
            },
            demands: Some(PolicyRequirements { cgroup_exception: true, landlock_abi_min: 1 }),
            trust: Vec::new(),
        },
        sockets: Vec::new(),
        keys: Some(KeyReadings {
            source: KeyLocation::Files("/root/state/keys".into()),
            owner: 0,
            directory: entry("/root/state/keys", FileKind::Directory, 0o700, 0),
            files: vec![
                entry("/root/state/keys/result", FileKind::File, 0o600, 0),
                entry("/root/state/keys/log", FileKind::File, 0o600, 0),
            ],
            halves: vec!["result", "log"],
            unfinished: Vec::new(),
            public: Some(Ok("1 of results".to_owned())),
        }),
        directories: Vec::new(),
        spool_findings: Some(Ok(0)),
        disks: vec![DiskReading { name: "state", path: "/root/state".into(), space: Ok(SPACE) }],
        clock: ClockReading {
            now: UtcTime::from_unix(NOW_UNIX),
            synchronized: Ok(true),
            newest: None,
        },
        log: Some(LogReading::Good { origin: "host1".to_owned(), entries: 7 }),
    }
}

const SPACE: DiskSpace = DiskSpace {
    bytes_free: 20 << 30,
    bytes_total: 40 << 30,
    inodes_free: 2_000_000,
    inodes_total: 3_000_000,
    volatile: false,
    read_only: false,
};

fn good_service() -> HostReadings {
    let mut host = good_host();
    host.subject = DoctorSubject::Service {
        config: "/etc/toolexec/toolexecd.yaml".into(),
        spool: Some("/var/spool/toolexec".into()),
        state: Some("/var/lib/toolexec".into()),
    };
    host.delegated = Some(Ok(true));
    host.rules.demands = Some(PolicyRequirements { cgroup_exception: false, landlock_abi_min: 1 });
    host.rules.config = Some(RuleFileReading {
        name: "configuration",
        state: RuleFileState::Good("good".to_owned()),
    });
    host.sockets = vec![Socket {
        name: "toolexec-launch.socket",
        path: "/run/toolexec/launch.sock".into(),
        is_there: Ok(true),
    }];
    host.directories = vec![approved(0o3770, DAEMON, OPERATORS)];
    if let Some(keys) = &mut host.keys {
        keys.source = KeyLocation::Credentials("/run/credentials/toolexecd.service".into());
        keys.owner = DAEMON;
        keys.files = vec![
            entry("/run/credentials/toolexecd.service/result", FileKind::File, 0o440, 0),
            entry("/run/credentials/toolexecd.service/log", FileKind::File, 0o440, 0),
        ];
    }
    host
}

fn entry(path: &str, kind: FileKind, mode: u32, uid: u32) -> FileReading {
    FileReading { path: path.into(), state: FileState::Present { kind, mode, uid, gid: 0 } }
}

fn approved(mode: u32, uid: u32, gid: u32) -> ExpectedDirectory {
    let owner = |name: &str, id| ExpectedOwner { name: name.to_owned(), id: Some(id) };
    let found = FileState::Present { kind: FileKind::Directory, mode, uid, gid };
    ExpectedDirectory {
        entry: FileReading { path: "/var/spool/toolexec/approved".into(), state: found },
        mode: 0o3770,
        user: owner("toolexec", DAEMON),
        group: Some(owner("toolexec-operators", OPERATORS)),
    }
}

fn not_ok(host: &HostReadings) -> Vec<DoctorFinding> {
    let mut findings = evaluate(host);
    findings.retain(|finding| finding.verdict != FindingVerdict::Ok);
    findings
}

#[test]
fn good_host_is_ok_in_every_topic() {
    for host in [good_host(), good_service()] {
        assert_eq!(not_ok(&host), Vec::new());
        let findings = evaluate(&host);
        assert!(findings.iter().all(|finding| finding.remedy.is_none()));
        let mut topics: Vec<_> = findings.iter().map(|finding| finding.topic.as_str()).collect();
        topics.dedup();
        let all = [
            "kernel",
            "cgroups",
            "programs",
            "runtimes",
            "sandbox",
            "rules",
            "keys",
            "directories",
            "disk",
            "clock",
            "log",
        ];
        assert_eq!(topics, all);
    }
}

/// A fault of a good host, and the only finding that it must cause.
struct FaultCase {
    what: &'static str,
    host: fn() -> HostReadings,
    harm: fn(&mut HostReadings),
    verdict: FindingVerdict,
    object: &'static str,
    words: &'static [&'static str],
    remedy: &'static str,
}

fn check(cases: &[FaultCase]) {
    for case in cases {
        let mut host = (case.host)();
        (case.harm)(&mut host);
        let found = not_ok(&host);
        let [finding] = found.as_slice() else {
            panic!("{}: not one finding but {found:#?}", case.what);
        };
        assert_eq!(finding.verdict, case.verdict, "{}: {finding:?}", case.what);
        assert_eq!(finding.object, case.object, "{}", case.what);
        for word in case.words {
            assert!(finding.found.contains(word), "{}: {word:?} not in {finding:?}", case.what);
        }
        let remedy = finding.remedy.as_deref().unwrap_or_default();
        assert!(remedy.contains(case.remedy), "{}: {remedy:?}", case.what);
        remedies::assert_commands_parse(&host, remedy);
    }
}

fn bad_log(directory: &str) -> LogReading {
    LogReading::Bad {
        why: "not the tree".to_owned(),
        directory: directory.into(),
        key: "/var/lib/toolexec/keys/log.pub".into(),
    }
}

fn keys(host: &mut HostReadings) -> &mut KeyReadings {
    host.keys.as_mut().expect("it has keys")
}

fn ordinary() -> HostReadings {
    let mut host = good_host();
    host.user.uid = 1000;
    let keys = keys(&mut host);
    keys.owner = 1000;
    host
}

use FindingVerdict::{Failure, NotChecked, Warning};

#[test]
fn kernel_faults_are_reported() {
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "old", host: good_host, harm: |it| it.kernel.release = "5.15.0-91-generic".into(),
            verdict: Warning, object: "version", words: &["5.15.0", "6.1"], remedy: "apt-get install" },
        FaultCase { what: "unreadable version", host: good_host, harm: |it| it.kernel.release = "odd".into(),
            verdict: Warning, object: "version", words: &["odd"], remedy: "6.1" },
        FaultCase { what: "machine", host: good_host, harm: |it| it.kernel.machine = "riscv64".into(),
            verdict: Failure, object: "architecture", words: &["riscv64"], remedy: "x86_64" },
        FaultCase { what: "no landlock among the modules", host: good_host,
            harm: |it| it.kernel.lsm = Ok("capability,apparmor".into()),
            verdict: Failure, object: "security modules", words: &["capability,apparmor"], remedy: "lsm=landlock,capability" },
        FaultCase { what: "a module whose name begins so", host: good_host,
            harm: |it| it.kernel.lsm = Ok("landlocked".into()),
            verdict: Failure, object: "security modules", words: &[], remedy: "lsm=landlock" },
        FaultCase { what: "no securityfs", host: good_host, harm: |it| it.kernel.lsm = Err("gone".into()),
            verdict: NotChecked, object: "security modules", words: &["gone"], remedy: "mount -t securityfs" },
        FaultCase { what: "no landlock", host: good_host, harm: |it| it.kernel.landlock_abi = Err("ENOSYS".into()),
            verdict: Failure, object: "landlock", words: &["ENOSYS"], remedy: "CONFIG_SECURITY_LANDLOCK" },
        FaultCase { what: "landlock below the policy's", host: good_host,
            harm: |it| { it.kernel.landlock_abi = Ok(3); it.rules.demands = Some(PolicyRequirements { cgroup_exception: true, landlock_abi_min: 6 }); },
            verdict: Failure, object: "landlock", words: &["ABI 3", "requires 6"], remedy: "landlock_abi_min" },
        FaultCase { what: "no seccomp", host: good_host, harm: |it| it.kernel.seccomp_actions = Err("gone".into()),
            verdict: Failure, object: "seccomp", words: &["gone"], remedy: "CONFIG_SECCOMP_FILTER" },
        FaultCase { what: "no user_notif", host: good_host,
            harm: |it| it.kernel.seccomp_actions = Ok("kill_process errno allow".into()),
            verdict: Failure, object: "seccomp", words: &["user_notif"], remedy: "6.1" },
    ]);
}

#[test]
fn forbidden_namespaces_fail_users_that_need_them() {
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "none, ordinary", host: ordinary, harm: |it| it.kernel.namespaces.max = Some(0),
            verdict: Failure, object: "user namespaces", words: &["max_user_namespaces"], remedy: "sysctl -w user.max_user_namespaces" },
        FaultCase { what: "none, root", host: good_host, harm: |it| it.kernel.namespaces.max = Some(0),
            verdict: Warning, object: "user namespaces", words: &["name hosts"], remedy: "sysctl -w" },
        FaultCase { what: "clone, ordinary", host: ordinary, harm: |it| it.kernel.namespaces.unprivileged_clone = Some(0),
            verdict: Failure, object: "user namespaces", words: &["unprivileged_userns_clone"], remedy: "sysctl -w kernel.unprivileged_userns_clone=1" },
        FaultCase { what: "clone, service", host: good_service, harm: |it| it.kernel.namespaces.unprivileged_clone = Some(0),
            verdict: Warning, object: "user namespaces", words: &[], remedy: "sysctl -w" },
        FaultCase { what: "AppArmor, ordinary", host: ordinary, harm: |it| it.kernel.namespaces.apparmor_restricts = Some(1),
            verdict: Failure, object: "user namespaces", words: &["AppArmor", "no profile"],
            remedy: "cp /usr/share/toolexec/apparmor /etc/apparmor.d/toolexec && " },
        FaultCase { what: "AppArmor, root", host: good_host, harm: |it| it.kernel.namespaces.apparmor_restricts = Some(1),
            verdict: Warning, object: "user namespaces", words: &[], remedy: "apparmor_restrict" },
        FaultCase { what: "something else, ordinary", host: ordinary,
            harm: |it| it.kernel.namespaces.tried = Some(Err("EPERM".into())),
            verdict: Failure, object: "user namespaces", words: &["EPERM"], remedy: "unshare" },
        FaultCase { what: "not tried", host: ordinary, harm: |it| it.kernel.namespaces.tried = None,
            verdict: NotChecked, object: "user namespaces", words: &[], remedy: "unshare" },
    ]);
    let mut with_profile = ordinary();
    with_profile.kernel.namespaces.apparmor_restricts = Some(1);
    with_profile.kernel.namespaces.apparmor_profile = true;
    assert_eq!(not_ok(&with_profile), Vec::new());
}

#[test]
fn missing_groups_fail_without_a_policy_exception() {
    let none = |it: &mut HostReadings| it.cgroups = Ok(Cgroups::None);
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "none, with the exception", host: good_host, harm: none,
            verdict: Warning, object: "control groups", words: &["sampling"], remedy: "mount -t cgroup2" },
        FaultCase { what: "none, without", host: good_service, harm: none,
            verdict: Failure, object: "control groups", words: &["every run is refused"], remedy: "mount" },
        FaultCase { what: "none, the policy unread", host: good_host,
            harm: |it| { it.cgroups = Ok(Cgroups::None); it.rules.demands = None; },
            verdict: Warning, object: "control groups", words: &["not known"], remedy: "mount" },
        FaultCase { what: "no memory", host: good_service,
            harm: |it| it.cgroups = Ok(Cgroups::V2 { missing: vec!["memory".into()], writable: true }),
            verdict: Failure, object: "control groups", words: &["v2 without memory"], remedy: "cgroup_disable" },
        FaultCase { what: "not ours", host: ordinary,
            harm: |it| it.cgroups = Ok(Cgroups::V1 { missing: vec![], writable: false, bare_v2: true }),
            verdict: Warning, object: "control groups", words: &["v1 and v2"], remedy: "as root" },
        FaultCase { what: "not read", host: good_host, harm: |it| it.cgroups = Err("no /proc".into()),
            verdict: NotChecked, object: "control groups", words: &["no /proc"], remedy: "mount -t proc" },
        FaultCase { what: "not delegated", host: good_service, harm: |it| it.delegated = Some(Ok(false)),
            verdict: Warning, object: "delegation", words: &["Delegate="], remedy: "daemon-reload" },
        FaultCase { what: "no systemd", host: good_service, harm: |it| it.delegated = Some(Err("no systemctl".into())),
            verdict: NotChecked, object: "delegation", words: &[], remedy: "systemctl show" },
    ]);
    // The launcher, not the user of `doctor`, decides about the groups of a service's sandboxes.
    let mut service = good_service();
    service.cgroups = Ok(Cgroups::V2 { missing: Vec::new(), writable: false });
    assert_eq!(not_ok(&service), Vec::new());
}

#[test]
fn missing_programs_and_interpreters_are_reported() {
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "another version", host: good_host, harm: |it| it.programs[2].version = Ok("0.0.9".into()),
            verdict: Failure, object: "toolexec-launch", words: &["0.0.9"], remedy: "install toolexec-launch" },
        FaultCase { what: "no launcher", host: good_host, harm: |it| it.programs[2].found = Err("is not there".into()),
            verdict: Failure, object: "toolexec-launch", words: &["not there"], remedy: "beside toolexec" },
        FaultCase { what: "no proxy", host: good_host, harm: |it| it.programs[3].found = Err("is not there".into()),
            verdict: Warning, object: "toolexec-egress", words: &[], remedy: "install" },
        FaultCase { what: "no daemon, service", host: good_service, harm: |it| it.programs[1].found = Err("is not there".into()),
            verdict: Failure, object: "toolexecd", words: &[], remedy: "install" },
        FaultCase { what: "mute", host: good_host, harm: |it| it.programs[3].version = Err("others can change /opt".into()),
            verdict: NotChecked, object: "toolexec-egress", words: &["/opt"], remedy: "--version" },
        FaultCase { what: "no listener", host: good_service, harm: |it| it.sockets[0].is_there = Ok(false),
            verdict: Failure, object: "toolexec-launch.socket", words: &["launch.sock"], remedy: "systemctl enable --now" },
        FaultCase { what: "one interpreter", host: good_host, harm: |it| it.runtimes.push(RuntimeReading {
                name: "ts".into(), found: Err(Some("no loader".into())), version: Err(String::new()) }),
            verdict: Warning, object: "ts", words: &["no loader"], remedy: "doctor --build-cache ts" },
        FaultCase { what: "an interpreter that others can change", host: good_host,
            harm: |it| it.runtimes[0].version = Err("others can change /opt".into()),
            verdict: Warning, object: "python", words: &["/opt"], remedy: "ls -l" },
    ]);
    let mut bare = good_host();
    bare.runtimes[0].found = Err(None);
    let found = not_ok(&bare);
    assert!(found.iter().any(|it| it.object == "all" && it.verdict == Failure), "{found:?}");
    let mut alone = good_host();
    alone.programs[1].found = Err("is not there".to_owned());
    assert_eq!(not_ok(&alone), Vec::new(), "embedded runs need no daemon");
}

#[test]
fn failed_sandbox_start_is_a_failure_on_a_good_host() {
    let (what, remedy) = ("layer.cgroup: make a control group: Read-only", "mount it read-write");
    let fails = || SandboxProbe::Fails { what: what.to_owned(), help: remedy.to_owned() };
    for mut host in [good_host(), good_service()] {
        host.sandbox = fails();
        let found = not_ok(&host);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].verdict, found[0].found.as_str()), (Failure, what));
        assert_eq!(found[0].remedy.as_deref(), Some(remedy));
        host.sandbox =
            SandboxProbe::NotTried { why: "not root".to_owned(), remedy: "sudo".to_owned() };
        assert_eq!(not_ok(&host)[0].verdict, NotChecked);
    }
}

#[test]
fn rule_files_are_reported_as_their_readers_judge() {
    let judged = |name, output| RuleFileReading { name, state: output };
    let mut host = good_service();
    host.rules.config =
        Some(judged("configuration", RuleFileState::Bad("line 3: unknown".to_owned())));
    host.rules.policy = judged("policy", RuleFileState::Bad("limits.cpu: 0".to_owned()));
    host.rules.trust =
        vec![judged("revoked", RuleFileState::Unreadable("permission denied".to_owned()))];
    let found: Vec<_> = not_ok(&host).into_iter().map(|it| (it.object, it.verdict)).collect();
    let all = [("configuration", Failure), ("policy", Failure), ("revoked", NotChecked)];
    assert_eq!(found, all.map(|(object, verdict)| (object.to_owned(), verdict)));
    for finding in not_ok(&host).iter().take(2) {
        let remedy = finding.remedy.as_deref().unwrap_or_default();
        assert!(
            remedy.contains("toolexecd --config /etc/toolexec/toolexecd.yaml --check"),
            "{remedy}"
        );
    }
}

#[test]
fn exposed_keys_are_reported() {
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "open", host: good_host, harm: |it| keys(it).files[0] = entry("/k/result", FileKind::File, 0o640, 0),
            verdict: Failure, object: "private key result", words: &["0640"], remedy: "docs/keys.md, *A stolen key*" },
        FaultCase { what: "a stranger's", host: good_host, harm: |it| keys(it).files[1] = entry("/k/log", FileKind::File, 0o600, 7),
            verdict: Failure, object: "private key log", words: &["user 7"], remedy: "chown 0" },
        FaultCase { what: "a link", host: good_host, harm: |it| keys(it).files[0] = entry("/k/result", FileKind::Other, 0o777, 0),
            verdict: Failure, object: "private key result", words: &["not a regular file"], remedy: "ls -l" },
        FaultCase { what: "not for us", host: good_host,
            harm: |it| keys(it).files[0].state = FileState::Unreadable("EACCES".into()),
            verdict: NotChecked, object: "private key result", words: &["EACCES"], remedy: "as root" },
        FaultCase { what: "a directory for all", host: good_host,
            harm: |it| keys(it).directory = entry("/k", FileKind::Directory, 0o777, 0),
            verdict: Failure, object: "directory", words: &["0777"], remedy: "chmod 700" },
        FaultCase { what: "a stranger's directory", host: good_host,
            harm: |it| keys(it).directory = entry("/k", FileKind::Directory, 0o700, 7),
            verdict: Failure, object: "directory", words: &["user 7"], remedy: "chown" },
        FaultCase { what: "lent too widely", host: good_service,
            harm: |it| keys(it).files[0] = entry("/k/result", FileKind::File, 0o444, 0),
            verdict: Failure, object: "private key result", words: &["0444"], remedy: "docs/keys.md, *A stolen key*" },
        FaultCase { what: "not lent", host: good_service, harm: |it| keys(it).files[1].state = FileState::Missing,
            verdict: Failure, object: "private key log", words: &["cannot sign"], remedy: "LoadCredentialEncrypted=log" },
        FaultCase { what: "no directory of what was lent", host: good_service, harm: |it| keys(it).directory.state = FileState::Missing,
            verdict: Failure, object: "directory", words: &["cannot sign"], remedy: "while the service runs" },
        FaultCase { what: "lost", host: good_host, harm: |it| keys(it).files[1].state = FileState::Missing,
            verdict: Failure, object: "private key log", words: &["public half exists", "lost key", "no run can start"], remedy: "from a backup" },
        FaultCase { what: "a service's plain files", host: good_service,
            harm: |it| { keys(it).source = KeyLocation::Files("/var/lib/toolexec/keys".into()); keys(it).files.clear(); },
            verdict: Warning, object: "custody", words: &["backup"], remedy: "systemd-creds encrypt" },
        FaultCase { what: "an agent that is gone", host: good_service,
            harm: |it| { keys(it).source = KeyLocation::Agent { socket: "/run/a".into(), has: Err("refused".into()) }; keys(it).files.clear(); },
            verdict: Failure, object: "custody", words: &["refused"], remedy: "ssh-add -l" },
        FaultCase { what: "an agent without one", host: good_service,
            harm: |it| { keys(it).source = KeyLocation::Agent { socket: "/run/a".into(), has: Ok(vec![("SHA256:a".into(), true), ("SHA256:b".into(), false)]) }; keys(it).files.clear(); },
            verdict: Failure, object: "custody", words: &["SHA256:b"], remedy: "ssh-add -l" },
        FaultCase { what: "a change that was interrupted", host: good_host, harm: |it| keys(it).unfinished.push("log"),
            verdict: Failure, object: "change of log", words: &["interrupted"], remedy: "toolexec keys rotate --key log" },
        FaultCase { what: "public halves", host: good_host, harm: |it| keys(it).public = Some(Err("of two keys".into())),
            verdict: Failure, object: "public halves", words: &["two keys"], remedy: "backup" },
    ]);
}

#[test]
fn directories_are_compared_with_expected_modes() {
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "for all", host: good_service, harm: |it| it.directories = vec![approved(0o3777, DAEMON, OPERATORS)],
            verdict: Failure, object: "/var/spool/toolexec/approved", words: &["3777", "3770"], remedy: "chmod 3770" },
        FaultCase { what: "not sticky", host: good_service, harm: |it| it.directories = vec![approved(0o2770, DAEMON, OPERATORS)],
            verdict: Failure, object: "/var/spool/toolexec/approved", words: &["sticky"], remedy: "chmod 3770" },
        FaultCase { what: "closed", host: good_service, harm: |it| it.directories = vec![approved(0o3700, DAEMON, OPERATORS)],
            verdict: Warning, object: "/var/spool/toolexec/approved", words: &["closed", "3700"], remedy: "chmod 3770" },
        FaultCase { what: "without the group's bit", host: good_service, harm: |it| it.directories = vec![approved(0o1770, DAEMON, OPERATORS)],
            verdict: Warning, object: "/var/spool/toolexec/approved", words: &["1770"], remedy: "chmod 3770" },
        FaultCase { what: "a stranger's", host: good_service, harm: |it| it.directories = vec![approved(0o3770, 1000, OPERATORS)],
            verdict: Failure, object: "/var/spool/toolexec/approved", words: &["user 1000", "toolexec"], remedy: "chown toolexec:toolexec-operators" },
        FaultCase { what: "a group's that writes", host: good_service, harm: |it| it.directories = vec![approved(0o3770, DAEMON, 100)],
            verdict: Failure, object: "/var/spool/toolexec/approved", words: &["group 100"], remedy: "chown" },
        FaultCase { what: "not there", host: good_service, harm: |it| it.directories[0].entry.state = FileState::Missing,
            verdict: Warning, object: "/var/spool/toolexec/approved", words: &["does not exist"], remedy: "systemd-tmpfiles --create" },
        FaultCase { what: "no directory", host: good_service,
            harm: |it| it.directories[0].entry = entry("/var/spool/toolexec/approved", FileKind::Other, 0o777, 0),
            verdict: Failure, object: "/var/spool/toolexec/approved", words: &["not a directory"], remedy: "mkdir" },
        FaultCase { what: "leftovers", host: good_service, harm: |it| it.spool_findings = Some(Ok(3)),
            verdict: Warning, object: "contents", words: &["3"],
            remedy: "toolexec doctor --spool /var/spool/toolexec --state /var/lib/toolexec" },
    ]);
}

#[test]
fn unknown_owner_is_not_reported_as_checked() {
    fn owner_unknown(it: &mut HostReadings) {
        it.directories = vec![approved(0o3770, 1000, 100)];
        it.directories[0].user.id = None;
        it.directories[0].group.as_mut().expect("it has one").id = None;
    }
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "where the package puts it", host: good_service, harm: owner_unknown,
            verdict: Warning, object: "/var/spool/toolexec/approved",
            words: &["mode 3770, owned by user 1000", "no user toolexec and no group toolexec-operators"], remedy: "systemd-sysusers" },
        FaultCase { what: "elsewhere", host: good_service,
            harm: |it| { owner_unknown(it); it.directories[0].entry.path = "/srv/spool/approved".into(); },
            verdict: NotChecked, object: "/srv/spool/approved", words: &["owned by user 1000; this host has no user toolexec"],
            remedy: "ls -ld /srv/spool/approved" },
        FaultCase { what: "the group alone", host: good_service,
            harm: |it| it.directories[0].group.as_mut().expect("it has one").id = None,
            verdict: Warning, object: "/var/spool/toolexec/approved", words: &["has no group toolexec-operators"], remedy: "chown" },
        FaultCase { what: "open all the same", host: good_service,
            harm: |it| { owner_unknown(it); it.directories[0].entry = entry("/var/spool/toolexec/approved", FileKind::Directory, 0o3777, 1000); },
            verdict: Failure, object: "/var/spool/toolexec/approved", words: &["3777"], remedy: "chmod 3770" },
    ]);
}

#[test]
fn full_volatile_or_read_only_disks_are_reported() {
    fn with(change: impl Fn(&mut DiskSpace), host: &mut HostReadings) {
        let mut space = SPACE;
        change(&mut space);
        host.disks[0].space = Ok(space);
    }
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "full", host: good_host, harm: |it| with(|space| space.bytes_free = 1 << 20, it),
            verdict: Failure, object: "state", words: &["1 of 40960 MiB"], remedy: "toolexec gc" },
        FaultCase { what: "soon full", host: good_host, harm: |it| with(|space| space.bytes_free = 100 << 20, it),
            verdict: Warning, object: "state", words: &["soon full"], remedy: "df -h" },
        FaultCase { what: "no inodes", host: good_host, harm: |it| with(|space| space.inodes_free = 3, it),
            verdict: Failure, object: "state", words: &["3 of 3000000 inodes"], remedy: "make room" },
        FaultCase { what: "few inodes", host: good_host, harm: |it| with(|space| space.inodes_free = 900, it),
            verdict: Warning, object: "state", words: &["900"], remedy: "df -i" },
        FaultCase { what: "in memory", host: good_host, harm: |it| with(|space| space.volatile = true, it),
            verdict: Warning, object: "state", words: &["next boot"], remedy: "--state" },
        FaultCase { what: "read-only", host: good_host, harm: |it| with(|space| space.read_only = true, it),
            verdict: Failure, object: "state", words: &["read-only"], remedy: "remount,rw" },
        FaultCase { what: "not read", host: good_host, harm: |it| it.disks[0].space = Err("EACCES".into()),
            verdict: NotChecked, object: "state", words: &["EACCES"], remedy: "df" },
    ]);
    let mut uncounted = good_host();
    with(|space| (space.inodes_free, space.inodes_total) = (0, 0), &mut uncounted);
    assert_eq!(not_ok(&uncounted), Vec::new(), "btrfs counts no inodes");
}

#[test]
fn clock_and_log_faults_are_reported() {
    #[rustfmt::skip]
    check(&[
        FaultCase { what: "not synchronized", host: good_host, harm: |it| it.clock.synchronized = Ok(false),
            verdict: Warning, object: "synchronization", words: &["2027"], remedy: "timedatectl set-ntp" },
        FaultCase { what: "behind", host: good_service,
            harm: |it| it.clock.newest = Some((UtcTime::from_unix(NOW_UNIX + 60), "/r/TS-x".into())),
            verdict: Failure, object: "newest result", words: &["/r/TS-x", "later"], remedy: "--clock-was-set-back" },
        FaultCase { what: "of the epoch", host: good_host, harm: |it| it.clock.now = UtcTime::from_unix(1000),
            verdict: Failure, object: "newest result", words: &["1970"], remedy: "set-ntp" },
        FaultCase { what: "a log that was cut", host: good_host, harm: |it| it.log = Some(bad_log("/root/state/log")),
            verdict: Failure, object: "transparency log", words: &["not the tree"], remedy: "toolexec log fsck" },
        FaultCase { what: "a log that is not for us", host: good_host, harm: |it| it.log = Some(LogReading::Unreadable("EACCES".into())),
            verdict: NotChecked, object: "transparency log", words: &["EACCES"], remedy: "as root" },
    ]);
    let mut late = good_service();
    late.clock.newest = Some((UtcTime::from_unix(NOW_UNIX + 5), "/r/TS-x".into()));
    assert_eq!(not_ok(&late), Vec::new(), "clocks are set by a little all the time");
}

#[test]
fn missing_subordinate_uids_have_a_remedy() {
    let with = |uids| {
        let mut host = good_host();
        host.user = DoctorUser { uid: 1000 };
        host.uids = Some(uids);
        let of_uids = evaluate(&host).into_iter().find(|finding| finding.object == "uids");
        of_uids.map(|finding| (finding.verdict, finding.remedy.unwrap_or_default()))
    };
    for (missing, remedy) in [
        (NoSubordinateIds::Range("/etc/subuid"), "usermod --add-subuids"),
        (NoSubordinateIds::Range("/etc/subgid"), "--add-subgids"),
        (NoSubordinateIds::Program("newuidmap"), "install uidmap"),
    ] {
        let (verdict, advice) = with(Err(missing)).unwrap_or((FindingVerdict::Ok, String::new()));
        assert_eq!(verdict, FindingVerdict::Warning, "{missing}");
        assert!(advice.contains(remedy), "{advice}");
    }
    assert_eq!(with(Ok(256)), Some((FindingVerdict::Ok, String::new())));
    assert!(evaluate(&good_host()).iter().all(|finding| finding.object != "uids"));
}
