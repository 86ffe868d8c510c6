//! Generates the same command lines everywhere: by grammar, by damage, of significant characters.

pub(crate) struct Generator<'c> {
    state: u64,
    corpus: &'c [String],
}

/// Parts of a word that no shell changes.
const PLAIN: [&str; 26] = [
    "python",
    "script.py",
    "-c",
    "--in",
    "a",
    "b1",
    "x=1",
    "key=val",
    "/in/a.csv",
    "/out/b",
    "1",
    "2",
    "a,b",
    "a.b",
    "%d",
    "@x",
    "a:b",
    "+",
    "-",
    "^",
    "]",
    "}",
    "--x=",
    "caf\u{e9}",
    "a#b",
    "!",
];

/// Quoted parts, most with content that would matter outside of quotes.
const QUOTED: [&str; 22] = [
    "'a b'",
    "\"a b\"",
    "';'",
    "\"&&\"",
    "'|'",
    "\">\"",
    "'$x'",
    "'`id`'",
    "'*'",
    "\"[a]\"",
    "'~'",
    "\"{a,b}\"",
    "'#'",
    "''",
    "\"\"",
    "\"'\"",
    "'\"'",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"\\$x\"",
    "'\\'",
    "\"\\a\"",
];

const ESCAPED: [&str; 16] = [
    "\\ ", "\\;", "\\&", "\\|", "\\>", "\\$", "\\`", "\\*", "\\[", "\\]", "\\~", "\\{", "\\,",
    "\\#", "\\'", "\\\"",
];

/// Parts that bash interprets, in some or all positions.
const INTERPRETED: [&str; 62] = [
    "*",
    "?",
    "[ab]",
    "[",
    "[a",
    "[!a]",
    "[]",
    "~",
    "~/x",
    "~root",
    "~+",
    "~nosuch",
    "{a,b}",
    "{1..3}",
    "{a..c}",
    "{a..c..2}",
    "{,}",
    "{a,b",
    "a,b}",
    "{a},b}",
    "{{a,b}",
    "{a,{b,c}}",
    "{}",
    "{x}",
    "{1..}",
    "{..}",
    "{1..a}",
    "$x",
    "${x}",
    "$(id)",
    "$((1))",
    "$'a'",
    "$\"a\"",
    "$",
    "`id`",
    "a=~",
    "a=b:~",
    "x=",
    "a+=1",
    "a[0]=1",
    "a[x]=~",
    "a[0",
    "#",
    "# x",
    "#a",
    "!",
    "{",
    "\"$x\"",
    "\"`id`\"",
    "\"$(id)\"",
    "\"$\"",
    "(",
    ")",
    "'",
    "\"",
    "\\",
    "<(id)",
    ">(id)",
    "!a",
    "=~",
    ":~",
    "--o=~",
];

const OPERATORS: [&str; 32] = [
    ";", "&", "&&", "||", "|", "|&", ">", ">>", "<", "<<", "<<<", "<<-", "<>", ">|", ">&", "<&",
    "&>", "&>>", "2>", "2>&1", "{fd}>", ";;", ";&", "((", "))", "(", ")", "<(", ">(", " ; ", " & ",
    " | ",
];

const FIRST: [&str; 34] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", "select", "time", "time -p", "coproc", "!", "! !", "{", "}", "[[", "]]", "[",
    "a=1", "a+=b", "a[1]=2", "a[x y]=2", "'if'", "i\\f", "''", "x='a b'", "a\"b\"=1",
];

const MARKS: [&str; 14] = [
    "- ",
    "* ",
    "+ ",
    "> ",
    "# ",
    "## ",
    "1. ",
    "2) ",
    "<b> ",
    "<!-- x --> ",
    "`",
    "```",
    "~~~",
    "-",
];

const ALPHABETS: [&str; 5] = [
    "ab '\"\\$`;&|<>()#=~ ",
    "{},.a1b'\"\\{},.{} ",
    "a[]/\\'\"=+~:b0 ",
    "a~/:=b'\"\\ +-",
    "ab1 {}[]*?!~#=:,.-+/%^@'\"\\ ",
];

impl<'c> Generator<'c> {
    pub(crate) fn new(seed: u64, corpus: &'c [String]) -> Self {
        Self { state: seed, corpus }
    }

    /// xorshift64.
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap() % bound
    }

    fn one_of<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }

    pub(crate) fn line(&mut self) -> String {
        match self.below(10) {
            0..=3 => self.by_grammar(),
            4..=6 => self.damaged(),
            _ => self.random_characters(),
        }
    }

    /// Generates words, mostly harmless, with an occasional operator, first word or mark.
    fn by_grammar(&mut self) -> String {
        let mut line = String::new();
        if self.below(12) == 0 {
            line.push_str(self.one_of(&MARKS));
        }
        if self.below(6) == 0 {
            line.push_str(self.one_of(&FIRST));
            line.push(' ');
        }
        let dangers = self.below(3);
        for index in 0..=self.below(6) {
            if index > 0 {
                line.push_str(self.one_of(&[" ", " ", " ", "  ", "\t", " \t "]));
            }
            for _ in 0..=self.below(3) {
                self.part(dangers, &mut line);
            }
        }
        if self.below(20) == 0 {
            line.push_str(self.one_of(&[" ", "\\ ", "\\", " #", " &", ";", "`", "\t"]));
        }
        line
    }

    fn part(&mut self, dangers: usize, line: &mut String) {
        let kind = self.below(16);
        line.push_str(match kind {
            0..=6 => self.one_of(&PLAIN),
            7..=10 => self.one_of(&QUOTED),
            11..=12 => self.one_of(&ESCAPED),
            13..=14 if dangers > 0 => self.one_of(&INTERPRETED),
            15 if dangers > 1 => self.one_of(&OPERATORS),
            _ => self.one_of(&PLAIN),
        });
    }

    /// Returns a valid line with one to three defects.
    fn damaged(&mut self) -> String {
        let from = self.below(self.corpus.len());
        let mut chars: Vec<char> = self.corpus[from].chars().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(chars.len() + 1);
            match self.below(6) {
                0 if at < chars.len() => drop(chars.remove(at)),
                1 => self.insert(at, &OPERATORS, &mut chars),
                2 => self.insert(at, &INTERPRETED, &mut chars),
                3 => self.insert(at, &ESCAPED, &mut chars),
                4 if at + 1 < chars.len() => chars.swap(at, at + 1),
                _ => self.insert(at, &["'", "\"", "\\", " ", "#", "~", "{", "}", ","], &mut chars),
            }
        }
        chars.into_iter().collect()
    }

    fn insert(&mut self, at: usize, items: &[&str], chars: &mut Vec<char>) {
        let text = self.one_of(items);
        chars.splice(at..at, text.chars());
    }

    fn random_characters(&mut self) -> String {
        let letters: Vec<char> = ALPHABETS[self.below(ALPHABETS.len())].chars().collect();
        let length = 1 + self.below(14);
        let mut line = self.one_of(&["", "a ", "a b=", "x "]).to_owned();
        line.extend((0..length).map(|_| letters[self.below(letters.len())]));
        line
    }
}
