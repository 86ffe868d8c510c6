//! Folders that cannot be packed, and archives that nothing of this program writes.

mod archives;
mod tar_bytes;

use std::fs::{self, Permissions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{FolderTarPlan, FolderTarStream};
use crate::bytes::ByteStoreError;
use crate::bytes::fault::FolderTarFault;
use crate::bytes::files::open_directory;
use crate::bytes::tests::scene::BytesScene;

fn plan(scene: &BytesScene, bytes_max: u64) -> Result<FolderTarPlan, ByteStoreError> {
    FolderTarPlan::read(open_directory(&scene.path("from")).unwrap(), "folder/", bytes_max)
}

/// Returns the entry and the fault of a folder that cannot be packed.
fn refusal(scene: &BytesScene) -> (String, FolderTarFault) {
    match plan(scene, u64::MAX).err().unwrap() {
        ByteStoreError::Folder { entry, fault, .. } => (entry, fault),
        error => panic!("{error}"),
    }
}

#[test]
fn equal_folders_have_equal_archives() {
    let (first, second) = (BytesScene::new(), BytesScene::new());
    first.file("from/b/c", b"c");
    first.program("from/a-b", b"a");
    first.file("from/a/z", b"z");
    second.directory("from/a");
    second.file("from/a/z", b"z");
    second.program("from/a-b", b"a");
    second.file("from/b/c", b"c");
    let mode = Permissions::from_mode(0o700);
    fs::set_permissions(second.path("from/a-b"), mode).unwrap();
    assert_eq!(first.archive("from"), second.archive("from"));
    let names: Vec<String> = {
        let plan = plan(&first, u64::MAX).unwrap();
        plan.entries.iter().map(|it| it.name.clone()).collect()
    };
    assert_eq!(names, ["a", "a/z", "a-b", "b", "b/c"], "each directory before its content");
}

#[test]
fn an_archive_is_a_tar_that_others_can_read() {
    let scene = BytesScene::new();
    scene.file("from/dir/file", b"content");
    scene.link("from/dir/link", "../dir/file");
    scene.file(&format!("from/{}/{}", "d".repeat(90), "f".repeat(100)), b"long");
    let archive = scene.archive("from");
    let mut read = tar::Archive::new(&archive[..]);
    let mut names = Vec::new();
    for entry in read.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        names.push((name, content));
    }
    let long = "d".repeat(90);
    let wanted = [
        (long.clone(), ""),
        (format!("{long}/{}", "f".repeat(100)), "long"),
        ("dir".to_owned(), ""),
        ("dir/file".to_owned(), "content"),
        ("dir/link".to_owned(), ""),
    ];
    let names: Vec<(String, &str)> =
        names.iter().map(|(name, content)| (name.clone(), content.as_str())).collect();
    assert_eq!(names, wanted);
}

#[test]
fn an_entry_that_no_folder_may_have_is_named() {
    let links = [
        ("/etc/passwd", FolderTarFault::LinkLeaves),
        ("..", FolderTarFault::LinkLeaves),
        ("a/../b", FolderTarFault::LinkLeaves),
        ("a\nb", FolderTarFault::Control),
    ];
    for (target, fault) in links {
        let scene = BytesScene::new();
        scene.directory("from");
        scene.link("from/link", target);
        assert_eq!(refusal(&scene), ("link".to_owned(), fault), "{target}");
    }
    let scene = BytesScene::new();
    scene.directory("from");
    scene.link("from/link", &"x".repeat(101));
    assert_eq!(refusal(&scene), ("link".to_owned(), FolderTarFault::LongTarget));
    let scene = BytesScene::new();
    let long = format!("{}/{}", "d".repeat(160), "f".repeat(100));
    scene.file(&format!("from/{long}"), b"");
    assert_eq!(refusal(&scene).1, FolderTarFault::LongName);
    let scene = BytesScene::new();
    scene.file("from/a\u{7}b", b"");
    assert_eq!(refusal(&scene), ("a\u{7}b".to_owned(), FolderTarFault::Control));
    let scene = BytesScene::new();
    scene.directory("from");
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    symlink("a", scene.path("from").join(name)).unwrap();
    assert_eq!(refusal(&scene), ("\u{fffd}".to_owned(), FolderTarFault::NameNotUtf8));
}

#[test]
fn objects_other_than_files_directories_and_links_are_refused() {
    let scene = BytesScene::new();
    scene.directory("from");
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, scene.path("from/pipe"), FileType::Fifo, mode, 0).unwrap();
    assert_eq!(refusal(&scene), ("pipe".to_owned(), FolderTarFault::Device));
    let scene = BytesScene::new();
    let path = scene.file("from/program", b"");
    fs::set_permissions(path, Permissions::from_mode(0o4755)).unwrap();
    assert_eq!(refusal(&scene), ("program".to_owned(), FolderTarFault::SetId));
}

#[test]
fn a_folder_beyond_a_limit_is_refused() {
    let scene = BytesScene::new();
    let deep = ["d"; 64].join("/");
    scene.directory(&format!("from/{deep}"));
    plan(&scene, u64::MAX).unwrap();
    scene.directory(&format!("from/{deep}/e"));
    assert_eq!(refusal(&scene), (format!("{deep}/e"), FolderTarFault::TooDeep));
    let scene = BytesScene::new();
    scene.file("from/a", &[1; 513]);
    // A header, two blocks and the end.
    assert_eq!(plan(&scene, 2560).unwrap().bytes(), 2560);
    let error = plan(&scene, 2559).err().unwrap();
    assert!(matches!(error, ByteStoreError::TooLarge { .. }), "{error}");
}

#[test]
fn a_file_that_changes_after_the_listing_is_noticed() {
    let read = |act: &dyn Fn(&BytesScene)| -> io::Result<usize> {
        let scene = BytesScene::new();
        scene.file("from/a", b"content");
        scene.file("outside", b"content");
        let plan = Arc::new(plan(&scene, u64::MAX).unwrap());
        act(&scene);
        FolderTarStream::new(plan).read_to_end(&mut Vec::new())
    };
    assert_eq!(read(&|_| {}).unwrap(), 2048);
    let changes: [&dyn Fn(&BytesScene); 4] = [
        &|scene| drop(scene.file("from/a", b"conten")),
        &|scene| drop(scene.file("from/a", b"content.")),
        &|scene| fs::remove_file(scene.path("from/a")).unwrap(),
        &|scene| {
            fs::remove_file(scene.path("from/a")).unwrap();
            scene.link("from/a", "../outside");
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert!(read(change).is_err(), "{number}");
    }
}
