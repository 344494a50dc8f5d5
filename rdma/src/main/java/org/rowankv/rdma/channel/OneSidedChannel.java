package org.rowankv.rdma.channel;

import io.netty.channel.Channel;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsConnection.OneSidedPosting;
import org.rowankv.rdma.verbs.VerbsException;

/** A channel over a queue pair that also carries WRITEs and READs. On its event loop. */
public interface OneSidedChannel extends Channel {

    /** Receives the outcomes of postings. */
    interface CompletionListener {
        /** @param status one of {@link org.rowankv.rdma.verbs.WorkStatus} */
        void onOneSided(int number, int status);
    }

    /**
     * As of the connection: WRITEs and a READ behind them.
     *
     * @param number of the posting, from 0 to 16,383, for its completion
     */
    OneSidedPosting prepareOneSided(
            RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, int number)
            throws VerbsException;

    /** Completions go there. Once. */
    void onOneSided(CompletionListener listener);

    /** Destroys the queue pair, and closes: on return the device reads and writes no memory for the other end. */
    void abort();
}
