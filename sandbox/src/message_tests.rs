//! Compares the texts of this crate's errors with `tests/snapshots/messages/sandbox.txt`. It must
//! never leave out an error that a test can construct.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use model::Outcome;
use shared::{assert_texts, denied, every, path};

use crate::client::BuildError;
use crate::frame::SetupFailure;
use crate::steps::SetupStep;
use crate::subordinate::NoSubordinateIds;
use crate::wire::WireError;

#[test]
fn error_texts_match_the_snapshot() {
    let unable =
        |errno| SetupFailure { layer: None, step: "cannot mount the runtime".to_owned(), errno };
    assert_texts(
        "sandbox",
        vec![
            // These two variants describe processes of this host.
            every!(BuildError:
                Launcher(path(), denied()),
                SetupFailed(unable(13)),
                Lost(denied()),
                Unknown(denied());
                without Stuck, Cancelled
            ),
            vec![("Unable, without the kernel", unable(0).to_string())],
            every!(WireError: Short, Trailing, NotUtf8, Range),
            every!(NoSubordinateIds: Range("/etc/subuid"), Program("newuidmap")),
            every!(Outcome:
                Ok,
                ExitNonzero(7),
                Signal(9),
                WallLimit,
                CpuLimit,
                MemoryLimit,
                PidsLimit,
                OutputLimit,
                OutputRejected,
                SeccompViolation,
                Cancelled,
                SetupError,
                Refused,
                Indeterminate,
            ),
            every!(SetupStep:
                BaseRoot,
                FindCgroups,
                OuterFilter,
                Namespaces,
                MakeCgroups,
                BaseMounts,
                StartInit,
                OpenInputs,
                CloneRuntime,
                MakeNetwork,
                AwaitInit,
                SetLimits,
                CopyWork,
                JoinCgroups,
                PrivateMounts,
                MountRuntime,
                DropRights,
                Landlock,
                LoadFilter,
                SelfTest,
            ),
        ],
    );
}
