//! Progress notifications while a tool runs: its step, and its output as untrusted data.

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, RequestText, Service, ServiceConfig};

use super::agent::{McpTestClient, python};

#[test]
fn progress_has_the_step_and_marked_output() {
    let Some(python) = python("progress_has_the_step_and_marked_output") else { return };
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    CliOutput::of(bench.command("mkdir").arg(service.path("drafts"))).assert_code(0);
    let script = "import time\nprint('first\\x1b line', flush=True)\ntime.sleep(10)\n";
    let mut agent = McpTestClient::start(&python, &bench, &service.spool(), &[]);
    for (number, output) in [false, true].into_iter().enumerate() {
        let script = format!("{script}# {number}\n");
        let saved = service.submit(&RequestText::python(&script).time_sec(60));
        let arguments = json!({ "id": saved.id, "timeout_sec": 120, "output": output });
        let waited = agent.call("wait_for_result", arguments);
        assert_eq!(waited.assert_good().structured["state"], "ok", "{waited:#?}");
        let messages: Vec<_> =
            waited.progress.iter().map(|it| it["message"].as_str().unwrap()).collect();
        let mut running = messages.iter().filter(|it| it.starts_with("running after "));
        assert!(running.any(|it| it.contains(" of 60 s")), "{messages:#?}");
        let shown: Vec<_> = messages.iter().filter(|it| it.contains("first")).collect();
        assert_eq!(shown.len(), usize::from(output), "{messages:#?}");
        for message in shown {
            let (_, data) = message.split_once("\n[UNTRUSTED DATA ").unwrap();
            assert!(data.contains("| first\\u{1b} line\n[UNTRUSTED DATA "), "{message:?}");
        }
    }
    agent.disconnect();
}
