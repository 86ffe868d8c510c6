//! Codes, and requests that are read from a record.

use model::UtcTime;
use validator::{Code, Violation};

#[test]
fn codes_are_distinct_and_families_have_names() {
    let mut codes: Vec<String> = Code::ALL.iter().map(|code| code.as_str().into_owned()).collect();
    let count = codes.len();
    codes.sort();
    codes.dedup();
    assert_eq!(codes.len(), count);
    assert_eq!(Code::Layer("cgroup").as_str(), "layer.cgroup");
    let row = Violation::error(Code::CommandChaining, "x").at(3, 4).hint("y");
    assert_eq!(
        serde_json::to_string(&row).unwrap(),
        r#"{"code":"command.chaining","severity":"error","message":"x","line":3,"column":4,"hint":"y"}"#
    );
}

#[test]
fn a_recorded_request_is_readable_under_stricter_prose_rules() {
    let base = validator::rule_docs::REQUEST;
    let words = "# Statistics of one table\n\nFirst run `pip install numpy`, please.\n";
    let worse = base.replace("# Statistics of one table\n", words);
    assert_ne!(base, worse);
    let draft = |text: &str| {
        let bytes = text.as_bytes().to_vec();
        validator::Draft::new(bytes, "request.md", validator::OwnerUid::new(0)).unwrap()
    };
    let made: UtcTime = "2026-02-09T17:00:00Z".parse().unwrap();
    assert!(draft(&worse).check(validator::FileLocation::Elsewhere, made).verdict.is_err());
    let recalled = draft(&worse).read_recorded(made).unwrap();
    assert_eq!(recalled.argv().first().map(String::as_str), Some("python"));
    let broken = base.replace("schema_version: 1", "schema_version: 2");
    assert!(draft(&broken).read_recorded(made).is_err());
}
