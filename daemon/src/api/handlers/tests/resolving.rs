//! Look-ups of a call: the settings, the worktree's settings and the view.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use super::tree;

/// The resolver's trace messages.
#[derive(Clone, Default)]
struct Lookups(Arc<Mutex<Vec<String>>>);

impl Lookups {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl<S: Subscriber> Layer<S> for Lookups {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "skillsd::api::request" {
            event.record(&mut self.clone());
        }
    }
}

impl Visit for Lookups {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

#[tokio::test]
async fn call_resolves_settings_and_view_once() {
    let lookups = Lookups::default();
    let subscriber = tracing_subscriber::registry().with(lookups.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    // With one subscriber, tracing would disable an event for all threads that another test's thread
    // without a subscriber reaches first.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let mut rig = tree();
    let paths = [rig.path("w/file")];
    rig.call("session/open", json!({"session": "old"})).await;
    for (method, params) in [
        ("skills/list", json!({})),
        ("skills/list", json!({"profile": "codex"})),
        ("skills/list", json!({"session": "old"})),
        ("skills/load", json!({"name": "a"})),
        ("skills/load", json!({"name": "a", "session": "old"})),
        ("skills/load", json!({"name": "a", "session": "new"})),
        ("session/touch", json!({"session": "old", "paths": paths})),
        ("session/touch", json!({"session": "newer", "paths": paths})),
        ("skills/search", json!({"query": "a"})),
        ("skills/explain", json!({"name": "a"})),
        ("skills/explain", json!({})),
    ] {
        lookups.take();
        rig.call(method, params.clone()).await;
        let mut all = lookups.take();
        all.sort_unstable();
        let once =
            ["resolve the settings", "resolve the settings of the worktree", "resolve the view"];
        assert_eq!(all, once, "{method} {params}");
    }
}
