//! Reads the syntax tree of a program in search of the first construct that monty refuses when it
//! gets there. Code that expects a missing construct is left out, and so is code that may never
//! run by its form: handlers of exceptions, and functions that nothing names.

use monty_types::ExcType;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, Expr, ExprCall, Stmt, StmtTry, TypeParams};
use ruff_text_size::{Ranged, TextSize};

use super::guards;
use super::model::{CodeProblem, ProbeQuestion};
use super::names::FileNames;
use super::probe::InterpreterProbe;
use super::questions::ConstructQuestions;

/// Returns the first construct of a text that monty surely refuses at run time. `None` also for a
/// text that is not Python.
pub(super) fn first_refused(text: &str, variables: &[String]) -> Option<CodeProblem> {
    let module = ruff_python_parser::parse_module(text).ok()?.into_syntax();
    let names = FileNames::of(&module.body, variables)?;
    let mut walk = ConstructWalk {
        questions: ConstructQuestions { text, names: &names },
        probe: InterpreterProbe::default(),
        caught: Vec::new(),
        found: None,
    };
    walk.visit_body(&module.body);
    let (at, message) = walk.found?;
    let (line, column) = place(text, at.to_usize());
    Some(CodeProblem { line, column, message })
}

/// Returns line and column of a byte, as monty counts them.
fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count().saturating_add(1);
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count().saturating_add(1);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (number(line), number(column))
}

struct ConstructWalk<'a> {
    questions: ConstructQuestions<'a>,
    probe: InterpreterProbe,
    /// The exceptions that the statements around catch.
    caught: Vec<ExcType>,
    /// The first construct so far, with its exception.
    found: Option<(TextSize, String)>,
}

impl<'a> ConstructWalk<'a> {
    fn ask(&mut self, at: TextSize, question: &ProbeQuestion) {
        if self.found.as_ref().is_some_and(|(found, _)| *found <= at) {
            return;
        }
        let Some(refused) = self.probe.answer(question) else { return };
        if !self.caught.iter().any(|kind| refused.kind.is_subclass_of(*kind)) {
            self.found = Some((at, refused.message));
        }
    }

    fn ask_iteration(&mut self, value: &Expr) {
        if let Some(question) = self.questions.iteration(value) {
            self.ask(value.start(), &question);
        }
    }

    fn try_statement(&mut self, statement: &'a StmtTry) {
        let around = self.caught.len();
        self.caught.extend(guards::caught_by(&statement.handlers, self.questions.names));
        self.visit_body(&statement.body);
        // It runs only if the body had everything.
        self.visit_body(&statement.orelse);
        self.caught.truncate(around);
        self.visit_body(&statement.finalbody);
    }

    /// Visits the parts of a call. Its question is about the method too.
    fn call(&mut self, call: &'a ExprCall) {
        match &*call.func {
            Expr::Attribute(method) => self.visit_expr(&method.value),
            function => self.visit_expr(function),
        }
        self.visit_arguments(&call.arguments);
    }
}

impl<'a> Visitor<'a> for ConstructWalk<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.ask(stmt.start(), &ConstructQuestions::import(alias));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    if let Some(question) = ConstructQuestions::import_from(import, alias) {
                        self.ask(stmt.start(), &question);
                    }
                }
            }
            Stmt::FunctionDef(function) if !guards::is_called(stmt, self.questions.names) => {
                // The defaults are evaluated all the same.
                self.visit_parameters(&function.parameters);
            }
            Stmt::Try(statement) => self.try_statement(statement),
            Stmt::If(branch) if guards::is_feature_branch(branch) => {}
            Stmt::With(with) if !guards::opens_files(with, self.questions.names) => {
                for item in &with.items {
                    self.visit_with_item(item);
                }
            }
            Stmt::For(statement) => {
                self.ask_iteration(&statement.iter);
                visitor::walk_stmt(self, stmt);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if guards::is_feature_choice(expr) {
            return;
        }
        for question in self.questions.expression(expr) {
            self.ask(expr.start(), &question);
        }
        match expr {
            Expr::Call(call) => self.call(call),
            expr => visitor::walk_expr(self, expr),
        }
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.ask_iteration(&comprehension.iter);
        visitor::walk_comprehension(self, comprehension);
    }

    /// Monty never evaluates annotations.
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_type_params(&mut self, _: &'a TypeParams) {}
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_place_counts_characters() {
        assert_eq!(place("é = 1\n  x", 9), (2, 3));
        assert_eq!(place("", 0), (1, 1));
    }
}
