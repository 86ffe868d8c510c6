//! An environment moves to another host, where the record is verified and its run repeated.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toolexec_tests::{Bench, CliOutput, Record, SavedRequest, list};

use super::scene::{EnvironmentBench, request, tree_in};

toolexec_tests::as_both!(
    a_run_is_repeated_where_its_environment_was_imported,
    a_changed_export_is_not_imported,
);

/// Another host, which has only the public key of the first one.
struct OtherHost<'a> {
    bench: &'a Bench,
    signers: PathBuf,
    state: PathBuf,
}

impl<'a> OtherHost<'a> {
    fn of(bench: &'a Bench) -> Self {
        let keys = bench.toolexec(["keys", "show", "--format", "allowed-signers"]);
        keys.assert_code(0);
        let signers = bench.scratch().file("signers", keys.stdout);
        Self { bench, signers, state: bench.home().join("elsewhere") }
    }

    fn store(&self) -> PathBuf {
        self.state.join("environments")
    }

    fn import(&self, exported: &Path) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.args(["env", "import"]).arg(exported).arg("--store").arg(self.store());
        CliOutput::of(&mut command)
    }

    fn replay(&self, record: &Record, request: &SavedRequest) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.args(["replay", "--format", "json"]).arg(&record.path);
        command.arg("--inputs").arg(&request.inputs).arg("--result-keys").arg(&self.signers);
        command.arg("--state").arg(&self.state);
        CliOutput::of(&mut command)
    }
}

#[track_caller]
fn export(bench: &Bench) -> PathBuf {
    let exported = bench.home().join("exported");
    let mut command = bench.command("toolexec");
    command.args(["env", "export", "charts"]).arg(&exported);
    CliOutput::of(&mut command).assert_code(0);
    exported
}

fn a_run_is_repeated_where_its_environment_was_imported(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let request = bench.save(&request(&reference));
    let record = Record::of(&bench.run(&request));
    let other = OtherHost::of(bench);

    // The record proves itself; only a replay needs the files.
    let mut verify = bench.command("toolexec");
    let verify = verify.arg("verify").arg(&record.path).arg("--result-keys").arg(&other.signers);
    CliOutput::of(verify).assert_code(0);
    let output = other.replay(&record, &request);
    output.assert_code(2);
    output.assert_stderr(&["not replayed", &reference, "toolexec env import"]);
    assert_eq!(list(&other.state.join("results")), Vec::<String>::new());

    let exported = export(bench);
    let output = other.import(&exported);
    output.assert_code(0);
    assert!(output.stdout.contains(&reference), "{output:#?}");
    let output = other.replay(&record, &request);
    output.assert_code(0);
    let json = output.json();
    assert_eq!((&json["reproducible"], &json["outcome"]), (&true.into(), &"ok".into()));
    let again = Record::at(Path::new(json["record"].as_str().unwrap()));
    assert_eq!(again.front_matter_value("environment"), reference);
    assert_eq!(again.stdout(), record.stdout());
}

fn a_changed_export_is_not_imported(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    let exported = export(bench);
    let file = tree_in(&exported, &reference).join("greeting/__init__.py");
    let text = fs::read_to_string(&file).unwrap().replace("hello", "hellO");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    fs::write(&file, text).unwrap();
    let store = bench.home().join("elsewhere/environments");
    let mut command = bench.command("toolexec");
    command.args(["env", "import"]).arg(&exported).arg("--store").arg(&store);
    let output = CliOutput::of(&mut command);
    output.assert_code(2);
    let stored: Vec<_> =
        list(&store).into_iter().filter(|name| name.starts_with("sha256-")).collect();
    assert_eq!(stored, Vec::<String>::new());
}
