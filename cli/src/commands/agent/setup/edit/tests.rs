//! Entries in files of every layout: added, added again, replaced, and removed byte for byte.

use serde_json::{Value, json};

use super::super::model::{
    CommandHookEntry, ENTRY_NAME, EntryKey, HookEntry, HookHandler, JsonPlace, ServerEntry,
};
use super::*;

const SERVER: ConfigPlace = ConfigPlace::Json(JsonPlace {
    keys: &["mcpServers"],
    key: EntryKey::Member(ENTRY_NAME),
    version: None,
});
const HOOK: ConfigPlace = ConfigPlace::Json(JsonPlace {
    keys: &["hooks", "PreToolUse"],
    key: EntryKey::Element(" hook claude-code"),
    version: None,
});
const VERSIONED: ConfigPlace = ConfigPlace::Json(JsonPlace {
    keys: &["hooks", "beforeShellExecution"],
    key: EntryKey::Element(" hook cursor"),
    version: Some(1),
});
const TABLE: ConfigPlace = ConfigPlace::Toml("mcp_servers");

fn server(spool: &str) -> ConfigEntry {
    let args = ["mcp", "--spool", spool].map(str::to_owned).to_vec();
    ConfigEntry::Server(ServerEntry { transport: None, command: "toolexec".to_owned(), args })
}

fn hook(agent: &str) -> ConfigEntry {
    let command = format!("toolexec hook claude-code --agent {agent} || exit 2");
    let handler = HookHandler { kind: "command".to_owned(), command };
    ConfigEntry::ToolHook(HookEntry { matcher: "Bash".to_owned(), hooks: [handler] })
}

fn command_hook(agent: &str) -> ConfigEntry {
    let command = format!("toolexec hook cursor --agent {agent}");
    ConfigEntry::CommandHook(CommandHookEntry { command, fail_closed: true })
}

/// Returns both entries of a place.
fn entries(place: ConfigPlace) -> [ConfigEntry; 2] {
    match place {
        ConfigPlace::Json(JsonPlace { version: Some(_), .. }) => {
            [command_hook("core"), command_hook("other")]
        }
        ConfigPlace::Json(JsonPlace { key: EntryKey::Element(_), .. }) => {
            [hook("core"), hook("other")]
        }
        _ => [server("/a"), server("/b \"c\" \u{7f}")],
    }
}

/// Adds, adds again, replaces and removes an entry. Returns the text with the first entry.
#[track_caller]
fn around(before: Option<&str>, place: ConfigPlace) -> String {
    let [first, second] = entries(place);
    let text = add(before, place, &first).unwrap();
    assert_eq!(find(&text, place).unwrap(), Some(first.clone()));
    assert_eq!(add(Some(&text), place, &first).unwrap(), text);
    let other = add(Some(&text), place, &second).unwrap();
    assert_eq!(find(&other, place).unwrap(), Some(second));
    assert_eq!(add(Some(&other), place, &first).unwrap(), text);
    for text in [&text, &other] {
        let wanted = match before {
            Some(before) => RemovedText::Original(before.to_owned()),
            None => RemovedText::NoFile,
        };
        assert_eq!(remove(text, before, [place]).unwrap(), wanted);
    }
    text
}

