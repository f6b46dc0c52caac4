//! Tests of event delivery without a connection.

use std::task::{Context, Poll, Waker};

use super::*;

fn path(text: &str) -> AbsPath {
    AbsPath::new(text.as_ref()).unwrap()
}

fn taken(mailbox: &Mailbox) -> Vec<(String, EventKind, Option<String>)> {
    match mailbox.poll_take(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => Vec::new(),
        Poll::Ready(events) => {
            let facts = events.into_iter().map(|EventParams { subscription, result }| {
                (subscription, result.kind, result.message)
            });
            facts.collect()
        }
    }
}

use skills_protocol::wire::EventParams;

#[test]
fn mailbox_keeps_the_latest_event_per_subscription_and_kind() {
    let (bus, mailbox) = (Arc::new(Bus::default()), Arc::new(Mailbox::default()));
    let all = bus.subscribe(Kinds::of(&[]), Interest::Everything, &mailbox);
    let kinds = Kinds::of(&[EventKind::HealthChanged]);
    let some = bus.subscribe(kinds, Interest::Everything, &mailbox);
    let say = |kind, text: &str| {
        let event = Event { message: Some(text.to_owned()), ..Event::new(kind) };
        bus.publish(EventSubject::default(), &event);
    };
    for n in 0..1000 {
        say(EventKind::SkillsChanged, &n.to_string());
        say(EventKind::HealthChanged, &n.to_string());
    }
    assert_eq!(taken(&mailbox), [], "nobody knows the names yet");
    mailbox.announce(all.id());
    mailbox.announce(some.id());
    let last = || Some("999".to_owned());
    let expected = [
        (all.id().to_string(), EventKind::SkillsChanged, last()),
        (all.id().to_string(), EventKind::HealthChanged, last()),
        (some.id().to_string(), EventKind::HealthChanged, last()),
    ];
    assert_eq!(taken(&mailbox), expected);
    assert_eq!(taken(&mailbox), []);
    say(EventKind::HealthChanged, "again");
    drop(some);
    assert_eq!(taken(&mailbox).len(), 1, "what has ended is told nothing");
    assert!(mailbox.is_subscribed());
    drop(all);
    assert!(!mailbox.is_subscribed() && lock(&bus.table).followers.is_empty());
}

#[test]
fn a_view_is_told_of_itself_its_worktree_and_its_session() {
    let key = |cwd: &str| ViewKey {
        cwd: path(cwd),
        profile: "agentskills".to_owned(),
        ..skills_engine_key()
    };
    let (own, other) = (key("/w/a"), key("/w/b"));
    let (here, elsewhere) = (path("/w"), path("/x"));
    let interest = |session: Option<&str>| Interest::View {
        key: Arc::new(own.clone()),
        worktree: here.clone(),
        followed: session.map(|it| {
            let (context, environment) = (skills_protocol::wire::Context::default(), None);
            Arc::new(FollowedSession { session: it.to_owned(), context, environment })
        }),
    };
    let view_event = |key| EventSubject { view: Some(key), worktree: Some(&here), session: None };
    assert!(interest(None).covers(view_event(&own)) && !interest(None).covers(view_event(&other)));
    let in_session = |worktree, session| EventSubject { view: None, worktree, session };
    assert!(interest(None).covers(in_session(Some(&here), Some("s"))));
    assert!(!interest(None).covers(in_session(Some(&elsewhere), Some("s"))));
    assert!(interest(Some("s")).covers(in_session(None, Some("s"))));
    assert!(!interest(Some("s")).covers(in_session(Some(&here), Some("t"))));
    assert!(
        interest(Some("s")).covers(EventSubject::default()),
        "what is about no place is for all"
    );
    assert!(Interest::Everything.covers(in_session(Some(&elsewhere), Some("t"))));
}

fn skills_engine_key() -> ViewKey {
    ViewKey {
        cwd: path("/"),
        profile: String::new(),
        environment: BTreeMap::new(),
        additional: Vec::new(),
        overlay: Arc::default(),
        agent: None,
    }
}
