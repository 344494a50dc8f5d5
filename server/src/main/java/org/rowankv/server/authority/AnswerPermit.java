package org.rowankv.server.authority;

/**
 * Permission of a server to answer from its own replicas alone: a read, a condition that failed, a retry of an earlier
 * mutation. An answer that rests on acknowledgements of all backups needs none. See docs/design/authority.md.
 *
 * <p>An answer is permitted if the permission held at some moment after its request had arrived, and the shard's
 * primary is still in force (its roles say so) after the read. The process may have stood still
 * for any time in between: until the roles change only that primary writes the replica, and what it applies has
 * reached all backups before they could be fenced.
 *
 * <p>Implementations are thread-safe, allocate nothing and never block: they compare a clock with the end of a lease.
 */
@FunctionalInterface
public interface AnswerPermit {
    /** Of a store whose servers are one process, where no other primary can come into force. */
    AnswerPermit ALWAYS = () -> true;

    /**
     * Whether this server may answer now. Called after the request was read from its connection: an earlier result may
     * be older than a write that the client has seen.
     */
    boolean mayAnswer();
}
