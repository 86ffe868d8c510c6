//! `SubjectPublicKeyInfo` as PEM: the form in which `openssl` and Sigstore's verifiers take a public
//! key. Nothing private may come here.

use crate::base64;

const LINE: usize = 64;

pub(crate) fn pem(spki: &[u8]) -> String {
    let mut pem = String::from("-----BEGIN PUBLIC KEY-----\n");
    let mut column = 0;
    for digit in base64::encode(spki).chars() {
        if column == LINE {
            pem.push('\n');
            column = 0;
        }
        pem.push(digit);
        column += 1;
    }
    pem.push_str("\n-----END PUBLIC KEY-----\n");
    pem
}
