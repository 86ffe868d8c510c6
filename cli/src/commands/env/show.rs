//! `env show`: prints the facts of a stored environment. Read-only. It must never show an
//! environment as verified.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use model::escape_line;
use trees::Environment;

use super::args::EnvironmentStoreOption;
use super::error::EnvironmentCommandError;
use super::row;
use crate::args::{Format, SignedBuild};
use crate::output::figures::{age, count, size};
use crate::{clock, output};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec env show charts

Prints the reference of the environment, its programs, variables, required runtimes, sources, size
and age, the key that signed its build, and whether it was imported. Its files are not read:
`toolexec env verify` compares them with the digest.
Exit status: 0 shown; 2 no such environment; 3 usage or internal error.
With --format json, stdout is one object: that of `toolexec env list` with \"programs\",
\"variables\", \"imported\", \"build_record\" and \"path\".")]
pub(crate) struct EnvironmentShowCommand {
    /// Select it by name, NAME@sha256:DIGEST, sha256:DIGEST, or 12 or more digits of the digest
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    store: EnvironmentStoreOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn show(args: &EnvironmentShowCommand) -> Result<ExitCode, EnvironmentCommandError> {
    let store = args.store.open_for(&args.name)?;
    let environment = store.find(&args.name)?;
    let signed = SignedBuild::read(&store, environment.sha256);
    match args.format {
        Format::Human => output::text(&human(&environment, &signed))?,
        Format::Json => {
            let mut object = row::json(&environment);
            object["programs"] = entries(&environment.content.programs);
            object["variables"] = entries(&environment.content.variables);
            object["imported"] = environment.imported.into();
            object["build_record"] = signed.json();
            object["path"] = output::path(&environment.path).into();
            output::line(object)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn entries(map: &BTreeMap<String, String>) -> serde_json::Value {
    serde_json::json!(map)
}

fn human(environment: &Environment, signed: &SignedBuild) -> String {
    let Environment { content, build, .. } = environment;
    let (kind, file) = (escape_line(&build.source.kind), escape_line(&build.source.file));
    let mut lines = vec![
        format!("environment  {}", environment.reference()),
        format!("kind         {}", content.kind),
        format!("source       {kind} {file}"),
        format!("             sha256:{}", build.source.sha256),
        format!("built        {}, {}", build.built, age(build.built, clock::now())),
        format!("builder      uid {}", build.uid),
        format!("signed by    {}", signed.signer()),
        format!("size         {}", sizes(environment)),
        format!("directory    {}", escape_line(&environment.path.display().to_string())),
    ];
    for fact in signed.facts().into_iter().flatten() {
        lines.push(format!("signed       {}", escape_line(&fact)));
    }
    if environment.imported {
        lines.push("imported     yes; another store states source, time and builder".to_owned());
    }
    for source in &environment.other_sources {
        let (kind, file) = (escape_line(&source.kind), escape_line(&source.file));
        lines.push(format!("also from    {kind} {file}"));
        lines.push(format!("             sha256:{}", source.sha256));
    }
    lines.extend(row::needs(environment).iter().map(|need| format!("needs        {need}")));
    for (name, value) in &content.variables {
        lines.push(format!("variable     {}={}", escape_line(name), escape_line(value)));
    }
    for (name, path) in &content.programs {
        lines.push(format!("program      {}  {}", escape_line(name), escape_line(path)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn sizes(environment: &Environment) -> String {
    let files = count(environment.files, "file", "files");
    let directories = count(environment.directories, "directory", "directories");
    let links = count(environment.links, "link", "links");
    format!("{}, {files}, {directories}, {links}", size(environment.bytes))
}
