//! Closed sets: list, texts and parser.

use model::{ClosedSet, NotInSet, closed_set};

closed_set! {
    /// With documentation.
    #[derive(PartialOrd, Ord)]
    enum Plain {
        /// The first.
        First = "first",
        /// The second.
        Second = "the-second",
    }
}

closed_set! {
    /// With a meaning.
    enum Explained {
        Here = "here": "In this place.",
        There = "there": "In that place.",
    }
}

closed_set! {
    /// With a value that carries another.
    enum Carrying {
        Nothing = "nothing",
        Number(u8: 7) = "number",
    }
}

#[test]
fn a_closed_set_is_listed_written_and_read() {
    assert_eq!(Plain::ALL, [Plain::First, Plain::Second]);
    assert_eq!(Plain::TEXTS, ["first", "the-second"]);
    assert!(Plain::First < Plain::Second);
    for value in Plain::ALL {
        assert_eq!(value.as_str().parse(), Ok(*value));
        assert_eq!(Plain::named(&value.to_string()), Some(*value));
    }
    for wrong in ["", "First", "FIRST", "first ", "second"] {
        assert_eq!(wrong.parse::<Plain>(), Err(NotInSet(Plain::TEXTS)), "{wrong}");
    }
    assert_eq!(NotInSet(Plain::TEXTS).to_string(), "not one of first, the-second");
}

#[test]
fn a_meaning_is_a_column() {
    let meanings: Vec<_> = Explained::ALL.iter().map(|value| value.meaning()).collect();
    assert_eq!(meanings, ["In this place.", "In that place."]);
    assert_eq!("there".parse(), Ok(Explained::There));
}

#[test]
fn a_value_that_carries_another_is_listed_with_one() {
    assert_eq!(Carrying::ALL, [Carrying::Nothing, Carrying::Number(7)]);
    assert_eq!(Carrying::Number(200).as_str(), "number");
}

#[test]
fn generic_code_sees_the_same_set() {
    fn texts<T: ClosedSet>() -> Vec<&'static str> {
        T::ALL.iter().map(|value| value.as_str()).collect()
    }
    assert_eq!(texts::<Plain>(), Plain::TEXTS);
    assert_eq!(texts::<Carrying>(), <Carrying as ClosedSet>::TEXTS);
}
