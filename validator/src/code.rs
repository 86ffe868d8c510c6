//! The closed list of stable violation codes. A code may be added, but must never be renamed or
//! given a second meaning: operators and programs depend on it.

use std::borrow::Cow;

/// Calls a macro with one line for each code: variant, text, rule of [`crate::rules`] and meaning.
/// This is the only definition of a code; a code without a rule does not compile.
macro_rules! each_code {
    ($then:ident) => {
        $then! {
            FrontmatterMissing "frontmatter.missing" frontmatter::MISSING, "The file does not begin with a front matter block between two `---` lines.";
            FrontmatterSyntax "frontmatter.syntax" frontmatter::SYNTAX, "The front matter is not plain YAML.";
            FrontmatterMissingKey "frontmatter.missing-key" frontmatter::MISSING_KEY, "A key that the schema requires is missing.";
            FrontmatterUnknownKey "frontmatter.unknown-key" frontmatter::UNKNOWN_KEY, "A key that the schema does not know; extensions begin with `x-`.";
            FrontmatterDuplicateKey "frontmatter.duplicate-key" frontmatter::DUPLICATE_KEY, "A key appears twice.";
            FrontmatterType "frontmatter.type" frontmatter::TYPE, "A value has the wrong type.";
            FrontmatterValue "frontmatter.value" frontmatter::VALUE, "A value has the right type but is not allowed.";
            FrontmatterTooLarge "frontmatter.too-large" frontmatter::TOO_LARGE, "The front matter is larger than 64 KiB.";
            SchemaRequestType "schema.request-type" schema::REQUEST_TYPE, "The document does not have the expected type.";
            SchemaVersion "schema.version" schema::VERSION, "The schema version is not 1.";
            SchemaRequestId "schema.request-id" schema::REQUEST_ID, "The id is not of the required form, or contradicts the dates.";
            SchemaTimestamp "schema.timestamp" schema::TIMESTAMP, "Not a real UTC time of the form YYYY-MM-DDTHH:MM:SSZ.";
            SchemaFileName "schema.file-name" schema::FILE_NAME, "The file is not named after its id.";
            ApprovalMissing "approval.missing" approval::MISSING, "`approved_by` or `approved_utc` is missing or empty.";
            ApprovalDateOrder "approval.date-order" approval::DATE_ORDER, "Creation, approval and present time are not in this order.";
            ApprovalExpired "approval.expired" approval::EXPIRED, "The approval is older than policy allows.";
            ApprovalSignature "approval.signature" approval::SIGNATURE, "An approval signature does not verify.";
            ApprovalPrincipal "approval.principal" approval::PRINCIPAL, "Policy does not list the approver.";
            ApprovalCount "approval.count" approval::COUNT, "Fewer distinct approvers than policy requires.";
            ApprovalSelf "approval.self" approval::APPROVER_IS_REQUESTER, "A requester approved a request of their own.";
            ApprovalRevoked "approval.revoked" approval::REVOKED, "The approving key is revoked.";
            ApprovalRejected "approval.rejected" approval::REJECTED, "An approver rejected the request.";
            ApprovalStanding "approval.standing" approval::STANDING, "The standing approval that the request uses does not admit it.";
            LanguageUnknown "language.unknown" language::UNKNOWN, "The language is not one of python, node, ts, go, ruby.";
            LanguageShell "language.shell" language::SHELL, "A shell is not a permitted language.";
            LanguageMismatch "language.mismatch" language::MISMATCH, "The command runs another language than the one declared.";
            NetworkValue "network.value" network::VALUE, "`network` is neither `none` nor `allowlist`.";
            NetworkAllowlistMissing "network.allowlist-missing" network::ALLOWLIST_MISSING, "`network: allowlist` without a host in `network_allowlist`.";
            NetworkAllowlistUnused "network.allowlist-unused" network::ALLOWLIST_UNUSED, "Hosts are listed although `network` is `none`.";
            NetworkHost "network.host" network::HOST, "An allowlist entry is not `host` or `host:port`.";
            NetworkHostUnused "network.host-unused" network::HOST_UNUSED, "A listed host that neither the command nor the rationale names.";
            NetworkNotPermitted "network.not-permitted" network::NOT_PERMITTED, "Policy does not permit this host, or any network.";
            LimitsCpu "limits.cpu" limits::CPU, "`cpu_limit` is not a positive decimal number of cores.";
            LimitsMemory "limits.memory" limits::MEMORY, "`memory_limit_mb` is not a positive whole number of MiB.";
            LimitsTime "limits.time" limits::TIME, "`time_limit_sec` is not a positive whole number of seconds.";
            LimitsCeiling "limits.ceiling" limits::CEILING, "A limit equals the maximum of policy.";
            LimitsOverPolicy "limits.over-policy" limits::OVER_POLICY, "A limit is above the ceiling of policy.";
            BackendValue "backend.value" backend::VALUE, "`backend` is not one of ERA, monty, confined.";
            BackendUnavailable "backend.unavailable" backend::UNAVAILABLE, "The requested backend is not available here.";
            BackendMismatch "backend.mismatch" backend::MISMATCH, "The request needs what its backend does not have, such as a network, an environment or another language.";
            CodeEmpty "code.empty" monty::EMPTY, "`## Code` contains no code.";
            CodeForbidden "code.forbidden" monty::FORBIDDEN, "The code uses a name or a mark that the monty backend refuses.";
            CodeUnsupported "code.unsupported" monty::UNSUPPORTED, "The code uses a construct that the interpreter of the monty backend does not have.";
            CodeInputs "code.inputs" monty::INPUTS, "`## Inputs (JSON)` is not one JSON object whose keys are variable names.";
            EnvironmentUnavailable "environment.unavailable" environment::UNAVAILABLE, "The environment that the request names is not in the store of this host, or has changed.";
            EnvironmentNotPermitted "environment.not-permitted" environment::NOT_PERMITTED, "Policy does not permit this environment.";
            EnvironmentMismatch "environment.mismatch" environment::MISMATCH, "The environment does not fit the command, the language or the runtime.";
            RuntimeMissing "runtime.missing" language::RUNTIME_MISSING, "The runtime for the language is not installed.";
            InputsHashMissing "inputs.hash-missing" inputs::HASH_MISSING, "A declared input has no sha256.";
            InputsHashFormat "inputs.hash-format" inputs::HASH_FORMAT, "A sha256 is not 64 hexadecimal digits.";
            InputsName "inputs.name" inputs::NAME, "An input's name is not a plain relative path.";
            InputsDuplicate "inputs.duplicate" inputs::DUPLICATE, "Two inputs have the same name, or one is a folder of the other.";
            InputsMissing "inputs.missing" inputs::MISSING, "A declared input is not listed, or its file is missing.";
            InputsMismatch "inputs.mismatch" inputs::MISMATCH, "A digest differs from the declared one.";
            InputsUndeclared "inputs.undeclared" inputs::UNDECLARED, "An input file that the front matter does not declare.";
            InputsUnused "inputs.unused" inputs::UNUSED, "A declared input that the command never names.";
            OutputsPath "outputs.path" outputs::PATH, "An output path is not usable, or text and front matter disagree on it.";
            OutputsOutsideOut "outputs.outside-out" outputs::OUTSIDE_OUT, "An output path is outside /out.";
            OutputsDuplicate "outputs.duplicate" outputs::DUPLICATE, "Two outputs have the same path, or one is a folder of the other.";
            OutputsPatch "outputs.patch" outputs::PATCH, "`x-patch-of` names no declared folder, or contradicts another output.";
            SectionMissing "section.missing" section::MISSING, "A required section is missing, or a Markdown reader cannot see it.";
            SectionOrder "section.order" section::ORDER, "The sections are not in the required order.";
            SectionDuplicate "section.duplicate" section::DUPLICATE, "A section appears twice, in the source or on a rendered page.";
            SectionHidden "section.hidden" section::HIDDEN, "The text contains HTML, so a reader of the page may not see it.";
            SectionUnexpected "section.unexpected" section::UNEXPECTED, "The schema has no such second-level heading.";
            CommandEmpty "command.empty" command_form::EMPTY, "The command is missing.";
            CommandMultipleLines "command.multiple-lines" command_form::MULTIPLE_LINES, "The command has more than one line.";
            CommandCodeFence "command.code-fence" command_form::CODE_FENCE, "The command is in a code fence.";
            CommandMarkup "command.markup" command_form::MARKUP, "The command line contains Markdown or HTML marks, or a page displays it differently.";
            CommandChaining "command.chaining" command_shell::CHAINING, "Several commands are chained with `;`, `&&` or `||`.";
            CommandPipeline "command.pipeline" command_shell::PIPELINE, "A pipeline of several commands.";
            CommandRedirection "command.redirection" command_shell::REDIRECTION, "A redirection of input or output.";
            CommandHeredoc "command.heredoc" command_shell::HEREDOC, "A here-document or here-string.";
            CommandSubstitution "command.substitution" command_shell::SUBSTITUTION, "A command or process substitution.";
            CommandExpansion "command.expansion" command_shell::EXPANSION, "A variable, tilde or brace expansion.";
            CommandGlob "command.glob" command_shell::GLOB, "An unquoted file name pattern.";
            CommandSubshell "command.subshell" command_shell::SUBSHELL, "An unquoted parenthesis.";
            CommandBackground "command.background" command_shell::BACKGROUND, "A command in the background.";
            CommandAssignment "command.assignment" command_form::ASSIGNMENT, "An assignment before the command name.";
            CommandComment "command.comment" command_form::COMMENT, "A comment on the command line.";
            CommandQuoting "command.quoting" command_form::QUOTING, "A quote is not closed, or nothing follows a backslash.";
            CommandShell "command.shell" command_shell::SHELL, "The command is a shell, or wraps another command.";
            CommandPrivilege "command.privilege" command_shell::PRIVILEGE, "The text asks its reader to run with more rights than a tool has.";
            CommandNotPermitted "command.not-permitted" command_form::NOT_PERMITTED, "Policy does not permit this command name.";
            CommandUndeclaredFile "command.undeclared-file" command_form::UNDECLARED_FILE, "The command names an input file that is not declared.";
            PathHost "path.host" path::HOST, "A path on the host, outside /in, /out and /tmp.";
            PathTraversal "path.traversal" path::TRAVERSAL, "A path with a `..` component.";
            PathDevice "path.device" path::DEVICE, "A device other than the permitted ones.";
            PackageInstall "package.install" path::PACKAGE_INSTALL, "Packages must not be installed by a tool request.";
            ResultDigest "result.digest" result::DIGEST, "A digest in the text of a result differs from its front matter.";
            ResultInstruction "result.instruction" result::INSTRUCTION, "A result asks its reader to fetch or to execute something.";
            ResultPayload "result.payload" result::PAYLOAD, "A result contains an executable payload inline.";
            ResultPolicyClaim "result.policy-claim" result::POLICY_CLAIM, "A result claims that policy should change, or asks its reader to ignore it.";
            ResultTooLong "result.too-long" result::TOO_LONG, "A result shows more of a stream than 200 lines or 64 KiB.";
            RiskMissing "risk.missing" risk::MISSING, "A line of the risk assessment is missing.";
            RiskLevel "risk.level" risk::LEVEL, "The risk level is not low, medium or high.";
            RiskJustification "risk.justification" risk::JUSTIFICATION, "The justification is empty.";
            RiskSensitivity "risk.sensitivity" risk::SENSITIVITY, "The data sensitivity is not public, internal or confidential.";
            RiskNetworkRationale "risk.network-rationale" risk::NETWORK_RATIONALE, "A network is requested without a reason.";
            StandingId "standing.id" standing::ID, "The id of a standing approval is not of the required form.";
            StandingAgents "standing.agents" standing::AGENTS, "A standing approval names no agent, a pattern, or one twice.";
            StandingTime "standing.time" standing::TIME, "A standing approval does not end after its beginning.";
            StandingUses "standing.uses" standing::USES, "A number of a standing approval is not within its limits.";
            StandingInput "standing.input" standing::INPUT, "A slot is malformed, or a name belongs to two inputs.";
            StandingParameter "standing.parameter" standing::PARAMETER, "A parameter is malformed, unused, not declared, or declared twice.";
            StandingWord "standing.word" standing::WORD, "A line of the command is not one word with at most one value.";
            StandingProgram "standing.program" standing::PROGRAM, "The program of a standing approval is a parameter.";
            StandingCode "standing.code" standing::CODE, "Files of any content could be executed, and the document does not say so.";
            StandingEffect "standing.effect" standing::EFFECT, "The widest effect is not described.";
            StandingExample "standing.example" standing::EXAMPLE, "An example is missing, or is judged otherwise than it states.";
            TextControl "text.control" text::CONTROL, "A control character, line separator or byte order mark.";
            TextBidi "text.bidi" text::BIDI, "A character that changes the direction of the text.";
            TextConfusable "text.confusable" text::CONFUSABLE, "A character that is invisible or looks like another.";
            TextNotUtf8 "text.not-utf8" text::NOT_UTF8, "The file is not UTF-8.";
            TextTooLarge "text.too-large" text::TOO_LARGE, "The text is larger than allowed.";
            TextNul "text.nul" text::NUL, "A NUL byte.";
            SpoolReplayed "spool.replayed" external_codes::REPLAYED, "These bytes have run before.";
            SpoolIdReused "spool.id-reused" external_codes::ID_REUSED, "Another request has run under this id.";
            SpoolFileKind "spool.file-kind" external_codes::FILE_KIND, "Not a regular file with one link.";
            SpoolHeld "spool.held" external_codes::HELD, "An operator holds the request.";
            SpoolCancelled "spool.cancelled" external_codes::CANCELLED, "An operator cancelled the request.";
            PermissionDenied "permission.denied" external_codes::PERMISSION_DENIED, "The agent is denied this tool.";
            PermissionRequestable "permission.requestable" external_codes::PERMISSION_REQUESTABLE, "The agent has no permission for this tool yet.";
        }
    };
}
pub(crate) use each_code;

macro_rules! codes {
    ($($variant:ident $code:literal $rule:path, $meaning:literal;)*) => {
        /// The stable code of a violation (`command.chaining`). Families carry their last part.
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
            /// All codes except those of the families, in the order of the design.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// Returns the stable code as text.
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

            /// Returns one sentence that explains the code.
            #[must_use]
            pub fn meaning(&self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                    Self::Secret(_) => "The text seems to contain a secret of this kind.",
                    Self::Layer(_) => "A required confinement layer is not available on this host.",
                    Self::Gate(_) => "The AANA gate names this blocker.",
                    Self::Ais(_) => "An AIS artifact failed this check.",
                }
            }
        }
    };
}

each_code!(codes);
