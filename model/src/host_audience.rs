//! The names by which `x-audience` can mean a host.

/// The name of a host, and the labels that it shares with other hosts of its fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostAudience<'a> {
    name: Option<&'a str>,
    labels: &'a [String],
}

impl<'a> HostAudience<'a> {
    /// Returns the audience of a host by its name, which is the origin of its log. A host without a
    /// name satisfies no audience.
    #[must_use]
    pub fn of(name: Option<&'a str>) -> Self {
        Self { name, labels: &[] }
    }

    /// Adds the labels that the signed list of its fleet gives the host.
    #[must_use]
    pub fn with_labels(self, labels: &'a [String]) -> Self {
        Self { labels, ..self }
    }

    /// Returns the name of the host.
    #[must_use]
    pub fn name(self) -> Option<&'a str> {
        self.name
    }

    /// Returns whether an `x-audience` means the host, by its name or by a label.
    #[must_use]
    pub fn includes(self, audience: &str) -> bool {
        self.name.is_some_and(|name| {
            name == audience || self.labels.iter().any(|label| label == audience)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_meant_by_its_name_and_by_each_label() {
        let labels = ["gpu".to_owned(), "eu-west".to_owned()];
        let host = HostAudience::of(Some("host-a")).with_labels(&labels);
        for audience in ["host-a", "gpu", "eu-west"] {
            assert!(host.includes(audience), "{audience}");
        }
        for audience in ["host-b", "", "gp", "GPU", "gpu,eu-west"] {
            assert!(!host.includes(audience), "{audience:?}");
        }
        assert!(!HostAudience::of(Some("host-a")).includes("gpu"));
    }

    #[test]
    fn a_host_without_a_name_satisfies_no_audience() {
        let labels = ["gpu".to_owned()];
        for host in [HostAudience::default(), HostAudience::of(None).with_labels(&labels)] {
            assert!(!host.includes("gpu") && !host.includes(""));
            assert_eq!(host.name(), None);
        }
    }
}
