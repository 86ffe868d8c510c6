//! The review as JSON. It is kept and shared, so texts are escaped and secrets masked here too.

use model::digest_words;
use policies::DecisionPreview;
use sandbox::plan::Plan;
use serde_json::{Value, json};
use validator::{ExpectedOutput, Request, reveal_line};

use super::data::ReviewData;
use super::input_folder::InputFolder;
use super::inputs::{DeclaredInput, FoundInput};
use super::listing::is_named;
use super::model::InputTexts;
use super::reading::{InputReading, ReadingText};
use super::rules::HostRules;
use super::{backend, environment};
use crate::output::{self, violation};

pub(in crate::commands::approve) fn object(case: &ReviewData, texts: InputTexts) -> Value {
    let mut object = json!({
        "file": output::path(&case.path),
        "verdict": case.outcome().as_str(),
        "violations": case.violations.iter().map(violation).collect::<Vec<_>>(),
        "pending": case.pending().into_iter().map(violation).collect::<Vec<_>>(),
        "filled_on_approval": case.filled_on_approval,
        "policy": of_rules(&case.rules),
        "sandbox": case.plan.as_ref().map_or(Value::Null, environment_json),
    });
    for key in [
        "request_id",
        "sha256",
        "words",
        "intent_sha256",
        "rules",
        "risk",
        "approval",
        "command",
        "backend",
        "environment",
        "inputs",
        "outputs",
        "limits",
        "network",
    ] {
        object[key] = Value::Null;
    }
    if let Some(preview) = &case.preview {
        of_request(&mut object, case, preview, texts);
    }
    object
}

pub(super) fn of_rules(rules: &HostRules) -> Value {
    let file = |file: &Option<std::path::PathBuf>| file.as_deref().map(output::path);
    json!({
        "name": rules.policy.name(),
        "sha256": rules.policy.sha256().to_string(),
        "file": file(&rules.policy_file),
        "allowed_signers": file(&rules.signers_file),
        "revoked": file(&rules.revoked_file),
        "origin": rules.origin,
    })
}

fn of_request(object: &mut Value, case: &ReviewData, preview: &DecisionPreview, texts: InputTexts) {
    let request = preview.request();
    let most = case.rules.policy.ceilings();
    object["request_id"] = request.id().as_str().into();
    object["sha256"] = case.sha256().to_string().into();
    object["words"] = json!(digest_words(&case.sha256()));
    object["intent_sha256"] = request.intent_sha256().to_string().into();
    object["rules"] = preview
        .rules()
        .iter()
        .map(|(row, prospect)| {
            json!({"rule": row.rule, "verdict": prospect.as_str(), "reason": row.reason})
        })
        .collect();
    object["risk"] = json!({
        "class": preview.class().as_str(),
        "reason": preview.class_reason(),
        "stated": request.risk().level().as_str(),
        "sensitivity": request.risk().sensitivity().as_str(),
    });
    object["approval"] = of_approval(case, preview);
    object["command"] = json!({
        "argv": request.argv(),
        "language": request.language().as_str(),
        "runtime": preview.grant().map(policies::RunGrant::runtime_name),
    });
    object["backend"] = backend::further(preview.grant()).map_or(Value::Null, backend::json);
    object["environment"] = case.environment.as_ref().map_or(Value::Null, |it| it.json());
    object["inputs"] = case.inputs.iter().map(|seen| of_input(seen, request, texts)).collect();
    object["outputs"] = request.outputs_expected().iter().map(output_json).collect();
    object["limits"] = json!({
        "cpu_milli": {"asked": request.cpu().as_milli(), "max": most.cpu_milli},
        "memory_mb": {"asked": request.memory_limit_mb(), "max": most.memory_mb},
        "time_sec": {"asked": request.time_limit_sec(), "max": most.time_sec},
    });
    object["network"] = json!({
        "hosts": request.network().hosts().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "rationale": request.risk().network_rationale(),
    });
}

