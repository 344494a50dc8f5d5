package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checker of chains and counters: keys whose every write derives the next value from the former one. The numbers in the
 * values give the order of the writes, so no search is needed. That order must respect real time. Each acknowledged
 * write must have its own number, and each number a write.
 *
 * <p>It finds: a write that was lost, that was applied twice, or that took effect although its reply denied it; stale
 * reads. In a chain each value also names its predecessor, so missing writes are identified. In a counter the numbers
 * without an acknowledged write are counted: their count is at most that of unknown outcomes.
 *
 * <p>Stateless; safe for any thread.
 */
public final class ChainChecker {
    /**
     * The verdict on one window of a key's history.
     *
     * @param anomalies empty when the history is explained
     * @param pending writes of unknown outcome that may still take effect
     */
    public record Verdict(List<Anomaly> anomalies, List<ChainEvent> pending) {
        public Verdict {
            anomalies = List.copyOf(anomalies);
            pending = List.copyOf(pending);
        }
    }

    /**
     * Checks a chain, from a known value to a known value.
     *
     * @param first value when the first operation was invoked
     * @param pending writes of earlier windows that may take effect in this one
     * @param events of all callers
     * @param last value after the last operation has returned
     */
    public Verdict checkChain(
            int key, ChainLink first, List<ChainEvent> pending, List<ChainEvent> events, ChainLink last) {
        final Findings findings = new Findings(key);
        final Map<Long, ChainEvent> writes = new HashMap<>();
        pending.forEach(event -> writes.put(event.link().id(), event));
        events.stream()
                .filter(ChainEvent::extending)
                .forEach(event -> writes.put(event.link().id(), event));
        final Map<Long, ChainEvent> taken = walk(first, last, writes, findings);
        for (ChainEvent event : events) {
            final ChainEvent writer = taken.get(event.link().number());
            final boolean isLink = event.link().equals(first)
                    || writer != null && writer.link().equals(event.link());
            if (event.outcome() == Outcome.DONE && !isLink) {
                findings.add(
                        event.extending()
                                ? "an acknowledged write is not among those that led to " + last
                                : "a value was read that is not among those that led to " + last,
                        event);
            }
            if (event.outcome() == Outcome.CONDITION_FAILED && wasNotOvertaken(event, writer)) {
                findings.add("a write failed although no other had been made in its place", event);
            }
        }
        checkTimes(first, events, taken, findings);
        final List<ChainEvent> left = new ArrayList<>();
        // A write that expects a former value cannot take effect: no value of a chain recurs.
        writes.values().stream()
                .filter(event -> event.outcome() == Outcome.UNKNOWN
                        && event.link().number() == last.number() + 1
                        && event.link().former() == last.id())
                .forEach(left::add);
        return new Verdict(findings.anomalies, left);
    }

    private static boolean wasNotOvertaken(ChainEvent failed, @Nullable ChainEvent writer) {
        return writer == null || writer.invokedNs() - failed.returnedNs() > 0;
    }

    /** By number: the writes that led from the first value to the last one. */
    private static Map<Long, ChainEvent> walk(
            ChainLink first, ChainLink last, Map<Long, ChainEvent> writes, Findings findings) {
        final Map<Long, ChainEvent> taken = new HashMap<>();
        if (last.number() < first.number() || last.number() == first.number() && !last.equals(first)) {
            findings.add("the value went from " + first + " back to " + last);
            return taken;
        }
        ChainLink link = last;
        while (link.number() > first.number()) {
            final ChainEvent write = writes.get(link.id());
            if (write == null || !write.link().equals(link)) {
                findings.add("no write made the value " + link);
                return taken;
            }
            if (write.outcome() != Outcome.DONE && write.outcome() != Outcome.UNKNOWN) {
                findings.add("a write took effect although its reply said that it had not", write);
            }
            taken.put(link.number(), write);
            final ChainEvent before = writes.get(link.former());
            if (link.number() - 1 == first.number()) {
                if (link.former() != first.id()) {
                    findings.add("the value after " + first + " was made from another one", write);
                }
                return taken;
            }
            if (before == null || before.link().number() != link.number() - 1) {
                findings.add("the value before this one is unknown", write);
                return taken;
            }
            link = before.link();
        }
        return taken;
    }

