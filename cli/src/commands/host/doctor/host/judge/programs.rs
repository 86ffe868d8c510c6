//! The programs of TOOL-EXEC, which must have the same version, and the interpreters of the policy.

use model::Language;

use super::commands;
use crate::commands::host::doctor::host::finding::{Finding, FindingVerdict, Topic};
use crate::commands::host::doctor::host::model::{Program, Readings, RuntimeSeen};

const OWN: &str = env!("CARGO_PKG_VERSION");

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        host.programs.iter().map(|program| of_program(host, program)).collect();
    findings.extend(host.sockets.iter().map(|socket| {
        let (name, path) = (socket.name, socket.path.display());
        match &socket.is_there {
            Ok(true) => Finding::ok(Topic::Programs, name, path.to_string()),
            Ok(false) => Finding::wrong(
                missing(name),
                Topic::Programs,
                name,
                format!("{path}: not a listening socket"),
                format!("run `systemctl enable --now {name}`"),
            ),
            Err(why) => {
                let why = format!("{path}: {why}");
                Finding::unseen(Topic::Programs, name, why, "run this as root")
            }
        }
    }));
    findings.extend(host.runtimes.iter().map(|runtime| of_runtime(host, runtime)));
    if !host.runtimes.is_empty() && host.runtimes.iter().all(|runtime| runtime.found.is_err()) {
        let remedy = "install an interpreter, for example with `apt-get install python3`";
        let found = "no runtime of the policy is installed: every request is refused";
        findings.push(Finding::failure(Topic::Runtimes, "all", found, remedy));
    }
    findings
}

/// Returns the verdict for a missing program. Without the proxy only requests that name hosts are
/// refused.
fn missing(name: &str) -> FindingVerdict {
    if name.starts_with("toolexec-egress") {
        FindingVerdict::Warning
    } else {
        FindingVerdict::Failure
    }
}

fn of_program(host: &Readings, program: &Program) -> Finding {
    let name = program.name;
    let path = match &program.found {
        Ok(path) => path.display(),
        Err(_) if name == "toolexecd" && !host.subject.is_service() => {
            return Finding::ok(Topic::Programs, name, "not installed; only a service needs it");
        }
        Err(why) => {
            let remedy = format!("install {name} {OWN} beside toolexec");
            return Finding::wrong(missing(name), Topic::Programs, name, why, remedy);
        }
    };
    match &program.version {
        Ok(version) if version == OWN => {
            Finding::ok(Topic::Programs, name, format!("{version}, {path}"))
        }
        Ok(version) => Finding::failure(
            Topic::Programs,
            name,
            format!("{path} has version {version}, this program {OWN}: they do not work together"),
            format!("install {name} {OWN}, and restart the services"),
        ),
        Err(why) => {
            let why = format!("{path}: {why}");
            Finding::unseen(Topic::Programs, name, why, format!("run `{path} --version`"))
        }
    }
}

fn of_runtime(host: &Readings, runtime: &RuntimeSeen) -> Finding {
    let name = &runtime.name;
    match (&runtime.found, &runtime.version) {
        (Ok(path), Ok(version)) => {
            Finding::ok(Topic::Runtimes, name, format!("{version}, {}", path.display()))
        }
        (Ok(path), Err(why)) => Finding::warning(
            Topic::Runtimes,
            name,
            format!("{}: {why}", path.display()),
            format!("check its owner and mode with `ls -l {}`", path.display()),
        ),
        (Err(why), _) => {
            let why = why.as_deref().unwrap_or("no program with its name was found");
            Finding::warning(
                Topic::Runtimes,
                name,
                format!("{why}; its requests are refused"),
                install(host, name),
            )
        }
    }
}

fn install(host: &Readings, runtime: &str) -> String {
    let Some(language) = Language::named(runtime) else {
        return "install it where the policy expects it, or remove it from the policy".to_owned();
    };
    let install = format!("apt-get install {}", language.runtime().packages.join(" "));
    if language.runtime().warmed {
        format!("run `{install} && {}`", commands::warm(host, runtime))
    } else {
        format!("run `{install}`")
    }
}
