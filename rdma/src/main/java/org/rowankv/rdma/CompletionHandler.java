package org.rowankv.rdma;

/** Receives completions on the thread that polls the queue pair. */
public interface CompletionHandler {

    /** Status is one of {@link CompletionStatus}. The handler may post on the same pair. */
    void onCompletion(long context, int status);
}
