//! Another user writes into the directory between the steps. Their files stay whole and theirs.

#![allow(
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

struct AtomicFileScene(PathBuf);

impl AtomicFileScene {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("fresh-{name}-{}", std::process::id()));
        fs::create_dir_all(&top).unwrap();
        Self(top)
    }

    fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for AtomicFileScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn mode_of(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_link_in_the_place_of_the_hidden_file_is_not_followed() {
    for replaces in [true, false] {
        let scene = AtomicFileScene::new(if replaces { "replaced" } else { "placed" });
        let victim = scene.file("victim", "secret", 0o600);
        let draft = scene.file("draft.md", "draft", 0o666);
        let target = if replaces { draft.clone() } else { scene.0.join("draft.md.sig") };
        let mut fresh = AtomicFile::create_for(&target, 0o600).unwrap();
        let hidden = scene.0.join(&fresh.hidden);
        fs::remove_file(&hidden).unwrap();
        symlink(&victim, &hidden).unwrap();
        fresh.write(b"approved").unwrap();
        fresh.copy_owner_and_mode(&fs::metadata(&draft).unwrap()).unwrap();
        let output = if replaces { fresh.replace() } else { fresh.place() };
        assert!(output.unwrap_err().to_string().contains("another file replaced it"));
        assert_eq!(
            (mode_of(&victim), fs::read_to_string(&victim).unwrap()),
            (0o600, "secret".into())
        );
        assert_eq!(fs::read_to_string(&draft).unwrap(), "draft");
        assert!(hidden.is_symlink(), "what is another's was removed");
        assert_eq!(scene.names().len(), 3);
    }
}

#[test]
fn a_pipe_in_its_place_never_blocks() {
    let scene = AtomicFileScene::new("pipe");
    let mut fresh = AtomicFile::create_for(&scene.0.join("x.sig"), 0o600).unwrap();
    let hidden = scene.0.join(&fresh.hidden);
    fs::remove_file(&hidden).unwrap();
    rustix::fs::mknodat(CWD, &hidden, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
    fresh.write(b"x").unwrap();
    fresh.place().unwrap_err();
}

#[test]
fn another_directory_in_the_place_of_ours_gets_nothing() {
    let scene = AtomicFileScene::new("directory");
    for name in ["drafts", "elsewhere"] {
        fs::create_dir(scene.0.join(name)).unwrap();
    }
    let target = scene.0.join("drafts/x.md.sig");
    let mut fresh = AtomicFile::create_for(&target, 0o600).unwrap();
    fs::rename(scene.0.join("drafts"), scene.0.join("gone")).unwrap();
    symlink(scene.0.join("elsewhere"), scene.0.join("drafts")).unwrap();
    fresh.write(b"x").unwrap();
    fresh.place().unwrap();
    assert!(scene.0.join("gone/x.md.sig").is_file());
    assert_eq!(fs::read_dir(scene.0.join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn bits_that_lend_an_identity_are_not_copied() {
    let scene = AtomicFileScene::new("bits");
    let draft = scene.file("draft.md", "draft", 0o6775);
    let fresh = AtomicFile::create_for(&draft, 0o600).unwrap();
    fresh.copy_owner_and_mode(&fs::metadata(&draft).unwrap()).unwrap();
    fresh.replace().unwrap();
    assert_eq!(mode_of(&draft), 0o775);
    assert_eq!(scene.names(), ["draft.md"]);
}

#[test]
fn another_users_draft_becomes_ours_and_only_ours_to_write() {
    let scene = AtomicFileScene::new("others");
    let draft = scene.file("draft.md", "draft", 0o666);
    if let Err(error) = fchown(File::open(&draft).unwrap(), Some(12345), Some(12345)) {
        eprintln!("skipped: a file cannot be given away here: {error}");
        return;
    }
    let fresh = AtomicFile::create_for(&draft, 0o600).unwrap();
    fresh.copy_owner_and_mode(&fs::metadata(&draft).unwrap()).unwrap();
    fresh.replace().unwrap();
    let now = fs::metadata(&draft).unwrap();
    assert_eq!(now.uid(), rustix::process::geteuid().as_raw());
    assert_eq!((now.gid(), mode_of(&draft)), (12345, 0o644));
}

#[test]
fn no_name_comes_twice_and_what_is_dropped_is_gone() {
    let scene = AtomicFileScene::new("names");
    let target = scene.0.join("x.sig");
    let (one, two) = (hidden_sibling(&target).unwrap(), hidden_sibling(&target).unwrap());
    assert_ne!(one, two);
    drop(AtomicFile::create_for(&target, 0o600).unwrap());
    assert!(scene.names().is_empty());
}
