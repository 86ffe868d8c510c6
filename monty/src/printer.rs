//! Passes on what the code prints, as it prints it. An error of the output ends printing and is
//! reported after the run, even if the code catches its exception.

use std::borrow::Cow;
use std::io::{self, Write};

use monty_types::{ExcType, MontyException, PrintWriterCallback};

use crate::failure::MontyFailure;

/// Writes the output of the code.
pub(crate) struct OutputPrinter<W> {
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> OutputPrinter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, failed: None }
    }

    /// Writes the rest, and reports an output that is not complete.
    pub(crate) fn finish(mut self) -> Result<(), MontyFailure> {
        let written = self.failed.take().map_or_else(|| self.out.flush(), Err);
        written.map_err(|error| {
            let help = "the output is not complete; run the code again";
            MontyFailure::Internal(format!("standard output: {error}; help: {help}"))
        })
    }

    fn write(
        &mut self,
        perform: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> Result<(), MontyException> {
        if self.failed.is_none() {
            self.failed = perform(&mut self.out).err();
        }
        match &self.failed {
            None => Ok(()),
            Some(error) => Err(MontyException::new(
                ExcType::OSError,
                Some(format!("standard output: {error}")),
            )),
        }
    }
}

impl<W: Write> PrintWriterCallback for OutputPrinter<W> {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.write(|out| out.write_all(output.as_bytes()))
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        let mut bytes = [0; 4];
        let bytes = end.encode_utf8(&mut bytes).as_bytes();
        self.write(|out| out.write_all(bytes))
    }

    fn poll_flush(&mut self) -> Result<(), MontyException> {
        self.write(Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failed_output_is_remembered() {
        let mut printer = OutputPrinter::new(FullDisk);
        assert!(printer.stdout_write("a".into()).is_err());
        assert!(printer.poll_flush().is_err(), "the first error stays");
        assert_eq!(printer.finish().unwrap_err().exit_status(), 3);
    }

    #[test]
    fn what_is_printed_is_passed_on() {
        let mut text = Vec::new();
        let mut printer = OutputPrinter::new(&mut text);
        printer.stdout_write("é".into()).unwrap();
        printer.stdout_push('\n').unwrap();
        printer.finish().unwrap();
        assert_eq!(text, "é\n".as_bytes());
    }
}
