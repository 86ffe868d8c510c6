//! The address of a store, and the settings of its client from the environment. An address has no
//! password: it is in configuration files and lists of processes.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use reqwest::Url;

use super::fault::StoreAddressFault;

/// A variable of one of these prefixes is a setting, as the documentation of `object_store` has it.
const SETTING_PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];
/// The one setting of Google's client without a prefix.
const SERVICE_ACCOUNT: &str = "SERVICE_ACCOUNT";
/// With it, the client would start another program.
const AZURE_PROGRAM: &str = "AZURE_USE_AZURE_CLI";

/// The time for one request with its body, which may be a whole file, and for each wait within it.
/// The environment can set others.
const DEFAULT_SETTINGS: [(&str, &str); 2] = [("timeout", "15m"), ("read_timeout", "30s")];

/// The place of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum StoreAddress {
    /// A directory of this host, or one that it has mounted.
    Directory(PathBuf),
    /// A bucket or container, with a prefix.
    Cloud(Url),
}

impl StoreAddress {
    /// Parses an address. Only a directory is looked up.
    pub(super) fn parse(text: &str) -> Result<Self, StoreAddressFault> {
        let url = Url::parse(text).map_err(|_| StoreAddressFault::NotAnAddress)?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.port().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err(StoreAddressFault::Extra);
        }
        match url.scheme() {
            "file" => Self::directory(&url),
            "s3" | "gs" | "az" if url.host_str().unwrap_or_default().is_empty() => {
                Err(StoreAddressFault::NoBucket)
            }
            "s3" | "gs" | "az" => Ok(Self::Cloud(url)),
            _ => Err(StoreAddressFault::Scheme),
        }
    }

    fn directory(url: &Url) -> Result<Self, StoreAddressFault> {
        let path = url.to_file_path().map_err(|()| StoreAddressFault::NotADirectory)?;
        match fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
            true => Ok(Self::Directory(path)),
            false => Err(StoreAddressFault::NotADirectory),
        }
    }
}

/// Returns an address without anything that may be secret.
pub(super) fn shown_address(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) => {
            format!("{}://{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
        }
        Err(_) => text.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

/// Returns the settings of the client of a cloud, the later ones of higher rank.
pub(super) fn settings(
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(String, String)> {
    let texts = environment
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
    let ours = texts.filter(|(key, _)| {
        let is_setting = SETTING_PREFIXES.iter().any(|prefix| key.starts_with(prefix));
        (is_setting || key == SERVICE_ACCOUNT) && key != AZURE_PROGRAM
    });
    let defaults = DEFAULT_SETTINGS.map(|(key, value)| (key.to_owned(), value.to_owned()));
    defaults.into_iter().chain(ours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_four_kinds_of_stores_are_accepted() {
        for text in ["s3://bucket", "s3://bucket/a/b", "gs://bucket/a", "az://container/a"] {
            assert!(matches!(StoreAddress::parse(text), Ok(StoreAddress::Cloud(_))), "{text}");
        }
        for (text, fault) in [
            ("", StoreAddressFault::NotAnAddress),
            ("/srv/store", StoreAddressFault::NotAnAddress),
            ("memory:///", StoreAddressFault::Scheme),
            ("http://host/path", StoreAddressFault::Scheme),
            ("https://bucket.s3.amazonaws.com/a", StoreAddressFault::Scheme),
            ("abfss://a/b", StoreAddressFault::Scheme),
            ("s3://", StoreAddressFault::NoBucket),
            ("s3:///path", StoreAddressFault::NoBucket),
            ("s3://key:secret@bucket", StoreAddressFault::Extra),
            ("s3://bucket:9000/a", StoreAddressFault::Extra),
            ("s3://bucket/a?versionId=1", StoreAddressFault::Extra),
            ("s3://bucket/a#b", StoreAddressFault::Extra),
            ("file://srv/store", StoreAddressFault::NotADirectory),
            ("file:///does/not/exist", StoreAddressFault::NotADirectory),
            ("file:///proc/self/status", StoreAddressFault::NotADirectory),
        ] {
            assert_eq!(StoreAddress::parse(text), Err(fault), "{text}");
        }
        let root = StoreAddress::parse("file:///proc");
        assert_eq!(root, Ok(StoreAddress::Directory(PathBuf::from("/proc"))));
    }

    #[test]
    fn a_shown_address_has_no_password() {
        assert_eq!(shown_address("s3://key:secret@bucket/a?sig=x"), "s3://bucket/a");
        assert_eq!(shown_address("s3//key:secret@bucket"), "bucket");
        assert_eq!(shown_address("file:///srv/store"), "file:///srv/store");
    }

    #[test]
    fn settings_come_from_variables_of_the_clouds() {
        let variables = [
            ("AWS_REGION", "eu-west-1"),
            ("REGION", "other"),
            ("PATH", "/bin"),
            ("AZURE_USE_AZURE_CLI", "true"),
            ("GOOGLE_BUCKET", "b"),
            ("AWS_TIMEOUT", "1m"),
        ];
        let found = settings(variables.iter().map(|(key, value)| (key.into(), value.into())));
        let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
        let wanted = ["timeout", "read_timeout", "AWS_REGION", "GOOGLE_BUCKET", "AWS_TIMEOUT"];
        assert_eq!(keys, wanted);
    }
}
