//! A release of small stand-ins: users check it with the lines of docs/releasing.md.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::{Path, PathBuf};

use toolexec_tests::{Bench, CliOutput, DocPage, list, ssh_keygen_works, workspace};

/// Releases two files under a new key.
fn make_release(bench: &Bench) -> PathBuf {
    let script = workspace().join("packaging/release");
    let lines = format!(
        "mkdir files\n\
         echo package > files/toolexec.deb\n\
         echo tarball > files/toolexec.tar.gz\n\
         ssh-keygen -q -t ed25519 -N '' -C '' -f key\n\
         {} --key key --artefacts files release",
        script.display()
    );
    CliOutput::of(&mut bench.shell(&lines)).assert_code(0);
    bench.home().join("release")
}

/// Returns the record's own page.
fn record_of(release: &Path) -> PathBuf {
    let names = list(&release.join("record"));
    let [id] = &names[..] else { panic!("not one record: {names:?}") };
    release.join("record").join(id).join(format!("{id}.md"))
}

#[test]
fn the_lines_of_the_releasing_page_accept_a_release_and_no_changed_one() {
    if !ssh_keygen_works("the_lines_of_the_releasing_page_accept_a_release_and_no_changed_one") {
        return;
    }
    let bench = Bench::new();
    let release = make_release(&bench);
    let blocks = DocPage::open("docs/releasing.md").blocks("sh");
    let code = |block: usize| {
        let lines = &blocks[block];
        let output = CliOutput::of(bench.shell(lines).current_dir(&release));
        (output.code, format!("{lines}{output:#?}"))
    };
    assert_eq!(blocks.len(), 3);
    for block in 0..blocks.len() {
        let (code, shown) = code(block);
        assert_eq!(code, Some(0), "{shown}");
    }
    let record = record_of(&release);
    for (file, block) in [
        (release.join("toolexec.deb"), 1),
        (release.join("SHA256SUMS"), 1),
        (release.join("SHA256SUMS"), 2),
        (record, 2),
    ] {
        let good = fs::read(&file).unwrap();
        fs::write(&file, [&good[..], b"\n"].concat()).unwrap();
        let (code, shown) = code(block);
        assert_ne!(code, Some(0), "{}: {shown}", file.display());
        fs::write(&file, good).unwrap();
    }
}
