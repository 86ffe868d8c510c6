//! Texts without secrets: digests, ids, data, this repository. Findings only at the listed places.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use validator::withholding_code;

use super::tokens::{BASE62, BASE64, DIGIT, LOWER_HEX, URL64, random};

/// Returns ordinary lines of people and programs, none of which contains a secret.
fn innocent_lines() -> Vec<String> {
    let mut lines = Vec::new();
    for seed in 1..200 {
        let of = |alphabet: &str, length: usize| random(alphabet, length, seed);
        lines.push(format!("- `/in/input.csv` sha256: {}", of(LOWER_HEX, 64)));
        lines.push(format!("{}  data.bin", of(LOWER_HEX, 64)));
        lines.push(format!("commit {}", of(LOWER_HEX, 40)));
        lines.push(format!("md5 = {}", of(LOWER_HEX, 32)));
        lines.push(format!("cache-key-{}", of(LOWER_HEX, 32)));
        lines.push(format!("TR-20260209-160501Z-run-{seed}"));
        lines.push(format!("TS-20260209-161030Z-TR-20260209-160501Z-run-{seed}"));
        let hex = of(LOWER_HEX, 32);
        let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        lines.push(format!("request_id: {uuid}"));
        lines.push(format!("\"id\": \"{uuid}\", \"etag\": \"{}\"", of(LOWER_HEX, 32)));
        lines.push(of(BASE64, 76));
        lines.push(format!("{}==", of(BASE64, 86)));
        lines.push(format!("data:image/png;base64,{}", of(BASE64, 2000)));
        lines.push(format!("integrity sha512-{}==", of(BASE64, 86)));
        lines.push(format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} a@b", of(BASE64, 43)));
        lines.push(format!("{seed},{},{}.5,2026-02-09T16:05:01Z", of(BASE62, 12), of(DIGIT, 6)));
        lines.push(format!("https://example.org/a/{}?page={seed}#top", of(BASE62, 22)));
        lines.push(of(URL64, 1000));
        lines.push(format!("\"logId\":{{\"keyId\":\"{}=\"}}", of(BASE64, 43)));
    }
    lines
}

#[test]
fn digests_ids_and_data_are_no_secrets() {
    for line in innocent_lines() {
        assert_eq!(withholding_code(&line), None, "{line}");
    }
}

/// A secret often follows the identifier of its key.
#[test]
fn a_secret_beside_the_id_of_its_key_is_found() {
    for line in ["key_id=7f, auth_value=\"a8Kd93kLm2Qx4821\"", "keyId=4f,api=K001a8Kd93kLm2Qx4821"]
    {
        assert!(withholding_code(line).is_some(), "{line}");
    }
}

/// The files of this repository with invented secrets for tests, and the needles of the scanner.
const WITH_SECRETS: &[&str] = &[
    "fleet/src/bytes/",
    "fleet/src/database/address/",
    "fuzz/",
    "policies/src/fleet_list/",
    "validator/benches/",
    "records/src/stream.rs",
    "records/src/yaml/mod.rs",
    "records/tests/",
    "tests/tests/fleet/",
    "tests/tests/request/diagnostics.rs",
    "validator/src/secrets/format.rs",
    "validator/src/secrets/cloud.rs",
    "validator/tests/",
];

/// Returns every file below a directory except hidden directories, linked ones and build output.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type().unwrap();
            if !kind.is_dir() {
                files.push(path);
            } else if !name.as_encoded_bytes().starts_with(b".") && name != "target" {
                folders.push(path);
            }
        }
    }
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in files_below(folder) {
        if ["rs", "md", "toml", "yaml", "yml", "service", "csv", "py", "json"]
            .iter()
            .any(|it| path.extension().is_some_and(|extension| extension == *it))
        {
            files.push(path);
        }
    }
}

#[test]
fn this_repository_holds_no_secrets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    collect(root, &mut files);
    assert!(files.len() > 100, "only {} files: the search is broken", files.len());
    let (mut found, mut excused) = (Vec::new(), BTreeSet::new());
    for file in files {
        let name = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        for (number, line) in (1..).zip(text.lines()) {
            let secret = withholding_code(line).filter(|code| code.as_str().starts_with("secret."));
            let Some(code) = secret else { continue };
            match WITH_SECRETS.iter().find(|it| name.starts_with(**it)) {
                Some(place) => _ = excused.insert(*place),
                None => found.push(format!("{name}:{number}: {} in {line}", code.as_str())),
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(excused.len(), WITH_SECRETS.len(), "an exception that none needs: {excused:?}");
}
