//! The names of a file, and the one meaning of each. Scopes are not distinguished: a name with two
//! meanings in a file has none here, so that no question is asked about it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, ExceptHandler, Expr, ExprContext, Parameter, Stmt, StmtAssign, StmtImportFrom, WithItem,
};
use ruff_python_stdlib::builtins::{is_python_builtin, python_magic_globals};

/// The minor version of Python whose built-in names a program expects.
pub(super) const PYTHON_MINOR: u8 = 14;

/// Monty refuses code that is nested more deeply.
const NESTING_MAX: u16 = 200;

/// The meaning of a name in the whole file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NameBinding {
    /// One import, with this text.
    Import(String),
    /// A `def` without decorators.
    Function,
    /// A file that `open` opened.
    File,
    /// Something else, or several of these.
    Other,
}

/// The names of a file.
pub(super) struct FileNames<'a> {
    bindings: HashMap<&'a str, NameBinding>,
    /// Names and attributes that are read.
    used: HashSet<&'a str>,
    depth: u16,
    is_too_deep: bool,
}

impl<'a> FileNames<'a> {
    /// Reads a file that runs with these variables. `None` if its nesting is too deep.
    pub(super) fn of(body: &'a [Stmt], variables: &'a [String]) -> Option<Self> {
        let mut names =
            Self { bindings: HashMap::new(), used: HashSet::new(), depth: 0, is_too_deep: false };
        for variable in variables {
            names.bind(variable, NameBinding::Other);
        }
        names.visit_body(body);
        (!names.is_too_deep).then_some(names)
    }

    /// Returns the meaning of a name that the file binds.
    pub(super) fn binding(&self, name: &str) -> Option<&NameBinding> {
        self.bindings.get(name)
    }

    /// Returns true for a built-in name of Python that the file does not bind.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        let is_known = || {
            is_python_builtin(name, PYTHON_MINOR, false)
                || python_magic_globals(PYTHON_MINOR).any(|global| global == name)
        };
        self.binding(name).is_none() && is_known()
    }

    /// Returns true if the file reads a variable or an attribute of this name.
    pub(super) fn is_used(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// Returns true for a file that `open` opened.
    pub(super) fn is_file(&self, expr: &Expr) -> bool {
        let is_file = match expr {
            Expr::Name(name) => self.binding(name.id.as_str()) == Some(&NameBinding::File),
            expr => is_open_call(expr),
        };
        is_file && self.is_builtin("open")
    }

    fn bind(&mut self, name: &'a str, binding: NameBinding) {
        match self.bindings.entry(name) {
            Entry::Occupied(mut known) => {
                if *known.get() != binding {
                    *known.get_mut() = NameBinding::Other;
                }
            }
            Entry::Vacant(place) => {
                place.insert(binding);
            }
        }
    }

    fn nested(&mut self, visit: impl FnOnce(&mut Self)) {
        if self.depth == NESTING_MAX {
            self.is_too_deep = true;
            return;
        }
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) if function.decorator_list.is_empty() => {
                self.bind(function.name.as_str(), NameBinding::Function);
            }
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str(), NameBinding::Other);
                // A decorator may keep the function.
                self.used.insert(function.name.as_str());
            }
            Stmt::ClassDef(class) => self.bind(class.name.as_str(), NameBinding::Other),
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.bind(name_of(alias), NameBinding::Import(import_text(alias)));
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Assign(assign) if is_open_call(&assign.value) => return self.files(assign),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn import_from(&mut self, import: &'a StmtImportFrom) {
        for alias in &import.names {
            let text = from_import_text(import, alias);
            self.bind(name_of(alias), text.map_or(NameBinding::Other, NameBinding::Import));
        }
    }

    fn files(&mut self, assign: &'a StmtAssign) {
        self.visit_expr(&assign.value);
        for target in &assign.targets {
            self.file(target);
        }
    }

    fn file(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => self.bind(name.id.as_str(), NameBinding::File),
            target => self.visit_expr(target),
        }
    }

    fn expression(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.used.insert(name.id.as_str());
            }
            Expr::Name(name) => self.bind(name.id.as_str(), NameBinding::Other),
            Expr::Attribute(attribute) => {
                self.used.insert(attribute.attr.as_str());
                // The file changes the object, for example a module.
                if attribute.ctx != ExprContext::Load
                    && let Expr::Name(root) = &*attribute.value
                {
                    self.bind(root.id.as_str(), NameBinding::Other);
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

impl<'a> Visitor<'a> for FileNames<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.nested(|names| names.statement(stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.nested(|names| names.expression(expr));
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bind(parameter.name.as_str(), NameBinding::Other);
        visitor::walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(caught) = handler;
        if let Some(name) = &caught.name {
            self.bind(name.as_str(), NameBinding::Other);
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_with_item(&mut self, item: &'a WithItem) {
        self.visit_expr(&item.context_expr);
        match item.optional_vars.as_deref() {
            Some(target) if is_open_call(&item.context_expr) => self.file(target),
            Some(target) => self.visit_expr(target),
            None => {}
        }
    }
}

/// Returns the statement that imports only this module.
pub(super) fn import_text(alias: &Alias) -> String {
    format!("import {}{}", alias.name.as_str(), as_name(alias))
}

/// Returns the statement that imports only this name; `None` for a relative import.
pub(super) fn from_import_text(import: &StmtImportFrom, alias: &Alias) -> Option<String> {
    let module = import.module.as_ref().filter(|_| import.level == 0)?.as_str();
    Some(format!("from {module} import {}{}", alias.name.as_str(), as_name(alias)))
}

fn as_name(alias: &Alias) -> String {
    alias.asname.as_ref().map_or_else(String::new, |name| format!(" as {}", name.as_str()))
}

/// Returns the name that an import binds.
fn name_of(alias: &Alias) -> &str {
    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
    name.split('.').next().unwrap_or(name)
}

fn is_open_call(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "open")
}
