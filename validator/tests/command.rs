//! The command rules, a line per row: bash's view and our codes, and a similar good line each.

use crate::support;
use support::{checked, command, expect_command, with};
use validator::{Code, command_words, shell_words};

#[test]
fn accepted() {
    for line in [
        support::COMMAND,
        "python -c 'print(1)'",
        "python script.py 'a;b' \"c|d\" e\\;f",
        "python script.py '`id`' 'a*b' '$HOME' \"a\\$b\"",
        "python script.py x=1 a#b --n=5% {} {a} a,b ]",
        "python -W ignore -X dev script.py",
        "python3.12 -uB script.py /out/x /tmp/y /dev/null",
        "python -m json.tool /in/input.csv",
        "python - /in/input.csv",
        "python ./script.py --in=/in/input.csv",
        "python /in/script.py /in",
        "node -e 'console.log(1)'",
        "ruby -e 'puts 1' -e 'puts 2'",
        "go version",
        "python script.py ''",
        "python -c 'print(4 /2)'",
        "  python script.py\t",
        "python -c '<!-- x -->'",
        "python script.py https://example.org/a/b",
        "python script.py caf\u{e9}",
        // Braces, brackets and tildes that bash does not change.
        "python script.py {a..bb} {1..x} {..} {a..} {,b {} {},c} {a..{1..2}} {a,{b}",
        "python script.py [ a[ [a ]b[ [a/] [a\\]",
        "python script.py --a=b~ x~ a:b a~b",
        "python script.py a\\ ",
        "python script.py if then ! { } time",
    ] {
        expect_command(line, "");
    }
}

#[test]
fn shell_syntax() {
    for (line, codes) in [
        ("python script.py; id", "command.chaining"),
        ("echo safe && rm -rf x", "command.chaining"),
        ("python script.py || x", "command.chaining"),
        ("python script.py | cat", "command.pipeline"),
        ("python script.py |& cat", "command.pipeline"),
        ("python script.py > x", "command.redirection"),
        ("python script.py 2>&1", "command.redirection"),
        ("python script.py &> x", "command.redirection"),
        ("python script.py < x", "command.redirection"),
        ("python script.py << EOF", "command.heredoc"),
        ("python script.py <<< x", "command.heredoc"),
        ("python script.py $(id)", "command.substitution"),
        ("python script.py \"$(id)\"", "command.substitution"),
        ("python script.py `id`", "command.substitution"),
        ("python script.py \"`id`\"", "command.substitution"),
        ("python script.py <(id)", "command.substitution"),
        ("python script.py $HOME", "command.expansion"),
        ("python script.py \"${X}\"", "command.expansion"),
        ("python script.py $'x'", "command.expansion"),
        ("python script.py ~", "command.expansion path.host"),
        ("python script.py {a,b}", "command.expansion"),
        ("python script.py x{1..3}", "command.expansion"),
        ("python script.py {a},b}", "command.expansion"),
        ("python script.py {{a,b}", "command.expansion"),
        ("python script.py x{},c}", "command.expansion"),
        ("python script.py {\"a,b\"..c}", "command.expansion"),
        ("python script.py {a..c..2}", "command.expansion"),
        ("python script.py {a..bb}{1..2}", "command.expansion"),
        ("python script.py a=~", "command.expansion path.host"),
        ("python script.py a+=b:~", "command.expansion path.host"),
        ("python script.py [a\"/\"b]", "command.glob"),
        ("python script.py []", "command.glob"),
        ("a[1 + 1]=2 python script.py", "command.assignment"),
        ("a['x y']+=2 python script.py", "command.assignment"),
        ("python script.py 2>x", "command.redirection"),
        ("python script.py &>> x", "command.redirection"),
        ("python script.py <<- x", "command.heredoc"),
        ("python script.py *", "command.glob"),
        ("python script.py a?c", "command.glob"),
        ("python script.py [ab]", "command.glob"),
        ("python script.py (x", "command.subshell"),
        ("(python script.py)", "command.subshell"),
        ("python -c print(1)", "command.subshell"),
        ("python script.py &", "command.background"),
        ("X=1 python script.py", "command.assignment"),
        ("X+=1 python script.py", "command.assignment"),
        ("python script.py # x", "command.comment"),
        ("python script.py 'x", "command.quoting"),
        ("python script.py \"x", "command.quoting"),
        ("python script.py \\", "command.quoting"),
        ("X=1", "command.assignment frontmatter.value"),
        ("a; b | c > d", "command.chaining command.pipeline command.redirection"),
    ] {
        let codes = codes.replace(" frontmatter.value", "");
        expect_command(line, &codes);
    }
}

#[test]
fn shells_and_wrappers() {
    for line in [
        "bash -c ls",
        "/bin/sh x",
        "env python script.py",
        "xargs python",
        "nice python script.py",
        "timeout 5 python script.py",
        "busybox ls",
        "nohup python script.py",
        "setsid x",
        "stdbuf -o0 python script.py",
        "sudo x",
        "eval x",
        "if x",
        "'bash' x",
        "BASH x",
    ] {
        let errors = support::errors(command(line));
        assert!(errors.contains(&"command.shell".to_owned()), "{line}: {errors:?}");
    }
    expect_command("bash -c ls", "command.shell");
    expect_command("/bin/sh x", "command.shell path.host");
}

