package org.rowankv.rdma.verbs;

/** Receives completions, on the thread that polls. It may post, and destroy connections. */
public interface WorkHandler {

    /**
     * @param id of the posting; the only valid argument beside the status if that is an error
     * @param status one of {@link WorkStatus}
     * @param length received bytes
     */
    void onWork(long id, int status, int length);
}
