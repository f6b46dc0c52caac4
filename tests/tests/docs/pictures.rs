//! Terminal pictures of the documents, generated from the program's output.
//!
//! Outside CI a stale picture is regenerated, and the test fails once.

use std::fmt::Write as _;
use std::fs;

use skills_testkit::Screen;
use vt100::{Cell, Color};

use crate::follow::{home, shell};
use crate::top;

/// Pictures: name, command, and size of the terminal.
const PICTURES: &[(&str, &str, u16, u16)] = &[
    ("list", "skillsd list --all", 28, 100),
    ("explain", "skillsd explain changelog", 21, 100),
    ("profiles", "skillsd list --profile all", 21, 116),
    ("check", "skillsd check .agents/skills/api-changes .claude/skills/changelog", 22, 112),
];

const WHERE: &str = "cd tests/samples/worktree";
const CELL: (f32, f32) = (8.4, 18.0);
const MARGIN: f32 = 14.0;

/// The eight colours of a dark terminal theme.
const COLORS: [&str; 8] =
    ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"];
const TEXT: &str = "#e6edf3";
const GROUND: &str = "#0d1117";

/// Renders a screen as SVG.
fn svg(screen: &vt100::Screen, title: &str) -> String {
    let (rows, columns) = size(screen);
    let width = f32::from(columns).mul_add(CELL.0, 2.0 * MARGIN);
    let last = (0..rows).rev().find(|row| !row_text(screen, *row).trim().is_empty()).unwrap_or(0);
    let height = f32::from(last + 1).mul_add(CELL.1, 2.0 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" xml:space=\"preserve\" fill=\"{TEXT}\">\n",
        escaped(title),
    );
    for row in 0..=last {
        push_row(screen, row, &mut text);
    }
    text.push_str("</g>\n</svg>\n");
    text
}

// Each run of equally styled cells is a text element, so that columns stay aligned in any font.
fn push_row(screen: &vt100::Screen, row: u16, text: &mut String) {
    let (_, columns) = size(screen);
    let y = MARGIN + f32::from(row).mul_add(CELL.1, 13.0);
    let mut column = 0;
    while column < columns {
        let Some(cell) = screen.cell(row, column) else { break };
        let (start, look) = (column, look(cell));
        let mut run = String::new();
        while let Some(cell) = screen.cell(row, column).filter(|it| self::look(it) == look) {
            run.push_str(if cell.has_contents() { cell.contents() } else { " " });
            column += if cell.is_wide() { 2 } else { 1 };
        }
        // Not every SVG viewer keeps leading and trailing spaces.
        let shown = run.trim();
        if !shown.is_empty() {
            let n_blanks = u16::try_from(run.len() - run.trim_start().len()).unwrap();
            let x = f32::from(start + n_blanks).mul_add(CELL.0, MARGIN);
            let n_columns = u16::try_from(shown.chars().count()).unwrap();
            let length = f32::from(n_columns) * CELL.0;
            let _ = writeln!(
                text,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"{look}>{}</text>",
                escaped(shown)
            );
        }
    }
}

fn look(cell: &Cell) -> String {
    let mut look = String::new();
    if let Color::Idx(color @ 0..16) = cell.fgcolor() {
        let _ = write!(look, " fill=\"{}\"", COLORS[usize::from(color % 8)]);
    }
    if cell.bold() {
        look.push_str(" font-weight=\"bold\"");
    }
    if cell.dim() {
        look.push_str(" opacity=\"0.6\"");
    }
    look
}

fn row_text(screen: &vt100::Screen, row: u16) -> String {
    let (_, columns) = size(screen);
    (0..columns).filter_map(|column| screen.cell(row, column)).map(Cell::contents).collect()
}

fn size(screen: &vt100::Screen) -> (u16, u16) {
    let (rows, columns) = screen.size();
    (rows.get(), columns.get())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[test]
fn terminal_pictures_match_the_program() {
    let home = home();
    let dir = top().join("docs/pictures");
    let mut stale = Vec::new();
    for (name, command, rows, columns) in PICTURES {
        let mut shell = shell(&home);
        // Shows the typed command too.
        let script = format!("{WHERE}; printf '\\033[1m$\\033[0m {command}\\n'; {command}");
        shell.args(["-c", &script]).env("FORCE_HYPERLINK", "0");
        let mut screen = Screen::start(&shell, *rows, *columns);
        screen.wait();
        let picture = screen.look(|it| svg(it, command));
        let path = dir.join(format!("{name}.svg"));
        if fs::read_to_string(&path).unwrap_or_default() != picture {
            stale.push(*name);
            if std::env::var_os("CI").is_none() {
                fs::create_dir_all(&dir).unwrap();
                fs::write(&path, picture).unwrap();
            }
        }
    }
    assert!(stale.is_empty(), "these pictures were stale, and are made anew outside CI: {stale:?}");
}
