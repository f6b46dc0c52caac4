//! How the time that is spent on a text grows with it, over texts made to hurt.
//!
//! Each text is asked all that editors and the linter ask, at 16 KiB and at eight times as much.
//! What grows as the text does takes eight times as long, or less where a bound is met; printed is
//! what takes more than twelve times, and of each question the text that it takes longest over.
//!
//! `cargo bench -p skills-ide --bench growth -- links check` looks at the texts and questions
//! whose names hold one of the words.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use skills_agents::references::{LinkBases, links, path_references, references};
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_ide::mention::name_at;
use skills_ide::moves::{Move, Moves};
use skills_ide::{
    FileKind, complete, complete_paths, format, hints, hover, lenses, refactorings, selection,
    tokens,
};
use skills_lint::{
    Finding, FsContext, Neighbour, Settings, SkillSet, Subject, check, check_to_mend, settle,
};
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{LineIndex, Span};

#[path = "../src/tests/pathological/texts.rs"]
mod texts;

/// How long the shorter texts are; a frontmatter is read up to sixteen times as much.
const SHORT: usize = 16 << 10;

/// How many times as long the longer ones are.
const TIMES: usize = 8;

/// From which ratio on a pair is printed: a machine that does other things as well is uneven.
const TOLERATED: f64 = 12.0;

/// How long each is asked, again and again, but not more often than so.
const LONG: Duration = Duration::from_millis(20);
const MOST_ASKED: u32 = 40;

/// What takes less than this is not compared.
const LEAST: Duration = Duration::from_millis(4);

/// A directory with a file and a skill beside it.
struct Bare {
    files: Vec<String>,
    company: SkillSet,
}

impl FsContext for Bare {
    fn files(&self) -> Option<&[String]> {
        Some(&self.files)
    }

    fn company(&self) -> &SkillSet {
        &self.company
    }
}

fn path(text: &str) -> AbsPath {
    AbsPath::new(Path::new(text)).expect("it is absolute")
}

/// A text with all that the questions need, which is not timed.
struct Asked {
    text: String,
    document: Document,
    record: SkillRecord,
    path: AbsPath,
    bare: Bare,
    places: [usize; 3],
}

impl Asked {
    fn new(text: String) -> Self {
        let document = parse(&text);
        let record = record(&text, &document);
        let beside =
            Neighbour { name: "skill-name".to_owned(), path: path("/w/b/SKILL.md"), file: None };
        let company = SkillSet::new(vec![beside], Vec::new());
        let bare = Bare { files: vec!["references/b.md".to_owned()], company };
        let places = [text.len() / 2, text.len() - 8, 12].map(|it| text.floor_char_boundary(it));
        Self { text, document, record, path: path("/w/a/SKILL.md"), bare, places }
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            text: &self.text,
            document: &self.document,
            record: &self.record,
            path: Some(&self.path),
        }
    }
}

fn record(text: &str, document: &Document) -> SkillRecord {
    let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
    SkillRecord::from_document(text, document, facts, DecodeFacts::default())
}

/// Returns what is to be mended in a text that fixes have come to.
fn found(asked: &Asked, text: &str) -> Vec<Finding> {
    let document = parse(text);
    let record = record(text, &document);
    let subject = Subject { text, document: &document, record: &record, path: Some(&asked.path) };
    check_to_mend(&subject, &Settings::default(), &asked.bare)
}

