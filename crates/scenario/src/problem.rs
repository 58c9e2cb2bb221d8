//! Problems of a scenario, and their display.

use std::fmt;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    NamedSource, SourceCode, SourceSpan, SpanContents,
};

use crate::quotes::with_quotes;
use crate::tree::{Node, Origin, Step};
use crate::warnings::{Noted, WarningKind};

/// Problem of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub message: String,
    /// Text under the caret.
    pub label: Option<String>,
    pub help: Option<String>,
    pub origin: Origin,
    /// Place in the file that uses the parameter whose value is shown.
    pub used_at: Option<Origin>,
}

impl Problem {
    pub(crate) fn new(origin: Origin, message: impl Into<String>) -> Self {
        Problem { message: message.into(), label: None, help: None, origin, used_at: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }
}

/// Problems of one tree so far.
pub(crate) struct Problems<'t> {
    pub tree: &'t Node,
    pub found: Vec<Problem>,
    /// Warnings, which do not reject the scenario.
    pub noted: Vec<Noted>,
}

/// Problem that was just reported, for adding label and help.
pub(crate) struct Found<'p>(&'p mut Problem);

impl Found<'_> {
    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        self.0.label = Some(label.into());
        self
    }

    pub(crate) fn help(self, help: impl Into<Option<String>>) -> Self {
        self.0.help = help.into();
        self
    }
}

impl<'t> Problems<'t> {
    pub(crate) fn new(tree: &'t Node) -> Self {
        Problems { tree, found: Vec::new(), noted: Vec::new() }
    }

