package org.rowankv.check.history;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;

/**
 * Assignment of versions to the values of one key, collected from all replies of a history. It reports what single
 * applications of each write cannot produce: a write with two versions, a version of two writes, versions that
 * decreased. Confined to one thread.
 */
final class Versions {
    private final Map<Long, Long> versionOf = new HashMap<>();
    private final Map<Long, Long> valueOf = new HashMap<>();
    private final Set<Long> unbound = new HashSet<>();
    private final Consumer<String> report;

    Versions(long initialValue, long initialVersion, List<Event> events, Consumer<String> report) {
        this.report = report;
        if (initialValue != Event.ABSENT) {
            bind(initialValue, initialVersion);
        }
        for (Event event : events) {
            bindAnswer(event);
        }
        for (Event event : events) {
            if (event.action().stores()
                    && event.outcome() == Outcome.UNKNOWN
                    && !versionOf.containsKey(event.written())) {
                unbound.add(event.written());
            }
        }
        checkGrowth(events);
    }

    private void bindAnswer(Event event) {
        if (event.outcome() != Outcome.DONE) {
            return;
        }
        if (event.action() == KeyAction.GET) {
            bind(event.observed(), event.version());
            return;
        }
        if (event.action().stores()) {
            bind(event.written(), event.version());
        } else if (event.action().removes()) {
            bind(Event.ABSENT, event.version());
        }
        if (event.observed() > Event.ABSENT) {
            bind(event.observed(), event.previousVersion());
        }
    }

    private void bind(long value, long version) {
        if (value == Event.TORN) {
            return;
        }
        final Long otherValue = valueOf.putIfAbsent(version, value);
        if (version == Version.NONE || (otherValue != null && otherValue != value)) {
            report.accept("version " + Version.toString(version) + " is given to " + describe(value)
                    + (otherValue == null ? ", but it is the version of nothing" : " and to " + describe(otherValue)));
        }
        if (value == Event.ABSENT) {
            return; // removals have versions too, each its own
        }
        final Long otherVersion = versionOf.putIfAbsent(value, version);
        if (otherVersion != null && otherVersion != version) {
            report.accept(describe(value) + " was written once but has the versions " + Version.toString(otherVersion)
                    + " and " + Version.toString(version) + ": applied twice");
        }
    }

    private static String describe(long value) {
        return value == Event.ABSENT ? "a removal" : "value #" + value;
    }

    /**
     * Of two mutations, the one invoked after the other had returned has the larger version. The same holds for a
     * mutation invoked after a read found no object and returned a version: a caller may require that the key is
     * unchanged since then.
     */
    private void checkGrowth(List<Event> events) {
        final List<Event> mutations = events.stream()
                .filter(event -> event.action().makesVersion() && event.outcome() == Outcome.DONE)
                .toList();
        final List<Event> byReturn = events.stream()
                .filter(event ->
                        event.outcome() == Outcome.DONE && event.action().makesVersion()
                                || event.outcome() == Outcome.NOT_FOUND && event.action() == KeyAction.GET)
                .sorted(Comparator.comparingLong(Event::returnedNs))
                .toList();
        long largest = Version.NONE;
        int returned = 0;
        for (Event event : mutations.stream()
                .sorted(Comparator.comparingLong(Event::invokedNs))
                .toList()) {
            while (byReturn.get(returned).returnedNs() < event.invokedNs()) {
                largest = Math.max(largest, byReturn.get(returned++).version());
            }
            if (event.version() <= largest) {
                report.accept(
                        event.question() + " got version " + Version.toString(event.version()) + " although version "
                                + Version.toString(largest) + " had been answered before it was invoked");
            }
        }
    }

    /** Whether some write can have created a version that appears in a reply. */
    boolean canExist(long version) {
        return !valuesOf(version).isEmpty();
    }

    /**
     * The values that can have a version: the one known to have it, else all those with unknown version. {@link
     * Version#NONE} belongs to "no object".
     */
    Set<Long> valuesOf(long version) {
        if (version == Version.NONE) {
            return Set.of(Event.ABSENT);
        }
        final @Nullable Long value = valueOf.get(version);
        return value == null ? unbound : Set.of(value);
    }
}