/// Something that is asked of a text; what is answered comes with how much it is.
type Question = (&'static str, fn(&Asked) -> usize);

const QUESTIONS: [Question; 12] = [
    ("parse", |it| parse(&it.text).diagnostics.len()),
    ("record", |it| record(&it.text, &it.document).findings.len()),
    ("check", |it| check(&it.subject(), &Settings::default(), &it.bare).len()),
    ("fix", |it| settle(&it.text, found(it, &it.text), |text| found(it, text)).n_made),
    ("complete", |it| {
        let complete = |at: &usize| {
            name_at(&it.text, &it.document, *at);
            complete_paths(&it.text, &it.document, *at, &it.bare);
            complete(&it.text, *at, FileKind::Skill(None)).map_or(0, |it| it.items.len())
        };
        it.places.iter().map(complete).sum()
    }),
    ("hover", |it| it.places.iter().filter_map(|at| hover(&it.text, *at)).count()),
    ("select", |it| it.places.iter().map(|at| selection(&it.text, &it.document, *at).len()).sum()),
    ("tokens", |it| {
        let references = references(&it.text, &it.document);
        let spans: Vec<Span> = references.iter().map(|it| it.span).collect();
        let lines = LineIndex::new(&it.text);
        let tokens = tokens(&it.text, &it.document, &spans);
        tokens.iter().map(|token| lines.utf16_column(&it.text, token.span.start) as usize).sum()
    }),
    ("links", |it| {
        let bases = LinkBases::for_file(&it.path, None, None);
        path_references(&it.text, &it.document, &bases, |_| Some("b")).len()
            + links(&it.text, &it.document).len()
    }),
    ("format", |it| format(&it.text, &it.document).len()),
    ("refactor", |it| {
        let findings = Vec::new();
        hints(&it.subject(), &it.bare).len()
            + lenses(&it.subject(), &it.bare, None, &findings).len()
            + refactorings(&it.subject(), &it.bare, it.places[0]).len()
    }),
    ("rename", |it| {
        let moves = Moves::new([Move { old: path("/w/a"), new: path("/w/c/a") }]);
        let bases = LinkBases::for_file(&it.path, None, None);
        moves.edits(&it.path, &bases, &it.text, &it.document, |_| true).len()
    }),
];

/// Returns how long this thread has been on a processor, where the system tells: other programs take
/// no part in it. It is told a few milliseconds late.
fn on_processor() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns how long an answer takes, in the middle of as many as take some time.
fn time(question: fn(&Asked) -> usize, asked: &Asked) -> Duration {
    let (start, began) = (Instant::now(), on_processor());
    let mut n_asked = 0;
    loop {
        black_box(question(black_box(asked)));
        n_asked += 1;
        let taken = on_processor().zip(began).map(|(now, began)| now.saturating_sub(began));
        let taken = taken.unwrap_or_else(|| start.elapsed());
        if taken > LONG || n_asked == MOST_ASKED {
            return taken / n_asked;
        }
    }
}

fn ratio(one: Duration, other: Duration) -> f64 {
    other.as_secs_f64() / one.as_secs_f64()
}

fn is_more(one: Duration, other: Duration) -> bool {
    other > LEAST && ratio(one, other) > TOLERATED
}

#[expect(clippy::print_stdout, reason = "a bench says what it has measured")]
fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_question = |it: &str| QUESTIONS.iter().any(|(name, _)| *name == it);
    let (questions, names): (Vec<_>, Vec<_>) = words.iter().partition(|it| is_question(it));
    let is_asked = |name: &str| questions.is_empty() || questions.iter().any(|it| *it == name);
    let is_named = |name: &str| names.is_empty() || names.iter().any(|it| name.contains(&***it));
    let mut longest = QUESTIONS.map(|(name, _)| (name, Duration::ZERO, String::new()));
    let mut n_compared = 0;
    let mut n_worse = 0;
    for ((name, short), (_, long)) in
        texts::texts(SHORT).into_iter().zip(texts::texts(SHORT * TIMES))
    {
        if !is_named(&name) {
            continue;
        }
        let (short, long) = (Asked::new(short), Asked::new(long));
        for ((question, ask), longest) in QUESTIONS.into_iter().zip(&mut longest) {
            if !is_asked(question) {
                continue;
            }
            let (one, other) = (time(ask, &short), time(ask, &long));
            if other > longest.1 {
                (longest.1, longest.2) = (other, name.clone());
            }
            n_compared += 1;
            if is_more(one, other) {
                n_worse += 1;
                let ratio = ratio(one, other);
                println!("{question:>8} {ratio:6.1} times: {one:>10.2?} {other:>10.2?}  {name}");
            }
        }
    }
    println!(
        "{n_worse} of {n_compared} grow more than {TOLERATED} times over {TIMES} times the text"
    );
    for (question, time, name) in longest.iter().filter(|it| !it.2.is_empty()) {
        println!("{question:>8} {time:>10.2?} at the longest: {name}");
    }
}
