//! Names without meaning and unfinished code.

use crate::sources::sources;

#[test]
fn no_vague_names() {
    let nothing = ["common", "core", "util", "utils", "helper", "helpers", "types", "manager"];
    let mut wrong = Vec::new();
    for source in sources() {
        let path = &source.path;
        for part in path.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()) {
            if nothing.contains(&part.as_str()) {
                wrong.push(format!("{}", path.display()));
            }
        }
        for line in source.code().lines().filter_map(|line| line.split_once("mod ")) {
            let name: String =
                line.1.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if nothing.contains(&name.as_str()) {
                wrong.push(format!("{}: mod {name}", path.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The lints of the workspace refuse unfinished code.
#[test]
fn no_test_is_ignored_or_passes_by_any_panic() {
    for source in sources() {
        for attribute in ["#[ignore", "#[should_panic]"] {
            assert!(!source.code().contains(attribute), "{}: {attribute}", source.name());
        }
    }
}
