//! The questions about the constructs of a program. Each is about one construct that monty may not
//! have; a construct that depends on values of the program has none.

use monty_types::ExcType;
use ruff_python_ast::{
    Alias, CmpOp, Expr, ExprAttribute, ExprCall, ExprCompare, ExprContext, Operator, StmtImportFrom,
};
use ruff_python_stdlib::builtins::is_exception;

use super::closed::ClosedExpression;
use super::model::ProbeQuestion;
use super::names::{FileNames, NameBinding, PYTHON_MINOR, from_import_text, import_text};

/// A missing module or name, or one that needs a clock or an environment.
const IMPORT: &[ExcType] = &[ExcType::ImportError, ExcType::RuntimeError];
/// A missing attribute, the missing name before it, or one that needs a clock or an environment.
const ATTRIBUTE: &[ExcType] = &[ExcType::AttributeError, ExcType::NameError, ExcType::RuntimeError];
const NAME: &[ExcType] = &[ExcType::NameError];
const OPERATION: &[ExcType] = &[ExcType::TypeError];
const ARGUMENT: &[ExcType] = &[ExcType::TypeError, ExcType::ValueError];
/// A missing method, or the missing name before it.
const METHOD: &[ExcType] = &[ExcType::AttributeError, ExcType::NameError];
/// A clock or an environment, or arguments that an exception cannot have.
const CALL: &[ExcType] = &[ExcType::RuntimeError];

/// Built-in functions that read all of their first argument.
const ITERATING: [&str; 12] = [
    "all",
    "any",
    "enumerate",
    "frozenset",
    "iter",
    "list",
    "max",
    "min",
    "set",
    "sorted",
    "sum",
    "tuple",
];

/// Asks about the constructs of one file.
pub(super) struct ConstructQuestions<'a> {
    pub(super) text: &'a str,
    pub(super) names: &'a FileNames<'a>,
}

