package org.rowankv.protocol.wire;

import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * Types of the frames between clients and servers. Each begins with the head of {@link FrameHeadDescriptor}; its
 * number, chosen by the requesting end, correlates a response with its request.
 */
public final class ClientFrameDescriptor {
    /** From the client: {@link RequestDescriptor}. */
    public static final int REQUEST = 1;
    /** From the server: {@link ResponseDescriptor}. */
    public static final int ANSWER = 2;
    /** From the client: request for the routing. No body. */
    public static final int ROUTING_REQUEST = 3;
    /** From the server: the routing, as a response or, with the number 0, as an update. */
    public static final int ROUTING = 4;
    /** From the client: {@link ScanRequestDescriptor}. */
    public static final int SCAN = 5;
    /** From the server: {@link PageDescriptor}. */
    public static final int PAGE = 6;
    /** From the client: {@link CatalogueDescriptor}; code: the operation. */
    public static final int CATALOGUE = 7;
    /** From the server: {@link CatalogueDescriptor}; code: a status. */
    public static final int CATALOGUE_ANSWER = 8;
    /** From the client: {@link ChangesRequestDescriptor}. */
    public static final int CHANGES_REQUEST = 9;
    /** From the server: {@link ChangesDescriptor}. */
    public static final int CHANGES = 10;

    private ClientFrameDescriptor() {}

    /** Fails unless a body that needs so many bytes has them, none more. */
    static void requireLength(int length, long needed) throws WireException {
        if (length != needed) {
            throw new WireException(WireFault.BAD_FRAME, "of " + length + " bytes instead of " + needed);
        }
    }
}
