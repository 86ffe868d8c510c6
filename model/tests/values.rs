//! Digests, times, ids and escaped lines, and their round trips.

use jiff::Timestamp;
use model::{
    ClaimId, EnvironmentName, EnvironmentReference, NotAnEnvironmentName,
    NotAnEnvironmentReference, RequestId, ResultId, Sha256, Sha256Stream, UtcTime, alternatives,
    deceptive_kind, digest_words, escape_line, is_deceptive,
};

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

/// The words were computed by another program from the published list.
#[test]
fn words_of_a_digest_are_its_first_66_bits() {
    for (digest, words) in [
        (Sha256::of(b""), "together mail awful cradle scrub apart"),
        (Sha256::of(b"abc"), "risk scheme quiz bulk brother vivid"),
        (Sha256::from_bytes([0; 32]), "abandon abandon abandon abandon abandon abandon"),
        (Sha256::from_bytes([0xff; 32]), "zoo zoo zoo zoo zoo zoo"),
    ] {
        assert_eq!(digest_words(&digest).join(" "), words);
    }
    let with = |at: usize, bit: u8| {
        let mut bytes = [0; 32];
        bytes[at] = bit;
        digest_words(&Sha256::from_bytes(bytes))
    };
    assert_eq!(with(8, 0x40)[5], "ability");
    assert_eq!(with(8, 0x20), with(31, 1));
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
fn names_of_environments_are_short_lower_case_words() {
    for name in ["a", "0", "charts", "py3-data-2", &"n".repeat(40)] {
        assert_eq!(name.parse::<EnvironmentName>().unwrap().to_string(), name);
    }
    for text in ["", "-a", "A", "a_b", "a.b", "a/b", "a b", "\u{e9}", "..", &"n".repeat(41)] {
        assert_eq!(text.parse::<EnvironmentName>(), Err(NotAnEnvironmentName), "{text}");
    }
}

#[test]
fn a_reference_to_an_environment_has_one_text() {
    let sha256 = Sha256::of(b"");
    let text = format!("charts@sha256:{sha256}");
    let reference: EnvironmentReference = text.parse().unwrap();
    assert_eq!((reference.name.as_str(), reference.sha256), ("charts", sha256));
    assert_eq!(reference.to_string(), text);
    let upper = sha256.to_string().to_uppercase();
    for wrong in [
        "charts".to_owned(),
        format!("charts:{sha256}"),
        format!("charts@{sha256}"),
        format!("charts@sha256:{upper}"),
        format!("Charts@sha256:{sha256}"),
        format!("charts @sha256:{sha256}"),
        format!("charts@sha256: {sha256}"),
        format!("@sha256:{sha256}"),
        format!("charts@sha256:{}", &sha256.to_string()[1..]),
        format!("charts@sha256:{sha256}0"),
        format!("charts@sha256:{sha256}\n"),
        format!("a@sha256:{sha256}@sha256:{sha256}"),
    ] {
        let read = wrong.parse::<EnvironmentReference>();
        assert_eq!(read, Err(NotAnEnvironmentReference), "{wrong}");
    }
}

#[test]
fn lines_are_escaped_for_display() {
    assert_eq!(
        escape_line("a\tb \u{1b}[31m\u{202e}\u{200b}\u{e9}"),
        "a\tb \\u{1b}[31m\\u{202e}\\u{200b}\u{e9}"
    );
}

/// Compares days of every year, at their first and last second, with another calendar. The step of
/// 13 divides neither a year nor the 146,097 days of 400 years, so every date is reached.
#[test]
fn times_are_those_of_another_calendar() {
    let (first, last) = (UtcTime::from_unix(i64::MIN).unix(), UtcTime::from_unix(i64::MAX).unix());
    let mut days = 0;
    for midnight in (first..=last).step_by(13 * 86_400) {
        for unix in [midnight, (midnight + 86_399).min(last)] {
            let time = UtcTime::from_unix(unix);
            let theirs = Timestamp::from_second(unix).unwrap();
            assert_eq!(time.to_string(), theirs.strftime("%04Y-%m-%dT%H:%M:%SZ").to_string());
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        days += 1;
    }
    assert!(days > 280_000, "{days}");
}

#[test]
fn a_time_beyond_the_last_is_none() {
    assert!("9999-12-30T22:00:00Z".parse::<UtcTime>().is_ok());
    for beyond in ["9999-12-30T22:00:01Z", "9999-12-31T00:00:00Z"] {
        assert!(beyond.parse::<UtcTime>().is_err(), "{beyond}");
    }
    for wrong in ["2026-00-09T16:05:01Z", "2026-13-09T16:05:01Z", "2026-04-31T16:05:01Z"] {
        assert!(wrong.parse::<UtcTime>().is_err(), "{wrong}");
    }
    for (year, leap) in [("1900", false), ("2000", true), ("0000", true), ("0100", false)] {
        assert_eq!(format!("{year}-02-29T00:00:00Z").parse::<UtcTime>().is_ok(), leap, "{year}");
    }
}

#[test]
fn claims_are_named_by_random_bytes() {
    let claim = ClaimId::from_random([0x0a; 16]);
    assert_eq!(claim.as_str(), "0a".repeat(16));
    assert_eq!(ClaimId::from_name(claim.as_str()), Some(claim));
    for wrong in
        ["", "0A0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", "0a", ".", "g0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0"]
    {
        assert_eq!(ClaimId::from_name(wrong), None, "{wrong}");
    }
}

#[test]
fn a_choice_is_written_as_people_do() {
    assert_eq!(alternatives(&[]), "");
    assert_eq!(alternatives(&["a"]), "a");
    assert_eq!(alternatives(&["a", "b"]), "a or b");
    assert_eq!(alternatives(&["a", "b", "c"]), "a, b or c");
}

/// The complete list, by number. A tab is not allowed in a name, but is not deceptive in a text.
#[test]
fn deceptive_characters_are_these() {
    let listed = [
        (0x00, 0x1f),
        (0x7f, 0x9f),
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180e, 0x180e),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff9, 0xfffb),
        (0xe_0000, 0xe_007f),
        (0xe_0100, 0xe_01ef),
    ];
    for c in (0..=0x0010_ffff).filter_map(char::from_u32) {
        let expected = listed.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)));
        assert_eq!(is_deceptive(c), expected, "{}", c.escape_unicode());
        assert_eq!(deceptive_kind(c).is_some(), expected && c != '\t', "{}", c.escape_unicode());
    }
}
