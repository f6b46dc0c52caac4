//! Limit on the size of the store, so that no client fills the user's disk.

use rusqlite::{Connection, Result};

/// Maximum bytes of all rows.
pub(super) const MAX_BYTES: i64 = 64 * 1024 * 1024;

/// Makes room if the rows need more than `most` bytes: deletes the largest loaded skills, then the
/// sessions not used for the longest time. The session `id` stays.
pub(super) fn make_room(connection: &Connection, id: &str, most: i64) -> Result<()> {
    // A quarter of the limit at a time, so that the rows are seldom searched.
    let largest = "DELETE FROM invoked WHERE rowid IN (
        SELECT number FROM (
            SELECT number, SUM(size) OVER (ORDER BY size DESC, number) - size AS before FROM (
                SELECT rowid AS number, LENGTH(CAST(body AS BLOB))
                    + IFNULL(LENGTH(CAST(args AS BLOB)), 0) AS size FROM invoked
            )
        ) WHERE before < ?1
    )";
    let oldest = "DELETE FROM session WHERE number IN (
        SELECT number FROM session WHERE id != ?1 ORDER BY used LIMIT 16
    )";
    while size(connection)? > most {
        let n_loads = connection.execute(largest, [most / 4])?;
        let n_sessions = if n_loads == 0 { connection.execute(oldest, [id])? } else { 0 };
        tracing::warn!(n_loads, n_sessions, "the session store is full; removed rows of sessions");
        if n_loads + n_sessions == 0 {
            break;
        }
    }
    Ok(())
}

/// Returns the bytes that the rows need in the file.
fn size(connection: &Connection) -> Result<i64> {
    let query = "SELECT (page_count - freelist_count) * page_size
                 FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
    connection.prepare_cached(query)?.query_one([], |it| it.get(0))
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::super::file::open;
    use super::*;

    fn count(connection: &Connection, table: &str) -> i64 {
        connection.query_one(&format!("SELECT COUNT(*) FROM {table}"), [], |it| it.get(0)).unwrap()
    }

    #[test]
    fn full_store_loses_its_largest_loads_and_then_its_oldest_sessions() {
        let connection = open(None).connection.unwrap();
        let add = |n: i64, length: usize| {
            let session = "INSERT INTO session (number, id, cwd, profile, environment, additional,
                auto, created, used) VALUES (?1, ?1, x'2f', 'p', ?2, x'', 0, 0, ?1)";
            connection.execute(session, params![n, vec![0_u8; length]]).unwrap();
        };
        let load = |n: i64, length: usize| {
            let load = "INSERT INTO invoked VALUES (?1, '', x'2f', 1, 'n', NULL, ?2, 0)";
            connection.execute(load, params![n, "x".repeat(length)]).unwrap();
        };
        let most = 1024 * 1024;
        (1..=50).for_each(|it| add(it, 10));
        (1..=40).for_each(|it| load(it, 5_000));
        make_room(&connection, "1", most).unwrap();
        assert_eq!((count(&connection, "session"), count(&connection, "invoked")), (50, 40));
        (41..=50).for_each(|it| load(it, 150_000));
        make_room(&connection, "1", most).unwrap();
        assert!(size(&connection).unwrap() <= most);
        assert_eq!(count(&connection, "session"), 50);
        let n_short = "(SELECT * FROM invoked WHERE LENGTH(body) = 5000)";
        assert_eq!(count(&connection, n_short), 40, "the others were larger");
        (51..=99).for_each(|it| add(it, 100_000));
        make_room(&connection, "99", most).unwrap();
        assert!(size(&connection).unwrap() <= most);
        let newest: i64 =
            connection.query_one("SELECT MAX(number) FROM session", [], |it| it.get(0)).unwrap();
        assert_eq!(newest, 99);
    }
}
