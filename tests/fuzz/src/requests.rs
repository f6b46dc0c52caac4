//! Decoding of JSON text as the parameters of every method in the method table.

use serde_json::Value;
use skills_protocol::message::Incoming;
use skills_protocol::method::{self, METHODS, Request};

macro_rules! methods {
    ($($unit:ident,)*) => {
        /// Decoders of each method's parameters, in the order of the table.
        const DECODERS: &[(&str, fn(&[u8]))] =
            &[$((<method::$unit as Request>::METHOD, params::<method::$unit>),)*];
    };
}

methods! {
    Initialize,
    ServerStatus,
    ServerSync,
    ServerShutdown,
    WorktreeOpen,
    WorktreeClose,
    WorktreeList,
    ProfilesDetect,
    SkillsList,
    SkillsDirs,
    SkillsGet,
    SkillsSearch,
    SkillsLoad,
    SkillsUsage,
    SkillsExplain,
    SkillsResources,
    SkillsRead,
    SkillsCheck,
    RulesDescribe,
    SkillsReferences,
    IndexSnapshot,
    PathsMatch,
    SessionOpen,
    SessionGet,
    SessionClose,
    SessionList,
    SessionTouch,
    SessionInvoked,
    SessionCompacted,
    SessionNews,
    SessionAgentEnd,
    PermissionCheck,
    PermissionRequest,
    PermissionReply,
    PermissionPending,
    PermissionGranted,
    PermissionRevoke,
    HooksMatch,
    HooksDone,
    TrustGet,
    TrustSet,
    EventsSubscribe,
    EventsUnsubscribe,
    SkillsRun,
    CatalogRender,
    CatalogBudget,
    CatalogTool,
}

/// Asserts that parameters survive a round trip, and that decoding does not depend on formatting.
///
/// The first byte selects the method, the rest is the text.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let [nth, text @ ..] = input else { return };
    debug_assert!(DECODERS.iter().map(|it| it.0).eq(METHODS.iter().map(|it| it.name)));
    assert_eq!(DECODERS.len(), METHODS.len(), "a method has no decoder here");
    DECODERS[usize::from(*nth) % DECODERS.len()].1(text);
    // The other direction: an answer from an untrusted daemon.
    if let Ok(message) = serde_json::from_slice::<Incoming>(text) {
        let _ = (message.id, message.method, message.params.is_some(), message.error);
    }
}

fn params<R: Request>(text: &[u8]) {
    let Ok(params) = serde_json::from_slice::<R::Params>(text) else { return };
    let written = serde_json::to_string(&params).expect("parameters can be written");
    let again: R::Params = serde_json::from_str(&written).expect("what was written can be read");
    let twice = serde_json::to_string(&again).expect("parameters can be written");
    assert_eq!(written, twice);
    let value: Value = serde_json::from_str(&written).expect("it is JSON");
    assert!(value.is_object() || value.is_null(), "parameters are no object: {written}");
    // Unknown members are skipped and absent ones are few, so nothing grows by much.
    assert!(written.len() <= 8 * text.len() + 4096, "{} bytes of {}", written.len(), text.len());
}
