//! The programs of TOOL-EXEC, which must have the same version, and the interpreters of the policy.

use model::Language;

use super::commands;
use crate::commands::host::doctor::host::finding::{DoctorFinding, FindingVerdict, Topic};
use crate::commands::host::doctor::host::model::{HostReadings, ProgramReading, RuntimeReading};

const OWN: &str = env!("CARGO_PKG_VERSION");

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> =
        host.programs.iter().map(|program| of_program(host, program)).collect();
    findings.extend(host.sockets.iter().map(|socket| {
        let (name, path) = (socket.name, socket.path.display());
        match &socket.is_there {
            Ok(true) => DoctorFinding::ok(Topic::Programs, name, path.to_string()),
            Ok(false) => DoctorFinding::problem(
                missing(name),
                Topic::Programs,
                name,
                format!("{path}: not a listening socket"),
                format!("run `systemctl enable --now {name}`"),
            ),
            Err(why) => {
                let why = format!("{path}: {why}");
                DoctorFinding::not_checked(Topic::Programs, name, why, "run this as root")
            }
        }
    }));
    findings.extend(host.runtimes.iter().map(|runtime| of_runtime(host, runtime)));
    if !host.runtimes.is_empty() && host.runtimes.iter().all(|runtime| runtime.found.is_err()) {
        let remedy = "install an interpreter, for example with `apt-get install python3`";
        let found = "no runtime of the policy is installed: every request is refused";
        findings.push(DoctorFinding::failure(Topic::Runtimes, "all", found, remedy));
    }
    findings
}

/// Without the proxy only requests that name hosts are refused.
fn missing(name: &str) -> FindingVerdict {
    if name.starts_with("toolexec-egress") {
        FindingVerdict::Warning
    } else {
        FindingVerdict::Failure
    }
}

fn of_program(host: &HostReadings, program: &ProgramReading) -> DoctorFinding {
    let name = program.name;
    let path = match &program.found {
        Ok(path) => path.display(),
        Err(_) if name == "toolexecd" && !host.subject.is_service() => {
            return DoctorFinding::ok(
                Topic::Programs,
                name,
                "not installed; only a service needs it",
            );
        }
        Err(why) => {
            let remedy = format!("install {name} {OWN} beside toolexec");
            return DoctorFinding::problem(missing(name), Topic::Programs, name, why, remedy);
        }
    };
    match &program.version {
        Ok(version) if version == OWN => {
            DoctorFinding::ok(Topic::Programs, name, format!("{version}, {path}"))
        }
        Ok(version) => DoctorFinding::failure(
            Topic::Programs,
            name,
            format!("{path} has version {version}, this program {OWN}: they do not work together"),
            format!("install {name} {OWN}, and restart the services"),
        ),
        Err(why) => {
            let why = format!("{path}: {why}");
            DoctorFinding::not_checked(
                Topic::Programs,
                name,
                why,
                format!("run `{path} --version`"),
            )
        }
    }
}

fn of_runtime(host: &HostReadings, runtime: &RuntimeReading) -> DoctorFinding {
    let name = &runtime.name;
    match (&runtime.found, &runtime.version) {
        (Ok(path), Ok(version)) => {
            DoctorFinding::ok(Topic::Runtimes, name, format!("{version}, {}", path.display()))
        }
        (Ok(path), Err(why)) => DoctorFinding::warning(
            Topic::Runtimes,
            name,
            format!("{}: {why}", path.display()),
            format!("check its owner and mode with `ls -l {}`", path.display()),
        ),
        (Err(why), _) => {
            let why = why.as_deref().unwrap_or("no program with its name was found");
            DoctorFinding::warning(
                Topic::Runtimes,
                name,
                format!("{why}; its requests are refused"),
                install(host, name),
            )
        }
    }
}

fn install(host: &HostReadings, runtime: &str) -> String {
    let Some(language) = Language::named(runtime) else {
        return "install it where the policy expects it, or remove it from the policy".to_owned();
    };
    let install = format!("apt-get install {}", language.runtime().packages.join(" "));
    if language.runtime().needs_cache {
        format!("run `{install} && {}`", commands::build_cache(host, runtime))
    } else {
        format!("run `{install}`")
    }
}
