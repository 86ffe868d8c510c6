//! Expressions whose value does not depend on the rest of the program: literals, imported names,
//! built-in names, their attributes, and calls of these. The interpreter can evaluate such an
//! expression alone.

use std::collections::BTreeSet;
use std::ops::Range;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged;

use super::names::{FileNames, NameBinding};

/// Longer code is not evaluated.
const CODE_BYTES_MAX: usize = 4096;

/// An expression that can be evaluated alone.
pub(super) struct ClosedExpression {
    /// The imports that it needs.
    pub(super) imports: BTreeSet<String>,
    /// Its code on its own, in parentheses if it is a literal.
    pub(super) code: String,
}

impl ClosedExpression {
    /// Reads an expression of a text. `None` if it depends on the program.
    pub(super) fn of(expr: &Expr, text: &str, names: &FileNames<'_>) -> Option<Self> {
        let mut reader = ClosedReader { text, names, imports: BTreeSet::new() };
        let code = reader.expression(expr)?;
        (code.len() <= CODE_BYTES_MAX).then_some(Self { imports: reader.imports, code })
    }
}

struct ClosedReader<'r, 'a> {
    text: &'r str,
    names: &'r FileNames<'a>,
    imports: BTreeSet<String>,
}

impl ClosedReader<'_, '_> {
    fn expression(&mut self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => self.name(name.id.as_str()),
            Expr::Attribute(attribute) => {
                let value = self.expression(&attribute.value)?;
                Some(format!("{value}.{}", attribute.attr.as_str()))
            }
            Expr::Call(call) => self.call(call),
            Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_) => {
                let literal = self.text.get(Range::<usize>::from(expr.range()))?;
                Some(format!("({literal})"))
            }
            _ => None,
        }
    }

    fn name(&mut self, name: &str) -> Option<String> {
        match self.names.binding(name) {
            Some(NameBinding::Import(import)) => {
                self.imports.insert(import.clone());
                Some(name.to_owned())
            }
            None if self.names.is_builtin(name) => Some(name.to_owned()),
            _ => None,
        }
    }

    fn call(&mut self, call: &ExprCall) -> Option<String> {
        let function = self.expression(&call.func)?;
        let mut arguments = Vec::new();
        for argument in &call.arguments.args {
            arguments.push(self.expression(argument)?);
        }
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref()?.as_str();
            arguments.push(format!("{name}={}", self.expression(&keyword.value)?));
        }
        Some(format!("{function}({})", arguments.join(", ")))
    }
}
