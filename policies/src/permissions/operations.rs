//! The operations on permissions, implemented by a store in memory and one on disk. An error of any
//! operation must mean that nothing is permitted.

use std::collections::BTreeMap;

use super::acceptance::AcceptedAnswer;
use super::call::PermissionCalls;
use super::change::PermissionChange;
use super::contract::{Contract, RequestData};
use super::finding::ToolFinding;
use super::grant::GrantId;
use super::model::{OperationContext, ToolAuthorizationState};
use super::name::{Domains, PermissionSource, ToolName};
use super::request::{OpenPermissionRequest, PermissionTerms};

/// A permission request that waits for its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiledRequest {
    /// The stored facts.
    pub ask: OpenPermissionRequest,
    /// The file for a person. `None` if the same request was filed before and is still open.
    pub file: Option<Vec<u8>>,
}

/// Deterministic authorization of tool calls (seed 003, `IPermissionManager`). An error of any
/// operation means that nothing is permitted.
pub trait PermissionManager {
    /// The reason why an operation was not done.
    type Error: std::error::Error;

    /// Returns the contract of permission requests and answers.
    fn contract(&self) -> &'static Contract;

    /// Returns the domains for permission requests, or `None` for the default directory.
    fn domains(&self) -> Option<&Domains>;

    /// Returns the terms of permission requests.
    fn terms(&self) -> &PermissionTerms;

    /// Returns the state of each tool at one point in time. It only reads. A run that starts
    /// because of the result must [`spend`](Self::spend).
    ///
    /// # Errors
    /// The stored permissions cannot be read.
    fn get<'c>(
        &mut self,
        source: &PermissionSource,
        calls: &'c PermissionCalls,
        moment: &OperationContext,
    ) -> Result<BTreeMap<&'c ToolName, ToolAuthorizationState>, Self::Error> {
        let found = self.explain(source, calls, moment)?;
        Ok(found.into_iter().map(|(tool, found)| (tool, found.state())).collect())
    }

    /// Returns the state of each tool with its reason.
    ///
    /// # Errors
    /// The stored permissions cannot be read.
    fn explain<'c>(
        &mut self,
        source: &PermissionSource,
        calls: &'c PermissionCalls,
        moment: &OperationContext,
    ) -> Result<BTreeMap<&'c ToolName, ToolFinding>, Self::Error>;

    /// Applies a whole answer and returns the change. A denial takes precedence. A requested tool
    /// that the answer does not grant is denied. A permission request is answered once.
    ///
    /// # Errors
    /// The answer matches no open permission request, or the change could not be stored.
    fn set(
        &mut self,
        source: &PermissionSource,
        answer: &AcceptedAnswer,
        moment: &OperationContext,
    ) -> Result<PermissionChange, Self::Error>;

    /// Makes the contract's request data for tools that `get` did not approve.
    fn request_builder(
        &self,
        source: &PermissionSource,
        blocked: &PermissionCalls,
        _moment: &OperationContext,
    ) -> RequestData {
        RequestData::of(source, blocked, self.terms().shown)
    }

    /// Deletes every permission of a workflow that has ended. Returns `None` if it had none. The
    /// run has ended even if this fails: the caller logs an error and continues.
    ///
    /// # Errors
    /// The change could not be stored.
    fn cleanup(
        &mut self,
        source: &PermissionSource,
        moment: &OperationContext,
    ) -> Result<Option<PermissionChange>, Self::Error>;

    /// Files a permission request for the tools that can be requested. An equal request that is
    /// open is not filed again.
    ///
    /// # Errors
    /// No tool can be requested, or the request could not be stored.
    fn add_request(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
        nonce: u64,
    ) -> Result<FiledRequest, Self::Error>;

    /// Starts these calls, all or none. Each call uses up one use of exactly one limited grant;
    /// `None` if none is needed. Concurrent callers must not use more than was granted.
    ///
    /// # Errors
    /// A call is not permitted, or the change could not be stored. No call may start then.
    fn spend(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
    ) -> Result<Option<PermissionChange>, Self::Error>;

    /// Revokes one grant of a tool, or all, and closes every open permission request about the
    /// tool, so that no earlier answer can restore them. A denial remains.
    ///
    /// # Errors
    /// The tool has no such grant, or neither grants nor open requests; or storing failed.
    fn revoke(
        &mut self,
        source: &PermissionSource,
        tool: &ToolName,
        one: Option<GrantId>,
        moment: &OperationContext,
    ) -> Result<PermissionChange, Self::Error>;

    /// Removes a denial, so that the tool may be requested again. Older grants are not restored.
    ///
    /// # Errors
    /// The tool is not denied, or the change could not be stored.
    fn remove_denial(
        &mut self,
        source: &PermissionSource,
        tool: &ToolName,
        moment: &OperationContext,
    ) -> Result<PermissionChange, Self::Error>;
}
