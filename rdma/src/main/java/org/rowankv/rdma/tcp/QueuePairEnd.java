package org.rowankv.rdma.tcp;

import org.rowankv.rdma.CompletionStatus;

/**
 * How a queue pair ended.
 *
 * @param doneUpTo operations up to this one may have been done
 * @param told whether the receiver said so, and that nothing behind it ever will be
 */
record QueuePairEnd(long doneUpTo, boolean told) {
    static final QueuePairEnd BROKEN = new QueuePairEnd(Long.MAX_VALUE, false);

    /** Of an operation that was not acknowledged. */
    int statusOf(long number) {
        return told && number > doneUpTo ? CompletionStatus.FENCED : CompletionStatus.UNKNOWN;
    }
}
