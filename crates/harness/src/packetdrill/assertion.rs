//! Assertions of a script: a small subset of Python.
//!
//! Statements are `assert`, assignments and `print`, which is ignored. Expressions consist of integers,
//! names, comparisons and arithmetic; anything else is refused when the script is read.

use std::collections::BTreeMap;

use super::script::Refusal;

/// Names with their values.
pub(super) type Names = BTreeMap<String, i64>;

/// Statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub line: usize,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Expression, and its text.
    Assert(Expression, String),
    Assign(String, Expression),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Number(i64),
    Name(String),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `a < b <= c`
    Chain(Box<Expression>, Vec<(&'static str, Expression)>),
}

/// Reason why an assertion fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// False: its text, and the value of each name in it.
    False(String, Vec<(String, i64)>),
    /// It cannot be evaluated.
    Unknown(String),
}

impl Statement {
    /// Evaluates the statement with the endpoint's variables `info`; assignments change `own`.
    pub(super) fn run(&self, info: &Names, own: &mut Names) -> Result<(), Failure> {
        match &self.kind {
            Kind::Assert(expression, text) => {
                if expression.value(info, own)? != 0 {
                    return Ok(());
                }
                let mut names = Vec::new();
                expression.names(&mut |name| {
                    let value = own.get(name).or_else(|| info.get(name)).copied();
                    let known = names.iter().any(|(other, _)| other == name);
                    names.extend(value.filter(|_| !known).map(|value| (name.to_owned(), value)));
                });
                Err(Failure::False(text.clone(), names))
            }
            Kind::Assign(name, expression) => {
                let value = expression.value(info, own)?;
                own.insert(name.clone(), value);
                Ok(())
            }
        }
    }
}

/// Constants for assertions: values of `tcpi_ca_state` in Linux.
const CONSTANTS: [(&str, i64); 7] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("True", 1),
    ("False", 0),
];

impl Expression {
    fn value(&self, info: &Names, own: &Names) -> Result<i64, Failure> {
        let value = |expression: &Expression| expression.value(info, own);
        Ok(match self {
            Expression::Number(number) => *number,
            Expression::Name(name) => {
                let constant = CONSTANTS.iter().find(|(known, _)| known == name);
                let known = own.get(name).or_else(|| info.get(name)).copied();
                known
                    .or(constant.map(|&(_, value)| value))
                    .ok_or_else(|| Failure::Unknown(unknown(name, info)))?
            }
            Expression::Negative(of) => {
                let of = value(of)?;
                of.checked_neg().ok_or_else(|| Failure::Unknown(format!("-({of}) has no value")))?
            }
            Expression::Not(of) => i64::from(value(of)? == 0),
            Expression::Chain(first, rest) => {
                let mut left = value(first)?;
                for (operator, right) in rest {
                    let right = value(right)?;
                    if !compare(operator, left, right) {
                        return Ok(0);
                    }
                    left = right;
                }
                1
            }
            Expression::Binary("and", a, b) => {
                if value(a)? == 0 {
                    0
                } else {
                    value(b)?
                }
            }
            Expression::Binary("or", a, b) => match value(a)? {
                0 => value(b)?,
                truth => truth,
            },
            Expression::Binary(operator, a, b) => {
                let (a, b) = (value(a)?, value(b)?);
                let result = match *operator {
                    "+" => a.checked_add(b),
                    "-" => a.checked_sub(b),
                    "*" => a.checked_mul(b),
                    "//" => floor_quotient(a, b),
                    _ => floor_remainder(a, b),
                };
                result
                    .ok_or_else(|| Failure::Unknown(format!("{a} {operator} {b} has no value")))?
            }
        })
    }

    fn names(&self, found: &mut impl FnMut(&str)) {
        match self {
            Expression::Number(_) => {}
            Expression::Name(name) => found(name),
            Expression::Negative(of) | Expression::Not(of) => of.names(found),
            Expression::Binary(_, a, b) => {
                a.names(found);
                b.names(found);
            }
            Expression::Chain(first, rest) => {
                first.names(found);
                rest.iter().for_each(|(_, expression)| expression.names(found));
            }
        }
    }
}

/// Divides like Python, which rounds quotients down, not towards zero.
fn floor_quotient(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let down = a % b != 0 && (a < 0) != (b < 0);
    Some(quotient - i64::from(down))
}

/// Returns the remainder with the sign of the divisor, like Python.
fn floor_remainder(a: i64, b: i64) -> Option<i64> {
    let remainder = a.checked_rem(b)?;
    Some(if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder })
}

fn compare(operator: &str, a: i64, b: i64) -> bool {
    match operator {
        "==" => a == b,
        "!=" => a != b,
        "<=" => a <= b,
        ">=" => a >= b,
        "<" => a < b,
        _ => a > b,
    }
}

fn unknown(name: &str, info: &Names) -> String {
    match optcp_units::nearest::nearest(name, info.keys().map(String::as_str)) {
        Some(known) => format!("there is no `{name}`; did you mean `{known}`?"),
        None => format!("`{name}` is not simulated"),
    }
}

