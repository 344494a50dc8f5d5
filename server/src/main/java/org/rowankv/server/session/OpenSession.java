package org.rowankv.server.session;

/** An open session at one shard's replica. Guarded by its {@link SessionTable}. */
final class OpenSession {
    /** 0: not seen yet, while a scan reads entries in any order. */
    long openAddress;
    /** Version of the entry that opened it; 0 if that is unknown. */
    long openVersion;
    /** Version of the entry that closed it, while a scan reads entries in any order; 0 until then. */
    long closeVersion;

    final Completions completions = new Completions();
    /** Its requests in flight here. */
    int requests;
    /** The tick of its last use. */
    int usedAt;
    /** Increases with each use of any session of the table: the smallest is the one unused for longest. */
    long lastUse;
    /** The client connection that it was opened on; 0 if unknown. */
    long connection;
    /** It is ending because it is unused: new requests wait until that is decided. */
    boolean ending;
    /** It is ending so that another one can be opened, which holds its slot already. */
    boolean replaced;

    /** As far as a scan has read: it may have been opened once more behind that. */
    boolean isClosed() {
        return closeVersion > openVersion;
    }
}
