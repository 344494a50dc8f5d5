package org.rowankv.check.crash;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.check.area.Stored;
import org.rowankv.protocol.Version;

/**
 * The states that each key may hold: the newest acknowledged one, or one that was attempted after it without a reply.
 * State of the parent across rounds.
 */
final class Expectations {
    /** A kind of wrong key state. */
    enum Fault {
        /** An acknowledged state is missing. */
        LOST,
        /** An object exists although its removal was acknowledged. */
        RESURRECTED,
        /** An object of a key that was never written. */
        FORGED
    }

    /** A key with a state that is not allowed. */
    record Finding(Fault fault, String where, int cache, int key, List<Stored> allowed, Stored found) {
        @Override
        public String toString() {
            return fault + " " + where + ": cache " + CrashKeys.cacheName(cache) + ", key k" + key + " may hold "
                    + allowed + " but holds " + found;
        }
    }

    private static final class Key {
        /** The first is the newest acknowledged state. */
        private final List<Stored> allowed = new ArrayList<>(List.of(Stored.absent(Version.NONE)));

        private long newestVersion;

        void acked(Stored state) {
            allowed.clear();
            allowed.add(state);
        }
    }

    private final List<Map<Integer, Key>> caches = new ArrayList<>();
    private final List<String> contradictions = new ArrayList<>();
    private long acked;
    private long full;

    Expectations() {
        for (int cache = 0; cache < CrashKeys.CACHES; cache++) {
            final Map<Integer, Key> keys = new HashMap<>();
            CrashKeys.all(cache).forEach(number -> keys.put(number, new Key()));
            caches.add(keys);
        }
    }

    long acked() {
        return acked;
    }

    /** Number of operations so far that were refused for lack of space. */
    long full() {
        return full;
    }

    List<String> contradictions() {
        return contradictions;
    }

    /** Adds the operations and replies of a dead child. */
    void learn(Journal journal) {
        final List<Journal.Entry> unanswered = new ArrayList<>();
        journal.forEach(entry -> {
            if (entry.state() == Journal.State.ACKED) {
                acked++;
                learnAcked(entry);
            } else if (entry.state() == Journal.State.ATTEMPTED) {
                unanswered.add(entry);
            } else if (entry.state() == Journal.State.FULL) {
                full++;
            }
        });
        // After the acknowledged ones: on a shared key another thread's may follow later in the journal.
        unanswered.forEach(this::learnAttempted);
    }

    private void learnAcked(Journal.Entry entry) {
        if (entry.kind() == Journal.Kind.CLEAR) {
            caches.get(entry.cache()).values().forEach(key -> key.acked(Stored.absent(Version.NONE)));
            return;
        }
        final Key key = key(entry);
        final Stored state = state(entry);
        final long version = entry.stored().version();
        if (entry.cache() == CrashKeys.SHARED) {
            if (version > key.newestVersion) {
                key.acked(state);
            }
        } else {
            if (version <= key.newestVersion) {
                contradictions.add("cache " + CrashKeys.cacheName(entry.cache()) + ", key k" + entry.key()
                        + ": version " + Version.toString(version) + " was given after "
                        + Version.toString(key.newestVersion));
            }
            key.acked(state);
        }
        key.newestVersion = Math.max(key.newestVersion, version);
    }

    private void learnAttempted(Journal.Entry entry) {
        if (entry.kind() == Journal.Kind.CLEAR) {
            caches.get(entry.cache()).values().forEach(key -> key.allowed.add(Stored.absent(Version.NONE)));
        } else {
            final Key key = key(entry);
            final Stored state = state(entry);
            key.allowed.add(state);
        }
    }

    private Key key(Journal.Entry entry) {
        final Key key = caches.get(entry.cache()).get(entry.key());
        if (key == null) {
            throw new IllegalStateException("the journal names a key that does not exist: " + entry);
        }
        return key;
    }

    private static Stored state(Journal.Entry entry) {
        return entry.kind() == Journal.Kind.REMOVE
                ? Stored.absent(entry.stored().version())
                : entry.stored();
    }

    /** Compares the observed objects of one cache; a key that is not in the map holds nothing. */
    List<Finding> compare(String where, int cache, Map<Integer, Stored> found) {
        final List<Finding> findings = new ArrayList<>();
        caches.get(cache).forEach((number, key) -> {
            final Stored state = found.getOrDefault(number, Stored.absent(Version.NONE));
            if (key.allowed.stream().noneMatch(state::agreesWith)) {
                findings.add(new Finding(fault(key, state), where, cache, number, List.copyOf(key.allowed), state));
            }
        });
        found.forEach((number, state) -> {
            if (!caches.get(cache).containsKey(number)) {
                findings.add(new Finding(Fault.FORGED, where, cache, number, List.of(), state));
            }
        });
        return findings;
    }

    private static Fault fault(Key key, Stored found) {
        return !found.isAbsent() && key.allowed.get(0).isAbsent() ? Fault.RESURRECTED : Fault.LOST;
    }

    /** Restricts each key to its observed state. */
    void settle(ObservedStates observed) {
        for (int cache = 0; cache < CrashKeys.CACHES; cache++) {
            final Map<Integer, Stored> states = observed.of(cache);
            caches.get(cache).forEach((number, key) -> {
                final Stored state = states.getOrDefault(number, Stored.absent(Version.NONE));
                key.acked(state);
                key.newestVersion = Math.max(key.newestVersion, state.version());
            });
        }
    }

    /** Resets to an empty store. */
    void forgetAll() {
        for (Map<Integer, Key> keys : caches) {
            keys.replaceAll((number, key) -> new Key());
        }
    }
}
