package org.rowankv.check.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.rowankv.server.inspect.ConfigurationImage;
import org.rowankv.topology.Configuration;

/**
 * Removals of one server's area between two rounds, in rotation, wherever the others keep complete replicas of all
 * shards. Also reports which areas must be complete by themselves, according to the stored configuration.
 */
final class Removals {
    private final int every;
    private final long[] removedInTerm = new long[CrashSettings.SERVERS];
    private int removed;
    private int seenJoining;

    /** @param every rounds between two removals; 0: never */
    Removals(int every) {
        if (every < 0) {
            throw new IllegalArgumentException("every " + every + " rounds");
        }
        this.every = every;
    }

    /** Resets for a new store. */
    void newStore() {
        Arrays.fill(removedInTerm, 0);
    }

    private static Configuration configuration(Path store) {
        return ConfigurationImage.read(store.resolve("configuration")).configuration();
    }

    private static Path area(Path store, int server) {
        return store.resolve("area-" + server + ".rowan");
    }

    /** Runs between a checked round and the next one on the same store, which was opened at least once. */
    void afterRound(int round, Path store) throws IOException {
        if (every == 0 || round % every != 0) {
            return;
        }
        final int server = round / every % CrashSettings.SERVERS;
        final Configuration found = configuration(store);
        // A server removed before, whose loss no start has recorded yet, is lost as well.
        final List<Integer> lost = new ArrayList<>(List.of(server));
        for (int other = 0; other < CrashSettings.SERVERS; other++) {
            if (other != server && isGone(found, other)) {
                lost.add(other);
            }
        }
        if (found.shardsLostWithout(Set.copyOf(lost)).isEmpty()) {
            Files.deleteIfExists(area(store, server));
            removedInTerm[server] = found.term();
            removed++;
        }
    }

    /** Removed, and no later start has stored that fact. */
    private boolean isGone(Configuration found, int server) {
        return removedInTerm[server] != 0 && found.term() <= removedInTerm[server];
    }

    /** The servers whose areas hold every acknowledged write of their shards. */
    List<Integer> complete(Path store) {
        final Configuration found = configuration(store);
        final List<Integer> complete = new ArrayList<>();
        for (int server = 0; server < CrashSettings.SERVERS; server++) {
            if (isGone(found, server)) {
                continue;
            }
            if (found.isJoining(server)) {
                seenJoining++;
            } else {
                complete.add(server);
            }
        }
        return complete;
    }

    int removed() {
        return removed;
    }

    /** How often an area was found joining when a round was checked. */
    int seenJoining() {
        return seenJoining;
    }
}
