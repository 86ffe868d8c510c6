//! The lines between `toolexec` and this program. The program ends with its standard input, so that
//! it never outlives its caller.

use std::io::{self, BufRead, Read as _, Write as _};
use std::thread;

use fleet::commands::{FLEET_ANSWER_BYTES_MAX, FLEET_COMMAND_BYTES_MAX, FleetAnswer, FleetCommand};

use super::error::CommandFailure;

/// The exit status of a program whose caller has gone.
const CALLER_GONE: i32 = 3;

/// Reads the command. From then on the end of standard input ends the process.
pub(super) fn command() -> Result<FleetCommand, CommandFailure> {
    let command = read_command(&mut io::stdin().lock())?;
    thread::spawn(|| {
        // Further input has no meaning. An error is the end, too.
        io::copy(&mut io::stdin().lock(), &mut io::sink()).unwrap_or_default();
        std::process::exit(CALLER_GONE);
    });
    Ok(command)
}

fn read_command(input: &mut impl BufRead) -> Result<FleetCommand, CommandFailure> {
    let unfit = |what: &str| {
        CommandFailure(format!("command: {what}; help: start toolexec, which starts this program"))
    };
    let bytes_max = u64::try_from(FLEET_COMMAND_BYTES_MAX).unwrap_or(u64::MAX);
    let mut line = Vec::new();
    let read = input.take(bytes_max).read_until(b'\n', &mut line);
    read.map_err(|error| unfit(&error.to_string()))?;
    if line.pop() != Some(b'\n') {
        return Err(unfit("not a line, or too long"));
    }
    serde_json::from_slice(&line).map_err(|error| unfit(&format!("cannot be read: {error}")))
}

/// Prints an answer.
pub(super) fn print(answer: &FleetAnswer) -> Result<(), CommandFailure> {
    let line = line_of(answer)?;
    let mut output = io::stdout().lock();
    let written = output.write_all(&line).and_then(|()| output.flush());
    written.map_err(|error| CommandFailure(format!("stdout: {error}; help: run the command again")))
}

fn line_of(answer: &FleetAnswer) -> Result<Vec<u8>, CommandFailure> {
    let unfit = |what: &str| CommandFailure(format!("answer: {what}; help: report this as a bug"));
    let mut line = serde_json::to_vec(answer).map_err(|error| unfit(&error.to_string()))?;
    line.push(b'\n');
    if line.len() > FLEET_ANSWER_BYTES_MAX {
        return Err(unfit("larger than 8 MiB"));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_bounded_line() {
        let read = |text: &[u8]| read_command(&mut &text[..]);
        let good = br#"{"database":"postgres:///x","act":"status"}"#;
        let command = read(&[good.as_slice(), b"\nmore"].concat()).unwrap();
        assert_eq!(command.database, "postgres:///x");
        for text in [good.as_slice(), b"", b"\n", b"{}\n", b"{\"act\":\"status\",\"x\":1}\n"] {
            let answer = read(text).unwrap_err().into_answer();
            let FleetAnswer::Failed { message } = answer else { panic!() };
            assert!(message.contains("; help: "), "{message}");
        }
        let long = vec![b' '; FLEET_COMMAND_BYTES_MAX + 1];
        assert!(read(&long).is_err());
    }

    #[test]
    fn an_answer_is_one_bounded_line() {
        assert_eq!(line_of(&FleetAnswer::TimedOut).unwrap(), b"\"timed_out\"\n");
        let requests = vec!["\n".repeat(1000); 8000];
        assert!(line_of(&FleetAnswer::Lost { requests, released: 0 }).is_err());
        let requests = vec!["a\nb".to_owned()];
        let line = line_of(&FleetAnswer::Lost { requests, released: 0 }).unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    }
}
