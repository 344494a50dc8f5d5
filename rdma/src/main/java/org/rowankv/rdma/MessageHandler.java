package org.rowankv.rdma;

import java.nio.ByteBuffer;

/** Receives RPC messages, on the thread that calls {@link Endpoint#pollMessages}. */
public interface MessageHandler {

    /** The buffer is a copy, from position 0 to its limit, and belongs to the handler. */
    void onMessage(int fromServerId, long fromIncarnation, ByteBuffer message);
}