/// Parses the statements of a piece of code that begins at `line`.
pub(super) fn parse(code: &str, line: usize) -> Result<Vec<Statement>, Refusal> {
    let mut statements = Vec::new();
    for (line, text) in super::shell::joined(line, code) {
        let text = text.split('#').next().unwrap_or_default();
        for text in split(text, ';') {
            if !text.trim().is_empty() {
                statements.extend(statement(text.trim(), line)?);
            }
        }
    }
    Ok(statements)
}

/// Splits at `at`, except inside quotes or parentheses.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, _) if c == at && depth == 0 => {
                parts.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn statement(text: &str, line: usize) -> Result<Option<Statement>, Refusal> {
    if text.strip_prefix("print").is_some_and(|rest| rest.trim_start().starts_with('(')) {
        return Ok(None);
    }
    let kind = if let Some(rest) = text.strip_prefix("assert") {
        // The message of an assertion is ignored: the values are shown anyway.
        let condition = split(rest, ',')[0].trim();
        Kind::Assert(expression(condition, line)?, condition.to_owned())
    } else {
        let wrong = || Refusal::new(line, format!("`{text}` is neither assertion nor assignment"));
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let value = expression(value, line)?;
        let (name, value) = match name.trim_end().strip_suffix(['+', '-', '*']) {
            None => (name.trim(), value),
            Some(shorter) => {
                let operator = &name.trim_end()[shorter.len()..];
                let operator = ["+", "-", "*"].into_iter().find(|known| *known == operator);
                let old = Box::new(Expression::Name(shorter.trim().to_owned()));
                let operator = operator.ok_or_else(wrong)?;
                (shorter.trim(), Expression::Binary(operator, old, Box::new(value)))
            }
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(wrong());
        }
        Kind::Assign(name.to_owned(), value)
    };
    Ok(Some(Statement { line, kind }))
}

fn expression(text: &str, line: usize) -> Result<Expression, Refusal> {
    let refuse = |reason| Refusal::new(line, reason);
    if text.len() > LONGEST {
        return Err(refuse(format!("expression of more than {LONGEST} characters")));
    }
    let mut parser = Parser { rest: text.trim() };
    match parser.or() {
        Some(expression) if parser.rest.is_empty() => Ok(expression),
        _ => {
            let text = text.trim();
            Err(refuse(format!("`{text}` is not an expression of whole numbers and names")))
        }
    }
}

/// Maximum length: each character may open a parenthesis, and each level uses stack.
const LONGEST: usize = 1000;

/// Recursive-descent parser with one method per precedence level of Python. `None` is a syntax error.
struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }

    /// Consumes the first of `operators` that comes next.
    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let found = operators.iter().find(|&&operator| self.rest.starts_with(operator))?;
        self.skip(found.len());
        Some(found)
    }

    /// Consumes a word if it comes next.
    fn word(&mut self, word: &str) -> bool {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let found = &self.rest[..end.unwrap_or(self.rest.len())] == word;
        if found {
            self.skip(word.len());
        }
        found
    }

    fn or(&mut self) -> Option<Expression> {
        let mut left = self.and()?;
        while self.word("or") {
            left = Expression::Binary("or", Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Expression> {
        let mut left = self.not()?;
        while self.word("and") {
            left = Expression::Binary("and", Box::new(left), Box::new(self.not()?));
        }
        Some(left)
    }

    fn not(&mut self) -> Option<Expression> {
        if self.word("not") {
            return Some(Expression::Not(Box::new(self.not()?)));
        }
        let first = self.sum()?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(&["==", "!=", "<=", ">=", "<", ">"]) {
            rest.push((operator, self.sum()?));
        }
        Some(if rest.is_empty() { first } else { Expression::Chain(Box::new(first), rest) })
    }

    fn sum(&mut self) -> Option<Expression> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&["+", "-"]) {
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
        Some(left)
    }

    fn product(&mut self) -> Option<Expression> {
        let mut left = self.atom()?;
        while let Some(operator) = self.operator(&["//", "*", "%"]) {
            left = Expression::Binary(operator, Box::new(left), Box::new(self.atom()?));
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<Expression> {
        if self.operator(&["-"]).is_some() {
            return Some(Expression::Negative(Box::new(self.atom()?)));
        }
        if self.operator(&["("]).is_some() {
            let inner = self.or()?;
            return self.operator(&[")"]).map(|_| inner);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let word: &'t str = &self.rest[..end.unwrap_or(self.rest.len())];
        let first = word.chars().next()?;
        let expression = match word.strip_prefix("0x") {
            Some(digits) => Expression::Number(i64::from_str_radix(digits, 16).ok()?),
            None if first.is_ascii_digit() => Expression::Number(word.parse().ok()?),
            None if ["and", "or", "not"].contains(&word) => return None,
            None => Expression::Name(word.to_owned()),
        };
        self.skip(word.len());
        Some(expression)
    }
}
