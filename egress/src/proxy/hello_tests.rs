//! Tests of the ClientHello parser: valid messages in any pieces, invalid ones, and random bytes.

use proptest::prelude::*;

use super::super::retry;
use super::*;

fn counted(width: usize, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("short").to_be_bytes();
    [&length[4 - width..], content].concat()
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &counted(2, content)].concat()
}

fn sni(name: &[u8]) -> Vec<u8> {
    extension(0, &counted(2, &[&[0][..], &counted(2, name)].concat()))
}

fn message(extensions: &[u8]) -> Vec<u8> {
    let body = [
        &[3, 3][..],
        &[7; 32],
        &counted(1, &[9; 32]),
        &counted(2, &[0x13, 1]),
        &counted(1, &[0]),
        &counted(2, extensions),
    ];
    [&[1][..], &counted(3, &body.concat())].concat()
}

fn records(message: &[u8], most: usize) -> Vec<u8> {
    let record = |part: &[u8]| [&[22, 3, 1][..], &counted(2, part)].concat();
    message.chunks(most).flat_map(record).collect()
}

fn named(name: &str) -> Vec<u8> {
    let others = [extension(0x0a0a, &[]), sni(name.as_bytes()), extension(43, &[2, 3, 4])].concat();
    records(&message(&others), 16 * 1024)
}

fn found(bytes: &[u8]) -> Result<Option<Option<String>>, HelloParseError> {
    Ok(match read(bytes)? {
        HelloState::Unfinished => None,
        HelloState::Complete(hello) => Some(hello.name),
    })
}

#[test]
fn the_name_is_found_and_folded() {
    assert_eq!(found(&named("Example.ORG.")), Ok(Some(Some("example.org".to_owned()))));
    assert_eq!(found(&records(&message(&extension(43, &[])), 99)), Ok(Some(None)));
}

#[test]
fn what_follows_in_later_records_is_not_looked_at() {
    let more = [named("a.example"), vec![23, 3, 3, 0, 1, 0]].concat();
    let (name, length) = (Some("a.example".to_owned()), more.len() - 6);
    assert_eq!(read(&more), Ok(HelloState::Complete(ClientHello { name, length })));
}

#[test]
fn before_another_hello_stands_only_what_a_host_throws_away() {
    let (mark, early) = (&[20, 3, 3, 0, 1, 1][..], &[23, 3, 3, 0, 2, 7, 7][..]);
    let hello = named("a.example");
    let again = [early, mark, early, &hello, mark].concat();
    let (name, length) = (Some("a.example".to_owned()), again.len() - mark.len());
    assert_eq!(read_second(&again), Ok(HelloState::Complete(ClientHello { name, length })));
    for cut in 0..length {
        assert_eq!(read_second(&again[..cut]), Ok(HelloState::Unfinished), "{cut}");
    }
    let alert = [21, 3, 3, 0, 2, 1, 90];
    assert_eq!(read_second(&[&alert[..], &hello].concat()), Err(HelloParseError::NotTls));
}

#[test]
fn what_is_no_tls_is_reported_at_once() {
    for text in
        [&b"GET / HTTP/1.1\r\n"[..], b"CONNECT a:443 HTTP/1.1", b"\x80\x2e\x01\x03\x01", b"\0"]
    {
        assert_eq!(read(text), Err(HelloParseError::NotTls), "{text:?}");
    }
    assert_eq!(read(&[22, 2]), Err(HelloParseError::NotTls));
    assert_eq!(read(&[22, 3, 1, 0xff, 0xff]), Err(HelloParseError::NotTls));
    assert_eq!(read(&[22, 3, 1, 0, 0]), Err(HelloParseError::NotTls));
}

#[test]
fn a_name_that_two_readers_could_read_differently_is_refused() {
    let one = |content: &[u8]| {
        let mut list = vec![0];
        list.extend(counted(2, content));
        list
    };
    let two_names = extension(0, &counted(2, &[one(b"a.b"), one(b"c.d")].concat()));
    let other_kind = extension(0, &counted(2, &[&[1][..], &counted(2, b"a.b")].concat()));
    let after_list = extension(0, &[counted(2, &one(b"a.b")), vec![0]].concat());
    let cases = [
        [sni(b"a.b"), sni(b"a.b")].concat(),
        two_names,
        other_kind,
        after_list,
        sni(b""),
        sni(b"a.b\0c"),
        sni("bücher".as_bytes()),
        extension(0, &[]),
        vec![0, 0, 0, 9],
        vec![1],
    ];
    for case in cases {
        assert_eq!(
            read(&records(&message(&case), 999)),
            Err(HelloParseError::Malformed),
            "{case:?}"
        );
    }
    let doubled = [message(&sni(b"a.b")), message(&sni(b"c.d"))].concat();
    assert_eq!(read(&records(&doubled, 16 * 1024)), Err(HelloParseError::Malformed));
    let server_hello = records(&[2, 0, 0, 1, 0], 99);
    assert_eq!(read(&server_hello), Err(HelloParseError::Malformed));
    let other_record =
        [records(&message(&sni(b"a.b"))[..20], 99), vec![23, 3, 3, 0, 1, 0]].concat();
    assert_eq!(read(&other_record), Err(HelloParseError::Malformed));
    assert_eq!(
        read(&records(&[1, 1, 0, 0], 99)),
        Err(HelloParseError::Malformed),
        "64 KiB announced"
    );
}

#[test]
fn a_hidden_name_is_refused_even_beside_a_plain_one() {
    for kind in HIDDEN {
        let both = [sni(b"a.b"), extension(kind, &[0])].concat();
        assert_eq!(read(&records(&message(&both), 999)), Err(HelloParseError::HiddenName));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        drop(read(&bytes));
        drop((read_second(&bytes), retry::read(&bytes)));
        drop(read(&records(&[vec![1, 0, 1, 0], bytes].concat(), 77)));
    }

    #[test]
    fn any_body_is_judged(body in proptest::collection::vec(any::<u8>(), 0..300), most in 1..400_usize) {
        let message = [vec![1], counted(3, &body)].concat();
        prop_assert_ne!(read(&records(&message, most)), Ok(HelloState::Unfinished));
    }

    #[test]
    fn records_and_pieces_make_no_difference(most in 1..300_usize, cut in any::<prop::sample::Index>()) {
        let whole = records(&message(&sni(b"split.example")), most);
        let cut = cut.index(whole.len());
        prop_assert_eq!(found(&whole), Ok(Some(Some("split.example".to_owned()))));
        prop_assert_eq!(read(&whole[..cut]), Ok(HelloState::Unfinished));
    }

    #[test]
    fn one_wrong_byte_never_makes_another_name(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let good = named("flip.example");
        let name = good.windows(12).position(|it| it == b"flip.example").expect("there");
        let mut wrong = good.clone();
        let at = at.index(good.len());
        wrong[at] = to;
        if let Ok(Some(Some(read))) = found(&wrong) {
            let inside = (name..name + 12).contains(&at);
            prop_assert!(inside || read == "flip.example" , "{} at {}", read, at);
        }
    }
}
