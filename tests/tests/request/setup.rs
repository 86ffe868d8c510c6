//! `toolexec setup`: the configuration of each agent before, after and without our entry, and the
//! files that it refuses.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, list};

/// A file of an agent: its path in a project and in the home, and a content from before.
struct AgentConfig {
    agent: &'static str,
    project: &'static str,
    home: &'static str,
    before: &'static str,
}

/// The files with the MCP server and with the hook, for each agent.
const CONFIGS: [AgentConfig; 9] = [
    AgentConfig {
        agent: "claude-code",
        project: ".mcp.json",
        home: ".claude.json",
        before: "{\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\" }\n    }\n}",
    },
    AgentConfig {
        agent: "claude-code",
        project: ".claude/settings.json",
        home: ".claude/settings.json",
        before: "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      1\n    ]\n  }\n}\n",
    },
    AgentConfig {
        agent: "codex",
        project: ".codex/hooks.json",
        home: ".codex/hooks.json",
        before: "{}\n",
    },
    AgentConfig {
        agent: "vscode",
        project: ".github/hooks/toolexec.json",
        home: ".copilot/hooks/toolexec.json",
        before: "{\n    \"hooks\": {\n        \"Stop\": []\n    }\n}\n",
    },
    AgentConfig {
        agent: "cursor",
        project: ".cursor/hooks.json",
        home: ".cursor/hooks.json",
        before: "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{\"command\": \"x\"}]\n  }\n}\n",
    },
    AgentConfig {
        agent: "codex",
        project: ".codex/config.toml",
        home: ".codex/config.toml",
        before: "# mine\nmodel = \"m\"  # why\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
    },
    AgentConfig {
        agent: "vscode",
        project: ".vscode/mcp.json",
        home: ".config/Code/User/mcp.json",
        before: "{\r\n\t\"servers\": {},\r\n\t\"inputs\": []\r\n}\r\n",
    },
    AgentConfig {
        agent: "cursor",
        project: ".cursor/mcp.json",
        home: ".cursor/mcp.json",
        before: "{}",
    },
    AgentConfig {
        agent: "gemini",
        project: ".gemini/settings.json",
        home: ".gemini/settings.json",
        before: "{\"theme\":\"x\",\"mcpServers\":{\"a\":{\"url\":\"y\"}}}\n",
    },
];