impl ConstructQuestions<'_> {
    pub(super) fn import(alias: &Alias) -> ProbeQuestion {
        ProbeQuestion::of(import_text(alias), IMPORT)
    }

    pub(super) fn import_from(import: &StmtImportFrom, alias: &Alias) -> Option<ProbeQuestion> {
        from_import_text(import, alias).map(|code| ProbeQuestion::of(code, IMPORT))
    }

    /// Asks about an expression, without its parts.
    pub(super) fn expression(&self, expr: &Expr) -> Vec<ProbeQuestion> {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                let name = name.id.as_str();
                let builtin = self.names.is_builtin(name).then_some(name);
                builtin.map(|name| ProbeQuestion::of(name, NAME)).into_iter().collect()
            }
            Expr::Attribute(attribute) if attribute.ctx == ExprContext::Load => {
                self.attribute(expr).into_iter().collect()
            }
            Expr::Call(call) => self.call(expr, call),
            Expr::BinOp(operation) if operation.op == Operator::Mod => {
                let format = match &*operation.left {
                    Expr::StringLiteral(_) | Expr::FString(_) => "'' % ()",
                    Expr::BytesLiteral(_) => "b'' % ()",
                    _ => return Vec::new(),
                };
                vec![ProbeQuestion::of(format, OPERATION)]
            }
            Expr::Compare(comparison) => self.comparison(comparison),
            _ => Vec::new(),
        }
    }

    /// Asks about the iteration over a value.
    pub(super) fn iteration(&self, value: &Expr) -> Option<ProbeQuestion> {
        let code = "for _ in open('/in/file'): pass";
        self.names.is_file(value).then(|| ProbeQuestion::of(code, OPERATION))
    }

    /// Asks about the attribute of a known value, such as a module. Monty has most methods only
    /// for calls, and not as values.
    fn attribute(&self, expr: &Expr) -> Option<ProbeQuestion> {
        let ClosedExpression { imports, code } = self.closed(expr)?;
        Some(ProbeQuestion { imports, code, kinds: ATTRIBUTE })
    }

    /// Asks about the method that a call names. If its arguments are unknown, the probe passes none:
    /// a method that exists then raises another error.
    fn method(
        &self,
        expr: &Expr,
        call: &ExprCall,
        method: &ExprAttribute,
    ) -> Option<ProbeQuestion> {
        if let Some(ClosedExpression { imports, code }) = self.closed(expr) {
            let needs_loop = imports.iter().any(|import| import.contains("asyncio"));
            let kinds = if needs_loop { METHOD } else { ATTRIBUTE };
            return Some(ProbeQuestion { imports, code, kinds });
        }
        if let Some(ClosedExpression { imports, code }) = self.closed(&call.func) {
            return Some(ProbeQuestion { imports, code: format!("{code}()"), kinds: METHOD });
        }
        // The value of an f-string is not known, but its type is.
        let code = format!("''.{}()", method.attr.as_str());
        method.value.is_f_string_expr().then(|| ProbeQuestion::of(code, METHOD))
    }

    fn closed(&self, expr: &Expr) -> Option<ClosedExpression> {
        ClosedExpression::of(expr, self.text, self.names)
    }

    fn call(&self, expr: &Expr, call: &ExprCall) -> Vec<ProbeQuestion> {
        let first = call.arguments.find_positional(0);
        let mut questions: Vec<ProbeQuestion> = match self.builtin_function(call) {
            Some("open") => self.open(call).into_iter().collect(),
            Some("print") => self.print(call).into_iter().collect(),
            Some(name) if ITERATING.contains(&name) => {
                first.and_then(|first| self.iteration(first)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        questions.extend(self.replacement(call));
        questions.extend(match &*call.func {
            Expr::Attribute(method) => self.method(expr, call, method),
            _ => self.refused_call(expr, call),
        });
        questions
    }

    /// Returns the name of the built-in function that a call names.
    fn builtin_function<'e>(&self, call: &'e ExprCall) -> Option<&'e str> {
        let Expr::Name(name) = &*call.func else { return None };
        Some(name.id.as_str()).filter(|name| self.names.is_builtin(name))
    }

    /// Asks about the mode and the options of `open`, as far as they are known.
    fn open(&self, call: &ExprCall) -> Option<ProbeQuestion> {
        let mut question = ProbeQuestion::of("open('/in/file'", ARGUMENT);
        if let Some(mode) = call.arguments.find_positional(1).and_then(|mode| self.closed(mode)) {
            question.imports.extend(mode.imports);
            question.code.push_str(&format!(", {}", mode.code));
        }
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref()?.as_str();
            if let Some(value) = self.closed(&keyword.value).filter(|_| name != "file") {
                question.imports.extend(value.imports);
                question.code.push_str(&format!(", {name}={}", value.code));
            }
        }
        question.code.push(')');
        Some(question)
    }

    /// Asks about `print(..., file=...)` with a known file.
    fn print(&self, call: &ExprCall) -> Option<ProbeQuestion> {
        let file = &call.arguments.find_keyword("file")?.value;
        if self.names.is_file(file) {
            let code = "print(end='', file=open('/in/file'))";
            return Some(ProbeQuestion::of(code, OPERATION));
        }
        let ClosedExpression { imports, code } = self.closed(file)?;
        let code = format!("print(end='', file={code})");
        Some(ProbeQuestion { imports, code, kinds: OPERATION })
    }

    /// Asks about `re.sub` with a function as replacement.
    fn replacement(&self, call: &ExprCall) -> Option<ProbeQuestion> {
        let is_function = match call.arguments.find_positional(1)? {
            Expr::Lambda(_) => true,
            Expr::Name(name) => {
                self.names.binding(name.id.as_str()) == Some(&NameBinding::Function)
            }
            _ => false,
        };
        let ClosedExpression { imports, code } = self.closed(&call.func).filter(|_| is_function)?;
        let of_re = |import: &String| {
            ["import re", "from re import sub"].contains(&import.as_str())
                || import.starts_with("import re as ")
        };
        let is_sub = code == "sub" || code.ends_with(".sub");
        if !is_sub || imports.len() != 1 || !imports.iter().all(of_re) {
            return None;
        }
        let code = format!("{code}('a', lambda match: 'b', 'a')");
        Some(ProbeQuestion { imports, code, kinds: OPERATION })
    }

    /// Asks about a call of an imported function or of an exception with known arguments.
    fn refused_call(&self, expr: &Expr, call: &ExprCall) -> Option<ProbeQuestion> {
        let raises = self.builtin_function(call).is_some_and(|it| is_exception(it, PYTHON_MINOR));
        let ClosedExpression { imports, code } = self.closed(expr)?;
        // The functions of asyncio need a running loop, which no question has.
        let needs_loop = imports.iter().any(|import| import.contains("asyncio"));
        let is_imported = !imports.is_empty() && !needs_loop;
        (raises || is_imported).then_some(ProbeQuestion { imports, code, kinds: CALL })
    }

    /// Asks about `<`, `<=`, `>` and `>=` between two sets.
    fn comparison(&self, comparison: &ExprCompare) -> Vec<ProbeQuestion> {
        let (mut left, mut questions) = (&*comparison.left, Vec::new());
        for (operator, right) in comparison.ops.iter().zip(&comparison.comparators) {
            let is_order = matches!(operator, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE);
            if is_order && self.is_set(left) && self.is_set(right) {
                let code = format!("set() {} set()", operator.as_str());
                questions.push(ProbeQuestion::of(code, OPERATION));
            }
            left = right;
        }
        questions
    }

    fn is_set(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Set(_) | Expr::SetComp(_) => true,
            Expr::Call(call) => matches!(self.builtin_function(call), Some("set" | "frozenset")),
            _ => false,
        }
    }
}
