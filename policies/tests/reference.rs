//! `docs/policy.md`: every key of a policy, its meaning and its value in the three shipped
//! policies. The page is made from the policy's form and the shipped files, so that it contains
//! exactly the existing keys.
//!
//! `TOOLEXEC_WRITE_DOCS=1 cargo test -p policies reference` writes the page.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failing test may panic, and writes a page of the repository when it is asked to"
)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

const PROFILES: [&str; 3] = ["embedded", "standard", "strict"];
const BEGIN: &str = "# Every key of a policy

A policy is one YAML file. `policy:` of the daemon's configuration names it, or `--policy` of a command. A key that is unknown, written
twice or missing is an error, and so is a value of another type. Keys with **optional** may be missing. Write `null` for no value. Sizes
are bytes, or whole numbers with ` KiB`, ` MiB` or ` GiB` behind them.

```sh
toolexec policy show standard > policy.yaml
toolexec policy check policy.yaml
```

The comments of the shipped policies give the reason for each value. A test makes this page from the program's own types and from these
policies: `TOOLEXEC_WRITE_DOCS=1 cargo test -p policies reference`.
";

struct FormField {
    name: String,
    of: String,
    text: String,
    optional: bool,
}

fn here(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the fields of every struct of a source file. An `Option` is optional unless a function
/// requires the key.
fn forms(source: &str) -> BTreeMap<String, Vec<FormField>> {
    let mut forms: BTreeMap<String, Vec<FormField>> = BTreeMap::new();
    let (mut current, mut text, mut insisted, mut all) = (None, String::new(), false, false);
    for line in source.lines() {
        let line = line.trim();
        let declared = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "));
        if let Some(doc) = line.strip_prefix("///") {
            text.push_str(doc);
        } else if line.starts_with("#[") {
            insisted |= line.contains("deserialize_with");
            all |= line.contains("default)");
        } else if let Some(rest) = declared {
            if let Some(rest) = rest.strip_prefix("struct ") {
                current = rest.strip_suffix(" {").map(str::to_owned);
            } else if let (Some(form), Some((name, of))) = (&current, rest.split_once(": ")) {
                let of = of.trim_end_matches(',');
                let optional = all || (of.starts_with("Option<") && !insisted);
                let text = text.trim().to_owned();
                assert!(!text.is_empty(), "{form}.{name}: has no documentation");
                let field = FormField { name: name.to_owned(), of: of.to_owned(), text, optional };
                forms.entry(form.clone()).or_default().push(field);
            }
            (text, insisted) = (String::new(), false);
        } else if line == "}" {
            (current, text, all) = (None, String::new(), false);
        }
    }
    forms
}

/// Returns the value in a shipped policy. The keys of a mapping have rows of their own.
fn shipped(profile: &Value, path: &str) -> String {
    let pointer = format!("/{}", path.replace('.', "/"));
    match profile.pointer(&pointer) {
        None => "–".to_owned(),
        Some(value) => format!("`{}`", value.to_string().replace('"', "")),
    }
}

/// Returns the form of a field's type, and the notation of its path.
fn inner<'a>(
    forms: &'a BTreeMap<String, Vec<FormField>>,
    field: &FormField,
) -> Option<(&'a str, &'static str)> {
    let of = &field.of;
    let mut words = of.split(|c: char| !c.is_ascii_alphanumeric());
    let (form, _) = words.find_map(|word| forms.get_key_value(word))?;
    let place = match (of.contains("BTreeMap<"), of.contains("Vec<")) {
        (true, _) => ".NAME",
        (_, true) => "[]",
        _ => "",
    };
    Some((form, place))
}

fn section(
    page: &mut String,
    forms: &BTreeMap<String, Vec<FormField>>,
    profiles: &[Value; 3],
    (form, at): (&str, &str),
) {
    let fields = &forms[form];
    let of_one = !at.contains(['[', 'N']);
    let (head, rule) = match of_one {
        true => ("| key | meaning | embedded | standard | strict |", "|---|---|---|---|---|"),
        false => ("| key | meaning |", "|---|---|"),
    };
    let title = if at.is_empty() { "The file".to_owned() } else { format!("`{at}`") };
    write!(page, "\n## {title}\n\n{head}\n{rule}\n").unwrap();
    for FormField { name, text, optional, .. } in fields {
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let field = fields.iter().find(|it| it.name == *name).unwrap();
        let text = if *optional { format!("**optional** {text}") } else { text.clone() };
        let text = text.replace('|', "\\|");
        write!(page, "| `{name}` | {text} |").unwrap();
        if of_one {
            let nested = inner(forms, field).is_some();
            for profile in profiles {
                let value = if nested { "below".to_owned() } else { shipped(profile, &path) };
                write!(page, " {value} |").unwrap();
            }
        }
        page.push('\n');
    }
    for field in fields {
        if let Some((form, place)) = inner(forms, field) {
            let path =
                if at.is_empty() { field.name.clone() } else { format!("{at}.{}", field.name) };
            section(page, forms, profiles, (form, &format!("{path}{place}")));
        }
    }
}

#[test]
fn docs_policy_md_matches_the_raw_types() {
    let mut forms_of_all = forms(&fs::read_to_string(here("src/raw.rs")).unwrap());
    for path in ["src/ais/rules.rs", "src/backends/raw.rs"] {
        forms_of_all.extend(forms(&fs::read_to_string(here(path)).unwrap()));
    }
    let profiles = PROFILES.map(|name| {
        let text = fs::read_to_string(here(&format!("profiles/{name}.yaml"))).unwrap();
        serde_yaml::from_str::<Value>(&text).unwrap()
    });
    let mut page = BEGIN.to_owned();
    section(&mut page, &forms_of_all, &profiles, ("RawPolicy", ""));
    let path = here("../docs/policy.md");
    if std::env::var_os("TOOLEXEC_WRITE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page, "its first lines say how to write it anew");
    // Every key of the shipped files is documented.
    for profile in &profiles {
        for key in keys(profile) {
            assert!(page.contains(&format!("| `{key}` |")), "{key}");
        }
    }
}

/// Returns the keys of a file, except names chosen by its author.
fn keys(value: &Value) -> Vec<String> {
    let Value::Object(object) = value else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in object {
        match key.as_str() {
            "runtimes" | "backends" => {
                found.extend(value.as_object().unwrap().values().flat_map(keys))
            }
            "env" | "profiles" => {}
            _ => found.extend(keys(value)),
        }
        found.push(key.clone());
    }
    found
}
