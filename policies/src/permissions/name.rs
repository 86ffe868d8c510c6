//! The names of permissions: agent, workflow, access-control scope, tool. Names that look alike
//! must not differ, so a name may contain only what a terminal shows unchanged. The length is
//! limited so that names cannot fill a disk.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use model::Language;
use serde::{Deserialize, Serialize};
use validator::Request;

/// The maximum size of a name in bytes.
pub const NAME_BYTES_MAX: usize = 512;
/// The maximum size of a domain in bytes. It is also the name of a directory.
const DOMAIN_BYTES_MAX: usize = 100;
const DOMAINS_MAX: usize = 16;

/// The text is not a valid name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameError {
    what: &'static str,
    why: &'static str,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

impl std::error::Error for NameError {}

/// Returns the reason why the text is not a name, if it is not.
fn name_problem(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        return Some("is empty");
    }
    if text.len() > NAME_BYTES_MAX {
        return Some("is longer than 512 bytes");
    }
    if text.trim() != text {
        return Some("begins or ends with a space");
    }
    // People compare names by eye, so no two may look alike.
    let plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if !plain || text.contains("  ") {
        return Some("contains more than ASCII letters, digits, signs and single spaces");
    }
    None
}

/// Shared names: a million permissions of one tool store its name once.
#[derive(Default, Debug)]
pub(crate) struct SharedNames {
    known: HashSet<Arc<str>>,
    next_cleanup_at: usize,
}

impl SharedNames {
    const CLEANUP_AT_LEAST: usize = 1024;

    fn share(&mut self, name: Arc<str>) -> Arc<str> {
        if let Some(known) = self.known.get(&name) {
            return Arc::clone(known);
        }
        if self.known.len() >= self.next_cleanup_at.max(Self::CLEANUP_AT_LEAST) {
            self.known.retain(|name| Arc::strong_count(name) > 1);
            self.next_cleanup_at = 2 * self.known.len();
        }
        self.known.insert(Arc::clone(&name));
        name
    }
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                match name_problem(text) {
                    None => Ok(Self(text.into())),
                    Some(why) => Err(NameError { what: $what, why }),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// The agent that asks (seed 003, `name`).
    AgentName "the agent's name";
    /// The workflow execution that it works in (seed 003, `subject`).
    Subject "the subject";
    /// The access-control scope that it inherited (seed 003, `accesscontrol`).
    AccessControl "the access control";
    /// A tool by the name that agents use (seed 003, `tool.name`).
    ToolName "the tool's name";
}

impl ToolName {
    /// Returns the tool name of a run in this language: `toolexec.run.<language>`.
    #[must_use]
    pub fn of_run(language: Language) -> Self {
        Self(format!("toolexec.run.{}", language.as_str()).into())
    }

    pub(crate) fn shared(self, names: &mut SharedNames) -> Self {
        Self(names.share(self.0))
    }
}

/// The owner of permissions: agent × workflow × access-control scope (seed 003,
/// `PermissionManagerContext`). The same agent of another tenant is another source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionSource {
    /// The agent; `unknown` for a tool request without `x-agent`.
    pub name: AgentName,
    /// The workflow execution.
    pub subject: Subject,
    /// The access-control scope. `null` is a scope of its own and matches no other.
    #[serde(deserialize_with = "Option::deserialize")]
    pub accesscontrol: Option<AccessControl>,
}

impl PermissionSource {
    /// Returns the source whose permission a request needs: its `x-agent`, else the agent `unknown`
    /// in a workflow of the request's own. Omitting the key therefore never finds another agent's
    /// grant.
    ///
    /// # Errors
    /// A part of `x-agent` is not a valid name. Nothing is permitted then.
    pub fn of_request(request: &Request) -> Result<Self, NameError> {
        let Some(agent) = request.agent() else {
            let subject = request.id().as_str().parse()?;
            return Ok(Self { name: "unknown".parse()?, subject, accesscontrol: None });
        };
        Ok(Self {
            name: agent.name().parse()?,
            subject: agent.subject().parse()?,
            accesscontrol: agent.accesscontrol().map(str::parse).transpose()?,
        })
    }

    pub(crate) fn shared(self, names: &mut SharedNames) -> Self {
        let scope = self.accesscontrol.map(|it| AccessControl(names.share(it.0)));
        let name = AgentName(names.share(self.name.0));
        Self { name, subject: self.subject, accesscontrol: scope }
    }
}

impl fmt::Display for PermissionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent {} in {}", self.name, self.subject)?;
        match &self.accesscontrol {
            Some(scope) => write!(f, " ({scope})"),
            None => Ok(()),
        }
    }
}

/// The directories in which permission requests are filed: a list of names that is never empty.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Domains(Vec<String>);

impl Domains {
    /// Returns the names in their given order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl TryFrom<Vec<String>> for Domains {
    type Error = NameError;

    fn try_from(names: Vec<String>) -> Result<Self, NameError> {
        let wrong = |why| Err(NameError { what: "domains", why });
        if names.is_empty() || names.len() > DOMAINS_MAX {
            return wrong("is not a list of 1 to 16 names");
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let is_name = |name: &String| {
            let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
            begins && name.len() <= DOMAIN_BYTES_MAX && name.chars().all(plain)
        };
        if !names.iter().all(is_name) {
            return wrong("a domain must have letters, digits and ._- after a letter or digit");
        }
        if names.iter().collect::<HashSet<_>>().len() != names.len() {
            return wrong("names a domain twice");
        }
        Ok(Self(names))
    }
}

impl From<Domains> for Vec<String> {
    fn from(domains: Domains) -> Self {
        domains.0
    }
}