    /// Records a warning about the value at `path`.
    pub(crate) fn warn(&mut self, kind: WarningKind, path: &[Step<'_>], message: String) {
        let origin = self.tree.deepest(path).origin;
        if !self.noted.iter().any(|one| one.kind == kind && one.origin == origin) {
            self.noted.push(Noted { kind, message, origin });
        }
    }

    /// Reports a problem with the value at `path`, or with its parent if the value is missing.
    pub(crate) fn at(&mut self, path: &[Step<'_>], message: impl Into<String>) -> Found<'_> {
        let node = self.tree.deepest(path);
        let mut problem = Problem::new(node.origin, message);
        problem.used_at = node.used_at;
        self.found.push(problem);
        let last = self.found.len() - 1;
        Found(&mut self.found[last])
    }
}

/// All problems of a scenario, displayed with file, line, caret and expectation.
#[derive(Clone, Debug)]
pub struct Diagnostic(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    file_name: String,
    text: String,
    overrides: Vec<(String, String)>,
    problems: Vec<Problem>,
    given: Given,
}

/// Source of the overrides.
#[derive(Clone, Copy, Debug)]
enum Given {
    CommandLine,
    Program,
}

impl Diagnostic {
    pub(crate) fn new(
        file_name: &str,
        text: &str,
        overrides: &[(String, String)],
        mut problems: Vec<Problem>,
    ) -> Self {
        for problem in &mut problems {
            problem.message = shortened(&visible(&problem.message));
            problem.label = problem.label.as_deref().map(visible);
            problem.help = problem.help.as_deref().map(visible);
        }
        problems.sort_by_key(|problem| match problem.origin {
            Origin::Override(index) => (0, index),
            Origin::File { start, .. } => (1, start),
        });
        // A parameter that is used in several places causes only one message.
        problems.dedup_by(|a, b| a.origin == b.origin && a.message == b.message);
        Diagnostic(Box::new(Inner {
            file_name: file_name.to_owned(),
            text: visible(text),
            overrides: overrides
                .iter()
                .map(|(key, value)| (visible(key), visible(value)))
                .collect(),
            problems,
            given: Given::CommandLine,
        }))
    }

    /// Marks the overrides as set by a program or a sweep, so that messages do not show `--set`.
    #[must_use]
    pub fn of_program(mut self) -> Self {
        self.0.given = Given::Program;
        self
    }

    /// Returns the number of problems.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.problems.len()
    }

    /// Returns one line per problem, without its place.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.0.problems.iter().map(|problem| problem.message.as_str())
    }

    /// Formats the message for a terminal, with or without colours.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        /// Maximum number of problems shown.
        const SHOWN: usize = 20;
        let theme = match colour {
            true => GraphicalTheme::unicode(),
            false => GraphicalTheme::unicode_nocolor(),
        };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_width(100).with_context_lines(1);
        let mut out = String::new();
        for problem in self.0.problems.iter().take(SHOWN) {
            if !out.is_empty() {
                out.push('\n');
            }
            let report = Report::new(&self.0, problem);
            // Writing into a string fails only if the renderer does; the plain message is the fallback.
            if handler.render_report(&mut out, &report).is_err() {
                out.push_str(&problem.message);
            }
        }
        let count = self.count();
        if count > 1 {
            out.push('\n');
        }
        if count > SHOWN {
            out.push_str(&format!("{} more problems are not shown.\n", count - SHOWN));
        }
        if count > 1 {
            out.push_str(&format!("{count} problems in {}\n", self.0.file_name));
        }
        out
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// Shortens long quoted words, so that the message fits on a screen.
fn shortened(message: &str) -> String {
    const LONGEST: usize = 500;
    match message.char_indices().nth(LONGEST) {
        None => message.to_owned(),
        Some((end, _)) => format!("{}...", &message[..end]),
    }
}

/// Replaces control characters (cursor movements, line breaks) without changing the length.
fn visible(text: &str) -> String {
    let shown = |(at, c): (usize, char)| match c {
        '\n' | '\t' => c,
        '\r' if text[at..].starts_with("\r\n") => c,
        c if c.is_ascii_control() => '?',
        c if c.is_control() => '\u{bf}',
        c => c,
    };
    text.char_indices().map(shown).collect()
}

/// Problem with the source text that it points into.
#[derive(Debug)]
struct Report<'a> {
    problem: &'a Problem,
    source: Source,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

impl<'a> Report<'a> {
    fn new(inner: &Inner, problem: &'a Problem) -> Self {
        let mut help = problem.help.clone();
        let (source, span) = match problem.origin {
            Origin::File { start, end } => {
                Source::excerpt(&inner.file_name, &inner.text, inner.span(start, end))
            }
            Origin::Override(index) => {
                let (key, value) = &inner.overrides[index];
                let (name, start) = match inner.given {
                    Given::CommandLine => ("command line", format!("--set {key}=")),
                    Given::Program => ("setting", format!("{key} = ")),
                };
                if let Some(quoted) = with_quotes(value) {
                    let meant = format!("quote strings in a list or table: '{key}={quoted}'");
                    help = Some(help.map_or(meant.clone(), |help| format!("{help}\n{meant}")));
                }
                let text = format!("{start}{value}");
                Source::excerpt(name, &text, (start.len(), value.len()))
            }
        };
        let main = LabeledSpan::new_primary_with_span(problem.label.clone(), span);
        let mut labels = vec![main];
        if let Some(Origin::File { start, end }) = problem.used_at {
            if matches!(problem.origin, Origin::File { .. }) && source.part.is_none() {
                let used = Some("used here".to_owned());
                labels.push(LabeledSpan::new_with_span(used, inner.span(start, end)));
            } else {
                let line = inner.text.get(..start).map_or(1, |t| 1 + t.matches('\n').count());
                let used = format!("used in {}, line {line}", inner.file_name);
                help = Some(help.map_or(used.clone(), |help| format!("{help}\n{used}")));
            }
        }
        Report { problem, source, labels, help }
    }
}

/// Source text, or a part of it if its line is too long for a terminal.
#[derive(Debug)]
struct Source {
    text: NamedSource<String>,
    /// Line and column of the part in the whole text, both counted from 0, if this is a part.
    part: Option<(usize, usize)>,
}

impl Source {
    /// Selects the text around a span (offset and length), because the renderer cannot count beyond column
    /// 65535.
    fn excerpt(name: &str, text: &str, (start, length): (usize, usize)) -> (Self, (usize, usize)) {
        const LONGEST: usize = 1000;
        const AROUND: usize = 50;
        let line = text[..start].rfind('\n').map_or(0, |before| before + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        if line_end - line <= LONGEST {
            return (
                Source { text: NamedSource::new(name, text.to_owned()), part: None },
                (start, length),
            );
        }
        let boundary =
            |at: usize| (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let from = boundary(start.saturating_sub(AROUND)).max(line);
        let shown = boundary(line_end.min(start + length.min(2 * AROUND))) - start;
        let to = boundary(line_end.min(start + shown + AROUND));
        let part = Some((text[..start].matches('\n').count(), start - line));
        let text = NamedSource::new(name, text[from..to].to_owned());
        (Source { text, part }, (start - from, shown))
    }
}

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = self.text.read_span(span, before, after)?;
        let Some((line, column)) = self.part else { return Ok(contents) };
        let (data, span, count) = (contents.data(), *contents.span(), contents.line_count());
        let name = self.text.name().to_owned();
        Ok(Box::new(MietteSpanContents::new_named(name, data, span, line, column, count)))
    }
}

impl Inner {
    /// Returns offset and length of the underlined text: the first line of `start..end`.
    fn span(&self, start: usize, end: usize) -> (usize, usize) {
        let written = self.text.get(start..end).unwrap_or("");
        let line = written.lines().next().unwrap_or("").trim_end();
        (start.min(self.text.len()), line.len())
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn help<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
