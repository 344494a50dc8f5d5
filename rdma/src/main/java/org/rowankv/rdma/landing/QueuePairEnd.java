package org.rowankv.rdma.landing;

import org.rowankv.rdma.CompletionStatus;

/**
 * How a queue pair ended, and with it the outcome of its unacknowledged operations.
 *
 * @param doneUpTo operations up to this one may have been done
 * @param isReported whether the receiver reported it, and so that no later operation will be done
 */
record QueuePairEnd(long doneUpTo, boolean isReported) {
    static final QueuePairEnd BROKEN = new QueuePairEnd(Long.MAX_VALUE, false);

    /** Status of an unacknowledged operation. */
    int statusOf(long number) {
        return isReported && number > doneUpTo ? CompletionStatus.FENCED : CompletionStatus.UNKNOWN;
    }
}
