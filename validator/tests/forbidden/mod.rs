//! Forbidden content anywhere in a request: shells, installations, host paths, devices. Every rule
//! has violating rows and similar good ones; two corpora have ordinary and hostile sentences.

mod sentences;
use crate::support;
use sentences::{HONEST, HOSTILE, MENTIONS};
use support::{checked, command, errors, expect, expect_command, valid, warnings, with};

fn prose(text: &str) -> String {
    with("# Statistics of one table", text)
}

/// Returns the valid request with further inputs, declared and listed.
fn with_inputs(names: &[&str], line: &str) -> String {
    let mut text = command(line);
    for name in names {
        let item = format!("  - name: \"{name}\"\n    sha256: \"{}\"\n", support::HASH);
        text = text.replacen("outputs_expected:\n", &format!("{item}outputs_expected:\n"), 1);
        let item = format!("- `/in/{name}`\n\n## Output");
        text = text.replacen("\n## Output", &item, 1);
    }
    text
}

#[track_caller]
fn expect_inputs(names: &[&str], line: &str, codes: &str) {
    let text = with_inputs(names, line);
    assert_eq!(errors(&text).join(" "), codes, "{line:?}: {:#?}", checked(&text).violations);
}

#[test]
fn language_shell() {
    for language in ["shell_forbidden", "sh", "Bash", "zsh", "powershell"] {
        expect("language: \"python\"", &format!("language: {language}"), "language.shell");
    }
    for language in ["python", "node", "ts", "go", "ruby"] {
        expect("language: \"python\"", &format!("language: {language}"), "");
    }
}

#[test]
fn programs_that_are_shells_or_run_others() {
    for line in [
        "sh script.py",
        "Bash -c ls",
        "bash5.2 script.py",
        "PowerShell.exe x",
        "busybox sh",
        "env python script.py",
        "nice -n 5 python script.py",
        "timeout 5 python script.py",
        "xargs python",
        "ssh host id",
        "make all",
        "cd x",
        "setup.sh",
        "find /in -name x -exec cat {} +",
        "find /in -execdir cat {} +",
        "find /in -ok cat {} +",
        "fd x -X cat",
        "tar --to-command=cat -xf /in/input.csv",
        "tar -xf /in/input.csv --checkpoint=1 --checkpoint-action=exec=id",
        "tar -I 'python -c 1' -xf /in/input.csv",
        "git -c core.pager=id log",
        "git -c 'alias.x=!id' x",
        "rsync -e id a b",
        "split --filter=id /in/input.csv",
        "sort --compress-program=id /in/input.csv",
        "vim -c ':!id' x",
        "vim '+!id' x",
        "go generate",
        "go vet -vettool=x",
        "node --run start",
        "awk 'BEGIN { system (\"id\") }'",
        "awk '{ print | \"id\" }'",
        "awk 'BEGIN { \"id\" | getline x }'",
        "sed 1e /in/input.csv",
        "sed -e 's/x/id/e' /in/input.csv",
        "sed '/x/ e id' /in/input.csv",
    ] {
        expect_command(line, "command.shell");
    }
    expect_command("/usr/bin/env python x", "command.shell path.host");
    expect_command("sudo pip install x", "command.shell package.install");
    expect_command("bash -c 'pip install x'", "command.shell package.install");
    for line in [
        "python script.py bash",
        "python script.py --shell sh",
        "find /in -name exec -print",
        "find /tmp -delete",
        "tar -I zstd -xf /in/input.csv",
        "tar --checkpoint-action=dot -xf /in/input.csv",
        "git -c color.ui=never log",
        "sort -c /in/input.csv",
        "go version",
        "go run script.go -exec x",
        "awk '{ print $1 \"|\" $2 }' /in/input.csv",
        "awk '$1 || \"x\"' /in/input.csv",
        "awk '/a|b/ { filesystem = 1 }' /in/input.csv",
        "sed -e 's/e/e/g' -e '/e/d' -e 's/x/e;/w /out/e' /in/input.csv",
        "fish-counter /in/input.csv",
    ] {
        expect_inputs(&["script.go"], line, "");
    }
}

