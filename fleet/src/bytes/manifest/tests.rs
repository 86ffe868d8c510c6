//! Manifests of any content: only the texts that this program writes are accepted.

mod names;

use model::Sha256;

use super::{MANIFEST_BYTES_MAX, Manifest, ManifestFile, ManifestFileKind, ManifestMode};
use crate::bytes::fault::{ManifestFault, ManifestProblem};
use crate::bytes::model::{FILES_MAX, STORE_BYTES_MAX};

const DOCUMENT: &str = "TR-20250102-030405Z-count.md";

fn file(kind: ManifestFileKind, name: &str) -> ManifestFile {
    let (name, sha256) = (name.to_owned(), Sha256::of(b"x"));
    ManifestFile { kind, name, sha256, bytes: 1, mode: ManifestMode::Plain }
}

fn document() -> ManifestFile {
    file(ManifestFileKind::Document, DOCUMENT)
}

fn result(name: &str) -> ManifestFile {
    file(ManifestFileKind::Result, name)
}

/// A submission of a document and these files.
fn submission(others: &[ManifestFile]) -> Result<Manifest, ManifestProblem> {
    Manifest::of_submission([&[document()][..], others].concat())
}

fn fault<T>(made: Result<T, ManifestProblem>) -> Option<ManifestFault> {
    made.err().map(|problem| problem.fault)
}

/// A manifest with its text, of which tests write other forms.
fn text() -> String {
    let others = [
        file(ManifestFileKind::Signature, &format!("{DOCUMENT}.sig")),
        file(ManifestFileKind::Input, "data/rows.csv"),
        file(ManifestFileKind::Folder, "repo/"),
    ];
    String::from_utf8(submission(&others).unwrap().to_bytes().unwrap()).unwrap()
}

#[test]
fn a_manifest_has_one_text() {
    let text = text();
    let parsed = Manifest::parse_submission(text.as_bytes()).unwrap();
    assert_eq!(parsed.to_bytes().unwrap(), text.as_bytes());
    let row = |kind: &str, name: &str| {
        let sha256 = Sha256::of(b"x");
        format!(
            "{{\"kind\":\"{kind}\",\"name\":\"{name}\",\"sha256\":\"{sha256}\",\"bytes\":1,\
             \"mode\":\"0644\"}}"
        )
    };
    let rows = [
        row("document", DOCUMENT),
        row("signature", &format!("{DOCUMENT}.sig")),
        row("input", "data/rows.csv"),
        row("folder", "repo/"),
    ];
    let format = "toolexec-fleet-manifest 1";
    let wanted = format!("{{\"format\":\"{format}\",\"files\":[{}]}}\n", rows.join(","));
    assert_eq!(text, wanted);
}

#[test]
fn other_texts_are_refused() {
    let text = text();
    let digest = Sha256::of(b"x").to_string();
    let kind = "\"kind\":\"input\",";
    for (other, wanted) in [
        (String::new(), ManifestFault::NotAManifest),
        ("null".to_owned(), ManifestFault::NotAManifest),
        ("[".repeat(100_000), ManifestFault::NotAManifest),
        (text.replace("manifest 1", "manifest 2"), ManifestFault::NotAManifest),
        (text.replace(kind, "\"kind\":\"device\","), ManifestFault::NotAManifest),
        (text.replace(kind, "\"kind\":\"input\",\"owner\":0,"), ManifestFault::NotAManifest),
        (text.replace(kind, ""), ManifestFault::NotAManifest),
        (text.replace(kind, &format!("{kind}{kind}")), ManifestFault::NotAManifest),
        (text.replace("0644", "0777"), ManifestFault::NotAManifest),
        (text.replace("\"bytes\":1", "\"bytes\":-1"), ManifestFault::NotAManifest),
        (text.replace("\"bytes\":1", "\"bytes\":1.0"), ManifestFault::NotAManifest),
        (text.replace(&digest, &digest[1..]), ManifestFault::NotAManifest),
        (text.replace(&digest, &"z".repeat(64)), ManifestFault::NotAManifest),
        (format!("{text}{{}}"), ManifestFault::NotAManifest),
        (text.replace(&digest, &digest.to_uppercase()), ManifestFault::NotCanonical),
        (text.replace(',', ", "), ManifestFault::NotCanonical),
        (text.replace("repo/", "repo\\/"), ManifestFault::NotCanonical),
        (text.replace("repo/", "\\u0072epo/"), ManifestFault::NotCanonical),
        (text.trim_end().to_owned(), ManifestFault::NotCanonical),
        (format!("{text}\n"), ManifestFault::NotCanonical),
        (
            text.replace("\"bytes\":1,\"mode\":\"0644\"", "\"mode\":\"0644\",\"bytes\":1"),
            ManifestFault::NotCanonical,
        ),
    ] {
        assert_ne!(other, text);
        let shown = &other[..other.len().min(300)];
        assert_eq!(fault(Manifest::parse_submission(other.as_bytes())), Some(wanted), "{shown}");
    }
    let long = " ".repeat(usize::try_from(MANIFEST_BYTES_MAX).unwrap() + 1);
    let too_long = fault(Manifest::parse_submission(long.as_bytes()));
    assert_eq!(too_long, Some(ManifestFault::TooLong));
}

