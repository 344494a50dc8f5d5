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
 * Takes one server's area away between two rounds, now this one's, now that one's, wherever complete replicas of all shards
 * are left on the others; and says which areas must hold everything by themselves, as the stored configuration has it.
 */
final class Removals {
    private final int every;
    private final long[] removedInTerm = new long[CrashSettings.SERVERS];
    private int removed;
    private int seenJoining;

    /** @param every so many rounds one is removed; 0: never */
    Removals(int every) {
        if (every < 0) {
            throw new IllegalArgumentException("every " + every + " rounds");
        }
        this.every = every;
    }

    /** A new store begins. */
    void newStore() {
        Arrays.fill(removedInTerm, 0);
    }

    private static Configuration configuration(Path store) {
        return ConfigurationImage.read(store.resolve("configuration")).configuration();
    }

    private static Path area(Path store, int server) {
        return store.resolve("area-" + server + ".rowan");
    }

    /** Between a round that was judged and the next on the same store, which was opened once at least. */
    void afterRound(int round, Path store) throws IOException {
        if (every == 0 || round % every != 0) {
            return;
        }
        final int server = round / every % CrashSettings.SERVERS;
        final Configuration found = configuration(store);
        // Who was removed before, and whose loss no start has noted yet, is lost as well.
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

    /** Removed, and no start since has got so far as to store that. */
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

    /** Areas taken away so far. */
    int removed() {
        return removed;
    }

    /** How often an area was found joining when a round was judged. */
    int seenJoining() {
        return seenJoining;
    }
}
