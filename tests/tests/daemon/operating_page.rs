//! docs/operating.md: the messages about wrong metrics, and the words of log, metrics and states, which
//! the page must have.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;

use toolexec_tests::{Bench, CliOutput, Service, ServiceConfig, workspace};

#[test]
fn the_check_says_what_is_wrong_with_metrics() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let good = fs::read_to_string(service.config()).unwrap();
    let home = bench.home();
    for (line, code, says) in [
        (format!("{{file: {}/toolexec.prom, interval_sec: 1}}", home.display()), 0, ""),
        (format!("{{socket: {}/metrics.sock}}", home.display()), 0, ""),
        ("{interval_sec: 5}".to_owned(), 2, "metrics: neither file nor socket"),
        (format!("{{file: {}/toolexec.txt}}", home.display()), 2, "does not end in .prom"),
        ("{file: toolexec.prom}".to_owned(), 2, "\"toolexec.prom\" is not an absolute path"),
        ("{socket: /no/where/x}".to_owned(), 2, "the directory of \"/no/where/x\" does not exist"),
        (format!("{{socket: {}/x, interval_sec: 0}}", home.display()), 2, "interval_sec"),
        (format!("{{socket: {}/x, port: 9100}}", home.display()), 2, "port"),
    ] {
        fs::write(service.config(), format!("{good}metrics: {line}\n")).unwrap();
        let output = CliOutput::of(service.command().arg("--check"));
        output.assert_code(code);
        output.assert_stderr(&[says]);
    }
}

#[test]
fn the_page_has_every_word_of_the_programs() {
    let page = fs::read_to_string(workspace().join("docs/operating.md")).unwrap();
    let source = |path: &str| fs::read_to_string(workspace().join(path)).unwrap();
    // A text of a closed set follows the name of its variant. Texts with a blank are sentences.
    for (file, mark) in [
        ("daemon/src/log_event.rs", " = \""),
        ("daemon/src/metrics/registry.rs", " = \""),
        ("daemon/src/metrics/registry.rs", "register(\""),
        ("daemon/src/metrics/fleet_metrics.rs", "register(\""),
        ("spool/src/public/model.rs", " = \""),
        ("spool/src/public/running.rs", " = \""),
    ] {
        let text = source(file);
        // The names in attributes are former ones.
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("#["));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        let words = text.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap());
        let words: Vec<_> = words.filter(|word| !word.contains(' ')).collect();
        assert!(words.len() > 3, "{file}: only {} words: the search is broken", words.len());
        for word in words {
            let prefixes = ["", "toolexec_", "toolexec_fleet_"];
            let named = prefixes.iter().any(|prefix| page.contains(&format!("`{prefix}{word}`")));
            assert!(named, "docs/operating.md does not name {word} of {file}");
        }
    }
}
