//! The further device of a sandbox, on the real kernel: only a plan that asks for `/dev/kvm` gets
//! the node and its requests, and a host that cannot give it says why.

use std::path::Path;

use model::Outcome;
use sandbox::plan::{SandboxDevice, SandboxNetwork, SandboxSpec};

use crate::skip::skip;
use crate::support::{LIMITS, SandboxScratch, launcher, plan, run, run_changed};

/// Opens the node and asks for the version of KVM.
const ASK: &str = "import fcntl, os\n\
                   node = os.open('/dev/kvm', os.O_RDWR)\n\
                   print(fcntl.ioctl(node, 0xAE00))\n";
/// The same request for another node.
const ASK_NULL: &str = "import fcntl, os\n\
                        node = os.open('/dev/null', os.O_RDWR)\n\
                        try: fcntl.ioctl(node, 0xAE00)\n\
                        except OSError as error: print(error.errno)\n";

/// Returns the reason why no sandbox with the device can be built here.
fn refusal() -> Option<String> {
    let scratch = SandboxScratch::new();
    let staging = scratch.dir("staging");
    let launcher = launcher(&staging);
    let spec = plan(&staging, "", LIMITS).sandbox;
    let prepared = launcher.prepare(SandboxSpec { device: SandboxDevice::Kvm, ..spec });
    prepared.err().map(|error| error.to_string())
}

#[test]
fn a_plan_without_the_device_has_neither_node_nor_requests() {
    let listed = run("import os\nprint(os.path.lexists('/dev/kvm'))\n");
    assert_eq!((listed.finished.outcome(), listed.stdout.as_str()), (Outcome::Ok, "False\n"));
    let asked = run(ASK_NULL);
    assert_eq!(asked.stdout, format!("{}\n", libc::EPERM), "{}", asked.stderr);
    assert_eq!(asked.confinement.seccomp_sha256, listed.confinement.seccomp_sha256);
}

#[test]
fn a_plan_with_the_device_may_ask_it() {
    let test = "a_plan_with_the_device_may_ask_it";
    if let Some(why) = refusal() {
        return skip(test, &why);
    }
    let with_kvm =
        |script| run_changed(script, LIMITS, |plan, _| plan.sandbox.device = SandboxDevice::Kvm);
    let asked = with_kvm(ASK);
    assert_eq!(asked.stdout, "12\n", "{}", asked.stderr);
    assert_ne!(asked.confinement.seccomp_sha256, run(ASK_NULL).confinement.seccomp_sha256);
    // The kernel's own refusal: another device has no such request, or Landlock permits none.
    let null = with_kvm(ASK_NULL);
    assert!(["25\n", "13\n"].contains(&null.stdout.as_str()), "{} {}", null.stdout, null.stderr);
}

#[test]
fn a_host_that_cannot_give_the_device_says_why() {
    let Some(why) = refusal() else {
        return skip("a_host_that_cannot_give_the_device_says_why", "this host gives it");
    };
    let of_node = match Path::new("/dev/kvm").exists() {
        false => "/dev/kvm: the host had no such device when the launcher started",
        true => "open /dev/kvm as the tool's user: its mode is ",
    };
    let expected = [of_node, "no control group counts its memory"];
    assert!(expected.iter().any(|text| why.contains(text)), "{why}");
    // The launcher and its other sandboxes are as before.
    assert_eq!(run("print(1)").stdout, "1\n");
}

#[test]
fn a_device_and_a_network_exclude_each_other() {
    let scratch = SandboxScratch::new();
    let staging = scratch.dir("staging");
    let launcher = launcher(&staging);
    let spec = plan(&staging, "", LIMITS).sandbox;
    let both = SandboxSpec { device: SandboxDevice::Kvm, network: SandboxNetwork::Proxy, ..spec };
    let why = launcher.prepare(both).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("a sandbox with a network has no further device"), "{why}");
}
