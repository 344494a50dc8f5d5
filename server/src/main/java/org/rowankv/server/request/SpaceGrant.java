package org.rowankv.server.request;

import org.rowankv.server.log.Space;

/**
 * The part of the local space that a worker has drawn and not used: drawn and given back in portions, so that workers
 * seldom meet at the shared counter. Owned by one worker.
 */
final class SpaceGrant {
    private static final long PORTION = 32 << 10;

    private final Space space;
    private long held;

    SpaceGrant(Space space) {
        this.space = space;
    }

    boolean draw(long bytes) {
        if (held < bytes) {
            held += space.draw(bytes + PORTION);
            if (held < bytes) {
                held += space.draw(bytes - held);
            }
            if (held < bytes) {
                return false;
            }
        }
        held -= bytes;
        return true;
    }

    /** Uses space that must not be refused; the shared counter may become negative. */
    void take(long bytes) {
        if (held >= bytes) {
            held -= bytes;
        } else {
            space.take(bytes);
        }
    }

    /** What is freed while more is taken than there is pays that back: it is no grant for what is written next. */
    void giveBack(long bytes) {
        held += bytes;
        if (space.available() < 0) {
            giveBackAll();
        } else if (held > 2 * PORTION) {
            space.giveBack(held - PORTION);
            held = PORTION;
        }
    }

    void giveBackAll() {
        space.giveBack(held);
        held = 0;
    }
}
