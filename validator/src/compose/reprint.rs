//! Prints a request anew. The new text is checked, and returned only if it reads back the same.

use std::fmt;

use super::{
    ComposedAgent, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition,
    NotOneLine, OneLine,
};
use crate::draft::{Draft, FileLocation};
use crate::network::Network;
use crate::request::{Request, Work};

/// The canonical text would not read as the same, valid request: it is too large, or contains text
/// that counts as a secret or an instruction only when written on one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotReprintable;

impl fmt::Display for NotReprintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its canonical text would not read as the same request")
    }
}

impl std::error::Error for NotReprintable {}

impl Composition {
    /// Returns the composition of a request.
    ///
    /// # Errors
    /// A value has several lines where a composition allows one.
    pub fn of(request: &Request) -> Result<Self, NotOneLine> {
        Ok(Self {
            id: request.id().clone(),
            created: request.created(),
            requested_by: request.requested_by(),
            approval: Some((request.approved_by().parse()?, request.approved())),
            purpose: request.purpose().parse()?,
            language: request.language(),
            backend: request.backend(),
            hosts: hosts(request)?,
            cpu: request.cpu().to_string().parse()?,
            memory_limit_mb: request.memory_limit_mb(),
            time_limit_sec: request.time_limit_sec(),
            inputs: inputs(request)?,
            outputs_expected: outputs(request)?,
            constraints: constraints(request)?,
            work: work(request)?,
            risk: risk(request)?,
            requester: request.requester().map(str::parse).transpose()?,
            agent: agent(request)?,
            audience: request.audience().map(str::parse).transpose()?,
            standing: request.standing().cloned(),
            environment: request.environment().cloned(),
        })
    }
}

fn hosts(request: &Request) -> Result<Option<Vec<OneLine>>, NotOneLine> {
    match request.network() {
        Network::None => Ok(None),
        Network::Allowlist(hosts) => {
            hosts.iter().map(|host| host.to_string().parse()).collect::<Result<_, _>>().map(Some)
        }
    }
}

fn constraints(request: &Request) -> Result<Vec<OneLine>, NotOneLine> {
    request.constraints().iter().map(|it| it.text().parse()).collect()
}

fn inputs(request: &Request) -> Result<Vec<ComposedInput>, NotOneLine> {
    let input =
        |it: &crate::Input| Ok(ComposedInput { name: it.name().parse()?, sha256: *it.sha256() });
    request.inputs().iter().map(input).collect()
}

fn outputs(request: &Request) -> Result<Vec<ComposedOutput>, NotOneLine> {
    let output = |it: &crate::ExpectedOutput| {
        let description = it.description().to_owned();
        let patch_of = it.patch_of().map(str::to_owned);
        Ok(ComposedOutput { path: it.path().parse()?, description, patch_of })
    };
    request.outputs_expected().iter().map(output).collect()
}

fn work(request: &Request) -> Result<ComposedWork, NotOneLine> {
    match request.work() {
        Work::Command { line, .. } => line.parse().map(ComposedWork::Command),
        Work::Code(code) => Ok(ComposedWork::Code(code.clone())),
    }
}

fn risk(request: &Request) -> Result<ComposedRisk, NotOneLine> {
    let risk = request.risk();
    Ok(ComposedRisk {
        level: risk.level(),
        justification: risk.justification().parse()?,
        sensitivity: risk.sensitivity(),
        network_rationale: risk.network_rationale().parse()?,
    })
}

fn agent(request: &Request) -> Result<Option<ComposedAgent>, NotOneLine> {
    let Some(agent) = request.agent() else { return Ok(None) };
    Ok(Some(ComposedAgent {
        name: agent.name().parse()?,
        subject: agent.subject().parse()?,
        accesscontrol: agent.accesscontrol().map(str::parse).transpose()?,
    }))
}

impl Request {
    /// Returns the canonical text: without comments, prose, foreign extension keys and the author's
    /// spacing. When checked, it equals this request in every accessor except those of the bytes.
    ///
    /// # Errors
    /// [`NotReprintable`]: the canonical text does not read back as the same request.
    pub fn to_text(&self) -> Result<String, NotReprintable> {
        let composition = Composition::of(self).map_err(|_| NotReprintable)?;
        let text = composition.to_text();
        let draft = Draft::new(text.clone().into_bytes(), self.file_name(), self.owner());
        // The check is as of the approval, independent of the present time.
        let checked =
            draft.map_err(|_| NotReprintable)?.check(FileLocation::Elsewhere, self.approved());
        let again = checked.verdict.map_err(|_| NotReprintable)?;
        let same = Composition::of(&again) == Ok(composition)
            && again.argv() == self.argv()
            && again.intent_sha256() == self.intent_sha256();
        if same { Ok(text) } else { Err(NotReprintable) }
    }
}
