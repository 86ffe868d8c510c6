//! The end of a claim that was being removed, as `work/.gone-<claim>`. The submission of a standing
//! approval is moved into it before it is identified. A file of another submission must never be
//! removed with the claim.

use std::fs;
use std::path::Path;

use crate::archive::{ASIDE_FILE, remove_originals};
use crate::beneath::remove_tree;
use crate::claim::read_claim_note;
use crate::error::SpoolError;
use crate::publish::SubmissionState;

/// Removes the claim that an earlier process was removing. A file that it had moved there goes back
/// if it is another than the claimed one.
pub(super) fn finish_removal(gone: &Path) -> Result<(), SpoolError> {
    if is_holding_file(gone) {
        let note = read_claim_note(gone)?;
        let submitted = note.as_ref().and_then(|note| Some((note, note.dropped.as_ref()?)));
        if let Some((note, dropped)) = submitted {
            let taken = remove_originals(dropped, (&note.file_name, &note.beside), gone, None)?;
            if let SubmissionState::NotRemoved(error) = taken {
                tracing::warn!("{error}");
            }
        }
    }
    remove_unless_holding(gone);
    Ok(())
}

/// Removes the directory, unless it still has a file that was moved aside: a file of another
/// submission, whose name is taken meanwhile. The next start moves that file back.
pub(crate) fn remove_unless_holding(gone: &Path) {
    if is_holding_file(gone) {
        tracing::warn!("{}: has the file of another submission; not removed", gone.display());
    } else {
        remove_tree(gone);
    }
}

/// An object that cannot be examined counts as held.
fn is_holding_file(gone: &Path) -> bool {
    !matches!(
        fs::symlink_metadata(gone.join(ASIDE_FILE)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::claim::{ClaimKind, ClaimNote, SubmittedFileId};
    use crate::sync;

    const NAME: &str = "SA-20260209-160501Z-means.md";

    /// A claim that was hidden, and the directory of its submission.
    struct GoneClaimScene {
        top: PathBuf,
        gone: PathBuf,
        submitted: PathBuf,
    }

    impl Drop for GoneClaimScene {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.top).unwrap();
        }
    }

    impl GoneClaimScene {
        /// Submits a file with a signature, and hides its claim.
        fn new(name: &str) -> Self {
            let name = format!("toolexec-gone-{name}-{}", std::process::id());
            let top = std::env::temp_dir().join(name);
            let (gone, approved) = (top.join(".gone-1"), top.join("approved"));
            for directory in [&gone, &approved] {
                fs::create_dir_all(directory).unwrap();
            }
            let scene = Self { submitted: approved.join(NAME), top, gone };
            scene.submit("claimed");
            let signature = format!("{NAME}.alice.sig");
            sync::write_new(&approved.join(&signature), b"signature", 0o600).unwrap();
            let found = fs::symlink_metadata(&scene.submitted).unwrap();
            let note = ClaimNote {
                file_name: NAME.to_owned(),
                owner: 0,
                dropped: Some(SubmittedFileId::of(&approved, &found)),
                replays: None,
                kind: ClaimKind::Request,
                beside: vec![signature],
            };
            let note = serde_json::to_vec(&note).unwrap();
            sync::write_new(&scene.gone.join("claim.json"), &note, 0o600).unwrap();
            scene
        }

        fn submit(&self, text: &str) {
            sync::write_new(&self.submitted, text.as_bytes(), 0o600).unwrap();
        }

        /// Replaces the claimed file by another submission of that name.
        fn replace(&self) {
            // The claimed file stays, so that its inode number is not reused.
            sync::rename_new(&self.submitted, &self.top.join("claimed")).unwrap();
            self.submit("another");
        }

        /// Moves the file aside, as the process did before it was killed.
        fn set_aside(&self) {
            sync::rename_new(&self.submitted, &self.gone.join(ASIDE_FILE)).unwrap();
        }

        fn read(&self) -> Option<String> {
            fs::read_to_string(&self.submitted).ok()
        }

        fn signature(&self) -> PathBuf {
            self.submitted.with_file_name(format!("{NAME}.alice.sig"))
        }
    }

    #[test]
    fn a_file_of_another_submission_goes_back() {
        let scene = GoneClaimScene::new("other");
        scene.replace();
        scene.set_aside();
        finish_removal(&scene.gone).unwrap();
        assert_eq!(scene.read().as_deref(), Some("another"));
        assert!(scene.signature().exists() && !scene.gone.exists());
    }

    #[test]
    fn a_file_whose_name_is_taken_stays_until_the_name_is_free() {
        let scene = GoneClaimScene::new("taken");
        scene.replace();
        scene.set_aside();
        scene.submit("a third");
        for _ in 0..2 {
            finish_removal(&scene.gone).unwrap();
            assert_eq!(scene.read().as_deref(), Some("a third"));
            assert!(scene.gone.join(ASIDE_FILE).exists());
        }
        fs::remove_file(&scene.submitted).unwrap();
        finish_removal(&scene.gone).unwrap();
        assert_eq!(scene.read().as_deref(), Some("another"));
        assert!(!scene.gone.exists());
    }

    #[test]
    fn the_claimed_file_goes_with_its_signatures() {
        let scene = GoneClaimScene::new("claimed");
        scene.set_aside();
        finish_removal(&scene.gone).unwrap();
        assert_eq!(scene.read(), None);
        assert!(!scene.signature().exists() && !scene.gone.exists());
    }

    /// The process was killed before it moved the file: the file is claimed again.
    #[test]
    fn a_file_in_its_place_stays() {
        let scene = GoneClaimScene::new("in-place");
        finish_removal(&scene.gone).unwrap();
        assert_eq!(scene.read().as_deref(), Some("claimed"));
        assert!(scene.signature().exists() && !scene.gone.exists());
    }

    #[test]
    fn a_file_without_a_readable_note_is_left_for_the_operator() {
        let scene = GoneClaimScene::new("torn");
        scene.set_aside();
        fs::remove_file(scene.gone.join("claim.json")).unwrap();
        finish_removal(&scene.gone).unwrap();
        assert!(scene.gone.join(ASIDE_FILE).exists());
    }
}