/// Removes an entry without knowledge of the original.
#[track_caller]
fn cut(text: &str, place: ConfigPlace) -> String {
    // An original that led to another text does not count.
    match remove(text, Some("another"), [place]).unwrap() {
        RemovedText::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// Returns the value of a text without empty containers: a removal may leave out those around ours.
fn pruned(text: &str) -> Value {
    fn prune(value: Value) -> Value {
        let is_full = |value: &Value| !matches!(value.to_string().as_str(), "{}" | "[]");
        match value {
            Value::Object(members) => {
                let members = members.into_iter().map(|(key, value)| (key, prune(value)));
                Value::Object(members.filter(|(_, value)| is_full(value)).collect())
            }
            Value::Array(all) => Value::Array(all.into_iter().map(prune).filter(is_full).collect()),
            other => other,
        }
    }
    prune(serde_json::from_str(text).unwrap())
}

const JSON_FILES: [&str; 11] = [
    "{}",
    "{ }\n",
    "{\n}\n",
    "{\"a\":1}",
    "{\"a\": [1, \"]}\\\"\"], \"b\": {}}\n",
    "{\n  \"a\": 1\n}",
    "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}\n\t}\n}\n",
    "{\n    \"mcpServers\": {},\n    \"hooks\": {}\n}\n",
    "{\r\n  \"hooks\": {\r\n    \"PreToolUse\": [\r\n    ]\r\n  }\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Edit\"}\n    ]\n  },\n  \
     \"z\": 1e3\n}\n",
    "  {\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Edit\"}],\"Stop\":[]}}  \n",
];

#[test]
fn entries_of_json_files_leave_every_byte_around_them() {
    for place in [SERVER, HOOK] {
        around(None, place);
        for before in JSON_FILES {
            let text = around(Some(before), place);
            assert_eq!(text.contains("\r\n"), before.contains("\r\n"), "{text:?}");
            let cut = cut(&text, place);
            assert!(find(&cut, place).unwrap().is_none(), "{cut}");
            assert_eq!(pruned(&cut), pruned(before), "{cut}");
        }
    }
}

/// The version stays when the entry is removed from a file that was changed later.
#[test]
fn a_file_states_the_version_that_its_agent_asks_for() {
    let begin = "{\n  \"version\": 1,\n  \"hooks\": {\n    \"beforeShellExecution\": [\n";
    assert!(around(None, VERSIONED).starts_with(begin));
    for before in JSON_FILES {
        let text = around(Some(before), VERSIONED);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["version"], 1, "{text}");
        let entry = json!({ "command": "toolexec hook cursor --agent core", "failClosed": true });
        assert_eq!(value["hooks"]["beforeShellExecution"], json!([entry]), "{text}");
        let value: Value = serde_json::from_str(&cut(&text, VERSIONED)).unwrap();
        assert_eq!(value["version"], 1, "{text}");
    }
    let other = "{\"version\":2,\"hooks\":{}}";
    assert!(around(Some(other), VERSIONED).starts_with("{\"version\":2,"));
}

#[test]
fn two_entries_of_a_file_are_removed_together() {
    let places = [SERVER, HOOK];
    for before in [None, Some("{}"), Some("{\n  \"mcpServers\": {},\n  \"a\": 1\n}\n")] {
        let mut text = before.map(str::to_owned);
        for place in places {
            let [first, _] = entries(place);
            text = Some(add(text.as_deref(), place, &first).unwrap());
        }
        let text = text.unwrap();
        let wanted = match before {
            Some(before) => RemovedText::Original(before.to_owned()),
            None => RemovedText::NoFile,
        };
        assert_eq!(remove(&text, before, places).unwrap(), wanted);
        let changed = text.replacen('{', "{\"b\": 2,", 1);
        let RemovedText::Text(left) = remove(&changed, before, places).unwrap() else {
            panic!("{changed}");
        };
        assert_eq!(remove(&left, before, places).unwrap(), RemovedText::Unchanged);
        assert!(left.contains("\"b\": 2") && !left.contains("toolexec"), "{left}");
    }
}

#[test]
fn an_entry_has_the_layout_of_its_file() {
    let text = around(Some("{\n\t\"mcpServers\": {\n\t\t\"a\": 1\n\t}\n}\n"), SERVER);
    let wanted = "{\n\t\"mcpServers\": {\n\t\t\"a\": 1,\n\t\t\"toolexec\": {\n\t\t\t\"command\": \
                  \"toolexec\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\",\n\t\t\t\t\"--spool\",\
                  \n\t\t\t\t\"/a\"\n\t\t\t]\n\t\t}\n\t}\n}\n";
    assert_eq!(text, wanted);
    let text = around(Some("{\"a\":1}"), SERVER);
    let entry = "{\"command\":\"toolexec\",\"args\":[\"mcp\",\"--spool\",\"/a\"]}";
    assert_eq!(text, format!("{{\"a\":1,\"mcpServers\":{{\"toolexec\":{entry}}}}}"));
    let text = around(None, HOOK);
    let begin =
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n";
    assert!(text.starts_with(begin) && text.ends_with("}\n"), "{text}");
}

#[test]
fn entries_of_toml_files_leave_every_byte_around_them() {
    for before in [
        "",
        "\n",
        "model = \"x\"",
        "# first\nmodel = \"x\" # why\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n# last\n",
        "[mcp_servers.other]\r\ncommand = \"x\"\r\n\r\n[mcp_servers.other.env]\r\nKEY = \"v\"\r\n",
        "text = '''\n[mcp_servers.toolexec]\n'''\n\n",
    ] {
        let text = around(Some(before), TABLE);
        assert!(text.starts_with(before), "{text}");
        assert_eq!(cut(&text, TABLE).trim_end(), before.trim_end());
        let between = format!("{text}\n[last]\nx = 1\n");
        let left = cut(&between, TABLE);
        assert!(left.starts_with(before) && left.ends_with("\n[last]\nx = 1\n"), "{left}");
    }
    let text = around(None, TABLE);
    let entry = "command = \"toolexec\"\nargs = [\"mcp\", \"--spool\", \"/a\"]\n";
    assert_eq!(text, format!("[mcp_servers.toolexec]\n{entry}"));
}

#[test]
fn other_entries_stay_when_ours_is_removed_later() {
    let text = add(Some("{\n  \"a\": 1\n}\n"), SERVER, &server("/a")).unwrap();
    let text = text.replacen("\"a\": 1", "\"a\": 2,\n  \"b\": 3", 1);
    assert_eq!(cut(&text, SERVER), "{\n  \"a\": 2,\n  \"b\": 3\n}\n");
    let text = r#"{"mcpServers": {"toolexec": {"command": "x", "args": ["mcp"]}, "b": 1}}"#;
    assert_eq!(cut(text, SERVER), r#"{"mcpServers": {"b": 1}}"#);
}

#[test]
fn a_malformed_file_is_refused_with_its_position() {
    for (text, place, words) in [
        ("", SERVER, ":1:0: not plain JSON: EOF"),
        ("{\n  // why\n  \"a\": 1\n}", SERVER, ":2:3: not plain JSON: key must be a string"),
        ("{\n  \"a\": 1,\n}", SERVER, ":3:1: not plain JSON: trailing comma"),
        ("{} x", HOOK, ":1:4: not plain JSON: trailing characters"),
        ("[1]", SERVER, "`mcpServers` is not an object"),
        ("{\"mcpServers\": null}", SERVER, "`toolexec` is not an object"),
        ("{\"mcpServers\": {}, \"mcpServers\": {}}", SERVER, "`mcpServers` is there twice"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", HOOK, "`hooks.PreToolUse` is not a list"),
        ("a = 1\nb = \n", TABLE, ":2:"),
        ("a = 1\na = 2\n", TABLE, ":2:1: not TOML: duplicate key"),
        ("mcp_servers = {other = {command = \"x\"}}\n", TABLE, "no place"),
        ("mcp_servers = 1\n", TABLE, "no place"),
    ] {
        let refusal = add(Some(text), place, &entries(place)[0]).unwrap_err().to_string();
        assert!(refusal.contains(words), "{words:?} is not in {refusal:?}");
        assert!(refusal.contains("; help: "), "{refusal}");
    }
}

#[test]
fn an_entry_in_another_form_is_neither_changed_nor_removed() {
    let handler = "{\"type\": \"command\", \"command\": \"toolexec hook claude-code\"}";
    let two = format!("{{\"hooks\": {{\"PreToolUse\": [{{\"hooks\": [{handler}, {handler}]}}]}}}}");
    let twice = format!("{{\"matcher\": \"Bash\", \"hooks\": [{handler}]}}");
    let twice = format!("{{\"hooks\": {{\"PreToolUse\": [{twice}, {twice}]}}}}");
    for (text, place) in [
        ("{\"mcpServers\": {\"toolexec\": {\"url\": \"http://x\"}}}", SERVER),
        ("{\"mcpServers\": {\"toolexec\": {\"command\": \"x\", \"args\": [\"serve\"]}}}", SERVER),
        (r#"{"mcpServers": {"toolexec": {"command": "x", "args": ["mcp"], "env": {}}}}"#, SERVER),
        (two.as_str(), HOOK),
        (twice.as_str(), HOOK),
        ("[mcp_servers.toolexec]\nurl = \"http://x\"\n", TABLE),
        ("[mcp_servers.toolexec]\ncommand = \"x\"\nargs = [\"mcp\"]\nenabled = false\n", TABLE),
        ("[mcp_servers]\ntoolexec = {command = \"x\", args = [\"mcp\"]}\n", TABLE),
        ("mcp_servers.toolexec.command = \"x\"\n", TABLE),
    ] {
        let refused = [
            add(Some(text), place, &entries(place)[0]).map(|_| ()),
            remove(text, None, [place]).map(|_| ()),
        ];
        for refused in refused {
            let refusal = refused.unwrap_err().to_string();
            assert!(refusal.contains("by hand"), "{text}: {refusal}");
        }
    }
}
