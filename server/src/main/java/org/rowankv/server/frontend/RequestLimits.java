package org.rowankv.server.frontend;

import org.rowankv.protocol.frame.FrameLimits;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.RequestDescriptor;

/** How long the frames of a client may be: none has more than an entry that fits a segment, or what its format allows. */
final class RequestLimits implements FrameLimits {
    /** More than the longest name and descriptor of a cache, so that too long ones are answered. */
    private static final int CATALOGUE = 1 << 20;
    /** Of all others, and of types that there are not: too long for them, so that they are read and named in the log. */
    private static final int OTHERS = 1 << 10;

    private final int request;
    private final int most;

    /**
     * Limits by what a server holds.
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
            case ClientFrameDescriptor.CHANGES_WANTED -> Math.min(most, ChangesRequestDescriptor.MAX_LENGTH);
            case ClientFrameDescriptor.CATALOGUE -> Math.min(most, CATALOGUE);
            default -> OTHERS;
        };
    }
}
