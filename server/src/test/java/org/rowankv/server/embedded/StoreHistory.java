package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * Client operations on a store, step by step: objects with and without lifetimes, large ones in blocks, clears, caches
 * destroyed and re-created, limits, sessions with lost replies and retries, and overwrites until the cleaner moves live
 * entries. Continues over any number of starts.
 */
final class StoreHistory {
    /** Kind of a step; its seed decides the details. */
    enum Kind {
        PUT,
        REMOVE,
        TOUCH,
        CLEAR,
        DESTROY,
        LIMIT,
        OPEN_SESSION,
        CLOSE_SESSION,
        RETRY,
        CHURN,
        /** An object and a session begin in one log and end in the other, which is then filled. */
        BURY,
        CYCLES,
        TIME,
        /** Some cycles of the checkpoint agents, while all others pause. */
        CHECKPOINT_TURN,
        CHECKPOINT,
        /** Ends the process, in the middle of the next steps or between two of them. */
        KILL,
        CLOSE
    }

    /** One step. */
    record Step(Kind kind, int seed) {
        @Override
        public String toString() {
            return kind + "#" + seed;
        }
    }

    /** A request whose reply was lost, and its answer. */
    private record Lost(Call call, long sequence, Status status, long version) {}

    /** Builds a request; once for each attempt. */
    private interface Call {
        void prepare(Request asked);
    }

    /** A client's session at one shard. */
    private static final class Line {
        final int shard;
        final long id;
        long next = 1;
        final List<Lost> lost = new ArrayList<>();

        Line(int shard, long id) {
            this.shard = shard;
            this.id = id;
        }

        /** How many requests before that sequence the client counts as unanswered. */
        int unanswered(long sequence) {
            return (int)
                    (sequence - lost.stream().mapToLong(Lost::sequence).min().orElse(sequence));
        }
    }

    private static final int KEYS = 24;
    private static final int[] LENGTHS = {0, 40, 40, 300, 300, 900, 2_500, 7_000};
    private static final long[] LIFETIMES = {Ttl.ETERNAL, Ttl.ETERNAL, 30, 2_000, 100_000};
    private static final int MOST_LINES = 12;
    private static final int MOST_LOST = 6;
    private static final int MOST_AGE = 300;
    private static final String[] CACHES = {"a", "b", "c"};
    private static final String BALLAST = "ballast";

    private final Request request = new Request();
    private final List<Line> lines = new ArrayList<>();
    private final Set<Long> closed = new HashSet<>();
    /** Sessions closed since a checkpoint was taken. */
    private final Set<Long> closedLately = new HashSet<>();

    private final CallerThread second;
    private SteppedStore store;
    private long nextSession = 1;
    private boolean killed;

    /** @param second takes every other step */
    StoreHistory(SteppedStore store, CallerThread second) {
        this.store = store;
        this.second = second;
    }

    /** Continues with the next start of the store. */
    void goOn(SteppedStore next) {
        store = next;
        killed = false;
    }

    /** The process has ended: the reply of the pending request is lost, and no more follow. */
    void kill() {
        killed = true;
    }

    SteppedStore store() {
        return store;
    }

    /** All sessions that were ever closed. */
    Set<Long> closed() {
        return closed;
    }

    /** By session, the sequences of unanswered requests, which its client may repeat. */
    Map<Long, Set<Long>> unanswered() {
        return lines.stream()
                .collect(Collectors.toMap(
                        line -> line.id,
                        line -> line.lost.stream().map(Lost::sequence).collect(Collectors.toSet())));
    }

    /** Sessions closed after the newest checkpoint. */
    Set<Long> closedLately() {
        return closedLately;
    }

    /** Takes a step, on one of two threads; ends early after {@link #kill}. */
    void take(Step step) {
        final Random drawn = new Random(step.seed());
        // Steps that fill logs and removals go to one log, most others to the other, which stays open for long.
        final boolean fills = step.kind() == Kind.CHURN || step.kind() == Kind.REMOVE;
        if (step.kind() != Kind.BURY && drawn.nextInt(4) == 0 ^ fills) {
            second.run(() -> take(step, drawn));
        } else {
            take(step, drawn);
        }
    }

