//! The entries that `setup` adds. Everything that they depend on is an argument.

use policies::permissions::AgentName;
use validator::quote_words;

use super::model::{
    CommandHookEntry, ConfigEntry, EntryContent, HookChoice, HookEntry, HookHandler, ServerEntry,
};
use crate::commands::agent::model::CodingAgent;
use crate::failure::Failure;

/// The choices for the entries.
pub(super) struct EntryOptions<'a> {
    pub(super) coding_agent: CodingAgent,
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
        let hook = match content {
            EntryContent::Server { is_typed } => {
                let transport = is_typed.then(|| "stdio".to_owned());
                let args = [vec!["mcp".to_owned()], self.options()].concat();
                let command = self.program.to_owned();
                return Ok(Some(ConfigEntry::Server(ServerEntry { transport, command, args })));
            }
            _ if self.hook == HookChoice::None => return Ok(None),
            EntryContent::ToolHook => ConfigEntry::ToolHook(HookEntry {
                matcher: self.coding_agent.hook().shell_tools.join("|"),
                hooks: [self.handler()?],
            }),
            EntryContent::PlainHook => ConfigEntry::PlainHook(self.handler()?),
            EntryContent::CommandHook => {
                let command = self.hook_command()?;
                ConfigEntry::CommandHook(CommandHookEntry { command, fail_closed: true })
            }
        };
        Ok(Some(hook))
    }

    fn handler(&self) -> Result<HookHandler, Failure> {
        Ok(HookHandler { kind: "command".to_owned(), command: self.hook_command()? })
    }

    fn options(&self) -> Vec<String> {
        let agent = self.agent.map(ToString::to_string);
        let spool = self.spool.map(str::to_owned);
        let options = [("--spool", spool), ("--agent", agent)].into_iter();
        let options = options.filter_map(|(option, value)| Some([option.to_owned(), value?]));
        options.flatten().collect()
    }

    /// Returns the command of the hook. Its end blocks also after another failure, such as a
    /// missing program, which would let the agent run its command.
    fn hook_command(&self) -> Result<String, Failure> {
        let words = [self.program, "hook", self.coding_agent.as_str()];
        let words = words.map(str::to_owned).to_vec();
        let ask = (self.hook == HookChoice::Ask).then(|| "--ask".to_owned());
        let words = [words, self.options(), ask.into_iter().collect()].concat();
        let command = quote_words(&words).map_err(|error| {
            let help = "use other paths";
            Failure::Message(format!("--hook: the command of the hook: {error}; help: {help}"))
        })?;
        Ok(format!("{}{}", command.as_str(), self.coding_agent.hook().blocking_end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_of(options: &EntryOptions<'_>, content: EntryContent) -> String {
        match options.entry(content).unwrap().unwrap() {
            ConfigEntry::ToolHook(HookEntry { hooks: [handler], .. })
            | ConfigEntry::PlainHook(handler) => handler.command,
            ConfigEntry::CommandHook(hook) => hook.command,
            ConfigEntry::Server(server) => panic!("{server:?}"),
        }
    }

    #[test]
    fn each_entry_is_recognized_as_ours() {
        let agent: AgentName = "core".parse().unwrap();
        let mut options = EntryOptions {
            coding_agent: CodingAgent::ClaudeCode,
            program: "/opt/my tools/toolexec",
            spool: Some("/srv/spool"),
            agent: Some(&agent),
            hook: HookChoice::Deny,
        };
        let hooks = [EntryContent::ToolHook, EntryContent::PlainHook, EntryContent::CommandHook];
        let server = EntryContent::Server { is_typed: true };
        for content in [&[server][..], &hooks[..]].concat() {
            assert!(options.entry(content).unwrap().unwrap().is_ours());
        }
        let words = "'/opt/my tools/toolexec' hook claude-code --spool /srv/spool --agent core";
        let command = command_of(&options, EntryContent::ToolHook);
        assert_eq!(command, format!("{words} || exit 2"));
        options.hook = HookChoice::Ask;
        let command = command_of(&options, EntryContent::PlainHook);
        assert_eq!(command, format!("{words} --ask || exit 2"));
        options.coding_agent = CodingAgent::Cursor;
        let command = command_of(&options, EntryContent::CommandHook);
        assert_eq!(command, format!("{} --ask", words.replace("claude-code", "cursor")));
        options.hook = HookChoice::None;
        for content in hooks {
            assert!(options.entry(content).unwrap().is_none());
        }
    }
}
