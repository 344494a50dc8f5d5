package org.rowankv.server.shard;

/**
 * The entries of a shard that a checkpoint names, used while the log behind it is read. Of the entries up to a
 * version, all of which had taken effect when the checkpoint was taken, only those that it names are alive. Other
 * entries found are copies of what was replaced, removed or cleared since; the entry that ended them may be gone from
 * the log.
 *
 * <p>One thread fills it; then any number of threads read it.
 */
public final class CheckpointBound {
    private final long itemsUpTo;
    private final long sessionsUpTo;
    private final VersionSet named = new VersionSet();
    private final VersionSet openSessions = new VersionSet();

    /**
     * @param itemsUpTo every keyed entry up to this version is reflected in the image of the index
     * @param sessionsUpTo every opening of a session up to this version is reflected in the sessions
     */
    public CheckpointBound(long itemsUpTo, long sessionsUpTo) {
        this.itemsUpTo = itemsUpTo;
        this.sessionsUpTo = sessionsUpTo;
    }

    /** The image names that entry; the scan must find it in the log. */
    public void name(long version) {
        named.add(version);
    }

    public void open(long sessionId) {
        openSessions.add(sessionId);
    }

    /** Whether a keyed entry that the index does not contain is dead. */
    boolean isOver(long version) {
        return version <= itemsUpTo && !named.contains(version);
    }

    boolean isSessionOver(long sessionId, long version) {
        return version <= sessionsUpTo && !openSessions.contains(sessionId);
    }
}
