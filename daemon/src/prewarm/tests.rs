//! A prewarmed sandbox is unfit after its runtime was replaced. Daemon tests cover the rest.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use model::Language;
use sandbox::plan::{
    ConfinementRequirements, ProcView, RuntimeSpec, StagingSlot, StagingSlotId, TmpUse,
};

use super::*;

fn plan(top: &Path) -> SandboxSpec {
    SandboxSpec {
        slot: StagingSlot { id: StagingSlotId::new(&"0".repeat(32)).unwrap(), device: 1, inode: 1 },
        runtime: RuntimeSpec {
            language: Language::Python,
            binary: "/bin/tool".into(),
            root: Some(top.to_owned()),
            mounts: vec![top.join("mount")],
            caches: Vec::new(),
            tmp: TmpUse::Data,
            proc_view: ProcView::Pid,
        },
        network: sandbox::plan::SandboxNetwork::Nothing,
        device: sandbox::plan::SandboxDevice::Nothing,
        requirements: ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: true },
    }
}

#[test]
fn program_of_an_environment_is_in_its_directory() {
    let top = std::env::temp_dir().join(format!("toolexec-ready-env-{}", std::process::id()));
    let (tree, next) = (top.join("tree"), top.join("next"));
    fs::create_dir_all(tree.join("bin")).unwrap();
    fs::write(tree.join("bin/tool"), "tool").unwrap();
    let mut plan = plan(&top);
    plan.runtime.root = None;
    plan.runtime.mounts = Vec::new();
    plan.runtime.caches = vec![Cache { source: tree.clone(), target: "/cache/env".into() }];
    plan.runtime.binary = "/cache/env/bin/tool".into();
    assert_eq!(program_on_host(&plan.runtime), Some(tree.join("bin/tool")));
    let before = RuntimeFiles::of(&plan);
    assert!(before.is_some() && before == RuntimeFiles::of(&plan), "nothing has changed");

    // Removed, and stored again under the same digest.
    fs::create_dir_all(next.join("bin")).unwrap();
    fs::hard_link(tree.join("bin/tool"), next.join("bin/tool")).unwrap();
    let mut stored_again = plan.clone();
    stored_again.runtime.caches = vec![Cache { source: next, target: "/cache/env".into() }];
    assert!(RuntimeFiles::of(&stored_again) != before, "another directory");
    plan.runtime.binary = "/cache/environment/tool".into();
    assert!(RuntimeFiles::of(&plan).is_none(), "a program that is in no cache");
    fs::remove_dir_all(&top).unwrap();
}

#[test]
fn replaced_runtime_is_detected() {
    let top = std::env::temp_dir().join(format!("toolexec-ready-{}", std::process::id()));
    let (tool, mount) = (top.join("bin/tool"), top.join("mount"));
    fs::create_dir_all(top.join("bin")).unwrap();
    fs::create_dir(&mount).unwrap();
    fs::write(&tool, "old").unwrap();
    let plan = plan(&top);
    let files = || RuntimeFiles::of(&plan);
    let before = files();
    assert!(before.is_some() && before == files(), "nothing has changed");

    // Written in place, with the old time of modification restored.
    let modified = fs::metadata(&tool).unwrap().modified().unwrap();
    // The clock of file times is coarse: wait until a file written now has another time.
    let scratch = top.join("scratch");
    let is_later = || {
        fs::write(&scratch, "x").unwrap();
        fs::metadata(&scratch).unwrap().modified().unwrap() != modified
    };
    while !is_later() {
        std::thread::sleep(Duration::from_millis(1));
    }
    fs::write(&tool, "new").unwrap();
    fs::File::open(&tool).unwrap().set_modified(modified).unwrap();
    let written = files();
    assert!(written.is_some() && written != before, "written to");

    fs::write(top.join("bin/next"), "new").unwrap();
    fs::remove_file(&tool).unwrap();
    fs::hard_link(top.join("bin/next"), &tool).unwrap();
    let replaced = files();
    assert!(replaced.is_some() && replaced != written, "replaced");

    fs::create_dir(top.join("other")).unwrap();
    fs::remove_dir(&mount).unwrap();
    assert!(files().is_none(), "a directory that is gone");
    std::os::unix::fs::symlink("other", &mount).unwrap();
    assert!(files().is_some() && files() != replaced, "another directory of the name");
    fs::remove_file(&tool).unwrap();
    assert!(files().is_none(), "a program that is gone");
    fs::remove_dir_all(&top).unwrap();
}
