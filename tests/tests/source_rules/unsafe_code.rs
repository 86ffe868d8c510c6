//! `unsafe` is used in one file only.

use std::fs;

use toolexec_tests::workspace;

use crate::rust_text::has_word;
use crate::sources::{RustSource, sources};

#[test]
fn unsafe_stands_in_one_file() {
    let only = |is_so: fn(&RustSource) -> bool| {
        let with = sources().iter().filter(|source| is_so(source)).map(RustSource::name);
        assert_eq!(with.collect::<Vec<_>>(), ["sandbox/src/sys.rs"]);
    };
    only(|source| has_word(source.code(), "unsafe"));
    only(|source| source.code().contains("allow(unsafe_code"));
    let root = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    assert!(root.contains("unsafe_code = \"deny\"") || root.contains("unsafe_code = \"forbid\""));
    for source in sources() {
        let RustSource { path, text, .. } = source;
        let crate_root = ["src/lib.rs", "src/main.rs"].iter().any(|end| path.ends_with(end));
        if crate_root && !path.starts_with("sandbox") {
            assert!(text.contains("#![forbid(unsafe_code)]"), "{}", path.display());
        }
    }
}
