//! The Debian package builds the guest of the backend `ERA`: its script, with the package's own
//! init and a kernel that APT downloads. APT and the kernel are small ones of this test.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, DocPage, skip, workspace};

use super::static_programs::links_static_programs;

const HOST_PROGRAMS: [&str; 4] =
    ["/usr/bin/mkfs.erofs", "/usr/bin/lz4", "/usr/bin/dpkg-deb", "/usr/bin/python3"];
const SCRIPT: &str = "usr/share/toolexec/microvm/build";
const INIT: &str = "usr/libexec/toolexec/toolexec-guest-init";
const KERNEL: &str = "linux-image-6.1.0-1-cloud-amd64";
/// The part of a kernel that the script looks for.
const KERNEL_ELF: &[u8] = b"\x7fELF, the note of Xen\0, and the rest of a kernel";
const BUILTIN: &str = "kernel/drivers/virtio/virtio_mmio.ko\n\
                       kernel/drivers/block/virtio_blk.ko\n\
                       kernel/drivers/char/virtio_console.ko\n\
                       kernel/fs/erofs/erofs.ko\n";

/// A directory with the installed files of the package, and the programs of APT.
struct InstalledBuild<'a> {
    bench: &'a Bench,
    prefix: PathBuf,
}

impl<'a> InstalledBuild<'a> {
    /// Installs the files. Logs a skip if this host lacks a program.
    fn of(bench: &'a Bench, test: &str) -> Option<Self> {
        if let Some(missing) = HOST_PROGRAMS.iter().find(|it| !Path::new(it).is_file()) {
            skip(test, &format!("{missing}: no such file; help: run tests/prepare packages"));
            return None;
        }
        if !links_static_programs(bench, test) {
            return None;
        }
        let build = Self { bench, prefix: bench.scratch().dir("installed") };
        build.install();
        build.make_kernel_package();
        let programs = bench.scratch().path().join("bin");
        let package = build.kernel_package();
        let apt_get = format!("[ \"$1\" = install ] || cp '{}' .", package.display());
        program(&programs.join("apt-get"), &apt_get);
        program(&programs.join("apt-cache"), &format!("echo '  Depends: {KERNEL}'"));
        Some(build)
    }

    /// Installs what the manifest of the package names, and a small init.
    fn install(&self) {
        let manifest = workspace().join("cli/Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        for line in text.lines().filter(|it| it.contains("\"usr/share/toolexec/microvm/\"")) {
            let words: Vec<&str> = line.split('"').collect();
            let source = manifest.parent().unwrap().join(words[1]);
            let place = self.prefix.join(words[3]);
            fs::create_dir_all(&place).unwrap();
            let file = place.join(source.file_name().unwrap());
            fs::copy(&source, &file).unwrap();
            let mode = u32::from_str_radix(words[5], 8).unwrap();
            fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
        }
        let asset = "bin/toolexec-guest-init\", \"usr/libexec/toolexec/\", \"755\"";
        assert!(text.contains(asset), "the package has no init of a guest");
        let init = self.prefix.join(INIT);
        fs::create_dir_all(init.parent().unwrap()).unwrap();
        let source = self.bench.scratch().file("init.c", "int main(void) { return 0; }\n");
        let mut command = Command::new("cc");
        command.args(["-static", "-o"]).arg(init).arg(source);
        CliOutput::of(&mut command).assert_code(0);
    }

    /// Makes a package of a kernel with all drivers built in.
    fn make_kernel_package(&self) {
        let tree = self.bench.scratch().dir("kernel");
        for name in ["DEBIAN", "boot", "lib/modules/6.1.0-1/kernel"] {
            fs::create_dir_all(tree.join(name)).unwrap();
        }
        let control = format!(
            "Package: {KERNEL}\nVersion: 1\nArchitecture: amd64\nMaintainer: a test\n\
             Description: a kernel\n"
        );
        fs::write(tree.join("DEBIAN/control"), control).unwrap();
        fs::write(tree.join("lib/modules/6.1.0-1/modules.builtin"), BUILTIN).unwrap();
        fs::write(tree.join("boot/vmlinuz-6.1.0-1"), self.compressed_kernel()).unwrap();
        let mut command = Command::new("dpkg-deb");
        command.args(["--root-owner-group", "--build"]).arg(&tree);
        let made = command.arg(self.kernel_package()).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }

    fn kernel_package(&self) -> PathBuf {
        self.bench.scratch().path().join(format!("{KERNEL}_1_amd64.deb"))
    }

    /// A bzImage: its header names the payload, which begins after two sectors.
    fn compressed_kernel(&self) -> Vec<u8> {
        let elf = self.bench.scratch().file("kernel.elf", KERNEL_ELF);
        let payload = Command::new("lz4").args(["-l", "-q", "-c"]).arg(elf).output().unwrap();
        assert!(payload.status.success(), "{payload:?}");
        let mut image = vec![0_u8; 1024];
        image[0x1f1] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        // With the four bytes of the size that follow it.
        let length = u32::try_from(payload.stdout.len() + 4).unwrap();
        image[0x24c..0x250].copy_from_slice(&length.to_le_bytes());
        [image, payload.stdout, vec![0; 4]].concat()
    }

    /// Runs lines of a shell with the programs of this bench before those of the host.
    fn shell(&self, lines: &str) -> CliOutput {
        let programs = self.bench.scratch().path().join("bin");
        let mut command = Command::new("sh");
        command.args(["-ec", lines]).current_dir(self.bench.scratch().path());
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        CliOutput::of(&mut command)
    }

    /// Runs the installed script.
    fn script(&self, options: &str) -> CliOutput {
        self.shell(&format!("'{}' {options}", self.prefix.join(SCRIPT).display()))
    }
}

