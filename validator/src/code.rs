//! The stable codes of violations, as one closed list. A code may be added; it must never be
//! renamed or be given a second meaning, for operators and programs key on it.

use std::borrow::Cow;

macro_rules! codes {
    ($($variant:ident $code:literal $meaning:literal;)*) => {
        /// What is wrong, as a stable code (`command.chaining`). Families carry their last word.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
            /// Text that looks like a secret of this kind: `secret.<kind>`.
            Secret(&'static str),
            /// A confinement layer that policy requires and the host cannot give: `layer.<name>`.
            Layer(&'static str),
            /// A blocker of the AANA gate: `gate.<blocker>`.
            Gate(&'static str),
            /// An AIS verification failure, in lower case: `ais.<code>`.
            Ais(&'static str),
        }

        impl Code {
            /// Every code but those of the families, in the order of the design.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The stable code as text.
            #[must_use]
            pub fn as_str(&self) -> Cow<'static, str> {
                match self {
                    $(Self::$variant => Cow::Borrowed($code),)*
                    Self::Secret(kind) => Cow::Owned(format!("secret.{kind}")),
                    Self::Layer(name) => Cow::Owned(format!("layer.{name}")),
                    Self::Gate(blocker) => Cow::Owned(format!("gate.{blocker}")),
                    Self::Ais(code) => {
                        Cow::Owned(format!("ais.{}", code.to_ascii_lowercase()))
                    }
                }
            }

            /// One sentence that says what the code means, for people.
            #[must_use]
            pub fn meaning(&self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                    Self::Secret(_) => "The text holds what looks like a secret of this kind.",
                    Self::Layer(_) => "A required confinement layer is not to be had on this host.",
                    Self::Gate(_) => "The AANA gate names this blocker.",
                    Self::Ais(_) => "An AIS artifact failed this check.",
                }
            }
        }
    };
}

codes! {
    FrontmatterMissing "frontmatter.missing" "The file does not begin with a front matter block between two `---` lines.";
    FrontmatterSyntax "frontmatter.syntax" "The front matter is not the plain YAML that is read here.";
    FrontmatterMissingKey "frontmatter.missing-key" "A key that the schema requires is not there.";
    FrontmatterUnknownKey "frontmatter.unknown-key" "A key that the schema does not know; extensions begin with `x-`.";
    FrontmatterDuplicateKey "frontmatter.duplicate-key" "A key appears twice.";
    FrontmatterType "frontmatter.type" "A value has the wrong type.";
    FrontmatterValue "frontmatter.value" "A value is of the right type but not one that is allowed.";
    FrontmatterTooLarge "frontmatter.too-large" "The front matter is larger than 64 KiB.";
    SchemaRequestType "schema.request-type" "The document does not say that it is of the type it should be.";
    SchemaVersion "schema.version" "The schema version is not 1.";
    SchemaRequestId "schema.request-id" "The id is not of the required form, or contradicts the dates.";
    SchemaTimestamp "schema.timestamp" "Not a real UTC time of the form YYYY-MM-DDTHH:MM:SSZ.";
    SchemaFileName "schema.file-name" "The file is not named after its id.";
    ApprovalMissing "approval.missing" "`approved_by` or `approved_utc` is missing or empty.";
    ApprovalDateOrder "approval.date-order" "Created, approved and present time are not in this order.";
    ApprovalExpired "approval.expired" "The approval is older than policy allows.";
    ApprovalSignature "approval.signature" "An approval signature does not verify.";
    ApprovalPrincipal "approval.principal" "The approver is not one whom policy knows.";
    ApprovalCount "approval.count" "Fewer distinct approvers than policy asks for.";
    ApprovalSelf "approval.self" "A requester approved a request of their own.";
    ApprovalRevoked "approval.revoked" "The approving key is revoked.";
    ApprovalRejected "approval.rejected" "An operator rejected the request.";
    LanguageUnknown "language.unknown" "The language is not one of python, node, ts, go, ruby.";
    LanguageShell "language.shell" "A shell is not a permitted language.";
    LanguageMismatch "language.mismatch" "The command runs another language than the one declared.";
    NetworkValue "network.value" "`network` is neither `none` nor `allowlist`.";
    NetworkAllowlistMissing "network.allowlist-missing" "`network: allowlist` without a host in `network_allowlist`.";
    NetworkAllowlistUnused "network.allowlist-unused" "Hosts are listed although `network` is `none`.";
    NetworkHost "network.host" "An allowlist entry is not `host` or `host:port`.";
    NetworkHostUnused "network.host-unused" "A listed host that neither the command nor the rationale names.";
    NetworkNotPermitted "network.not-permitted" "Policy does not permit this host, or any network.";
    LimitsCpu "limits.cpu" "`cpu_limit` is not a positive decimal number of cores.";
    LimitsMemory "limits.memory" "`memory_limit_mb` is not a positive whole number of MiB.";
    LimitsTime "limits.time" "`time_limit_sec` is not a positive whole number of seconds.";
    LimitsCeiling "limits.ceiling" "A limit is as high as policy allows at all.";
    LimitsOverPolicy "limits.over-policy" "A limit is above the ceiling of policy.";
    BackendValue "backend.value" "`backend` is not one of ERA, monty, confined.";
    BackendUnavailable "backend.unavailable" "The lane that the request names is not to be had here.";
    BackendMismatch "backend.mismatch" "The request asks for what its lane cannot give: monty has no files, no network, and python only.";
    CodeEmpty "code.empty" "There is no code under `## Code`.";
    CodeForbidden "code.forbidden" "The code uses a name or a mark that the monty lane refuses.";
    CodeInputs "code.inputs" "`## Inputs (JSON)` is not one JSON object whose keys are variable names.";
    RuntimeMissing "runtime.missing" "The runtime for the language is not installed.";
    InputsHashMissing "inputs.hash-missing" "A declared input has no sha256.";
    InputsHashFormat "inputs.hash-format" "A sha256 is not 64 hexadecimal digits.";
    InputsName "inputs.name" "An input's name is not a plain relative path.";
    InputsDuplicate "inputs.duplicate" "Two inputs have the same name, or one is a folder of the other.";
    InputsMissing "inputs.missing" "A declared input is not listed, or its file is not there.";
    InputsMismatch "inputs.mismatch" "A digest differs from the declared one.";
    InputsUndeclared "inputs.undeclared" "An input file that the front matter does not declare.";
    InputsUnused "inputs.unused" "A declared input that the command never names.";
    OutputsPath "outputs.path" "An output path is not usable, or text and front matter disagree on it.";
    OutputsOutsideOut "outputs.outside-out" "An output path lies outside /out.";
    OutputsDuplicate "outputs.duplicate" "Two outputs have the same path, or one is a folder of the other.";
    SectionMissing "section.missing" "A required section is not there, or a Markdown reader cannot see it.";
    SectionOrder "section.order" "The sections are not in the required order.";
    SectionDuplicate "section.duplicate" "A section appears twice, in the source or on a rendered page.";
    SectionHidden "section.hidden" "The text holds HTML, so that a reader of the page may not see what is read there.";
    SectionUnexpected "section.unexpected" "A second-level heading that the schema does not have.";
    CommandEmpty "command.empty" "There is no command.";
    CommandMultipleLines "command.multiple-lines" "The command is more than one line.";
    CommandCodeFence "command.code-fence" "The command stands in a code fence.";
    CommandMarkup "command.markup" "The command line carries Markdown or HTML marks, or a page shows it as something else.";
    CommandChaining "command.chaining" "Several commands are chained with `;`, `&&` or `||`.";
    CommandPipeline "command.pipeline" "A pipeline of several commands.";
    CommandRedirection "command.redirection" "A redirection of input or output.";
    CommandHeredoc "command.heredoc" "A here-document or here-string.";
    CommandSubstitution "command.substitution" "A command or process substitution.";
    CommandExpansion "command.expansion" "A variable, tilde or brace expansion.";
    CommandGlob "command.glob" "An unquoted file name pattern.";
    CommandSubshell "command.subshell" "An unquoted parenthesis.";
    CommandBackground "command.background" "A command in the background.";
    CommandAssignment "command.assignment" "An assignment before the command name.";
    CommandComment "command.comment" "A comment on the command line.";
    CommandQuoting "command.quoting" "A quote is not closed, or nothing follows a backslash.";
    CommandShell "command.shell" "The command is a shell, or wraps another command.";
    CommandPrivilege "command.privilege" "The text tells its reader to run with more rights than a tool has.";
    CommandNotPermitted "command.not-permitted" "Policy does not permit this command name.";
    CommandUndeclaredFile "command.undeclared-file" "The command names an input file that is not declared.";
    PathHost "path.host" "A path on the host, outside /in, /out and /tmp.";
    PathTraversal "path.traversal" "A path with a `..` component.";
    PathDevice "path.device" "A device other than the harmless ones.";
    PackageInstall "package.install" "Packages must not be installed by a tool request.";
    ResultDigest "result.digest" "A digest in the text of a result is not the one that its front matter states.";
    ResultInstruction "result.instruction" "A result tells its reader to fetch or to execute something.";
    ResultPayload "result.payload" "A result holds an executable payload inline.";
    ResultPolicyClaim "result.policy-claim" "A result claims that policy should be changed, or tells its reader to ignore it.";
    ResultTooLong "result.too-long" "A result shows more of a stream than 200 lines or 64 KiB.";
    RiskMissing "risk.missing" "A line of the risk assessment is not there.";
    RiskLevel "risk.level" "The risk level is not low, medium or high.";
    RiskJustification "risk.justification" "The justification is empty.";
    RiskSensitivity "risk.sensitivity" "The data sensitivity is not public, internal or confidential.";
    RiskNetworkRationale "risk.network-rationale" "A network is asked for without a reason.";
    TextControl "text.control" "A control character, line separator or byte order mark.";
    TextBidi "text.bidi" "A character that changes the direction of the text.";
    TextConfusable "text.confusable" "A character that is invisible or looks like another.";
    TextNotUtf8 "text.not-utf8" "The file is not UTF-8.";
    TextTooLarge "text.too-large" "The text is larger than allowed.";
    TextNul "text.nul" "A NUL byte.";
    SpoolReplayed "spool.replayed" "These bytes were run before.";
    SpoolIdReused "spool.id-reused" "Another request was run under this id.";
    SpoolOwner "spool.owner" "The file belongs to somebody who may not submit requests.";
    SpoolIncomplete "spool.incomplete" "A file that belongs to the request is not there.";
    SpoolFileKind "spool.file-kind" "Not a regular file with one link.";
    SpoolHeld "spool.held" "An operator holds the request.";
    SpoolCancelled "spool.cancelled" "An operator cancelled the request.";
    PermissionDenied "permission.denied" "The agent is denied this tool.";
    PermissionRequestable "permission.requestable" "The agent must ask for this tool first.";
}
