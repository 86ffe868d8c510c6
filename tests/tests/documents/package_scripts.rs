//! The package's maintainer scripts during the build of an image: in a chroot without `/proc`,
//! without a running systemd and, at worst, without `/dev/null` or any program of systemd.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, list, skip, workspace};

/// A root directory with the host's `/usr`, read-only, and nothing else of the host.
struct ImageRoot<'a> {
    bench: &'a Bench,
    root: PathBuf,
}

impl<'a> ImageRoot<'a> {
    /// Creates the image. Logs a skip and returns `None` without root or if a program is missing.
    fn new(test: &str, bench: &'a Bench) -> Option<Self> {
        let missing = |name: &&str| !Path::new("/usr/bin").join(name).is_file();
        if let Some(name) =
            ["systemd-sysusers", "systemd-tmpfiles", "dash"].iter().find(|it| missing(it))
        {
            skip(test, &format!("this host has no {name}"));
            return None;
        }
        let root = bench.scratch().dir("image");
        for place in
            ["usr", "run", "tmp", "opt", "etc/sysusers.d", "etc/tmpfiles.d", "var/lib", "var/spool"]
        {
            fs::create_dir_all(root.join(place)).unwrap();
        }
        for name in ["bin", "sbin", "lib", "lib64"] {
            symlink(format!("usr/{name}"), root.join(name)).unwrap();
        }
        fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n").unwrap();
        fs::write(root.join("etc/group"), "root:x:0:\n").unwrap();
        for name in ["etc/shadow", "etc/gshadow"] {
            fs::write(root.join(name), "").unwrap();
        }
        for kind in ["sysusers.d", "tmpfiles.d"] {
            let from = workspace().join("systemd").join(kind).join("toolexec.conf");
            fs::copy(from, root.join("etc").join(kind).join("toolexec.conf")).unwrap();
        }
        for script in ["postinst", "prerm", "postrm"] {
            fs::copy(
                workspace().join("packaging/scripts").join(script),
                root.join("opt").join(script),
            )
            .unwrap();
        }
        Some(Self { bench, root })
    }

    fn with_null(self) -> Self {
        fs::create_dir(self.root.join("dev")).unwrap();
        let null = self.root.join("dev/null");
        let made =
            Command::new("mknod").args(["-m", "666"]).arg(null).args(["c", "1", "3"]).status();
        assert!(made.unwrap().success());
        self
    }

    /// Runs a script as dpkg does, with the programs of these directories.
    fn run(&self, path: &str, script: &str, action: &str) -> CliOutput {
        let inside = "mount --bind /usr \"$0/usr\" && mount -o remount,bind,ro \"$0/usr\" && \
                      exec chroot \"$0\" /usr/bin/env -i PATH=\"$1\" DPKG_MAINTSCRIPT_PACKAGE=toolexec \
                      /usr/bin/dash \"/opt/$2\" \"$3\"";
        let mut command = self.bench.command("unshare");
        command.args(["--mount", "sh", "-c", inside]).arg(&self.root).args([path, script, action]);
        CliOutput::of(&mut command)
    }

    fn users(&self) -> String {
        fs::read_to_string(self.root.join("etc/passwd")).unwrap()
    }
}

const EVERYWHERE: &str = "/usr/sbin:/usr/bin";

#[test]
fn the_package_configures_and_purges_in_an_image_without_proc() {
    let test = "the_package_configures_and_purges_in_an_image_without_proc";
    let Some(bench) = Bench::as_root(test) else { return };
    let Some(image) = ImageRoot::new(test, &bench).map(ImageRoot::with_null) else { return };
    let output = image.run(EVERYWHERE, "postinst", "configure");
    output.assert_code(0);
    // A systemd-tmpfiles that works without /proc has created them.
    if !image.root.join("var/spool/toolexec/approved").is_dir() {
        output.assert_stderr(&["systemd-tmpfiles failed; the first boot repeats it"]);
    }
    assert!(image.users().contains("\ntoolexec:"), "{}", image.users());
    assert!(!image.root.join("var/lib/toolexec/keys").exists(), "an image has no key");
    for (script, action) in [("prerm", "remove"), ("postrm", "remove"), ("postrm", "purge")] {
        image.run(EVERYWHERE, script, action).assert_code(0);
    }
}

#[test]
fn the_scripts_end_well_without_any_program_of_systemd() {
    let test = "the_scripts_end_well_without_any_program_of_systemd";
    let Some(bench) = Bench::as_root(test) else { return };
    let Some(image) = ImageRoot::new(test, &bench).map(ImageRoot::with_null) else { return };
    fs::create_dir(image.root.join("few")).unwrap();
    for name in ["ls", "rm", "rmdir", "mv", "mkdir", "find", "date", "cat"] {
        symlink(format!("/usr/bin/{name}"), image.root.join("few").join(name)).unwrap();
    }
    for (script, action) in
        [("postinst", "configure"), ("prerm", "remove"), ("postrm", "remove"), ("postrm", "purge")]
    {
        image.run("/few", script, action).assert_code(0);
    }
}

#[test]
fn a_purge_keeps_the_records_where_there_is_no_dev_null() {
    let test = "a_purge_keeps_the_records_where_there_is_no_dev_null";
    let Some(bench) = Bench::as_root(test) else { return };
    let Some(image) = ImageRoot::new(test, &bench) else { return };
    let record = image.root.join("var/spool/toolexec/results/TS-1");
    fs::create_dir_all(&record).unwrap();
    fs::write(record.join("TS-1.md"), "a record\n").unwrap();
    let output = image.run(EVERYWHERE, "postrm", "purge");
    output.assert_code(0);
    let kept = list(&image.root.join("var/spool"));
    assert_eq!(kept.len(), 1, "{output:#?}");
    let kept = image.root.join("var/spool").join(&kept[0]).join("results/TS-1/TS-1.md");
    assert_eq!(fs::read_to_string(kept).unwrap(), "a record\n");
}