    /**
     * Checks a counter, as {@link #checkChain}; each write adds one.
     *
     * @param pending writes of earlier windows whose outcome is unknown
     */
    public Verdict checkCounter(
            int key, ChainLink first, List<ChainEvent> pending, List<ChainEvent> events, ChainLink last) {
        final Findings findings = new Findings(key);
        final Map<Long, ChainEvent> taken = new HashMap<>();
        final List<ChainEvent> unknown = new ArrayList<>(pending);
        for (ChainEvent event : events) {
            if (event.extending() && event.outcome() == Outcome.UNKNOWN) {
                unknown.add(event);
            } else if (event.extending() && event.outcome() == Outcome.DONE) {
                final ChainEvent other = taken.put(event.link().number(), event);
                if (other != null) {
                    findings.add("two increments made the same number: one is lost", other, event);
                }
            }
        }
        final long gaps = last.number() - first.number() - taken.size();
        if (gaps > unknown.size()) {
            findings.add("the counter went from " + first.number() + " to " + last.number() + ", but of its increments "
                    + taken.size() + " are acknowledged and " + unknown.size() + " of unknown outcome");
        }
        if (gaps < 0 && findings.anomalies.isEmpty()) {
            findings.add("the counter went from " + first.number() + " to " + last.number() + " by " + taken.size()
                    + " acknowledged increments");
        }
        checkTimes(first, events, taken, findings);
        unknown.sort(Comparator.comparingLong(ChainEvent::invokedNs));
        return new Verdict(
                findings.anomalies, unknown.subList((int) Math.max(0, Math.min(gaps, unknown.size())), unknown.size()));
    }

    /** A read value is at least that of every operation that returned before. Its write began before the read ended. */
    private static void checkTimes(
            ChainLink first, List<ChainEvent> events, Map<Long, ChainEvent> taken, Findings findings) {
        final Floors floors = new Floors(first.number(), events);
        final Set<ChainEvent> checked = new HashSet<>(events);
        checked.addAll(taken.values());
        for (ChainEvent event : checked) {
            final long number = event.link().number();
            final boolean took = event.extending() && event.equals(taken.get(number));
            final boolean read = !event.extending() && event.outcome() == Outcome.DONE;
            final long least = floors.before(event.invokedNs()) + (event.extending() ? 1 : 0);
            if ((took || read) && number < least) {
                findings.add("the key was at " + floors.before(event.invokedNs()) + " already", event);
            }
            final ChainEvent writer = read ? taken.get(number) : null;
            if (writer != null && writer.invokedNs() - event.returnedNs() > 0) {
                findings.add("a value was read before its write began", event, writer);
            }
        }
    }

    /** Lower bounds of a key's number over time. */
    private static final class Floors {
        private final long first;
        private final long[] timesNs;
        private final long[] floors;

        Floors(long first, List<ChainEvent> events) {
            final List<ChainEvent> met = events.stream()
                    .filter(event -> event.outcome() == Outcome.DONE || event.outcome() == Outcome.CONDITION_FAILED)
                    .sorted(Comparator.comparingLong(ChainEvent::returnedNs))
                    .toList();
            this.first = first;
            this.timesNs = met.stream().mapToLong(ChainEvent::returnedNs).toArray();
            this.floors = new long[met.size()];
            long floor = first;
            for (int i = 0; i < floors.length; i++) {
                floor = Math.max(floor, met.get(i).link().number());
                floors[i] = floor;
            }
        }

        /** The highest number of any operation that returned before this time. */
        long before(long timeNs) {
            int index = Arrays.binarySearch(timesNs, timeNs);
            index = index < 0 ? -index - 1 : index;
            while (index > 0 && timesNs[index - 1] == timeNs) {
                index--; // equal times count as concurrent
            }
            return index == 0 ? first : floors[index - 1];
        }
    }

    private static final class Findings {
        private final List<Anomaly> anomalies = new ArrayList<>();
        private final int key;

        Findings(int key) {
            this.key = key;
        }

        void add(String reason, ChainEvent... shown) {
            final StringBuilder text = new StringBuilder();
            for (ChainEvent event : shown) {
                text.append("    ").append(event).append(System.lineSeparator());
            }
            anomalies.add(new Anomaly(key, reason, text.toString()));
        }
    }
}