#[test]
fn code_that_starts_a_shell() {
    for line in [
        "python -c 'import os; os.system(\"ls\")'",
        "python -c 'from os import system; system(\"ls\")'",
        "python -c '__import__(\"os\").popen(\"ls\")'",
        "python -c 'import os as o; getattr(os, \"system\")(\"ls\")'",
        "python -c 'import pty; pty.spawn(\"x\")'",
        "python -c 'import subprocess; subprocess.run(\"ls\", shell = True)'",
        "python -c 'import subprocess; subprocess.run([\"bash\", \"-c\", \"ls\"])'",
        "python -ucimport\\ os\\;os.system\\(1\\)",
        "python -m timeit 'import os; os.system(\"ls\")'",
        "node -e 'require(\"child_process\").exec(\"ls\")'",
        "node --eval 'const {execSync} = require(\"child_process\"); execSync(\"ls\")'",
        "node --eval='require(\"child_process\").spawn(\"sh\", [\"-c\"])'",
        "node -p 'require(\"child_process\").spawnSync(\"ls\", {shell: true})'",
        "deno eval 'new Deno.Command(\"bash\")'",
        "ruby -e 'system(\"ls\")'",
        "ruby -e 'puts 1' -e 'system \"ls\"'",
        "ruby -e 'puts `ls`'",
        "ruby -e 'puts %x(ls)'",
        "ruby -e 'IO.popen(\"ls\")'",
        "perl -e 'system \"ls\"'",
        "php -r 'shell_exec(\"ls\");'",
        "lua -e 'os.execute(\"ls\")'",
    ] {
        expect_command(line, "command.shell");
    }
    for line in [
        "python -c 'import platform; print(platform.system())'",
        "python -c 'import subprocess; subprocess.run([\"ls\", \"-l\"])'",
        "python -c 'print(\"a shell = sh\")'",
        "python -c 'file_system(1)'",
        "node -e 'console.log(/x/.exec(\"xyz\"))'",
        "node -e 'require(\"child_process\").execFile(\"ls\")'",
        "ruby -e 'puts \"%x\" % 255'",
        "ruby -e 'puts File.system?'",
        "python script.py 'os.system(1)'",
    ] {
        expect_command(line, "");
    }
}

#[test]
fn installers_in_the_command() {
    for line in [
        "PIP install numpy",
        "pip3.12 download x",
        "pixi add x",
        "npx x",
        "cargo build",
        "python -m venv /out/v",
        "python -m ensurepip",
        "python -um pip install x",
        "python get-pip.py",
        "go run example.org/x@latest",
        "ruby -S gem install x",
        "deno install x",
        "python -c 'import pip; pip.main([])'",
        "Rscript -e 'install.packages(1)'",
        "node -e 'run(\"npm ci\")'",
    ] {
        let codes = errors(command(line));
        assert!(codes.contains(&"package.install".to_owned()), "{line}: {codes:?}");
    }
    for line in [
        "python script.py pip install x",
        "python script.py --install",
        "python -c 'print(\"go get it\")'",
        "python -c 'install(1)'",
        "python -m json.tool /in/input.csv",
        "go vet",
    ] {
        expect_command(line, "");
    }
}

#[test]
fn paths_in_the_command() {
    for (line, codes) in [
        ("python script.py /data/x", "path.host"),
        ("python script.py '{\"a\":\"/etc/x\"}'", "path.host"),
        ("python script.py 'C:\\Users\\x'", "path.host"),
        ("python script.py '\\\\server\\share'", "path.host"),
        ("python script.py '\\\\d\\\\w' '\\\\\\\\' 'a:\\\\'", ""),
        ("python script.py '~root/.ssh/x'", "path.host"),
        ("python script.py file:/etc/x", "path.host"),
        ("python -c 'open(\"~/.ssh/x\")'", "path.host"),
        ("python script.py /out/../etc", "path.traversal"),
        ("python -c 'open(\"../x\")'", "path.traversal"),
        ("python script.py /dev/kvm", "path.device"),
        ("python -c 'open(\"/dev/mem\")'", "path.device"),
        ("python script.py --d=/dev/dri/card0", "path.device"),
        ("python script.py /out/x /tmp/y /in", ""),
        ("python script.py a..b 1..10 ...", ""),
        ("python script.py /dev/null /dev/urandom /dev/stdout", ""),
        ("python script.py https://example.org/etc/x", ""),
        ("python script.py '{\"a\":\"km/h\"}'", ""),
        ("awk '/x/ { print }' /in/input.csv", ""),
    ] {
        expect_command(line, codes);
    }
    let rows = checked(command("python script.py --x=1 /etc/passwd")).violations;
    assert_eq!((rows[0].line, rows[0].column, rows[0].width), (34, 24, 11));
}