#[test]
fn files() {
    for (line, codes) in [
        ("python other.py", "command.undeclared-file"),
        ("python /in/other.py", "command.undeclared-file"),
        ("python -u -W ignore other.py", "command.undeclared-file"),
        ("node --require ./x.js script.py", "command.undeclared-file"),
        ("go run main.go", "command.undeclared-file"),
        ("ruby -I lib other.rb", "command.undeclared-file"),
        ("python script.py /in/none.csv", "command.undeclared-file"),
        ("python script.py --x=/in/none.csv", "command.undeclared-file"),
        ("python script.py -I/in/none", "command.undeclared-file"),
        ("cat /etc/passwd", "path.host"),
        ("python script.py --x=/etc/passwd", "path.host"),
        ("python script.py a:/usr", "path.host"),
        ("python script.py /", "path.host"),
        ("python script.py file:///etc/x", "path.host"),
        ("python script.py '~/x'", "path.host"),
        ("python -c 'open(\"/etc/passwd\")'", "path.host"),
        ("/usr/bin/python script.py", "path.host"),
        ("python /in/../etc/x", "command.undeclared-file path.traversal"),
        ("python script.py ../x", "path.traversal"),
        ("python script.py --x=..", "path.traversal"),
        ("python script.py /dev/kvm", "path.device"),
        ("python script.py --d=/dev/sda", "path.device"),
        ("python script.py /dev/null/x", "path.device"),
    ] {
        expect_command(line, codes);
    }
}

#[test]
fn packages() {
    for line in [
        "pip install numpy",
        "pip3.12 install x",
        "uv sync",
        "conda install x",
        "npm ci",
        "npx x",
        "pnpm i",
        "yarn",
        "gem install x",
        "bundle",
        "go get x",
        "go install x",
        "cargo build",
        "apt install x",
        "apt-get install x",
        "apk add x",
        "dnf install x",
        "yum install x",
        "brew install x",
        "python -m pip install x",
        "python -um pip install x",
        "python -W ignore -mpip install x",
        "python -c 'main([\"pip\", \"install\", \"x\"])'",
    ] {
        expect_command(line, "package.install");
    }
    expect_command("go vet", "");
}

#[test]
fn form_of_the_section() {
    for (text, codes) in [
        ("", "command.empty"),
        ("''", "command.empty"),
        ("python script.py\npython script.py", "command.multiple-lines"),
        ("```\npython script.py\n```", "command.code-fence"),
        ("```sh\n```", "command.code-fence command.empty"),
        ("~~~\npython script.py\n~~~", "command.code-fence"),
        ("- python script.py", "command.markup"),
        ("1. python script.py", "command.markup"),
        ("> python script.py", "command.markup"),
        ("# python script.py", "command.markup"),
        ("`python script.py`", "command.markup"),
        ("<b> python script.py", "command.markup"),
        ("python script.py \u{2018}x\u{2019}", "text.confusable"),
        ("python script.py a\u{a0}b", "text.confusable"),
        ("python script.py a\u{200b}b", "text.confusable"),
        ("pyth\u{43e}n script.py", "text.confusable"),
    ] {
        expect_command(text, codes);
    }
    let text = command(&format!("python script.py {}", "x".repeat(131_072)));
    assert_eq!(support::errors(text), ["text.too-large"]);
    let text = command(&format!("python script.py {}", "x".repeat(131_000)));
    assert_eq!(support::errors(text), [""; 0]);
    let comment = command("python script.py <!-- x -->");
    assert!(support::errors(comment).contains(&"command.markup".to_owned()));
}

#[test]
fn independent_violations_are_all_reported() {
    let broken = with("---\nrequest_type", "---\n[request_type").replace("-u script.py", "; id");
    let errors = support::errors(broken);
    assert!(errors.contains(&"command.chaining".to_owned()), "{errors:?}");
    assert!(errors.contains(&"frontmatter.syntax".to_owned()), "{errors:?}");
    let hidden = with("## Command", "<!--\n## Command");
    let errors = support::errors(hidden);
    assert!(errors.contains(&"command.markup".to_owned()), "{errors:?}");
}

#[test]
fn words_and_positions() {
    let request = checked(command("python script.py 'a b'\"c\"\\ d ''")).verdict.ok().unwrap();
    assert_eq!(request.argv(), ["python", "script.py", "a bc d", ""]);
    assert_eq!(
        request.work(),
        &validator::Work::Command {
            argv: request.argv().to_vec(),
            line: "python script.py 'a b'\"c\"\\ d ''".to_owned()
        }
    );
    let rows = checked(command("python script.py \u{e9}; id")).violations;
    assert_eq!((rows[0].line, rows[0].column), (34, 19));
    assert!(rows[0].hint.is_some());
}

#[test]
fn secrets_in_the_command() {
    expect_command("python script.py --password=hunter2hunter2", "secret.password");
    expect_command("python script.py --password hunter2hunter2", "secret.password");
    expect_command("python script.py AK''IAIOSFODNN7EXAMPLE", "secret.aws-key");
    expect_command("python script.py --password=/in/input.csv", "");
}

