//! Names in manifests: no one of them can lead out of its directory.

use super::{DOCUMENT, fault, file, result, submission};
use crate::bytes::fault::ManifestFault;
use crate::bytes::manifest::{Manifest, ManifestFileKind};

#[test]
fn a_name_that_could_leave_its_directory_is_refused() {
    let long = "x".repeat(256);
    for name in [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../x",
        "a/../b",
        "a/..",
        "./a",
        ".",
        "a//b",
        ".hidden",
        "a/.b",
        "a\nb",
        "a b",
        "a\u{202e}b",
        "a\0b",
        "über",
        "a/b/c/d/e/f/g/h/i",
        "a\\b",
        long.as_str(),
    ] {
        let made = submission(&[file(ManifestFileKind::Input, name)]);
        assert_eq!(fault(made), Some(ManifestFault::InputName), "{name:?}");
        let folder = format!("{name}/");
        let made = submission(&[file(ManifestFileKind::Folder, &folder)]);
        assert_eq!(fault(made), Some(ManifestFault::InputName), "{folder:?}");
    }
    let made = submission(&[file(ManifestFileKind::Folder, "repo")]);
    assert_eq!(fault(made), Some(ManifestFault::InputName), "no slash at the end");
}

#[test]
fn a_tool_may_choose_other_names_than_a_document() {
    let long = "x".repeat(256);
    let deep = ["a"; 73].join("/");
    for name in [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../x",
        "a/../b",
        "./a",
        "a//b",
        "a/",
        "a\nb",
        "a\u{202e}b",
        "a\0b",
        deep.as_str(),
        long.as_str(),
    ] {
        let made = Manifest::of_result(vec![result(name)]);
        assert_eq!(fault(made), Some(ManifestFault::ResultName), "{name:?}");
    }
    for name in ["a b", ".hidden", "über", "a\\b", &deep[2..]] {
        assert_eq!(fault(Manifest::of_result(vec![result(name)])), None, "{name:?}");
    }
}

#[test]
fn only_files_of_the_document_are_beside_it() {
    let stem = DOCUMENT.strip_suffix(".md").unwrap();
    let signature = |name: &str| fault(submission(&[file(ManifestFileKind::Signature, name)]));
    for name in
        [format!("{DOCUMENT}.sig"), format!("{DOCUMENT}.bob.sig"), format!("{stem}.ais.json")]
    {
        assert_eq!(signature(&name), None, "{name}");
    }
    for name in [
        "other.md.sig".to_owned(),
        format!("{DOCUMENT}.sig.md"),
        format!("{DOCUMENT}/../x.sig"),
        format!("{DOCUMENT}.a\nb.sig"),
        format!("{DOCUMENT}.cancel"),
        format!("{stem}.json"),
        format!("{DOCUMENT}.{}.sig", "x".repeat(255)),
    ] {
        assert_eq!(signature(&name), Some(ManifestFault::SignatureName), "{name:?}");
    }
}
