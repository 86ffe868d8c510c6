//! The texts of this crate's errors, compared with `tests/snapshots/messages/egress.txt`. Every
//! error that a test can construct must be included.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use shared::{assert_texts, denied, every, path};

use crate::client::EgressError;
use crate::frame::{EgressRefusalReason, ServeRefusal};

#[test]
fn error_texts_match_the_snapshot() {
    assert_texts(
        "egress",
        vec![
            every!(EgressError:
                Start(path(), denied()),
                Unable(ServeRefusal::Busy),
                Lost("asking", denied()),
                Unexpected("asking"),
            ),
            every!(ServeRefusal:
                NoHosts,
                BadHost("a..b".to_owned()),
                Bounds("the number of hosts".to_owned()),
                Private([10, 0, 0, 1].into()),
                NotAListener,
                Malformed,
                Busy,
            ),
            every!(EgressRefusalReason:
                Host,
                Port,
                Scheme,
                PrivateAddress,
                MetadataAddress,
                OwnAddress,
                Unresolved,
                Unreachable,
                Sni,
                HostField,
                UserInfo,
                Method,
                Upgrade,
                Malformed,
                HeadTooBig,
                Slow,
                Bytes,
                Connections,
                Time,
            ),
        ],
    );
}
