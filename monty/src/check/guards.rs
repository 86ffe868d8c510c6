//! The code around a construct that expects it to be missing: handlers of exceptions, and
//! conditions about the interpreter.

use monty_types::ExcType;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtIf, StmtWith};

use super::names::{FileNames, NameBinding};

/// Names and attributes by which code asks for the interpreter or for a feature of it.
const FEATURES: [&str; 8] = [
    "TYPE_CHECKING",
    "__debug__",
    "hasattr",
    "hexversion",
    "implementation",
    "platform",
    "version",
    "version_info",
];

/// Returns the exceptions that these handlers catch. An unclear handler catches all.
pub(super) fn caught_by(handlers: &[ExceptHandler], names: &FileNames<'_>) -> Vec<ExcType> {
    let mut caught = Vec::new();
    for ExceptHandler::ExceptHandler(handler) in handlers {
        match handler.type_.as_deref() {
            Some(kind) => add_caught(kind, names, &mut caught),
            None => caught.push(ExcType::BaseException),
        }
    }
    caught
}

fn add_caught(kind: &Expr, names: &FileNames<'_>, caught: &mut Vec<ExcType>) {
    match kind {
        Expr::Tuple(tuple) => {
            for kind in &tuple.elts {
                add_caught(kind, names, caught);
            }
        }
        // Monty may lack the exception; then it never raises it.
        Expr::Name(name) if names.is_builtin(name.id.as_str()) => {
            caught.extend(name.id.as_str().parse::<ExcType>());
        }
        // No module has a base class of the built-in exceptions.
        Expr::Attribute(attribute) if is_imported(&attribute.value, names) => {}
        kind if is_imported(kind, names) => {}
        _ => caught.push(ExcType::BaseException),
    }
}

fn is_imported(expr: &Expr, names: &FileNames<'_>) -> bool {
    let Expr::Name(name) = expr else { return false };
    matches!(names.binding(name.id.as_str()), Some(NameBinding::Import(_)))
}

/// Returns true for an `if` whose branches depend on the interpreter, or that never runs.
pub(super) fn is_feature_branch(branch: &StmtIf) -> bool {
    let others = branch.elif_else_clauses.iter().filter_map(|clause| clause.test.as_ref());
    std::iter::once(&*branch.test).chain(others).any(is_feature_test)
}

/// Returns true for an expression of which some parts may not be evaluated, because of the
/// interpreter.
pub(super) fn is_feature_choice(expr: &Expr) -> bool {
    match expr {
        Expr::BoolOp(operation) => operation.values.iter().any(names_a_feature),
        Expr::If(choice) => is_feature_test(&choice.test),
        _ => false,
    }
}

/// Returns true for a condition about the interpreter, or a constant.
fn is_feature_test(test: &Expr) -> bool {
    test.is_literal_expr() || names_a_feature(test)
}

fn names_a_feature(expr: &Expr) -> bool {
    let mut search = FeatureSearch { found: false };
    search.visit_expr(expr);
    search.found
}

struct FeatureSearch {
    found: bool,
}

impl<'a> Visitor<'a> for FeatureSearch {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.found |= match expr {
            Expr::Name(name) => FEATURES.contains(&name.id.as_str()),
            Expr::Attribute(attribute) => FEATURES.contains(&attribute.attr.as_str()),
            _ => false,
        };
        visitor::walk_expr(self, expr);
    }
}

/// Returns true for a `with` that only opens files. Another one may catch every exception.
pub(super) fn opens_files(with: &StmtWith, names: &FileNames<'_>) -> bool {
    with.items.iter().all(|item| {
        let is_method = match &item.context_expr {
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Attribute(method) if method.attr.as_str() == "open")
            }
            _ => false,
        };
        is_method || names.is_file(&item.context_expr)
    })
}

/// Returns true if the program calls the function, as far as names show.
pub(super) fn is_called(function: &Stmt, names: &FileNames<'_>) -> bool {
    let Stmt::FunctionDef(function) = function else { return true };
    let name = function.name.as_str();
    name.starts_with("__") || names.is_used(name)
}
