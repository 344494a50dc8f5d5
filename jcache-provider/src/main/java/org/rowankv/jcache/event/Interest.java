package org.rowankv.jcache.event;

import javax.cache.event.EventType;
import org.rowankv.protocol.Operation;

/** Bit set of the events that listeners require. */
final class Interest {
    static final int CREATED = 1;
    static final int UPDATED = 1 << 1;
    static final int REMOVED = 1 << 2;
    static final int EXPIRED = 1 << 3;
    static final int ALL_EVENTS = CREATED | UPDATED | REMOVED | EXPIRED;
    /** The old value of any event that has one. */
    static final int OLD_VALUE = 1 << 4;

    private Interest() {}

    static int of(EventType type) {
        return switch (type) {
            case CREATED -> CREATED;
            case UPDATED -> UPDATED;
            case REMOVED -> REMOVED;
            case EXPIRED -> EXPIRED;
        };
    }

    /** The events that an operation can cause. */
    static int of(Operation operation) {
        return switch (operation) {
            case GET, TOUCH -> EXPIRED | OLD_VALUE;
            case PUT -> CREATED | UPDATED | EXPIRED | OLD_VALUE;
            case DELETE -> REMOVED | EXPIRED | OLD_VALUE;
            case CLEAR, OPEN_SESSION, CLOSE_SESSION -> 0;
        };
    }
}
