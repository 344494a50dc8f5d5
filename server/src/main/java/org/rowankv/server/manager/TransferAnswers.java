package org.rowankv.server.manager;

import org.rowankv.server.membership.TransferRequest;

/** Learns what has become of transfers that were asked for. */
public interface TransferAnswers {
    /** The server is the primary. */
    void done(TransferRequest request);

    void refused(TransferRequest request, String why);
}
