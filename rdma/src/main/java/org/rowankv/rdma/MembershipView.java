package org.rowankv.rdma;

/**
 * What a server knows of the configuration, as the handshake needs it.
 *
 * <p>An endpoint asks it while it holds its own lock, so implementations only read and never call a fabric. Whoever
 * excludes a server changes the view first and fences second: a connection is then either fenced or refused.
 */
public interface MembershipView {

    /** The highest term adopted here. */
    long term();

    /** Whether a connection with that incarnation of the server, opened in that term, may exist. */
    boolean admits(int serverId, long incarnation, long term);

    /** What this server has heard of a process that calls it. */
    enum Standing {
        /** The server is another member, and has announced that process. */
        ANNOUNCED,
        /** No word of it has arrived yet: it may be right, and tries again. */
        UNKNOWN,
        /** The number is this server's own or no member's, or that start is another process. */
        REFUTED
    }

    /**
     * Asked for every connection, also one of messages, which may open before a term is agreed.
     *
     * @param nonce as {@link Endpoint#nonce} of the other end
     */
    default Standing standing(int serverId, long incarnation, long nonce) {
        return Standing.ANNOUNCED;
    }
}
