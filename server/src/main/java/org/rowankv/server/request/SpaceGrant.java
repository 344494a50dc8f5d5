package org.rowankv.server.request;

import org.rowankv.server.log.Space;

/**
 * The local space that a worker has acquired and not used. Acquired and released in portions, so that workers seldom
 * contend for the shared counter. Owned by one worker.
 */
final class SpaceGrant {
    private static final long PORTION = 32 << 10;

    private final Space space;
    private long held;

    SpaceGrant(Space space) {
        this.space = space;
    }

    boolean acquire(long bytes) {
        if (held < bytes) {
            held += space.acquire(bytes + PORTION);
            if (held < bytes) {
                held += space.acquire(bytes - held);
            }
            if (held < bytes) {
                return false;
            }
        }
        held -= bytes;
        return true;
    }

    /** Uses space unconditionally; the shared counter may become negative. */
    void take(long bytes) {
        if (held >= bytes) {
            held -= bytes;
        } else {
            space.take(bytes);
        }
    }

    /** Freed space first repays a negative balance: it does not become a grant for the next write. */
    void release(long bytes) {
        held += bytes;
        if (space.available() < 0) {
            releaseAll();
        } else if (held > 2 * PORTION) {
            space.release(held - PORTION);
            held = PORTION;
        }
    }

    void releaseAll() {
        space.release(held);
        held = 0;
    }
}
