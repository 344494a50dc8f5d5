package org.rowankv.rdma;

import java.nio.ByteBuffer;

/**
 * A connection from one worker to one remote server. Owned by that worker: no method but {@link #isFenced} may be
 * called from another thread.
 *
 * <p>Every post returns a {@link PostStatus}. After POSTED exactly one completion with the given context follows;
 * after anything else none does and nothing was landed. Posts of one pair land in the order they were made. The
 * source of a post may be reused once its completion was polled (on {@code local} and {@code tcp}, on return).
 *
 * <p>{@link #poll} rings the doorbell: a post may wait for it before it goes out, so that all posts between two polls go
 * out together.
 *
 * <p>Once fenced a pair stays dead; its owner closes it and connects again if the configuration still admits it.
 */
public interface QueuePair extends AutoCloseable {

    /**
     * Appends one frame to the remote log. The source holds a frame: its type and body checksum are taken from the
     * source's own frame fields, its bytes from 24 to {@code length} are copied, {@code tag} is set, generation,
     * stamp 0 and placement checksum are made for the place where it lands.
     *
     * <p>Where the receiver is far away, a message for which no segment is posted may be POSTED and wait at the receiver,
     * with all behind it, until one is; RECEIVER_NOT_READY follows for further ones.
     *
     * @return POSTED, RECEIVER_NOT_READY, FENCED, QUEUE_FULL or TOO_LARGE
     */
    int send(long context, ByteBuffer source, int offset, int length, int tag);

    /** Hands up to {@code limit} completions to the handler, in order; returns how many. */
    int poll(CompletionHandler handler, int limit);

    /**
     * Asks the receiver for log space; returns what it grants, 0 when fenced. Where the receiver is far away the answer to
     * a question is in the return of a later call: less than wanted means full only if it stays so.
     */
    long acquireCredit(long wanted);

    /**
     * Whether the receiver has still to answer what the last {@link #acquireCredit} asked; if not, what that returned is the
     * receiver's word: where it was less than wanted, there was no more when it answered the question before.
     */
    default boolean awaitsCredit() {
        return false;
    }

    /**
     * Returns credit that was drawn and not used. What a pair still holds when it is fenced, its owner gives back too.
     */
    void giveBackCredit(long bytes);

    /**
     * From now on this queue pair may land in the last posted segment too, where the receiver keeps one in reserve: for
     * records without which the receiver could never free a segment. Owner only, before its first post.
     */
    void useReserve();

    /** Whether the receiver has fenced this pair, or either end is closed. Any thread. */
    boolean isFenced();

    int remoteServerId();

    @Override
    void close();
}
