package org.rowankv.rdma.rowan;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;

/**
 * The sender's end of Rowan: appends entries to one remote backup log, and counts.
 *
 * <p>An append that was POSTED is in the log when its completion says LANDED; it does not mean digested. It is never
 * retried here: on RECEIVER_NOT_READY the owner backs off, on VOIDED it appends again, and on FENCED it asks the
 * configuration whether to connect again, with a new sender.
 *
 * <p>Owned by the worker that owns the queue pair; the counters may be read by any thread.
 */
public final class RowanSender implements AutoCloseable {
    private static final CompletionHandler NOBODY = (context, status) -> {};

    private final QueuePair pair;
    private final CompletionHandler counting = this::count;
    private final AtomicLong appends = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong notReady = new AtomicLong();
    private final AtomicLong fenced = new AtomicLong();
    private final AtomicLong voided = new AtomicLong();
    private CompletionHandler delegate = NOBODY;
    private int inFlight;

    public RowanSender(QueuePair pair) {
        this.pair = pair;
    }

    /** Appends one entry, as {@link QueuePair#send}; returns a {@link PostStatus}. */
    public int append(long context, ByteBuffer source, int offset, int length, int tag) {
        final int status = pair.send(context, source, offset, length, tag);
        switch (status) {
            case PostStatus.POSTED -> {
                inFlight++;
                add(appends, 1);
                add(bytes, length);
            }
            case PostStatus.RECEIVER_NOT_READY -> add(notReady, 1);
            case PostStatus.FENCED -> add(fenced, 1);
            default -> {
                // QUEUE_FULL and TOO_LARGE are the owner's own doing.
            }
        }
        return status;
    }

    /** Hands completions on. The handler may append, but not poll. */
    public int poll(CompletionHandler handler, int limit) {
        delegate = handler;
        try {
            return pair.poll(counting, limit);
        } finally {
            delegate = NOBODY;
        }
    }

    private void count(long context, int status) {
        inFlight--;
        if (status == CompletionStatus.FENCED) {
            add(fenced, 1);
        } else if (status == CompletionStatus.VOIDED) {
            add(voided, 1);
        }
        delegate.onCompletion(context, status);
    }

    public QueuePair pair() {
        return pair;
    }

    public boolean isFenced() {
        return pair.isFenced();
    }

    /** Appends whose completion was not polled yet. Owner only. */
    public int inFlight() {
        return inFlight;
    }

    /** Appends that were posted. */
    public long appends() {
        return appends.getOpaque();
    }

    /** Bytes of the appends that were posted. */
    public long bytes() {
        return bytes.getOpaque();
    }

    /** Times the receiver had no segment posted. */
    public long notReady() {
        return notReady.getOpaque();
    }

    /** Appends that met a fence. */
    public long fenced() {
        return fenced.getOpaque();
    }

    /** Appends whose place was voided by a fence of somebody else. */
    public long voided() {
        return voided.getOpaque();
    }

    @Override
    public void close() {
        pair.close();
    }

    /** One writer, so no atomic addition. */
    private static void add(AtomicLong counter, long value) {
        counter.setOpaque(counter.getPlain() + value);
    }
}
