package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.durability.Durability;

/**
 * The power fails while a key is updated: at each 8-byte word that the update stores, in the t-log, in the backup's log
 * and in the tables. Of the words that no device has, any may survive. After a start the key has its old or its new
 * value, whole; and the new one if the update was acknowledged.
 */
@Tag("chaos")
@Timeout(value = 6, unit = TimeUnit.HOURS)
final class TornLandingTest {
    private static final int CUTS = TestScale.of(600, 100_000);
    private static final int SERVERS = 2;
    private static final int LENGTH = 400;
    private static final byte[] OLD = Stores.value("key", 1, LENGTH);
    private static final byte[] NEW = Stores.value("key", 2, LENGTH);
    private static final long NOW_NS = 1_000_000_000L;
    private static final long WALL_MS = 1_700_000_000_000L;

    /** States at the steps of the update; the last one is that in which it was acknowledged. */
    private final List<KeptStore> states = new ArrayList<>();

    private long lastChecksum;

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private static SteppedStore open(KeptStore kept, long seed) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = SERVERS;
            with.replicas = SERVERS;
            with.shards = SERVERS;
            with.workers = 1;
            with.segmentBytes = 64 << 10;
            with.capacityBytes = EmbeddedSettings.minimumCapacity(SERVERS, 1, 64 << 10);
            with.maxMessage = 1024;
            with.scrubMibPerSecond = 0;
            with.checkpointIntervalMs = 0;
            with.durability = Durability.POWER;
        });
        return SteppedStore.open(settings, kept, NOW_NS + seed, WALL_MS + seed, seed);
    }

    private static RowanClient client(SteppedStore store) {
        return new RowanClient(store.cluster().session(), store.clock(), new SplittableRandomSource(5));
    }

    private void recordState(KeptStore kept) {
        final long checksum = kept.checksum();
        if (checksum != lastChecksum) {
            lastChecksum = checksum;
            states.add(kept.copy());
        }
    }

    /** Updates the key, and records the state wherever the request or a landing may stop. */
    private void update(KeptStore kept) {
        final SteppedStore store = open(kept, 1);
        final RowanClient client = client(store);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("other"), Stores.value("other", 1, LENGTH));
        client.put(cache, bytes("key"), OLD);
        store.settle();
        store.agents().step(20);
        recordState(kept);
        Chaos.install(point -> {
            if (point.startsWith("local.") || point.startsWith("request.")) {
                recordState(kept);
            }
        });
        client.put(cache, bytes("key"), NEW);
        Chaos.reset();
        states.add(kept.copy());
    }

    private static boolean hasNew(KeptStore kept, long seed) {
        final SteppedStore store = open(kept, seed);
        final RowanClient client = client(store);
        final int cache = Stores.cache(client);
        assertThat(client.get(cache, bytes("other"))).isEqualTo(Stores.value("other", 1, LENGTH));
        final byte[] found = client.get(cache, bytes("key"));
        assertThat(found).isIn(OLD, NEW);
        return found[7] == NEW[7];
    }

    @Test
    void shouldShowTheOldValueOrTheNewOneWhateverSurvives() {
        final KeptStore scratch = new KeptStore();
        update(scratch);
        final int acknowledged = states.size() - 1;
        assertThat(acknowledged).as("steps").isGreaterThan(5);
        int step = 0;
        int word = 0;
        int rounds = 0;
        int news = 0;
        int words = 0;
        for (int cut = 0; cut < CUTS; cut++) {
            final Random random = new Random(cut);
            scratch.become(states.get(step));
            if (step < acknowledged && scratch.store(states.get(step + 1), word) < word) {
                // All words of this step were cut at.
                step++;
                word = 0;
                scratch.become(states.get(step));
            }
            words += word > 0 ? 1 : 0;
            scratch.tearWords(random);
            final boolean isNew = hasNew(scratch, cut + 2);
            news += isNew ? 1 : 0;
            if (step == acknowledged) {
                assertThat(isNew).as("acknowledged, cut %s", cut).isTrue();
                // Any number of times, since what is not forced differs each time.
                step = ++word < 10 ? step : 0;
                word = step == 0 ? 0 : word;
                rounds += step == 0 ? 1 : 0;
            } else {
                word++;
            }
            if (cut % 1_000 == 999) {
                System.out.println("torn landings: cuts=" + (cut + 1) + " within=" + words + " rounds=" + rounds
                        + " steps=" + states.size() + " new=" + news + " old=" + (cut + 1 - news) + " mixed=0 lost=0");
            }
        }
        assertThat(rounds).as("times that each word was cut at").isPositive();
        assertThat(news).isBetween(1, CUTS - 1);
    }
}