    private void take(Step step, Random drawn) {
        final long checkpoints = store.cluster().checkpoints().taken();
        switch (step.kind()) {
            case PUT -> put(drawn);
            case REMOVE -> mutate(drawn, cacheOf(drawn), keyOf(drawn), removal());
            case TOUCH -> touch(drawn);
            case CLEAR -> clear(drawn);
            case DESTROY -> store.cluster().session().catalogue().destroy(cacheOf(drawn));
            case LIMIT -> limit(drawn);
            case OPEN_SESSION -> open(drawn);
            case CLOSE_SESSION -> close(drawn);
            case RETRY -> retry(drawn);
            case CHURN -> churn(drawn);
            case BURY -> bury(drawn);
            case CYCLES -> store.agents().step(1 + drawn.nextInt(80));
            case TIME -> store.clock().advanceMs(drawn.nextInt(3_000));
            case CHECKPOINT_TURN -> {
                store.clock().advanceMs(store.cluster().settings().checkpointIntervalMs());
                for (int i = 1 + drawn.nextInt(8); i > 0; i--) {
                    store.agents().stepCheckpoints();
                }
            }
            case CHECKPOINT -> store.takeCheckpoints();
            case KILL, CLOSE -> throw new IllegalArgumentException("a start follows " + step);
        }
        if (store.cluster().checkpoints().taken() != checkpoints) {
            checkpointed();
        }
    }

    /** A checkpoint of some server was taken. */
    void checkpointed() {
        closedLately.clear();
    }

    private static String cacheOf(Random drawn) {
        return CACHES[drawn.nextInt(CACHES.length)];
    }

    private static String keyOf(Random drawn) {
        return "k" + drawn.nextInt(KEYS);
    }

    /** The cache's id; creates the cache if necessary. */
    private int idOf(String cache) {
        return store.cluster().session().catalogue().create(cache, new byte[0]).id();
    }

    // --- requests ---

    /** A request for a key, without its session. */
    private interface Keyed {
        Request of(Request asked, int cacheId, byte[] key);
    }

    private static Keyed removal() {
        return (asked, cacheId, key) -> asked.delete(cacheId, key, 0, key.length);
    }

    private void put(Random drawn) {
        final String cache = cacheOf(drawn);
        final String key = keyOf(drawn);
        final byte[] value = Stores.value(key, drawn.nextInt(), LENGTHS[drawn.nextInt(LENGTHS.length)]);
        final long lifetime = LIFETIMES[drawn.nextInt(LIFETIMES.length)];
        final Condition condition = drawn.nextInt(4) == 0 ? Condition.IF_ABSENT : Condition.ALWAYS;
        final boolean needsOld = drawn.nextBoolean();
        mutate(
                drawn,
                cache,
                key,
                (asked, cacheId, name) -> asked.put(cacheId, name, 0, name.length, value, 0, value.length)
                        .when(condition)
                        .ttl(lifetime, lifetime)
                        .requestValue(needsOld));
    }

    /** Another lifetime, by a touch or by a read; or a put of the current version. */
    private void touch(Random drawn) {
        final String cache = cacheOf(drawn);
        final String key = keyOf(drawn);
        final long lifetime = LIFETIMES[drawn.nextInt(LIFETIMES.length)];
        call(drawn, null, placed(cache, key, (asked, cacheId, name) -> asked.get(cacheId, name, 0, name.length)));
        final long version = request.version();
        final int way = drawn.nextInt(3);
        mutate(drawn, cache, key, (asked, cacheId, name) -> switch (way) {
            case 0 -> asked.touch(cacheId, name, 0, name.length, version, lifetime);
            case 1 -> asked.get(cacheId, name, 0, name.length).accessTtl(lifetime);
            default ->
                asked.put(cacheId, name, 0, name.length, name, 0, name.length).when(Condition.IF_VERSION, version);
        });
    }

    private void clear(Random drawn) {
        final int cacheId = idOf(cacheOf(drawn));
        for (int shard = 0; shard < store.cluster().configuration().shardCount(); shard++) {
            final int each = shard;
            call(drawn, lineAt(drawn, shard), asked -> asked.clear(cacheId, each));
        }
    }

    private void limit(Random drawn) {
        final String cache = cacheOf(drawn);
        final int id = idOf(cache);
        assertThat(id).isPositive();
        store.cluster()
                .session()
                .catalogue()
                .limit(cache, drawn.nextInt(3) == 0 ? CacheLimit.NONE : new CacheLimit(4 + drawn.nextInt(12), 0));
    }

    private void churn(Random drawn) {
        for (int i = 0; i < 30 && !killed; i++) {
            final String key = "b" + drawn.nextInt(40);
            final byte[] value = Stores.value(key, drawn.nextInt(), 200 + drawn.nextInt(3_000));
            call(
                    drawn,
                    null,
                    placed(
                            BALLAST,
                            key,
                            (asked, cacheId, name) ->
                                    asked.put(cacheId, name, 0, name.length, value, 0, value.length)));
        }
    }

