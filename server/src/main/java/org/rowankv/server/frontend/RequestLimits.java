package org.rowankv.server.frontend;

import org.rowankv.protocol.frame.FrameLimits;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.RequestDescriptor;

/** Length limits of a client's frames: an entry that fits a segment, or the limit of the format. */
final class RequestLimits implements FrameLimits {
    /** More than the longest name and descriptor of a cache, so that too long ones receive an answer. */
    private static final int CATALOGUE = 1 << 20;
    /** All other types, known or not: longer than needed, so that unknown types are read and named in the log. */
    private static final int OTHERS = 1 << 10;

    private final int request;
    private final int most;

    /**
     * Derives the limits from the server's segment size.
     *
     * @param longestEntry in bytes
     * @param most bytes of any frame
     */
    RequestLimits(int longestEntry, int most) {
        this.most = most;
        this.request = (int) Math.min(most, (long) RequestDescriptor.FIXED_LENGTH + longestEntry);
    }

    @Override
    public int longest(int type) {
        return switch (type) {
            case ClientFrameDescriptor.REQUEST -> request;
            case ClientFrameDescriptor.CHANGES_REQUEST -> Math.min(most, ChangesRequestDescriptor.MAX_LENGTH);
            case ClientFrameDescriptor.CATALOGUE -> Math.min(most, CATALOGUE);
            default -> OTHERS;
        };
    }
}
