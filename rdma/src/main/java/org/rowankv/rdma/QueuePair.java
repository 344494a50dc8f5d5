package org.rowankv.rdma;

import java.nio.ByteBuffer;

/**
 * A connection from one worker to one remote server. Owned by that worker: only {@link #isFenced} is for any thread.
 *
 * <p>Every post returns a {@link PostStatus}. After POSTED exactly one completion with the given context follows; after
 * any other status none does, and nothing landed. Posts of one pair land in order. The source of a post may be reused
 * once its completion was polled (on {@code local} and {@code tcp}, on return).
 *
 * <p>{@link #poll} rings the doorbell: posts may wait for it, so that all posts between two polls are sent in one
 * batch.
 *
 * <p>A fenced pair stays dead; its owner closes it and reconnects if the configuration still admits it.
 */
public interface QueuePair extends AutoCloseable {

    /**
     * Appends one frame to the remote log. The source contains a frame: type and body checksum come from its frame
     * fields, bytes 24 to {@code length} are copied, {@code tag} is set; generation, stamp 0 and placement checksum are
     * computed for the landing address.
     *
     * <p>With a remote receiver, a message without a posted segment may be POSTED and wait there, with all later ones,
     * until a segment is posted; further posts return RECEIVER_NOT_READY.
     *
     * @return POSTED, RECEIVER_NOT_READY, FENCED, QUEUE_FULL or TOO_LARGE
     */
    int send(long context, ByteBuffer source, int offset, int length, int tag);

    /** Passes up to {@code limit} completions to the handler, in order; returns their number. */
    int poll(CompletionHandler handler, int limit);

    /**
     * Acquires log space at the receiver; returns the granted bytes, 0 when fenced. With a remote receiver a later call
     * returns the response: less than requested means full only if it persists.
     */
    long acquireCredit(long requested);

    /**
     * Whether a response to the last {@link #acquireCredit} is pending. If not, its result is the receiver's: less than
     * requested means that there was no more when it responded.
     */
    default boolean awaitsCredit() {
        return false;
    }

    /** Returns acquired, unused credit. The owner also returns credit that the pair holds when fenced. */
    void returnCredit(long bytes);

    /**
     * Permits this queue pair to land in the last posted segment, which the receiver may keep in reserve for records
     * that it needs to free a segment. Owner only, before its first post.
     */
    void useReserve();

    /** Whether the receiver has fenced this pair, or either end is closed. Any thread. */
    boolean isFenced();

    int remoteServerId();

    @Override
    void close();
}
