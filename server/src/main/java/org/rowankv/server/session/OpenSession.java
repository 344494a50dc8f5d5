package org.rowankv.server.session;

/** An open session, as one shard's replica has it. Guarded by its {@link SessionTable}. */
final class OpenSession {
    /** 0: not seen yet, while a scan meets entries in any order. */
    long openAddress;

    boolean closed;
    final Completions completions = new Completions();

    /** Of the entry that closed it, while a scan meets entries in any order; 0 until then. */
    long closeVersion;
    /** Requests of it that were looked up here and are under way. */
    int requests;
    /** The tick in which it was used last. */
    int usedAt;
    /** Grows with each use of any session of the table: the smallest is the one unused for longest. */
    long lastUse;
    /** The client connection that it was opened on; 0 if that is not known. */
    long connection;
    /** It is being ended because nobody uses it: what comes now waits until that is decided. */
    boolean ending;
    /** It is being ended so that another one can be opened: that one has its place already. */
    boolean replaced;

    OpenSession(long openAddress) {
        this.openAddress = openAddress;
    }
}
