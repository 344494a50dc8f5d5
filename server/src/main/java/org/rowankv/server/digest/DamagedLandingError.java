package org.rowankv.server.digest;

import org.rowankv.server.area.Area;
import org.rowankv.server.log.Segments;

/**
 * An entry in a server's backup log is not what was sent: its replica lacks an entry that the sender counts as
 * replicated.
 */
final class DamagedLandingError extends AssertionError {
    private static final long serialVersionUID = 1L;

    private DamagedLandingError(String message) {
        super(message);
    }

    /** Marks the area as incomplete before that is known to anything else, since the process may end at any time. */
    static DamagedLandingError of(Segments segments, int segment, long address, String reason) {
        final Area area = segments.area();
        final DamagedLandingError error = new DamagedLandingError("what landed in segment " + segment + " of server "
                + area.serverId() + " at " + (address - area.addressOf(segment))
                + " was damaged before it took effect: " + reason);
        try {
            area.superblock().markIncomplete();
        } catch (RuntimeException e) {
            error.addSuppressed(
                    e); // in the page cache, not on the device: every start reads it, except after a power cut
        }
        return error;
    }
}
