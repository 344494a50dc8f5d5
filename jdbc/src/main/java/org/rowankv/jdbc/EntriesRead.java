package org.rowankv.jdbc;

/** How far a connection's statement is; {@code connection.unwrap(EntriesRead.class)}. For any thread. */
public interface EntriesRead {
    /** Entries that the connection's scans have read so far, of all its statements. */
    long entriesRead();
}