    private void bury(Random drawn) {
        final String key = "buried" + drawn.nextInt(4);
        final byte[] value = Stores.value(key, drawn.nextInt(), 40 + drawn.nextInt(200));
        call(
                drawn,
                null,
                placed(
                        BALLAST,
                        key,
                        (asked, cacheId, name) -> asked.put(cacheId, name, 0, name.length, value, 0, value.length)));
        final Line opened = open(drawn);
        second.run(() -> {
            call(drawn, null, placed(BALLAST, key, removal()));
            if (opened != null) {
                close(opened);
            }
            for (int i = 0; i < 24; i++) {
                final byte[] filling = Stores.value("b" + i, drawn.nextInt(), 2_800);
                call(
                        drawn,
                        null,
                        placed(
                                BALLAST,
                                "b" + i,
                                (asked, cacheId, name) ->
                                        asked.put(cacheId, name, 0, name.length, filling, 0, filling.length)));
            }
        });
    }

    private void mutate(Random drawn, String cache, String key, Keyed keyed) {
        final Call call = placed(cache, key, keyed);
        call(drawn, lineAt(drawn, shardOf(call)), call);
    }

    private Call placed(String cache, String key, Keyed keyed) {
        final int cacheId = idOf(cache);
        final byte[] name = bytes(key);
        final long hash = new KeyHash(store.cluster().configuration().hashSeed()).hash(cacheId, name, 0, name.length);
        final int shard = ShardMap.shardOf(hash, store.cluster().configuration().shardCount());
        return asked -> keyed.of(asked, cacheId, name).placed(hash, shard);
    }

    private int shardOf(Call call) {
        call.prepare(request);
        return request.shard();
    }

    /** The session of the request, if any. */
    private @Nullable Line lineAt(Random drawn, int shard) {
        final List<Line> there =
                lines.stream().filter(line -> line.shard == shard).toList();
        return there.isEmpty() || drawn.nextInt(3) == 0 ? null : there.get(drawn.nextInt(there.size()));
    }

    /** Sends; with a session the reply may be lost. */
    private void call(Random drawn, @Nullable Line line, Call call) {
        if (killed) {
            return;
        }
        call.prepare(request);
        if (line == null) {
            store.cluster().session().call(request);
            return;
        }
        final long sequence = line.next++;
        line.lost.removeIf(lost -> sequence - lost.sequence > MOST_AGE); // its client has given up
        request.identified(line.id, sequence, line.unanswered(sequence));
        store.cluster().session().call(request);
        if (killed) {
            line.lost.add(new Lost(call, sequence, Status.OUTCOME_UNKNOWN, 0));
        } else if (drawn.nextInt(3) == 0 && line.lost.size() < MOST_LOST) {
            line.lost.add(new Lost(call, sequence, request.status(), request.version()));
        }
    }

    /** A client retries a request without a reply; an applied one must not be applied again. */
    private void retry(Random drawn) {
        final List<Line> waiting =
                lines.stream().filter(line -> !line.lost.isEmpty()).toList();
        if (waiting.isEmpty()) {
            return;
        }
        final Line line = waiting.get(drawn.nextInt(waiting.size()));
        final Lost lost = line.lost.get(drawn.nextInt(line.lost.size()));
        lost.call.prepare(request);
        request.identified(line.id, lost.sequence, line.unanswered(lost.sequence));
        store.cluster().session().call(request);
        if (killed) {
            return;
        }
        if (lost.status == Status.OK && lost.version != 0 && request.operation() != Operation.GET) {
            assertThat(request.status())
                    .as("a retry of request %d of session %d", lost.sequence, line.id)
                    .isEqualTo(Status.OK);
            assertThat(request.version()).isEqualTo(lost.version);
        }
        line.lost.remove(lost);
    }

    private @Nullable Line open(Random drawn) {
        if (killed || lines.size() == MOST_LINES) {
            return null;
        }
        final Line line = new Line(drawn.nextInt(store.cluster().configuration().shardCount()), nextSession++);
        final Request opened = Stores.openSession(store.cluster(), line.shard, line.id);
        if (killed || opened.status() != Status.OK) {
            return null;
        }
        lines.add(line);
        return line;
    }

    private void close(Random drawn) {
        if (!lines.isEmpty()) {
            close(lines.get(drawn.nextInt(lines.size())));
        }
    }

    private void close(Line line) {
        if (killed) {
            return;
        }
        lines.remove(line);
        store.cluster().session().call(request.closeSession(line.shard, line.id));
        if (!killed) {
            closed.add(line.id);
            closedLately.add(line.id);
        }
    }
}