/// Returns each code with the characters of the line that it marks.
fn marked(line: &str) -> Vec<(String, String)> {
    let rows = shell_words(line).err().unwrap_or_default();
    let under = |column: usize, width: usize| line.chars().skip(column - 1).take(width).collect();
    rows.iter().map(|row| (row.code.as_str().into_owned(), under(row.column, row.width))).collect()
}

#[test]
fn violations_mark_the_exact_characters() {
    for (line, code, text) in [
        ("a; b", "command.chaining", ";"),
        ("\u{e9} a && b", "command.chaining", "&&"),
        ("a |& b", "command.pipeline", "|&"),
        ("a 2>&1", "command.redirection", "2>&"),
        ("a {fd}>x", "command.redirection", "{fd}>"),
        ("a &>> b", "command.redirection", "&>>"),
        ("a <<< b", "command.heredoc", "<<<"),
        ("a $(b) c", "command.substitution", "$("),
        ("a \"x`id -u`\" c", "command.substitution", "`id -u`"),
        ("a <(b) c", "command.substitution", "<("),
        ("a \"x$HOME/b\"", "command.expansion", "$HOME"),
        ("a b=~/x c", "command.expansion", "~/x"),
        ("a x{1..3}'y' c", "command.expansion", "x{1..3}'y'"),
        ("a x[a-z]y", "command.glob", "[a-z]"),
        ("a x*y", "command.glob", "*"),
        ("  A='b c' d", "command.assignment", "A='b c'"),
        ("a # b c", "command.comment", "# b c"),
        ("a b'c d", "command.quoting", "'c d"),
        ("a (b)", "command.subshell", "("),
        ("a & ", "command.background", "&"),
        ("  ## a b", "command.markup", "##"),
        (" `a b` ", "command.markup", "`a b`"),
        (" ```sh", "command.code-fence", "```sh"),
        ("while x", "command.shell", "while"),
    ] {
        let rows = marked(line);
        assert!(rows.contains(&(code.to_owned(), text.to_owned())), "{line}: {rows:?}");
    }
    let rows = command_words("python '/etc/x y'").unwrap_err();
    assert_eq!((rows[0].code, rows[0].column, rows[0].width), (Code::PathHost, 8, 10));
}

#[test]
fn hints_say_what_to_do() {
    for (line, word) in [
        ("a; b", "one request for each"),
        ("a || b", "its own failure"),
        ("a | b", "one script"),
        ("a > b", "/out"),
        ("a < b", "/in"),
        ("a << b", "declared input"),
        ("a &", "remove the `&`"),
        ("`a b`", "without the backticks"),
        ("```", "remove the fence"),
        ("- a", "Markdown"),
        ("a *", "single quotes"),
    ] {
        let rows = shell_words(line).unwrap_err();
        let hint = rows[0].hint.clone().unwrap_or_default();
        assert!(hint.contains(word), "{line}: {hint}");
    }
}

#[test]
fn shell_keywords_are_not_programs() {
    for line in ["if x", "! x", "coproc x", "time x", "{ x", "[[ a ]]", "elif x", "in x", "]] x"] {
        let rows = shell_words(line).unwrap_err();
        assert_eq!(rows[0].code, Code::CommandShell, "{line}");
    }
    assert_eq!(shell_words("'if' x").unwrap(), ["if", "x"]);
    assert_eq!(shell_words("a '~' \\~ ''~ --x=~ a:~ ~'b'").unwrap().len(), 7);
    // By syntax alone, a path and the name of a shell are just words.
    assert_eq!(shell_words("sh /etc/x").unwrap(), ["sh", "/etc/x"]);
}

#[test]
fn a_blank_at_the_end_that_is_a_word_stays_one() {
    let request = checked(command("python script.py a\\ ")).verdict.ok().unwrap();
    assert_eq!(request.argv(), ["python", "script.py", "a "]);
    let line = "python script.py a\\ ".to_owned();
    assert_eq!(request.work(), &validator::Work::Command { argv: request.argv().to_vec(), line });
}

#[test]
fn repeated_pieces_take_linear_time() {
    for piece in [
        "{", "{a,", "{a..bb}", "}", ",}", "{,", "a[", "[b/", "-b[", "a]", "a=~:~:", ":~", "$a",
        "`", "2>", "{a}<", "a=1 ", "a[x]=1 ", "a[;", "''", "\"\\a\"", "\\ ", "~", "(", ")", "$(",
        "#", "! ",
    ] {
        for head in ["", "a=", "x "] {
            let line = format!("{head}{}", piece.repeat(130_000 / piece.len()));
            let ends_soon = || {
                let start = std::time::Instant::now();
                let words = shell_words(&line);
                let spent = start.elapsed();
                println!("{head:?} {piece:?}: {spent:?}, {}", words.is_ok());
                spent.as_millis() < 1000
            };
            // A pause of this process makes one attempt slow, but not three.
            assert!((0..3).any(|_| ends_soon()), "{head:?} {piece:?}: never within a second");
        }
    }
}