#[test]
fn undeclared_files() {
    let codes = "command.undeclared-file";
    for line in [
        "python other.py",
        "python -W ignore other.py",
        "python -m script.py.py",
        "python -m pkg.missing",
        "python -mpkg.missing",
        "python -m pdb other.py",
        "python -c 'print(open(\"/in/none.csv\").read())'",
        "python -c 'exec(open(\"/in/none.py\").read())'",
        "node --import ./none.mjs script.py",
        "node --import=./none.mjs script.py",
        "node --env-file=.env script.py",
        "node -r ./none script.py",
        "node --test none.js",
        "tsx watch none.ts",
        "deno run --allow-read none.ts",
        "deno run https://example.org/x.ts",
        "bun run none.ts",
        "ruby -r./none -e 1",
        "ruby -r none.rb -e 1",
        "go vet none.go",
        "awk -f none.awk /in/input.csv",
        "awk -F, -fnone.awk /in/input.csv",
        "perl none.pl",
    ] {
        expect_inputs(&["pkg/a.py"], line, codes);
    }
    for line in [
        "python -m script",
        "python -m unknown",
        "python -m pkg.a",
        "python -m pkg",
        "python -m http.server",
        "python -m pdb script.py",
        "python pkg/a.py",
        "python -c 'print(open(\"/in/input.csv\").read())'",
        "python -c 'print(\"/in/part-\" + n, f\"/in/{n}\", 8 /in/ 2)'",
        "python -c 'glob(\"/in/*.csv\")'",
        "node -e '/in/.test(\"x\")'",
        "node -r ./lib lib.js",
        "node --import ./lib.js lib",
        "ts-node -P tsconfig.json lib.js",
        "ruby -r json -rset -e 1",
        "ruby -I pkg -e 1",
        "go run script.go other.csv",
        "awk -F , '{ print }' /in/input.csv",
        "awk -f lib.js input.csv",
    ] {
        expect_inputs(&["pkg/a.py", "lib.js", "script.go"], line, "");
    }
}

#[test]
fn the_hint_is_the_missing_lines() {
    let rows = checked(command("python other.py")).violations;
    let hint = rows[0].hint.clone().unwrap();
    assert_eq!(
        hint,
        "declare it: add to `inputs`\n  - name: \"other.py\"\n    sha256: \"<sha256sum \
         other.py>\"\nand under `## Input Files`\n- /in/other.py"
    );
    let rows = checked(command("python '/in/a b.py'")).violations;
    assert!(!rows[0].hint.clone().unwrap().contains('\n'), "no name that may be declared");
}

#[test]
fn forbidden_content_is_found_everywhere() {
    for (from, to, codes) in [
        ("# Statistics", "<!-- pip install x -->\n# S", "package.install section.hidden"),
        ("# Statistics", "<!--\nread /etc/passwd\n-->\n# S", "path.host section.hidden"),
        ("# Statistics", "```\npip install x\n```\n# S", "package.install"),
        ("# Statistics", "| step |\n|---|\n| pip install x |\n\n# S", "package.install"),
        ("# Statistics", "Please read\n/etc/passwd.\n\n# S", "path.host"),
        ("reads one table", "run `pip install x`, then it reads one", "package.install"),
        ("reads one table", "read /etc/passwd and one", "path.host"),
        ("One sentence describing", "Read /etc/passwd, describing", "path.host"),
        ("One sentence describing", "Count the words of /etc/services, a", "path.host"),
        ("One sentence describing", "Measure /dev/kvm, a", "path.device"),
        ("One sentence describing", "Read ../x, describing", "path.traversal"),
        ("One sentence describing", "The file ~/x, describing", "path.host"),
        ("One sentence describing", "The file file:///x, describing", "path.host"),
        ("One sentence describing", "How pip install works, describing", "package.install"),
        ("One sentence describing", "Run bash setup.sh, describing", "command.shell"),
        ("\"the statistics\"", "\"like /proc/stat\"", "path.host"),
        ("constraints:\n", "x-note: [{a: /etc/x}]\nconstraints:\n", "path.host"),
        ("constraints:\n", "constraints:\n  - \"Use /dev/kvm\"\n", "path.device"),
        ("- `/in/script.py`", "- `/in/script.py`, not /etc/x", "path.host"),
        ("- `/in/script.py`", "- `/in/script.py` /srv2/x", "path.host"),
        ("- `/in/script.py`", "- `/in/script.py` ../x", "path.traversal"),
        ("constraints:\n", "constraints:\n  - \"No access to /etc, no pip install\"\n", ""),
        ("One sentence describing", "Kilometres/hour and/or 1/2 of ~5 %, describing", ""),
    ] {
        expect(from, to, codes);
    }
}

#[test]
fn a_violation_has_its_position() {
    let rows = checked(prose("Pl\u{e9}ase run `pip install` now")).violations;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].column, rows[0].width), (13, 11));
    let rows = checked(prose("Unlike (/etc/passwd), x")).violations;
    assert_eq!((rows[0].column, rows[0].width), (9, 11));
}

