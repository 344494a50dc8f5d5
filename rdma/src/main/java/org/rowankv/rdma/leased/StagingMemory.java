package org.rowankv.rdma.leased;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsException;

/**
 * Registered memory of one stream of WRITEs: a ring of sealed entries, then a progress word for each batch in flight, then a
 * byte that READs receive. Used again by a later stream, once the queue pair of this one is destroyed.
 */
final class StagingMemory {
    private final int ringLength;
    private final ByteBuffer memory;
    private final RegisteredMemory registered;

    /** On the NIC agent's event loop. */
    StagingMemory(VerbsTransport transport, int ringLength, int batches) throws VerbsException {
        this.ringLength = ringLength;
        this.memory = ByteBuffer.allocateDirect(ringLength + (batches + 1) * Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        this.registered = transport.register(memory);
    }

    int ringLength() {
        return ringLength;
    }

    /** Use absolute accessors only. */
    ByteBuffer memory() {
        return memory;
    }

    RegisteredMemory registered() {
        return registered;
    }

    int wordOffset(int batch) {
        return ringLength + (batch + 1) * Long.BYTES;
    }

    int targetOffset() {
        return ringLength;
    }
}