fn program(path: &Path, line: &str) {
    fs::write(path, format!("#!/bin/sh\n{line}\n")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_documented_command_of_the_package_builds_a_guest() {
    let bench = Bench::new();
    let test = "the_documented_command_of_the_package_builds_a_guest";
    let Some(build) = InstalledBuild::of(&bench, test) else { return };
    let block = &DocPage::open("docs/microvm.md").blocks("sh")[1];
    let lines = block.replace("/usr/share/", &format!("{}/usr/share/", build.prefix.display()));
    assert_ne!(&lines, block);
    build.shell(&lines).assert_code(0);

    // The directory that a policy uses without the key `files`.
    let files = build.prefix.join("usr/lib/toolexec/microvm");
    assert_eq!(fs::read(files.join("kernel")).unwrap(), KERNEL_ELF);
    let initrd = fs::read(files.join("initrd")).unwrap();
    let init = fs::read(build.prefix.join(INIT)).unwrap();
    assert!(initrd.windows(init.len()).any(|it| it == init), "another init");
    let sums = fs::read_to_string(files.join("SHA256SUMS")).unwrap();
    let names: Vec<_> = sums.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(names, ["kernel", "initrd", "root-python", "root-shell"]);
    build.shell(&format!("cd '{}' && sha256sum -c SHA256SUMS", files.display())).assert_code(0);

    let again = build.script("");
    again.assert_code(1);
    again.assert_stderr(&["usr/lib/toolexec/microvm: not empty; help: delete it"]);
}

#[test]
fn the_packages_script_refuses_an_init_with_a_loader_and_builds_none() {
    let bench = Bench::new();
    let test = "the_packages_script_refuses_an_init_with_a_loader_and_builds_none";
    let Some(build) = InstalledBuild::of(&bench, test) else { return };
    let kernel = format!("--kernel-deb '{}' --no-default-roots", build.kernel_package().display());
    let dynamic = build.script(&format!("{kernel} --output dynamic --init /usr/bin/env"));
    dynamic.assert_code(1);
    dynamic.assert_stderr(&["/usr/bin/env: not a static program; help: "]);

    fs::remove_file(build.prefix.join(INIT)).unwrap();
    let missing = build.script(&format!("{kernel} --output missing"));
    missing.assert_code(1);
    missing.assert_stderr(&["toolexec-guest-init: no such file; help: install the package"]);
    assert!(!bench.scratch().path().join("missing/kernel").exists());

    let help = build.script("--help");
    help.assert_code(0);
    assert!(help.stdout.contains("--kernel-deb FILE"), "{}", help.stdout);
}
