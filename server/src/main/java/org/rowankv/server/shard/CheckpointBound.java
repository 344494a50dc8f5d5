package org.rowankv.server.shard;

/**
 * What a checkpoint says of a shard, while the log behind it is read: of the entries up to a version, all of which had
 * taken effect when the checkpoint was taken, only those that it names are alive. What else is found of them are copies of
 * what was replaced, removed or cleared since, and whatever ended them need not be in the log any more.
 *
 * <p>Filled by one thread; then read by any number.
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

    /** The image names that entry, but it has to be found in the log. */
    public void name(long version) {
        named.add(version);
    }

    public void open(long sessionId) {
        openSessions.add(sessionId);
    }

    /** Whether a keyed entry that the index does not know is over. */
    boolean isOver(long version) {
        return version <= itemsUpTo && !named.contains(version);
    }

    boolean isSessionOver(long sessionId, long version) {
        return version <= sessionsUpTo && !openSessions.contains(sessionId);
    }
}
