//! The entries that `setup` adds. Everything that they depend on is an argument.

use policies::permissions::AgentName;
use validator::quote_words;

use super::agents::EntryContent;
use super::model::{ConfigEntry, HookChoice, HookEntry, HookHandler, ServerEntry};
use crate::commands::agent::model::{CodingAgent, SHELL_TOOLS};
use crate::failure::Failure;

/// The choices for the entries.
pub(super) struct EntryOptions<'a> {
    /// The name or path by which the agent starts this program.
    pub(super) program: &'a str,
    /// An absolute path.
    pub(super) spool: Option<&'a str>,
    pub(super) agent: Option<&'a AgentName>,
    pub(super) hook: HookChoice,
}

impl EntryOptions<'_> {
    /// Returns the entry, or `None` for a hook that is not wanted.
    pub(super) fn entry(&self, content: EntryContent) -> Result<Option<ConfigEntry>, Failure> {
        match content {
            EntryContent::Server { is_typed } => {
                let transport = is_typed.then(|| "stdio".to_owned());
                let args = [vec!["mcp".to_owned()], self.options()].concat();
                let command = self.program.to_owned();
                Ok(Some(ConfigEntry::Server(ServerEntry { transport, command, args })))
            }
            EntryContent::Hook if self.hook == HookChoice::None => Ok(None),
            EntryContent::Hook => self.hook_entry().map(Some),
        }
    }

    fn options(&self) -> Vec<String> {
        let agent = self.agent.map(ToString::to_string);
        let spool = self.spool.map(str::to_owned);
        let options = [("--spool", spool), ("--agent", agent)].into_iter();
        let options = options.filter_map(|(option, value)| Some([option.to_owned(), value?]));
        options.flatten().collect()
    }

    fn hook_entry(&self) -> Result<ConfigEntry, Failure> {
        let words = [self.program, "hook", CodingAgent::ClaudeCode.as_str()];
        let words = words.map(str::to_owned).to_vec();
        let ask = (self.hook == HookChoice::Ask).then(|| "--ask".to_owned());
        let words = [words, self.options(), ask.into_iter().collect()].concat();
        let command = quote_words(&words).map_err(|error| {
            let help = "use other paths";
            Failure::Message(format!("--hook: the command of the hook: {error}; help: {help}"))
        })?;
        // Any other failure, such as a missing program, would let the agent run its command.
        let command = format!("{} || exit 2", command.as_str());
        let handler = HookHandler { kind: "command".to_owned(), command };
        Ok(ConfigEntry::Hook(HookEntry { matcher: SHELL_TOOLS.join("|"), hooks: [handler] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook_command(options: &EntryOptions<'_>) -> String {
        match options.entry(EntryContent::Hook) {
            Ok(Some(ConfigEntry::Hook(HookEntry { hooks: [handler], .. }))) => handler.command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_entry_is_recognized_as_ours() {
        let agent: AgentName = "core".parse().unwrap();
        let mut options = EntryOptions {
            program: "/opt/my tools/toolexec",
            spool: Some("/srv/spool"),
            agent: Some(&agent),
            hook: HookChoice::Deny,
        };
        for content in [EntryContent::Server { is_typed: true }, EntryContent::Hook] {
            assert!(options.entry(content).unwrap().unwrap().is_ours());
        }
        let command = hook_command(&options);
        let words = "'/opt/my tools/toolexec' hook claude-code --spool /srv/spool --agent core";
        assert_eq!(command, format!("{words} || exit 2"));
        options.hook = HookChoice::Ask;
        assert_eq!(hook_command(&options), format!("{words} --ask || exit 2"));
        options.hook = HookChoice::None;
        assert!(options.entry(EntryContent::Hook).unwrap().is_none());
    }
}
