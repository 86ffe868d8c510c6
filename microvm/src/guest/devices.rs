//! The guest's devices: kernel modules, disks by their serial numbers, and ports by their names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};

use super::failure::InitFailure;
use crate::protocol::PORT_NAMES;

/// Drivers find their devices a moment after they are loaded. The wrapper limits the boot; the
/// guest must not give up before it on a busy host, so all tries together take a minute.
const TRIES: u32 = 30_000;
const PAUSE: Duration = Duration::from_millis(2);

/// Loads the modules that the initramfs lists, in its order. A kernel that has everything built in
/// needs no list.
pub(super) fn load_modules() -> Result<(), InitFailure> {
    let Ok(list) = fs::read_to_string("/modules/order") else { return Ok(()) };
    for name in list.lines().filter(|name| !name.is_empty()) {
        let path = Path::new("/modules").join(name);
        let file = File::open(&path).map_err(InitFailure::at(name))?;
        match finit_module(&file, c"", ModuleInitFlags::empty()) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => return Err(InitFailure::at(name)(error)),
        }
    }
    Ok(())
}

/// Returns the device of the disk with a serial number.
pub(super) fn disk(serial: &str) -> Result<PathBuf, InitFailure> {
    let missing = || InitFailure::new(format!("disk {serial}: no such device"));
    let name = wait_for(|| named("/sys/block", "serial", serial)).ok_or_else(missing)?;
    Ok(Path::new("/dev").join(name))
}

/// The ports of the guest.
pub(super) struct GuestPorts {
    pub(super) control: File,
    pub(super) stdout: File,
    pub(super) stderr: File,
}

impl GuestPorts {
    pub(super) fn open() -> Result<Self, InitFailure> {
        let [control, stdout, stderr] = PORT_NAMES;
        Ok(Self { control: port(control)?, stdout: port(stdout)?, stderr: port(stderr)? })
    }
}

fn port(name: &str) -> Result<File, InitFailure> {
    let missing = || InitFailure::new(format!("port {name}: no such device"));
    let found = wait_for(|| named("/sys/class/virtio-ports", "name", name)).ok_or_else(missing)?;
    let path = Path::new("/dev").join(found);
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(InitFailure::at(&format!("port {name}")))
}

/// Reads a port. Until the host's side is connected, the port reports its end.
pub(super) struct PortReader<'a>(pub(super) &'a File);

impl Read for PortReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for _ in 0..TRIES {
            let count = self.0.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            thread::sleep(PAUSE);
        }
        Ok(0)
    }
}

/// Returns the name of the entry of a directory of sysfs whose attribute has a value.
fn named(directory: &str, attribute: &str, value: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let text = fs::read_to_string(entry.path().join(attribute)).unwrap_or_default();
        if text.trim_end_matches(['\n', '\0']) == value {
            return Some(entry.file_name().into());
        }
    }
    None
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..TRIES {
        if let Some(found) = look() {
            return Some(found);
        }
        thread::sleep(PAUSE);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory_for_tests::TestDirectory;

    #[test]
    fn a_device_is_found_by_its_whole_attribute() {
        let place = TestDirectory::new("devices");
        for (name, serial) in [("vda", "root\n"), ("vdb", "in\0\n"), ("vdc", "inner\n")] {
            fs::create_dir(place.path().join(name)).unwrap();
            place.file(&format!("{name}/serial"), serial.as_bytes());
        }
        fs::create_dir(place.path().join("loop0")).unwrap();
        let directory = place.path().to_str().unwrap();
        assert_eq!(named(directory, "serial", "in"), Some("vdb".into()));
        assert_eq!(named(directory, "serial", "root"), Some("vda".into()));
        assert_eq!(named(directory, "serial", "out"), None);
        assert_eq!(named(directory, "name", "in"), None);
        assert_eq!(named("/nowhere", "serial", "in"), None);
    }

    #[test]
    fn a_busy_host_has_a_minute() {
        assert!(PAUSE * TRIES >= Duration::from_secs(60));
    }
}
