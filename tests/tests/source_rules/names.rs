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

#[test]
fn no_unfinished_code() {
    for source in sources() {
        for left in ["todo!", "unimplemented!", "#[ignore", "#[should_panic]", "dbg!("] {
            assert!(!source.code().contains(left), "{}: {left}", source.name());
        }
    }
}