fn setup(bench: &Bench, agent: &str, more: &[&str]) -> CliOutput {
    CliOutput::of(bench.command("toolexec").args(["setup", agent]).args(more))
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn backup_of(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.toolexec-backup", path.file_name().unwrap().to_str().unwrap()))
}

/// Sets up an agent twice and removes the entry again. Returns the text in between.
#[track_caller]
fn around(bench: &Bench, agent: &str, options: &[&str], path: &Path) -> String {
    let before = read(path);
    let with = |more: &[&str]| setup(bench, agent, &[options, more].concat());
    let shown = with(&[]);
    shown.assert_code(0);
    shown.assert_stderr(&["nothing is written", "--write"]);
    assert!(shown.stdout.contains(&format!("+++ {}\n", path.display())), "{shown:#?}");
    assert_eq!(read(path), before);

    let written = with(&["--write"]);
    written.assert_code(0);
    assert!(written.stdout.contains(&format!("{}: written", path.display())), "{written:#?}");
    let text = read(path).unwrap();
    assert_eq!(read(&backup_of(path)), before);
    let again = with(&["--write"]);
    again.assert_code(0);
    assert!(again.stdout.contains(&format!("{}: already set up", path.display())), "{again:#?}");
    assert_eq!(read(path).unwrap(), text);

    let other = with(&["--spool", "/srv/other", "--write"]);
    other.assert_code(0);
    assert!(read(path).unwrap().contains("/srv/other"));
    assert_eq!(read(&backup_of(path)), before, "the backup is the first original");
    with(&["--write"]).assert_code(0);
    assert_eq!(read(path).unwrap(), text);

    let shown = with(&["--remove"]);
    shown.assert_code(0);
    assert_eq!(read(path).unwrap(), text);
    with(&["--remove", "--write"]).assert_code(0);
    assert_eq!(read(path), before);
    assert_eq!(read(&backup_of(path)), None);
    let again = with(&["--remove", "--write"]);
    again.assert_code(0);
    assert!(again.stdout.contains("has no entry"), "{again:#?}");
    text
}

#[test]
fn each_agent_is_set_up_and_its_files_are_restored() {
    let bench = Bench::new();
    let project = bench.scratch().dir("project");
    let options = ["--project", project.to_str().unwrap(), "--agent", "core"];
    for AgentConfig { agent, project: file, before, .. } in CONFIGS {
        let path = project.join(file);
        let new = around(&bench, agent, &options, &path);
        assert!(new.contains("core"), "{new}");
        write(&path, before);
        let text = around(&bench, agent, &options, &path);
        for line in before.lines().filter(|line| line.len() > 2 && !line.contains("{}")) {
            assert!(text.contains(line.trim_end_matches('}')), "{line:?} is not in {text}");
        }
    }
}

#[test]
fn files_of_the_user_are_in_the_home_or_where_a_variable_says() {
    let bench = Bench::new();
    for AgentConfig { agent, home, .. } in CONFIGS {
        let path = bench.home().join(home);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        around(&bench, agent, &["--user"], &path);
    }
    // Codex has its usual file in the home.
    around(&bench, "codex", &[], &bench.home().join(".codex/config.toml"));
    let place = bench.scratch().dir("codex");
    let mut command = bench.command("toolexec");
    command.args(["setup", "codex", "--write"]).env("CODEX_HOME", &place);
    CliOutput::of(&mut command).assert_code(0);
    assert_eq!(list(&place), ["config.toml", "hooks.json"]);
}

#[test]
fn the_entries_start_this_program() {
    let bench = Bench::new();
    let options = ["--spool", "spool", "--agent", "core", "--write"];
    setup(&bench, "claude-code", &options).assert_code(0);
    let json = |name: &str| -> Value {
        serde_json::from_str(&read(&bench.home().join(name)).unwrap()).unwrap()
    };
    let program = bench.scratch().path().join("bin/toolexec");
    let (program, spool) = (program.to_str().unwrap(), bench.home().join("spool"));
    let spool = spool.to_str().unwrap();
    let server = json!({
        "type": "stdio", "command": program,
        "args": ["mcp", "--spool", spool, "--agent", "core"],
    });
    assert_eq!(json(".mcp.json"), json!({ "mcpServers": { "toolexec": server } }));
    let hook = format!("{program} hook claude-code --spool {spool} --agent core || exit 2");
    let hook = json!({
        "matcher": "Bash|Monitor|PowerShell",
        "hooks": [{ "type": "command", "command": hook }],
    });
    assert_eq!(json(".claude/settings.json"), json!({ "hooks": { "PreToolUse": [hook] } }));

    // On the search path, its name is enough.
    CliOutput::of(&mut bench.shell("toolexec setup claude-code --hook ask --write")).assert_code(0);
    let server = json(".mcp.json")["mcpServers"]["toolexec"].clone();
    assert_eq!(server["command"], "toolexec");
    let hook = json(".claude/settings.json")["hooks"]["PreToolUse"][0]["hooks"][0].clone();
    assert_eq!(hook["command"], "toolexec hook claude-code --ask || exit 2");
    setup(&bench, "claude-code", &["--remove", "--write"]).assert_code(0);
    let mut without = bench.shell("toolexec setup claude-code --hook none --write");
    CliOutput::of(&mut without).assert_code(0);
    assert_eq!(read(&bench.home().join(".claude/settings.json")), None);
}

#[test]
fn other_entries_and_the_mode_of_a_file_stay() {
    let bench = Bench::new();
    let path = bench.home().join(".claude/settings.json");
    let other = "{\"matcher\": \"Edit\", \"hooks\": []}";
    let end = "\n    ]\n  }\n}\n";
    let before = "{\n  \"model\": \"m\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      ";
    let before = format!("{before}{other}{end}");
    write(&path, &before);
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    setup(&bench, "claude-code", &["--write"]).assert_code(0);
    let text = read(&path).unwrap();
    assert!(text.starts_with(before.strip_suffix(end).unwrap()) && text.ends_with(end), "{text}");
    for path in [&path, &backup_of(&path)] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // The user edits the file: only our entry is removed, and the backup stays.
    fs::write(&path, text.replace("\"m\"", "\"n\"")).unwrap();
    setup(&bench, "claude-code", &["--remove", "--write"]).assert_code(0);
    assert_eq!(read(&path).unwrap(), before.replace("\"m\"", "\"n\""));
    assert_eq!(read(&backup_of(&path)).unwrap(), before);
}

/// Asserts that the file is refused with these words, for each act, and stays as it is.
#[track_caller]
fn assert_refused(bench: &Bench, agent: &str, path: &Path, words: &[&str]) {
    let before = fs::read(path).ok();
    for more in [&["--write"][..], &["--remove", "--write"]] {
        let refused = setup(bench, agent, more);
        refused.assert_code(2);
        refused.assert_stderr(words);
        refused.assert_stderr(&["help: "]);
        assert_eq!(refused.stdout.contains("\"mcp\""), more.len() == 1, "{refused:#?}");
    }
    assert_eq!(fs::read(path).ok(), before);
}

#[test]
fn a_file_that_is_not_plain_json_or_toml_is_refused_with_the_lines_to_add() {
    let bench = Bench::new();
    let path = bench.home().join(".vscode/mcp.json");
    for (text, position) in [
        ("{\n  // why\n  \"servers\": {}\n}\n", ":2:3: not plain JSON"),
        ("{\"servers\": {},}", ":1:16: not plain JSON"),
        ("", ":1:0: not plain JSON"),
    ] {
        write(&path, text);
        assert_refused(&bench, "vscode", &path, &[&format!("{}{position}", path.display())]);
    }
    let path = bench.home().join(".codex/config.toml");
    write(&path, "model = \"m\"\nmodel = \"n\"\n");
    assert_refused(&bench, "codex", &path, &["config.toml:2:1: not TOML: duplicate key"]);
}

#[test]
fn one_refused_file_keeps_the_other_from_being_written() {
    let bench = Bench::new();
    let path = bench.home().join(".claude/settings.json");
    write(&path, "{");
    let refused = setup(&bench, "claude-code", &["--write"]);
    refused.assert_code(2);
    refused.assert_stderr(&[".claude/settings.json:1:1: not plain JSON"]);
    assert!(refused.stdout.contains("PreToolUse"), "{refused:#?}");
    assert_eq!(read(&bench.home().join(".mcp.json")), None);
}

#[test]
fn links_large_files_and_odd_objects_are_refused() {
    let bench = Bench::new();
    let path = bench.home().join(".cursor/mcp.json");
    fs::create_dir(path.parent().unwrap()).unwrap();
    let target = bench.scratch().file("target.json", "{}");
    symlink(&target, &path).unwrap();
    assert_refused(&bench, "cursor", &path, &["`mcp.json` is a symbolic link"]);
    fs::remove_file(&path).unwrap();
    fs::write(&path, format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20))).unwrap();
    assert_refused(&bench, "cursor", &path, &["`mcp.json` is larger than 1048576 bytes"]);
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    assert_refused(&bench, "cursor", &path, &["`mcp.json` is not UTF-8 text"]);
    fs::remove_file(&path).unwrap();
    CliOutput::of(bench.command("mkfifo").arg(&path)).assert_code(0);
    let refused = setup(&bench, "cursor", &["--write"]);
    refused.assert_code(2);
    refused.assert_stderr(&["`mcp.json` is not a regular file"]);
    fs::remove_file(&path).unwrap();

    let folder = path.parent().unwrap();
    fs::remove_dir(folder).unwrap();
    symlink(bench.scratch().dir("elsewhere"), folder).unwrap();
    assert_refused(&bench, "cursor", &path, &["`.cursor` is ", "add the lines by hand"]);
    assert_eq!(list(&bench.scratch().path().join("elsewhere")), Vec::<String>::new());
}

#[test]
fn a_file_of_another_user_is_refused() {
    let Some(bench) = Bench::as_root("a_file_of_another_user_is_refused") else { return };
    let path = bench.home().join(".cursor/mcp.json");
    write(&path, "{}");
    chown(&path, Some(65533), None).unwrap();
    assert_refused(&bench, "cursor", &path, &["`mcp.json` belongs to user 65533"]);
    chown(&path, Some(0), None).unwrap();
    chown(path.parent().unwrap(), Some(65533), None).unwrap();
    assert_refused(&bench, "cursor", &path, &["`.cursor` belongs to user 65533"]);
}

#[test]
fn wrong_options_change_nothing() {
    let bench = Bench::new();
    for words in [
        &["another"][..],
        &["codex", "--user", "--project", "."],
        &["cursor", "--project", "missing", "--write"],
        &["cursor", "--hook", "allow"],
        &["codex", "--hook", "ask", "--write"],
        &["gemini", "--hook", "ask", "--write"],
    ] {
        bench.toolexec([&["setup"][..], words].concat()).assert_code(3);
    }
    assert_eq!(list(&bench.home()), Vec::<String>::new());
}
