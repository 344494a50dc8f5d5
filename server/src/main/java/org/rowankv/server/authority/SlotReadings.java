package org.rowankv.server.authority;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Readings of one server's clocks about other servers, by slot. Immutable.
 *
 * @param bySlot no reading: it has not happened in this process
 */
public record SlotReadings(Map<Integer, ClockReading> bySlot) {
    public static final SlotReadings NONE = new SlotReadings(Map.of());

    public SlotReadings {
        bySlot = Map.copyOf(bySlot);
    }

    public @Nullable ClockReading at(int slot) {
        return bySlot.get(slot);
    }

    /** With the later of that reading and the one noted before: answers may overtake each other. */
    public SlotReadings noting(int slot, ClockReading reading) {
        final Map<Integer, ClockReading> next = new HashMap<>(bySlot);
        next.merge(slot, reading, ClockReading::orLater);
        return new SlotReadings(next);
    }
}
