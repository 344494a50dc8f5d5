package org.rowankv.rdma;

/**
 * The server's view of the configuration, for the handshake.
 *
 * <p>An endpoint calls it while holding its own lock, so implementations only read and never call a fabric. To exclude
 * a server, change the view first and fence second: each connection is then either fenced or refused.
 */
public interface MembershipView {

    /** The highest term prepared here, for the other end to know. */
    long term();

    /** Term of the last common start: since then every server with roles has another incarnation. */
    long startTerm();

    /**
     * Whether a connection with that incarnation of the server, opened in that term, may exist: the configuration of
     * {@link #term} must name it. The opener's term may be an earlier one of the same start. Roles come into force when
     * all members have prepared them, so the connection could have been opened then, and connections outlive changes of
     * roles; an incarnation excluded once is never named again.
     */
    boolean admits(int serverId, long incarnation, long term);

    /** What this server knows about a connecting process. */
    enum Standing {
        /** The server is another member, and has registered that process. */
        ANNOUNCED,
        /** Not known yet: the process may be valid, and retries. */
        UNKNOWN,
        /** The number is this server's own or no member's, or another process has that incarnation. */
        REFUTED
    }

    /**
     * Evaluated for every connection, including message connections, which may open before a term is agreed.
     *
     * @param nonce {@link Endpoint#nonce} of the other end
     */
    default Standing standing(int serverId, long incarnation, long nonce) {
        return Standing.ANNOUNCED;
    }
}
