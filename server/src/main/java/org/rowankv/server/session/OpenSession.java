package org.rowankv.server.session;

/** An open session at one shard's replica. Guarded by its {@link SessionTable}. */
final class OpenSession {
    /** 0: not seen yet, while a scan reads entries in any order. */
    long openAddress;

    boolean closed;
    final Completions completions = new Completions();

    /** Version of the entry that closed it, while a scan reads entries in any order; 0 until then. */
    long closeVersion;
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

    OpenSession(long openAddress) {
        this.openAddress = openAddress;
    }
}
