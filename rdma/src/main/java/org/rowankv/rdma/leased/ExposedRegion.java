package org.rowankv.rdma.leased;

import java.util.HashMap;
import java.util.Map;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.VerbsException;

/**
 * The memory of an endpoint's segments, exposed to senders by chunks: a key for each segment would cost a registration for
 * each lease. So a sender may write beyond its lease; servers trust one another. On the NIC agent's event loop.
 */
final class ExposedRegion {
    private final EndpointSettings settings;
    private final VerbsTransport transport;
    private final Map<Long, ExposedMemory> chunks = new HashMap<>();

    ExposedRegion(EndpointSettings settings, VerbsTransport transport) {
        this.settings = settings;
        this.transport = transport;
    }

    /** Exposes all memory that is there. */
    void exposeAll() throws VerbsException {
        for (int segment = 0; segment < settings.segmentCount(); segment++) {
            if (settings.region().isBacked(settings.segmentAddress(segment))) {
                chunkOf(segment);
            }
        }
    }

    private ExposedMemory chunkOf(int segment) throws VerbsException {
        final MemoryRegion region = settings.region();
        final long address = settings.segmentAddress(segment);
        final long chunk = address >>> region.chunkShift();
        ExposedMemory exposed = chunks.get(chunk);
        if (exposed == null) {
            exposed = transport.expose(region.buffer(address));
            chunks.put(chunk, exposed);
        }
        return exposed;
    }

    /** Of the first byte of a segment, for WRITEs. */
    long remoteAddress(int segment) throws VerbsException {
        return chunkOf(segment).address() + settings.region().offset(settings.segmentAddress(segment));
    }

    int remoteKey(int segment) throws VerbsException {
        return chunkOf(segment).remoteKey();
    }
}
