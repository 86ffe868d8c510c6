//! The database of a fleet, reached through `toolexec-fleet command`: the program is started for
//! each act. This program links no database and opens no connection to one.

use std::path::PathBuf;

use fleet::commands::{
    CommandError, FleetAct, FleetAnswer, FleetCommand, FleetProgram, FleetRequest,
};

use crate::failure::Failure;

const PROGRAM: &str = "toolexec-fleet";

/// The way to the database of a fleet.
pub(crate) struct FleetClient {
    program: PathBuf,
    database: String,
    password_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
    store: Option<String>,
}

impl FleetClient {
    /// Finds the program. The database is at this address.
    pub(crate) fn new(database: &str) -> Result<Self, Failure> {
        let program = daemon::find_program(PROGRAM)?;
        let database = database.to_owned();
        Ok(Self { program, database, password_file: None, ca_file: None, store: None })
    }

    /// Uses the password and the authorities in these files.
    pub(crate) fn with_access(
        self,
        password_file: Option<PathBuf>,
        ca_file: Option<PathBuf>,
    ) -> Self {
        Self { password_file, ca_file, ..self }
    }

    /// Moves files through this store.
    pub(crate) fn with_store(self, store: Option<String>) -> Self {
        Self { store, ..self }
    }

    /// Does an act, and passes on each answer as it arrives.
    pub(crate) fn each(
        &self,
        act: FleetAct,
        mut take: impl FnMut(FleetAnswer) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let command = FleetCommand {
            database: self.database.clone(),
            password_file: self.password_file.clone(),
            ca_file: self.ca_file.clone(),
            store: self.store.clone(),
            act,
        };
        let mut program = FleetProgram::start(&self.program, &command).map_err(failure)?;
        while let Some(answer) = program.next_answer().map_err(failure)? {
            take(answer)?;
        }
        Ok(())
    }

    /// Does an act that has exactly one answer.
    pub(crate) fn one(&self, act: FleetAct) -> Result<FleetAnswer, Failure> {
        let mut answers = Vec::new();
        self.each(act, |answer| {
            answers.push(answer);
            Ok(())
        })?;
        match (answers.pop(), answers.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => Err(self.unexpected()),
        }
    }

    /// Does an act that is answered by requests only.
    pub(crate) fn requests(&self, act: FleetAct) -> Result<Vec<FleetRequest>, Failure> {
        let mut requests = Vec::new();
        self.each(act, |answer| match answer {
            FleetAnswer::Request(request) => {
                requests.push(request);
                Ok(())
            }
            _ => Err(self.unexpected()),
        })?;
        Ok(requests)
    }

    /// The answer is not one to this act.
    pub(crate) fn unexpected(&self) -> Failure {
        Failure::Message(format!(
            "{}: answered another question; help: check that it has the version of toolexec",
            self.program.display()
        ))
    }
}

fn failure(error: CommandError) -> Failure {
    Failure::Message(error.to_string())
}