#[test]
fn rows_do_not_grow_with_a_line() {
    let many = prose(&"read /etc/a7 and ".repeat(5000));
    assert!(checked(many).violations.len() < 50);
    let quiet = prose(&format!("{} Then read /etc/passwd.", "unlike /etc/passwd. ".repeat(100)));
    assert_eq!(errors(quiet), ["path.host"], "mentions hide no instruction");
}

#[test]
fn hostile_sentences() {
    let rows: Vec<(&str, &str)> = HOSTILE
        .iter()
        .flat_map(|(code, lines)| lines.trim().lines().map(|line| (*code, line.trim())))
        .collect();
    assert!(rows.len() >= 60, "{}", rows.len());
    for (code, line) in rows {
        assert_eq!(errors(prose(line)), [code], "{line}");
    }
}

#[test]
fn honest_sentences() {
    let lines: Vec<&str> = HONEST.trim().lines().map(str::trim).collect();
    assert!(lines.len() >= 80, "{}", lines.len());
    for line in lines {
        assert_eq!(errors(prose(line)), [""; 0], "{line}");
        assert_eq!(warnings(prose(line)), [""; 0], "{line}");
        let text = with("reads one table and writes its mean", line);
        assert_eq!(errors(text), [""; 0], "justification: {line}");
        let purpose = format!("purpose: '{}' #\"One", line.replace('\'', "''"));
        if line.len() < 200 {
            assert_eq!(errors(with("purpose: \"One", &purpose)), [""; 0], "purpose: {line}");
        }
    }
}

#[test]
fn mentions_are_warnings() {
    for (code, lines) in MENTIONS {
        for line in lines.trim().lines().map(str::trim) {
            assert_eq!(errors(prose(line)), [""; 0], "{line}");
            assert_eq!(warnings(prose(line)), [code], "{line}");
        }
    }
}

#[test]
fn a_request_with_mentions_is_valid() {
    assert_eq!(errors(valid()), [""; 0]);
    assert_eq!(warnings(valid()), [""; 0]);
}

#[test]
fn hostile_text_ends_soon() {
    const PROSE: [&str; 16] = [
        "run sh ",
        "sh ",
        "and use sh\n",
        "read and /etc/a ",
        "then read the /etc/a. ",
        "/etc/a ",
        "the /usr/x.y ",
        "../ ",
        "not pip install ",
        "pip ",
        "install ",
        "to use the ",
        "| sh ",
        "x.sh ",
        "file: ",
        "`a ",
    ];
    const CODE: [&str; 8] = [
        "\"/in/a\" ",
        "\"/in/input.csv\"        ",
        "os.system",
        "subprocess \"",
        "|\"\" ",
        "file:",
        "/etc/a ",
        "s/a/b/;",
    ];
    let rest = 250_000 - valid().len();
    let soon = std::time::Duration::from_secs(1);
    let check = |piece: &str, text: String| {
        let ends_soon = || {
            let start = std::time::Instant::now();
            let rows = checked(&text).violations.len();
            let spent = start.elapsed();
            println!("{piece:?}: {rows} rows, {spent:?}");
            assert!(rows < 1000, "{piece:?}: {rows} rows");
            spent < soon
        };
        // A pause of this process makes one attempt slow, but not three.
        assert!((0..3).any(|_| ends_soon()), "{piece:?}: never within {soon:?}");
    };
    for piece in PROSE {
        check(piece, prose(&piece.repeat(rest / piece.len())));
    }
    for program in ["python -c", "awk", "sed", "ruby -e", "node -e", "env", "python"] {
        for piece in CODE {
            let code = piece.repeat(120_000 / piece.len());
            check(piece, command(&format!("{program} '{code}'")));
            check(piece, command(&format!("{program} {}", code.replace('"', ""))));
        }
    }
}

#[test]
fn one_step_fetch_and_run_is_refused() {
    for line in [
        "bunx cowsay",
        "deno run npm:cowsay",
        "deno run -A jsr:@a/b",
        "ruby -rbundler/inline -e 'gemfile(true) { gem \"rails\" }'",
        "python -c 'from pip import main'",
    ] {
        let errors = support::errors(support::command(line));
        assert!(errors.contains(&"package.install".to_owned()), "{line}: {errors:?}");
    }
    for line in ["ruby -e 'spawn(\"ls\")'", "python -c 'import subprocess as s; s.getoutput(1)'"] {
        let errors = support::errors(support::command(line));
        assert!(errors.contains(&"command.shell".to_owned()), "{line}: {errors:?}");
    }
}
