//! `toolexec ais`: make, sign and check the artifacts that bind a run to a user's intent. It must never
//! add to what it is asked to sign, and never write anything but the one bundle of `envelope`.

mod assertions;
mod document;
mod envelope;
mod error;
mod key;
mod print;
mod supply;
mod verify;

use std::io::Write;
use std::process::ExitCode;

use policies::ais::{
    Apa, Artifact, Sealed, Uia, canonical, embed, entail, sign, step_args, tool_name,
};
use serde_json::{Value, json};

use error::{Done, Stop};
use print::print;

use crate::failure::Failure;
use crate::options::ais::{AisAct, Canonical, Entail, Schema, Sign, Step};
use crate::output;

pub(crate) fn ais(act: &AisAct) -> Result<ExitCode, Failure> {
    let done = match act {
        AisAct::Canonical(asked) => print_canonical(asked),
        AisAct::Sign(asked) => print_signature(asked),
        AisAct::Verify(asked) => verify::verify(asked),
        AisAct::Entail(asked) => print_evidence(asked),
        AisAct::Step(asked) => print_step(asked),
        AisAct::Tca(asked) => assertions::tca(asked),
        AisAct::Sca(asked) => assertions::sca(asked),
        AisAct::Crl(asked) => assertions::crl(asked),
        AisAct::Envelope(asked) => envelope::envelope(asked),
        AisAct::Schema(asked) => print_schema(asked),
    };
    match done {
        Ok(code) => Ok(code),
        Err(Stop::Failed(failure)) => Err(failure),
        Err(Stop::Invalid(what)) => {
            output::note(what);
            Ok(ExitCode::from(2))
        }
    }
}

fn print_canonical(asked: &Canonical) -> Done {
    let bytes = canonical(&document::exactly(&asked.file)?);
    let mut out = std::io::stdout().lock();
    output::settle(out.write_all(&bytes).and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}

fn print_signature(asked: &Sign) -> Done {
    let value = document::exactly(&asked.file)?;
    let key = key::of(&asked.key, Some(asked.alg))?;
    let kid = asked.kid.as_deref();
    if !asked.embed {
        output::line(sign(&canonical(&value), &key, kid))?;
        return Ok(ExitCode::SUCCESS);
    }
    let wrong = |what: &str| Stop::Invalid(format!("{}: {what}", asked.file.display()));
    let Value::Object(object) = value else { return Err(wrong("is no object to embed in")) };
    let named = object.get("@type").and_then(Value::as_str).and_then(Artifact::named);
    let artifact =
        match (named, object.contains_key("operations"), object.contains_key("components")) {
            (Some(artifact), _, _) => artifact,
            (None, true, false) => Artifact::Tca,
            (None, false, true) => Artifact::Sca,
            _ => return Err(wrong("has no `@type` of an artifact")),
        };
    print(&embed(artifact, object, &key, kid))
}

fn print_evidence(asked: &Entail) -> Done {
    let uia: Sealed<Uia> = document::artifact(&asked.uia)?.1;
    let apa: Sealed<Apa> = document::artifact(&asked.apa)?.1;
    let found = entail(uia.content(), apa.content());
    print(&json!({ "coverage": found.coverage, "risk": found.risk, "scores": found.scores }))
}

fn print_step(asked: &Step) -> Done {
    let request = document::request_or_draft(&asked.request)?;
    print(&json!({ "tool": tool_name(request.language()), "args": step_args(&request) }))
}

fn print_schema(asked: &Schema) -> Done {
    let name = &asked.artifact;
    let same = |artifact: &Artifact| artifact.as_str().eq_ignore_ascii_case(name);
    match Artifact::ALL.iter().copied().find(same) {
        Some(artifact) => {
            output::text(artifact.schema())?;
            Ok(ExitCode::SUCCESS)
        }
        None => Err(Failure::Said(format!(
            "ais schema: no artifact '{name}'; there are UIA, APA, APr, TCA, IBE, SCA and CRL"
        ))
        .into()),
    }
}
