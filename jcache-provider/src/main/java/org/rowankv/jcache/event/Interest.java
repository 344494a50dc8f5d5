package org.rowankv.jcache.event;

import javax.cache.event.EventType;
import org.rowankv.protocol.Operation;

/** Sets of what listeners want to hear, as bits. */
final class Interest {
    static final int CREATED = 1;
    static final int UPDATED = 1 << 1;
    static final int REMOVED = 1 << 2;
    static final int EXPIRED = 1 << 3;
    static final int ALL_EVENTS = CREATED | UPDATED | REMOVED | EXPIRED;
    /** Of any event that has an old value. */
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

    /** What an operation can cause. */
    static int of(Operation operation) {
        return switch (operation) {
            case GET, TOUCH -> EXPIRED | OLD_VALUE;
            case PUT -> CREATED | UPDATED | EXPIRED | OLD_VALUE;
            case DELETE -> REMOVED | EXPIRED | OLD_VALUE;
            case CLEAR, OPEN_SESSION, CLOSE_SESSION -> 0;
        };
    }
}
