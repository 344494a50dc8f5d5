package org.rowankv.check.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a writer has written, and what a subscriber has received of it: each acknowledged change once, in the order of its
 * shard's versions, unless its loss was reported; and any other write once or not at all. Thread-safe.
 */
final class EventLedger {
    /** An acknowledged write that was not received yet. */
    private record Awaited(int shard, long version) {}

    /** Changes of a shard of which any may be missing: those above {@code after}, up to {@code upTo}. */
    private record Loss(long after, long upTo) {
        boolean covers(long version) {
            return version > after && version <= upTo;
        }
    }

    private final ChaosFindings findings;
    /** By number. */
    private final TreeMap<Long, Awaited> awaited = new TreeMap<>();
    /** Of every received change, its version by its number. */
    private final Map<Long, Long> seen = new HashMap<>();
    /** By shard: the last received version. */
    private final Map<Integer, Long> last = new HashMap<>();

    private final Map<Integer, List<Loss>> losses = new HashMap<>();
    private long issued;
    private long delivered;
    private long timesLost;

    EventLedger(ChaosFindings findings) {
        this.findings = findings;
    }

    /** The number that the next write carries. */
    synchronized long issue() {
        return ++issued;
    }

    /** The write with that number is committed. */
    synchronized void acknowledged(long number, int shard, long version) {
        final Long received = seen.get(number);
        if (received != null) {
            requireVersion(number, received, version);
        } else if (!isCovered(shard, version)) {
            awaited.put(number, new Awaited(shard, version));
        }
    }

    private void requireVersion(long number, long received, long acknowledged) {
        if (received != acknowledged) {
            findings.add(
                    ChaosFindings.Kind.UNEXPLAINED,
                    "the change of write " + number + " has version " + received + ", its answer " + acknowledged);
        }
    }

    /** A change came. */
    synchronized void received(int shard, long version, long number) {
        delivered++;
        final Long before = last.put(shard, version);
        if (before != null && version <= before) {
            findings.add(
                    version == before ? ChaosFindings.Kind.DOUBLED : ChaosFindings.Kind.UNEXPLAINED,
                    "shard " + shard + " delivered version " + version + " after version " + before);
        }
        if (number < 1 || number > issued) {
            findings.add(ChaosFindings.Kind.UNEXPLAINED, "a change of a write that never was: " + number);
            return;
        }
        final Long earlier = seen.putIfAbsent(number, version);
        if (earlier != null && earlier != version) {
            findings.add(
                    ChaosFindings.Kind.DOUBLED,
                    "write " + number + " of shard " + shard + " took effect in versions " + earlier + " and "
                            + version);
        }
        final Awaited expected = awaited.remove(number);
        if (expected != null) {
            requireVersion(number, version, expected.version());
        }
    }

    /** Any changes of the shard in that interval may be missing. */
    synchronized void lost(int shard, long after, long upTo) {
        timesLost++;
        losses.computeIfAbsent(shard, unused -> new ArrayList<>()).add(new Loss(after, upTo));
        awaited.values().removeIf(each -> each.shard() == shard && isCovered(shard, each.version()));
    }

    private boolean isCovered(int shard, long version) {
        return losses.getOrDefault(shard, List.of()).stream().anyMatch(loss -> loss.covers(version));
    }

    /** Whether every acknowledged change was received, or its loss reported. */
    synchronized boolean isComplete() {
        return awaited.isEmpty();
    }

    /** Nothing more comes: what is still awaited is lost, silently. */
    synchronized void requireComplete() {
        awaited.forEach((number, each) -> findings.add(
                ChaosFindings.Kind.LOST,
                "the change of write " + number + ", version " + each.version() + " of shard " + each.shard()
                        + ", was never delivered, and no loss was reported"));
        awaited.clear();
    }

    /** Received changes. */
    synchronized long delivered() {
        return delivered;
    }

    /** Reported losses, each of one shard. */
    synchronized long timesLost() {
        return timesLost;
    }
}
