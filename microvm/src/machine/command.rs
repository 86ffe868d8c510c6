//! QEMU's command line. Pure: it starts nothing and reads nothing.
//!
//! The machine has a serial line for the kernel's messages, three disks and three ports, and
//! neither network, PCI bus nor real-time clock. Must never give the guest another descriptor or a
//! writable disk except the raw one.

use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::accelerator::GuestAccelerator;
use crate::protocol::PORT_NAMES;

const MACHINE: &str = "microvm,x-option-roms=off,isa-serial=on,rtc=off";
const KERNEL_LINE: &str = "quiet console=ttyS0 panic=-1 reboot=t random.trust_cpu=on \
                           tsc=reliable no_timer_check";

/// With instructions as its clock, QEMU counts nanoseconds: the frequency is exact, but the guest
/// is slower.
const COUNTED_KHZ: u64 = 1_000_000;

/// The parts of the command line.
#[derive(Clone, Copy, Debug)]
pub struct MachineCommand<'a> {
    /// The accelerator.
    pub accelerator: GuestAccelerator,
    /// The memory of the guest, in MiB.
    pub memory_mb: u32,
    /// The frequency of the time stamp counter, if it is known.
    pub counter_khz: Option<u64>,
    /// The kernel, an ELF file.
    pub kernel: &'a Path,
    /// The initramfs.
    pub initrd: &'a Path,
    /// The root image.
    pub root: &'a Path,
    /// The image of `/in`.
    pub input: &'a Path,
    /// The raw disk for the archive of `/out`.
    pub output: &'a Path,
    /// The descriptors of the console and of the ports `ctl`, `out` and `err`.
    pub sockets: [RawFd; 4],
}

impl MachineCommand<'_> {
    /// Returns the arguments, without the program.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let memory = format!("{}M", self.memory_mb);
        let mut line: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| line.extend(words.iter().map(|it| OsString::from(*it)));
        add(&["-M", MACHINE, "-cpu", "max", "-m", &memory, "-smp", "1", "-nodefaults"]);
        add(&["-no-user-config", "-display", "none", "-no-reboot"]);
        // The default firmware of Debian 13 starts no kernel without option ROMs.
        add(&["-bios", "qboot.rom"]);
        let mut kernel_line = KERNEL_LINE.to_owned();
        if self.accelerator == GuestAccelerator::Tcg {
            let khz = self.counter_khz.unwrap_or(COUNTED_KHZ);
            kernel_line.push_str(&format!(" tsc_early_khz={khz}"));
            // The smaller buffer bounds QEMU's own memory.
            add(&["-accel", "tcg,tb-size=32"]);
            if self.counter_khz.is_none() {
                add(&["-icount", "shift=auto"]);
            }
        } else {
            add(&["-accel", "kvm"]);
        }
        add(&["-append", &kernel_line, "-kernel"]);
        line.push(self.kernel.into());
        line.push("-initrd".into());
        line.push(self.initrd.into());
        disk(&mut line, "root", self.root, "readonly=on");
        disk(&mut line, "in", self.input, "readonly=on");
        // An error goes to the guest, which reports it. QEMU would stop a guest whose disk is full.
        disk(&mut line, "out", self.output, "cache=unsafe,werror=report,rerror=report");
        self.ports(&mut line);
        line
    }

    fn ports(&self, line: &mut Vec<OsString>) {
        let [console, ports @ ..] = self.sockets;
        let mut add = |option: &str, value: String| {
            line.push(OsString::from(option));
            line.push(OsString::from(value));
        };
        add("-chardev", format!("socket,id=console,fd={console}"));
        add("-serial", "chardev:console".to_owned());
        add("-device", "virtio-serial-device".to_owned());
        for ((nr, name), fd) in (1..).zip(PORT_NAMES).zip(ports) {
            add("-chardev", format!("socket,id={name},fd={fd}"));
            add("-device", format!("virtserialport,chardev={name},name={name},nr={nr}"));
        }
    }
}

/// Adds a disk. The guest finds it by its serial number.
fn disk(line: &mut Vec<OsString>, name: &str, file: &Path, mode: &str) {
    let mut drive = OsString::from(format!("if=none,id={name},format=raw,{mode},file="));
    drive.push(doubled_commas(file.as_os_str()));
    line.extend(["-drive".into(), drive, "-device".into()]);
    line.push(format!("virtio-blk-device,drive={name},serial={name}").into());
}

/// A comma ends a value unless it is doubled.
fn doubled_commas(text: &OsStr) -> OsString {
    let mut bytes = Vec::new();
    for byte in text.as_bytes() {
        bytes.push(*byte);
        if *byte == b',' {
            bytes.push(b',');
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(accelerator: GuestAccelerator, counter_khz: Option<u64>) -> String {
        let command = MachineCommand {
            accelerator,
            memory_mb: 192,
            counter_khz,
            kernel: Path::new("/k"),
            initrd: Path::new("/i"),
            root: Path::new("/r,x"),
            input: Path::new("/in"),
            output: Path::new("/o"),
            sockets: [3, 4, 5, 6],
        };
        let words = command.arguments();
        words.iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tcg_gets_the_measured_frequency() {
        let line = line(GuestAccelerator::Tcg, Some(2_600_000));
        assert!(line.contains("-accel tcg,tb-size=32 -append"), "{line}");
        assert!(line.contains(" tsc_early_khz=2600000 -kernel /k -initrd /i "), "{line}");
        assert!(!line.contains("icount"));
    }

    #[test]
    fn tcg_without_a_frequency_counts_instructions() {
        let line = line(GuestAccelerator::Tcg, None);
        assert!(line.contains("-icount shift=auto -append"), "{line}");
        assert!(line.contains(" tsc_early_khz=1000000 "), "{line}");
    }

    #[test]
    fn kvm_gives_the_frequency_itself() {
        let line = line(GuestAccelerator::Kvm, Some(2_600_000));
        assert!(line.contains("-accel kvm ") && !line.contains("khz"), "{line}");
    }

    #[test]
    fn only_the_raw_disk_is_writable() {
        let line = line(GuestAccelerator::Tcg, None);
        assert!(line.contains("id=root,format=raw,readonly=on,file=/r,,x "), "{line}");
        assert!(line.contains("id=in,format=raw,readonly=on,file=/in "), "{line}");
        let output = "id=out,format=raw,cache=unsafe,werror=report,rerror=report,file=/o ";
        assert!(line.contains(output), "{line}");
        assert_eq!(line.matches("-drive").count(), 3);
        assert!(!line.contains("-net") && !line.contains("-monitor"), "{line}");
    }

    #[test]
    fn each_port_has_its_descriptor() {
        let line = line(GuestAccelerator::Tcg, None);
        assert!(line.contains("id=console,fd=3 -serial chardev:console"), "{line}");
        for (name, fd, nr) in [("ctl", 4, 1), ("out", 5, 2), ("err", 6, 3)] {
            let port = format!(
                "socket,id={name},fd={fd} -device virtserialport,chardev={name},name={name},nr={nr}"
            );
            assert!(line.contains(&port), "{line}");
        }
    }
}