pub(super) fn output_json(output: &ExpectedOutput) -> Value {
    json!({
        "path": output.path(),
        "description": output.description(),
        "patch_of": output.patch_of(),
    })
}

fn of_approval(case: &ReviewData, preview: &DecisionPreview) -> Value {
    let request = preview.request();
    let filled_on_approval = |key| case.filled_on_approval.contains(&key);
    let there =
        |key, value: String| if filled_on_approval(key) { Value::Null } else { value.into() };
    json!({
        "requester": request.requester(),
        "requested_by": request.requested_by().as_str(),
        "approved_by": there("approved_by", request.approved_by().to_owned()),
        "approved_utc": there("approved_utc", request.approved().to_string()),
        "audience": request.audience(),
        "signers": preview.signers(),
        "signatures_min": preview.signatures_min(),
        "signed": preview.signed().iter().map(|(principal, fingerprint)| {
            json!({"principal": principal, "fingerprint": fingerprint})
        }).collect::<Vec<_>>(),
        "signature_files": case.signature_files,
        "rejection_files": case.rejection_files,
    })
}

fn of_input(seen: &DeclaredInput, request: &Request, texts: InputTexts) -> Value {
    let mut input = json!({"name": seen.name, "sha256_declared": seen.declared.to_string()});
    let found = match &seen.found {
        Ok(found) => found,
        Err(why) => {
            input["wrong"] = violation(why);
            return input;
        }
    };
    input["sha256"] = found.sha256().to_string().into();
    input["bytes"] = found.bytes().into();
    if let FoundInput::Folder(folder) = found {
        input["folder"] = of_folder(folder);
    }
    if texts == InputTexts::None {
        return input;
    }
    let named = is_named(&seen.name, request);
    input["command_names_it"] = named.into();
    let FoundInput::File(file) = found else { return input };
    match InputReading::of(&seen.name, file, named, texts) {
        InputReading::Binary(kind) => input["binary"] = kind.into(),
        InputReading::Text(text) => input["text"] = of_text(&text),
    }
    input
}

fn of_folder(folder: &InputFolder) -> Value {
    json!({
        "files": folder.tree.files,
        "directories": folder.tree.directories,
        "links": folder.tree.links,
        "first_files": folder.first.iter().map(|path| reveal_line(path)).collect::<Vec<_>>(),
        "files_more": folder.files_more(),
    })
}

fn of_text(text: &ReadingText) -> Value {
    let line = |line: &super::reading::ReadingLine| {
        json!({
            "number": line.number,
            "text": line.text,
            "characters_more": line.chars_more,
            "marks": line.marks.iter().map(|(code, _)| code).collect::<Vec<_>>(),
        })
    };
    json!({
        "lines": text.lines.iter().map(line).collect::<Vec<_>>(),
        "lines_more": text.lines_more,
        "marked_more": text.marked_more,
        "bytes_not_utf8": text.not_utf8,
        "bytes_more": text.bytes_more,
    })
}

fn environment_json(plan: &Plan) -> Value {
    let runtime = &plan.sandbox.runtime;
    let place = |place: environment::SandboxPath| json!({"path": place.path, "content": place.content, "writable": place.writable});
    let env = plan.exec.env.iter().map(|(name, value)| (name.clone(), value.clone().into()));
    let limits =
        plan.exec.limits.entries().into_iter().map(|(name, value)| (name.to_owned(), value.into()));
    json!({
        "program": output::path(&runtime.binary),
        "argv": plan.exec.argv,
        "directory": environment::working_directory(plan),
        "environment": env.collect::<serde_json::Map<_, _>>(),
        "paths": environment::paths(plan).into_iter().map(place).collect::<Vec<_>>(),
        "network": environment::network(plan),
        "limits": limits.collect::<serde_json::Map<_, _>>(),
        "landlock_abi_min": plan.sandbox.requirements.landlock_abi_min,
    })
}
