package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.protocol.Change;

/**
 * The changes received by a subscriber. Fails immediately and permanently if a shard's changes arrive out of version
 * order.
 */
final class HeardChanges implements ChangeListener {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Map<Integer, Long> positions = new HashMap<>();
    private final Map<String, List<Change>> byKey = new HashMap<>();
    private final List<String> faults = new ArrayList<>();
    private int count;
    private int losses;

    @Override
    public synchronized void onChange(int shard, Change change) {
        if (change.version() <= positions.getOrDefault(shard, 0L)) {
            faults.add("shard " + shard + ": " + change.version() + " after " + positions.get(shard));
        }
        positions.put(shard, change.version());
        byKey.computeIfAbsent(new String(change.key(), StandardCharsets.UTF_8), key -> new ArrayList<>())
                .add(change);
        count++;
    }

    @Override
    public synchronized void onEventsLost(int shard, long after, long upTo) {
        if (after < positions.getOrDefault(shard, 0L) || upTo <= after) {
            faults.add("shard " + shard + ": lost from " + after + " to " + upTo + " after " + positions.get(shard));
        }
        positions.put(shard, upTo);
        losses++;
    }

    synchronized int count() {
        requireOrder();
        return count;
    }

    synchronized int losses() {
        requireOrder();
        return losses;
    }

    private void requireOrder() {
        assertThat(faults).isEmpty();
    }

    /** Of a key. */
    synchronized List<Change> of(String key) {
        requireOrder();
        return List.copyOf(byKey.getOrDefault(key, List.of()));
    }

    List<Long> versionsOf(String key) {
        return of(key).stream().map(Change::version).toList();
    }

    void awaitCount(int expected) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(2)).until(() -> count() >= expected);
    }

    void awaitLoss() {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(2)).until(() -> losses() > 0);
    }
}
