//! Cursor in the text of a script.

use super::script::Refusal;

/// Reads a text sequentially.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { rest: text, line: 1 }
    }

    /// Returns the line, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Returns the remaining text.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn advance(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Consumes the characters that `belongs` accepts.
    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        self.advance(end)
    }

    /// Consumes `text` if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let here = self.rest.starts_with(text);
        if here {
            self.advance(text.len());
        }
        here
    }

    /// Consumes everything up to and including `end`, and returns the text before it; `None` if `end` does
    /// not occur.
    pub(super) fn take_until(&mut self, end: &str) -> Option<&'t str> {
        let at = self.rest.find(end)?;
        let taken = self.advance(at);
        self.advance(end.len());
        Some(taken)
    }

    /// Skips white space.
    pub(super) fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Skips white space within the line.
    pub(super) fn skip_blanks(&mut self) {
        self.take_while(|c| c == ' ' || c == '\t');
    }

    pub(super) fn refuse(&self, reason: impl Into<String>) -> Refusal {
        Refusal::new(self.line, reason)
    }

    /// Describes the next text, for a message.
    pub(super) fn found(&self) -> String {
        let line = self.rest.lines().next().unwrap_or_default().trim_end();
        let shown: String = line.chars().take(40).collect();
        if shown.is_empty() { "the end of the line".to_owned() } else { format!("`{shown}`") }
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), Refusal> {
        if self.take(text) {
            Ok(())
        } else {
            Err(self.refuse(format!("expected `{text}`, found {}", self.found())))
        }
    }

    /// Reads an integer of 32 bits, the maximum size of fields in TCP's header.
    pub(super) fn number(&mut self, what: &str) -> Result<u64, Refusal> {
        let found = self.found();
        let digits = self.take_while(|c| c.is_ascii_digit());
        let wrong = || self.refuse(format!("expected {what}, found {found}"));
        digits.parse().map(u32::into).map_err(|_| wrong())
    }
}
