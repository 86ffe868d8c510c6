//! The small values: digests, times, ids, codes, escaped lines. What is written can be read back.

use validator::{Code, RequestId, ResultId, Sha256, Sha256Stream, UtcTime, Violation, escape_line};

#[test]
fn digests() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Sha256::of(b"").to_string(), empty);
    assert_eq!(empty.to_uppercase().parse(), Ok(Sha256::of(b"")));
    assert!(empty[1..].parse::<Sha256>().is_err());
    assert!(format!("g{}", &empty[1..]).parse::<Sha256>().is_err());
    let mut stream = Sha256Stream::new();
    stream.update(b"ab");
    stream.update(b"c");
    assert_eq!(stream.finish(), Sha256::of(b"abc"));
}

#[test]
fn times() {
    let time: UtcTime = "2026-02-09T16:05:01Z".parse().unwrap();
    assert_eq!(time.to_string(), "2026-02-09T16:05:01Z");
    assert_eq!(time.compact(), "20260209-160501Z");
    assert_eq!(UtcTime::from_unix(time.unix()), time);
    assert_eq!(UtcTime::from_unix(0).to_string(), "1970-01-01T00:00:00Z");
    assert_eq!(UtcTime::from_unix(i64::MAX).to_string(), "9999-12-30T22:00:00Z");
    assert_eq!(UtcTime::from_unix(i64::MIN).to_string(), "0000-01-01T00:00:00Z");
    assert!("2024-02-29T00:00:00Z".parse::<UtcTime>().is_ok());
    for wrong in [
        "2026-02-29T00:00:00Z",
        "2026-02-09T16:05:60Z",
        "2026-02-09T24:00:00Z",
        "2026-2-9T16:05:01Z",
        "2026-02-09T16:05:01+00:00",
        "2026-02-09t16:05:01z",
        "2026-02-09T16:05:01.5Z",
        "",
        "+026-02-09T16:05:01Z",
    ] {
        assert!(wrong.parse::<UtcTime>().is_err(), "{wrong}");
    }
}

#[test]
fn ids() {
    let request: RequestId = "TR-20260209-160501Z-python-stats".parse().unwrap();
    assert_eq!(request.date().to_string(), "2026-02-09T16:05:01Z");
    let long = format!("TR-20260209-160501Z-{}", "a".repeat(65));
    for wrong in [
        "TR-20260209-160501Z-",
        "TR-20260230-160501Z-x",
        "TR-20260209-160501Z-a/b",
        "TR-20260209T160501Z-x",
        "tr-20260209-160501Z-x",
        "TR-20260209-160501Z-\u{e9}",
        &long,
    ] {
        assert!(wrong.parse::<RequestId>().is_err(), "{wrong}");
    }
    let at = UtcTime::from_unix(0);
    let result = ResultId::for_request(at, &request);
    assert_eq!(result.as_str(), "TS-19700101-000000Z-TR-20260209-160501Z-python-stats");
    assert_eq!(result.to_string().parse(), Ok(result));
    let refused = ResultId::for_refused(at, &Sha256::of(b""));
    assert_eq!(refused.as_str(), "TS-19700101-000000Z-REFUSED-e3b0c44298fc1c14");
    assert_eq!(refused.to_string().parse(), Ok(refused));
    assert!("TS-20260209T161030Z-TR-20260209-160501Z-x".parse::<ResultId>().is_ok());
    for wrong in ["TS-20260209-161030Z-x", "TS-20260209-161030Z-REFUSED-xyz", "TS-1"] {
        assert!(wrong.parse::<ResultId>().is_err(), "{wrong}");
    }
}

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
fn lines_are_escaped_for_display() {
    assert_eq!(
        escape_line("a\tb \u{1b}[31m\u{202e}\u{200b}\u{e9}"),
        "a\tb \\u{1b}[31m\\u{202e}\\u{200b}\u{e9}"
    );
}

#[test]
fn a_request_that_was_run_is_read_again_whatever_its_words_are_taken_for_now() {
    let base = validator::rules::REQUEST;
    let words = "# Statistics of one table\n\nFirst run `pip install numpy`, please.\n";
    let worse = base.replace("# Statistics of one table\n", words);
    assert_ne!(base, worse);
    let draft = |text: &str| {
        let bytes = text.as_bytes().to_vec();
        validator::Draft::new(bytes, "request.md", validator::OwnerUid::new(0)).unwrap()
    };
    let made: UtcTime = "2026-02-09T17:00:00Z".parse().unwrap();
    assert!(draft(&worse).check(validator::Place::Elsewhere, made).verdict.is_err());
    let recalled = draft(&worse).recall(made).unwrap();
    assert_eq!(recalled.argv().first().map(String::as_str), Some("python"));
    let broken = base.replace("schema_version: 1", "schema_version: 2");
    assert!(draft(&broken).recall(made).is_err());
}
