//! Writes an archive as `docker save` does.

use serde_json::{Value, json};

use super::layer_archive::LayerArchive;
use super::test_image::{TestLayer, config_of, digest};

/// The files of an archive, which a test can make wrong.
pub(super) struct SavedArchive {
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) manifest: Value,
}

impl SavedArchive {
    /// An image with these layers, named as old versions name them.
    pub(super) fn of(layers: &[TestLayer]) -> Self {
        let names: Vec<String> =
            (0..layers.len()).map(|number| format!("{number}/layer.tar")).collect();
        let config = config_of(layers).to_string().into_bytes();
        let config_name = format!("{}.json", hexadecimal(&config));
        let manifest = json!([{
            "Config": config_name,
            "RepoTags": ["example:latest"],
            "Layers": names,
        }]);
        let contents = layers.iter().map(|layer| layer.packed.clone());
        let mut files: Vec<_> = names.into_iter().zip(contents).collect();
        files.push((config_name, config));
        Self { files, manifest }
    }

    /// Moves all files to the names that newer versions use.
    pub(super) fn with_blob_names(mut self) -> Self {
        let mut text = self.manifest.to_string();
        for (name, content) in &mut self.files {
            let blob = format!("blobs/sha256/{}", hexadecimal(content));
            text = text.replace(&format!("{name:?}"), &format!("{blob:?}"));
            *name = blob;
        }
        self.manifest = serde_json::from_str(&text).unwrap();
        self
    }

    /// The content of a file, by the end of its name.
    pub(super) fn content(&mut self, ending: &str) -> &mut Vec<u8> {
        &mut self.files.iter_mut().find(|(name, _)| name.ends_with(ending)).unwrap().1
    }

    /// The archive, with its manifest as the last file.
    pub(super) fn finish(self) -> Vec<u8> {
        let archive = self.without_manifest();
        let manifest = self.manifest.to_string();
        archive.file("manifest.json", manifest.as_bytes()).finish()
    }

    /// The archive without a manifest and without an end.
    pub(super) fn without_manifest(&self) -> LayerArchive {
        self.files
            .iter()
            .fold(LayerArchive::new(), |archive, (name, content)| archive.file(name, content))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    digest(bytes).replace("sha256:", "")
}
