//! In system mode a memory file cannot be executed (Linux 6.3), also under a launcher whose
//! `/proc/sys` is read-only, as that of the packaged unit is.

use std::path::Path;

use toolexec_tests::{Bench, CliOutput, Record, RequestText, skip};

const READ_ONLY_SWITCH: &str = "mount --bind /proc/sys /proc/sys; \
     mount -o remount,bind,ro /proc/sys; ! echo 0 2>&- >/proc/sys/vm/memfd_noexec; exec \"$@\"";

fn assert_not_executable(bench: &Bench, host: &str) {
    let script = "import os\nprint(oct(os.fstat(os.memfd_create('m')).st_mode & 0o111))";
    let request = bench.save(&RequestText::python(script));
    let mut run = bench.command("unshare");
    run.args(["--mount", "sh", "-ec", host, "sh"]);
    run.arg(bench.scratch().path().join("bin/toolexec")).args(["run", "--format", "json"]);
    let record = Record::of(&CliOutput::of(run.arg(request.path)));
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "0o0\n", "{host}");
}

#[test]
fn a_memory_file_is_never_executable() {
    let test = "a_memory_file_is_never_executable";
    let Some(bench) = Bench::as_root(test) else { return };
    if !Path::new("/proc/sys/vm/memfd_noexec").exists() {
        return skip(test, "this kernel has no vm.memfd_noexec");
    }
    assert_not_executable(&bench, "exec \"$@\"");
    assert_not_executable(&bench, READ_ONLY_SWITCH);
}
