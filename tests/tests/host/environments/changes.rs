//! A change of a stored environment is found before the run, so nothing of it is executed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use toolexec_tests::{Bench, Record};

use super::scene::{EnvironmentBench, request, write};

toolexec_tests::as_both!(
    a_changed_byte_is_found_before_the_run,
    an_added_file_is_found_before_the_run,
    a_removed_environment_is_refused,
);

fn a_changed_byte_is_found_before_the_run(bench: &Bench) {
    refused_after(bench, |tree| {
        let file = tree.join("greeting/__init__.py");
        let text = fs::read_to_string(&file).unwrap().replace("hello", "hellO");
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        fs::write(&file, text).unwrap();
    });
}

/// Python would execute this file before the script.
fn an_added_file_is_found_before_the_run(bench: &Bench) {
    refused_after(bench, |tree| {
        fs::set_permissions(tree, Permissions::from_mode(0o755)).unwrap();
        write(&tree.join("sitecustomize.py"), "print('added')\n", 0o444);
    });
}

#[track_caller]
fn refused_after(bench: &Bench, change: impl Fn(&Path)) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    bench.run(&bench.save(&request(&reference))).assert_code(0);
    bench.toolexec(["env", "verify", "charts"]).assert_code(0);

    change(&scene.tree(&reference));
    let output = bench.run(&bench.save(&request(&reference)));
    output.assert_code(2);
    output.assert_stderr(&["environment.unavailable", "changed", "toolexec env verify"]);
    let record = Record::of(&output);
    record.assert_outcome("refused");
    record.assert_violation("environment.unavailable");
    assert_eq!((record.stdout().as_str(), record.stderr().as_str()), ("", ""));
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    bench.toolexec(["env", "verify", "charts"]).assert_code(1);
    bench.assert_nothing_left();
}

fn a_removed_environment_is_refused(bench: &Bench) {
    let scene = EnvironmentBench::of(bench);
    let reference = scene.build_package();
    bench.toolexec(["env", "rm", "charts"]).assert_code(0);
    let output = bench.run(&bench.save(&request(&reference)));
    output.assert_code(2);
    output.assert_stderr(&["environment.unavailable", &reference, "toolexec env import"]);
    Record::of(&output).assert_violation("environment.unavailable");
    // The same directory gives the same digest.
    assert_eq!(scene.build_package(), reference);
    bench.run(&bench.save(&request(&reference))).assert_code(0);
}
