//! Hooks registered by loaded skills; deleted with their session.

use rusqlite::{Connection, Result, Row, params};
use skills_agents::hooks::{CompiledMatcher, Hook};
use skills_syntax::path::AbsPath;

use super::columns::{abs_path_of, bytes};
use crate::sessions::session::{HookOwner, RegisteredHook};

/// Value of `once` for a hook that runs once and has run.
const DONE: i64 = 2;

/// Replaces the hooks that an agent has from a skill.
pub(super) fn replace(
    connection: &Connection,
    session: &str,
    agent: &str,
    path: &AbsPath,
    hooks: &[RegisteredHook],
) -> Result<()> {
    // Hooks that run once and have run are kept.
    let query = "DELETE FROM hook WHERE agent = ?2 AND path = ?3 AND once != ?4
                 AND session = (SELECT number FROM session WHERE id = ?1)";
    connection.prepare_cached(query)?.execute(params![session, agent, bytes(path), DONE])?;
    let query = "INSERT INTO hook
                 (session, id, agent, path, name, plugin, place, event, matcher, handler, once)
                 SELECT number, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
                 FROM session WHERE session.id = ?1";
    let mut query = connection.prepare_cached(query)?;
    for RegisteredHook { id, owner, hook, is_done } in hooks {
        let HookOwner { agent, path, name, plugin, place } = owner;
        let optional = |it: &Option<AbsPath>| it.as_ref().map(|it| bytes(it).to_vec());
        query.execute(params![
            session,
            id,
            agent,
            bytes(path),
            name,
            optional(plugin),
            optional(place),
            hook.event,
            hook.matcher,
            hook.handler.to_string(),
            if *is_done { DONE } else { i64::from(hook.once) }
        ])?;
    }
    Ok(())
}

/// Reads the hooks of a session, in the order of registration.
pub(super) fn hooks_of_session(
    connection: &Connection,
    number: i64,
) -> Result<Vec<RegisteredHook>> {
    let mut query = connection.prepare_cached(
        "SELECT id, agent, path, name, plugin, place, event, matcher, handler, once
         FROM hook WHERE session = ?1 ORDER BY number",
    )?;
    let rows = query.query_map([number], |row| {
        let handler: String = row.get(8)?;
        Ok(RegisteredHook {
            id: row.get(0)?,
            owner: HookOwner {
                agent: row.get(1)?,
                path: abs_path_of(row, 2)?,
                name: row.get(3)?,
                plugin: optional(row, 4)?,
                place: optional(row, 5)?,
            },
            hook: Hook {
                event: row.get(6)?,
                matcher: row.get(7)?,
                compiled: CompiledMatcher::default(),
                // Written by this program.
                handler: serde_json::from_str(&handler).unwrap_or_default(),
                once: row.get(9)?,
            },
            is_done: row.get::<_, i64>(9)? == DONE,
        })
    })?;
    rows.collect()
}

fn optional(row: &Row<'_>, column: usize) -> Result<Option<AbsPath>> {
    let is_there = row.get::<_, Option<Vec<u8>>>(column)?.is_some();
    is_there.then(|| abs_path_of(row, column)).transpose()
}

/// Records that a hook that runs once has run. Returns whether that is new.
pub(crate) fn finish(connection: &Connection, id: &str) -> Result<bool> {
    let query = "UPDATE hook SET once = ?2 WHERE id = ?1 AND once = 1";
    Ok(connection.execute(query, params![id, DONE])? > 0)
}
