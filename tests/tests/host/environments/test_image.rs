//! An image of one layer in the layout of OCI, made with `tar` and `sha256sum`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput};

use super::scene::write;

/// Writes an image whose only file is this program, as `/usr/bin/tool`.
#[track_caller]
pub(super) fn image(bench: &Bench, program: &Path) -> PathBuf {
    let (root, layout) = (bench.scratch().dir("root"), bench.scratch().dir("image"));
    write(&root.join("usr/bin/tool"), fs::read(program).unwrap(), 0o755);
    let tar = bench.scratch().path().join("layer.tar");
    let mut command = Command::new("tar");
    command.arg("-C").arg(root).args(["--format=ustar", "-cf"]).arg(&tar).arg("usr");
    CliOutput::of(&mut command).assert_code(0);

    let layer = blob(&layout, "layer.v1.tar", &fs::read(tar).unwrap());
    let config = json!({
        "architecture": architecture(),
        "os": "linux",
        "config": { "Env": ["PATH=/usr/bin"] },
        "rootfs": { "type": "layers", "diff_ids": [layer["digest"]] },
    });
    let manifest = json!({
        "schemaVersion": 2,
        "config": blob(&layout, "config.v1+json", config.to_string().as_bytes()),
        "layers": [layer],
    });
    let manifest = blob(&layout, "manifest.v1+json", manifest.to_string().as_bytes());
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    write(&layout.join("index.json"), index.to_string(), 0o644);
    write(&layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#, 0o644);
    layout
}

/// Writes a blob, and returns its descriptor.
fn blob(layout: &Path, kind: &str, bytes: &[u8]) -> Value {
    let unnamed = layout.join("blob");
    write(&unnamed, bytes, 0o644);
    let summed = CliOutput::of(Command::new("sha256sum").arg(&unnamed));
    let digest = &summed.stdout[..64];
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    fs::rename(unnamed, blobs.join(digest)).unwrap();
    json!({
        "mediaType": format!("application/vnd.oci.image.{kind}"),
        "digest": format!("sha256:{digest}"),
        "size": bytes.len(),
    })
}

/// The architecture of this machine in the words of images.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