#[test]
fn files_are_in_order_and_none_is_twice() {
    let row = |name: &str| {
        let sha256 = Sha256::of(b"x");
        format!(
            "{{\"kind\":\"result\",\"name\":\"{name}\",\"sha256\":\"{sha256}\",\"bytes\":1,\
             \"mode\":\"0644\"}}"
        )
    };
    let read = |names: &[&str]| {
        let rows: Vec<String> = names.iter().map(|name| row(name)).collect();
        let format = "toolexec-fleet-manifest 1";
        let text = format!("{{\"format\":\"{format}\",\"files\":[{}]}}\n", rows.join(","));
        fault(Manifest::parse_result(text.as_bytes()))
    };
    assert_eq!(read(&["a", "b"]), None);
    assert_eq!(read(&["b", "a"]), Some(ManifestFault::Order));
    assert_eq!(read(&["a", "a"]), Some(ManifestFault::Order));
    assert_eq!(read(&[]), Some(ManifestFault::Empty));
    assert_eq!(fault(Manifest::of_result(vec![result("a"); 2])), Some(ManifestFault::Order));
}

#[test]
fn there_is_one_document_and_it_is_plain() {
    let of = |files: &[ManifestFile]| fault(Manifest::of_submission(files.to_vec()));
    let other = file(ManifestFileKind::Document, "TR-20250102-030405Z-other.md");
    assert_eq!(of(&[document()]), None);
    assert_eq!(of(&[]), Some(ManifestFault::Empty));
    assert_eq!(of(&[file(ManifestFileKind::Input, "a")]), Some(ManifestFault::Documents));
    assert_eq!(of(&[document(), other]), Some(ManifestFault::Documents));
    assert_eq!(of(&[document(), result("a")]), Some(ManifestFault::Kind));
    assert_eq!(
        fault(Manifest::of_result(vec![document()])),
        Some(ManifestFault::Kind),
        "a result has no document"
    );
    let long = format!("{}.md", "x".repeat(126));
    for name in ["a", "a.txt", ".md", "../a.md", "a/b.md", "a\u{202e}.md", "", long.as_str()] {
        let made = of(&[file(ManifestFileKind::Document, name)]);
        assert_eq!(made, Some(ManifestFault::DocumentName), "{name:?}");
    }
}

#[test]
fn sizes_and_modes_are_those_of_their_kind() {
    let sized = |file: ManifestFile, bytes: u64| ManifestFile { bytes, ..file };
    let made = Manifest::of_submission(vec![sized(document(), 256 * 1024 + 1)]);
    assert_eq!(fault(made), Some(ManifestFault::FileTooLarge));
    let signature = file(ManifestFileKind::Signature, &format!("{DOCUMENT}.sig"));
    let made = submission(&[sized(signature.clone(), 1 << 20)]);
    assert_eq!(fault(made), Some(ManifestFault::FileTooLarge));
    for file in [signature, file(ManifestFileKind::Folder, "repo/")] {
        let made = submission(&[ManifestFile { mode: ManifestMode::Program, ..file }]);
        assert_eq!(fault(made), Some(ManifestFault::Mode));
    }
    let input = |name: &str, bytes: u64| sized(file(ManifestFileKind::Input, name), bytes);
    assert_eq!(fault(submission(&[input("a", STORE_BYTES_MAX - 1)])), None);
    let made = submission(&[input("a", STORE_BYTES_MAX)]);
    assert_eq!(fault(made), Some(ManifestFault::TooManyBytes));
    let made = submission(&[input("a", u64::MAX), input("b", u64::MAX)]);
    assert_eq!(fault(made), Some(ManifestFault::TooManyBytes));
    let left_out = sized(file(ManifestFileKind::LeftOut, "a"), u64::MAX);
    assert_eq!(fault(Manifest::of_result(vec![left_out])), None, "it has no blob");
    let many: Vec<ManifestFile> =
        (0..=FILES_MAX).map(|number| result(&number.to_string())).collect();
    assert_eq!(fault(Manifest::of_result(many)), Some(ManifestFault::TooManyFiles));
}

#[test]
fn no_file_has_the_place_of_another_one() {
    let (input, folder) = (ManifestFileKind::Input, ManifestFileKind::Folder);
    for (first, second) in [
        ((input, "a"), (input, "a/b")),
        ((input, "a"), (folder, "a/")),
        ((folder, "a/"), (input, "a/b")),
        ((folder, "a/"), (folder, "a/b/c/")),
        ((input, "a/b"), (folder, "a/")),
    ] {
        let made = submission(&[file(first.0, first.1), file(second.0, second.1)]);
        assert_eq!(fault(made), Some(ManifestFault::Nested), "{first:?} {second:?}");
    }
    // `a-b` sorts between `a` and `a/b` as a text, and not as a path.
    let made = submission(&[file(input, "a"), file(input, "a-b"), file(input, "a/b")]);
    assert_eq!(fault(made), Some(ManifestFault::Nested));
    let made = submission(&[file(input, "a/b"), file(input, "a/c"), file(folder, "ab/")]);
    assert_eq!(fault(made), None);
    let left_out = file(ManifestFileKind::LeftOut, "a");
    let made = Manifest::of_result(vec![result("a"), left_out]);
    assert_eq!(fault(made), Some(ManifestFault::Nested));
}
