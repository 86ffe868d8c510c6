//! Many signatures under one P-256 key, verified more quickly than one by one: multiples of the key and
//! of the curve's generator are kept in tables, so that no point is doubled. What the tables do not
//! accept the library decides; they must never be used to make a signature, nor with a secret number,
//! since their reading takes time by its value.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::elliptic_curve::ops::{Invert as _, Reduce as _};
use p256::elliptic_curve::point::AffineCoordinates as _;
use p256::{ProjectivePoint, Scalar};
use validator::Sha256;

/// From this signature on the tables, a few milliseconds' work, pay for themselves.
const WORTH_TABLES: u32 = 64;

/// A key that is trusted for as long as a verifier runs.
#[derive(Debug)]
pub(crate) struct Repeated {
    key: VerifyingKey,
    seen: AtomicU32,
    tables: OnceLock<[Multiples; 2]>,
}

impl Repeated {
    pub(crate) fn new(key: VerifyingKey) -> Self {
        Self { key, seen: AtomicU32::new(0), tables: OnceLock::new() }
    }

    /// Whether the signature is one of this key over these bytes (ECDSA with SHA-256).
    pub(crate) fn accepts(&self, message: &[u8], signature: &Signature) -> bool {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        // It wraps after four thousand million signatures, and a few more are verified slowly.
        let quickly = seen >= WORTH_TABLES && self.by_tables(message, signature);
        quickly || self.key.verify(message, signature).is_ok()
    }

    /// FIPS 186-5, 6.4.2: the x of `z/s G + r/s Q` is `r`, as numbers modulo the order of the curve.
    fn by_tables(&self, message: &[u8], signature: &Signature) -> bool {
        let [generator, key] = self.tables.get_or_init(|| {
            let key = ProjectivePoint::from(*self.key.as_affine());
            [Multiples::of(ProjectivePoint::GENERATOR), Multiples::of(key)]
        });
        let (r, s) = signature.split_scalars();
        let z = Scalar::reduce_bytes(Sha256::of(message).as_bytes().into());
        let inverse = *s.invert_vartime();
        let point = generator.times(z * inverse) + key.times(*r * inverse);
        point != ProjectivePoint::IDENTITY && Scalar::reduce_bytes(&point.to_affine().x()) == *r
    }
}

/// `digit * 256^place` times a point, for every place of a number and every digit but zero.
#[derive(Debug)]
struct Multiples(Vec<Vec<ProjectivePoint>>);

impl Multiples {
    fn of(point: ProjectivePoint) -> Self {
        let mut unit = point;
        let row = |_| {
            let sums = std::iter::successors(Some(unit), |sum| Some(*sum + unit));
            let mut row: Vec<ProjectivePoint> = sums.take(256).collect();
            unit = row.pop().unwrap_or(unit);
            row
        };
        Self((0..32).map(row).collect())
    }

    fn times(&self, number: Scalar) -> ProjectivePoint {
        let mut sum = ProjectivePoint::IDENTITY;
        for (row, digit) in self.0.iter().zip(number.to_bytes().iter().rev()) {
            if let Some(point) = usize::from(*digit).checked_sub(1).and_then(|at| row.get(at)) {
                sum += point;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::SigningKey;
    use p256::ecdsa::signature::Signer as _;

    use super::*;

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_slice(&[seed; 32]).unwrap()
    }

    #[test]
    fn the_tables_multiply_as_the_library_does() {
        let point = ProjectivePoint::GENERATOR * Scalar::from(77_u64);
        let table = Multiples::of(point);
        let mut numbers = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(16_u64)];
        numbers
            .extend((0..50_u8).map(|n| Scalar::reduce_bytes(Sha256::of(&[n]).as_bytes().into())));
        for number in numbers {
            assert_eq!(table.times(number), point * number);
        }
    }

    #[test]
    fn the_tables_accept_what_the_library_accepts() {
        for seed in 1..9 {
            let (signing, other) = (key(seed), key(seed + 100));
            let known = Repeated::new(*signing.verifying_key());
            let stranger = Repeated::new(*other.verifying_key());
            for number in 0..8_u8 {
                let message = [seed, number];
                let signature: Signature = signing.sign(&message);
                assert!(known.by_tables(&message, &signature));
                assert!(!stranger.by_tables(&message, &signature));
                assert!(!known.by_tables(&[seed, number, 0], &signature));
                let (r, s) = signature.split_scalars();
                // The other signature of the same number is one to the library too.
                let other = Signature::from_scalars(*r, -*s).unwrap();
                assert!(
                    known.by_tables(&message, &other) && known.key.verify(&message, &other).is_ok()
                );
                for wrong in [
                    Signature::from_scalars(*s, *r),
                    Signature::from_scalars(-*r, *s),
                    Signature::from_scalars(*r + Scalar::ONE, *s),
                    Signature::from_scalars(*r, *s + Scalar::ONE),
                    Signature::from_scalars(Scalar::ONE, Scalar::ONE),
                ] {
                    let wrong = wrong.unwrap();
                    assert!(!known.by_tables(&message, &wrong));
                    assert!(known.key.verify(&message, &wrong).is_err());
                }
            }
        }
    }

    #[test]
    fn a_sum_at_infinity_is_no_signature() {
        // Q = -G and r = z: z/s G + r/s Q is nothing.
        let signing = SigningKey::from_bytes(&(-Scalar::ONE).to_bytes()).unwrap();
        let known = Repeated::new(*signing.verifying_key());
        let z = Scalar::reduce_bytes(Sha256::of(b"x").as_bytes().into());
        let signature = Signature::from_scalars(z, Scalar::ONE).unwrap();
        assert!(!known.by_tables(b"x", &signature));
        assert!(known.key.verify(b"x", &signature).is_err());
    }

    #[test]
    fn one_after_another_they_are_judged_alike() {
        let signing = key(5);
        let known = Repeated::new(*signing.verifying_key());
        for number in 0..(2 * WORTH_TABLES) {
            let message = number.to_be_bytes();
            let signature: Signature = signing.sign(&message);
            assert!(known.accepts(&message, &signature));
            assert!(!known.accepts(b"another", &signature));
        }
        assert!(known.tables.get().is_some());
    }
}
