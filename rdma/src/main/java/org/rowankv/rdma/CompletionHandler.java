package org.rowankv.rdma;

/** Receives completions on the thread that polls its queue pair. */
public interface CompletionHandler {

    /** Status is one of {@link CompletionStatus}. It may post on the same pair. */
    void onCompletion(long context, int status);
}
