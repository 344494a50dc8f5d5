package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.dispatch.MutationPipeline;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Requests of one event loop, many in flight in one worker context, while the backup is unreachable. */
class MutationPipelineTest {
    private static final int CACHE = 1;
    private static final int KEYS = 12;
    private static final int SLOTS = ClusterBed.WORKERS * ClusterSettings.DEFAULT_MUTATIONS_PER_WORKER;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path dir;

    private Configuration configuration;
    private Server server;
    private MutationPipeline calls;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private Request placed(Request request) {
        final long hash = new KeyHash(configuration.hashSeed()).hash(CACHE, request.key(), 0, request.keyLength());
        request.placed(hash, ShardMap.shardOf(hash, configuration.shardCount()));
        return request;
    }

    /** Keys of which none waits for the lock of another. */
    private List<byte[]> ownKeys() {
        final List<byte[]> own = new ArrayList<>();
        final Set<Long> stripes = new HashSet<>();
        for (int i = 0; own.size() < KEYS; i++) {
            final byte[] key = bytes("key" + i);
            final Request request = placed(new Request().get(CACHE, key, 0, key.length));
            final long stripe =
                    request.shard() * 64L + (ShardMap.positionOf(request.hash(), configuration.shardCount()) >>> 58);
            if (server.isPrimary(request.shard()) && stripes.add(stripe)) {
                own.add(key);
            }
        }
        return own;
    }

    private Request put(byte[] key, String value) {
        return placed(new Request().put(CACHE, key, 0, key.length, bytes(value), 0, bytes(value).length));
    }

    private String read(byte[] key) {
        final Request get = placed(new Request().get(CACHE, key, 0, key.length));
        await().atMost(PATIENCE).until(() -> {
            server.requests().call(get);
            return get.status() != Status.NOT_PRIMARY; // until it has a lease again
        });
        assertThat(get.status()).isEqualTo(Status.OK);
        return new String(get.resultBytes(), StandardCharsets.UTF_8);
    }

    private void untilAnswered(List<PollableCall> begun) {
        final List<PollableCall> left = new ArrayList<>(begun);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
            calls.poll();
            left.removeIf(PollableCall::step);
            calls.poll();
            return left.isEmpty();
        });
    }

    private List<byte[]> writtenBeforeTheBackupWentAway(ClusterBed bed) {
        bed.startAll();
        configuration = bed.configuration();
        server = bed.server(0);
        calls = server.callsOfLoop(0, 1);
        final List<byte[]> keys = ownKeys();
        final List<PollableCall> first = new ArrayList<>();
        keys.forEach(key -> first.add(calls.callOf(put(key, "first!"))));
        untilAnswered(first);

        bed.members.get(1).proxy.refuse(true);
        assertThat(bed.members.get(1).proxy.cut()).isPositive();
        return keys;
    }

    @Test
    void shouldGoOnWithAllThatWasUnderWayWhenTheBackupIsThereAgain() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20)) {
            final List<byte[]> keys = writtenBeforeTheBackupWentAway(bed);
            final List<PollableCall> second = new ArrayList<>();
            for (byte[] key : keys) {
                final PollableCall call = calls.callOf(put(key, "second"));
                assertThat(call.step()).isFalse();
                assertThat(call.awaitsWorker()).isFalse();
                second.add(call);
            }
            calls.poll();
            // All of them in one context: the others are free.
            final List<PollableCall> elsewhere = new ArrayList<>();
            for (int context = 1; context < ClusterBed.WORKERS; context++) {
                final PollableCall call = server.requests().stepped(put(keys.get(0), "third!"));
                assertThat(call.step()).isFalse();
                assertThat(call.awaitsWorker()).isFalse();
                elsewhere.add(call);
            }
            final PollableCall oneTooMany = server.requests().stepped(put(keys.get(0), "none"));
            assertThat(oneTooMany.step()).isFalse();
            assertThat(oneTooMany.awaitsWorker()).isTrue();
            elsewhere.forEach(PollableCall::abandon);

            bed.members.get(1).proxy.refuse(false);
            untilAnswered(second);
            await().atMost(PATIENCE).until(server.spaceRequests()::releaseGrants);
            for (byte[] key : keys.subList(1, KEYS)) {
                assertThat(read(key)).isEqualTo("second");
            }
        }
    }

    private PollableCall begun(byte[] key, String value) {
        final PollableCall call = calls.callOf(put(key, value));
        assertThat(call.step()).isFalse();
        return call;
    }

    /** A key of a shard of this server with all those backups and without that one. */
    private byte[] keyWith(List<Integer> backups, int without) {
        return IntStream.range(0, 10_000)
                .mapToObj(i -> bytes("key" + i))
                .filter(key -> {
                    final int shard = put(key, "").shard();
                    return server.isPrimary(shard)
                            && backups.stream().allMatch(configuration.shard(shard)::isReplica)
                            && !configuration.shard(shard).isReplica(without);
                })
                .findFirst()
                .orElseThrow();
    }

    /** Begins writes until one has to wait for a slot, and returns all. */
    private List<PollableCall> fill(byte[] stuck) {
        final List<PollableCall> all = new ArrayList<>();
        do {
            all.add(begun(stuck, "second"));
        } while (!all.get(all.size() - 1).awaitsWorker());
        return all;
    }

    private void open(ClusterBed bed) {
        bed.startAll();
        configuration = bed.configuration();
        server = bed.server(0);
        calls = server.callsOfLoop(0, 1);
    }

    private static void leave(ClusterBed.Member member) {
        member.proxy.refuse(true);
        assertThat(member.proxy.cut()).isPositive();
    }

    @Test
    void shouldLeaveSlotsToShardsWithoutTheBackupThatIsAway() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 16 << 20).withLongLease()) {
            open(bed);
            final ClusterBed.Member member = bed.members.get(1);
            final int lost = member.server.serverId();
            final int there = bed.members.get(2).server.serverId();
            final byte[] stuck = keyWith(List.of(lost), there);
            final byte[] other = keyWith(List.of(there), lost);
            for (int round = 0; round < 2; round++) {
                leave(member);
                final List<PollableCall> all = fill(stuck);
                try {
                    assertThat(all).hasSizeGreaterThan(SLOTS / 2);
                    untilAnswered(List.of(begun(other, "first!")));
                    untilAnswered(List.of(begun(other, "first!")));
                    assertThat(all).noneMatch(PollableCall::step);
                } finally {
                    member.proxy.refuse(false);
                    untilAnswered(all);
                }
            }
        }
    }

    @Test
    void shouldLeaveSlotsToShardsThatShareTheirBackupsWithTheStuckOnes() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 4, 3, 16 << 20).withLongLease()) {
            open(bed);
            final ClusterBed.Member member = bed.members.get(1);
            final int lost = member.server.serverId();
            final int second = bed.members.get(2).server.serverId();
            final int third = bed.members.get(3).server.serverId();
            final byte[] other = keyWith(List.of(second, third), lost);
            leave(member);
            final List<PollableCall> all = new ArrayList<>(fill(keyWith(List.of(lost, second), third)));
            try {
                untilAnswered(List.of(begun(other, "first!")));
                all.addAll(fill(keyWith(List.of(lost, third), second)));
                untilAnswered(List.of(begun(other, "second")));
                assertThat(all).noneMatch(PollableCall::step);
            } finally {
                member.proxy.refuse(false);
                untilAnswered(all);
            }
        }
    }

    @Test
    void shouldNotCountWhatOthersHaveFinishedInItsContexts() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 16 << 20).withLongLease()) {
            open(bed);
            final ClusterBed.Member member = bed.members.get(1);
            final byte[] stuck = keyWith(
                    List.of(member.server.serverId()), bed.members.get(2).server.serverId());
            leave(member);
            fill(stuck).forEach(PollableCall::abandon);
            member.proxy.refuse(false);
            await().atMost(PATIENCE).until(server.spaceRequests()::releaseGrants);
            untilAnswered(List.of(begun(stuck, "third!")));
        }
    }

    @Test
    void shouldFinishWhatNobodyWaitsForAnyMore() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20)) {
            final List<byte[]> keys = writtenBeforeTheBackupWentAway(bed);
            final PollableCall left = calls.callOf(put(keys.get(0), "second"));
            assertThat(left.step()).isFalse();
            final PollableCall awaited = calls.callOf(put(keys.get(1), "second"));
            assertThat(awaited.step()).isFalse();
            left.abandon();
            final PollableCall next = calls.callOf(put(keys.get(0), "third!"));
            assertThat(next.step()).isFalse(); // the abandoned one holds the key's lock

            bed.members.get(1).proxy.refuse(false);
            untilAnswered(List.of(awaited, next));
            assertThat(read(keys.get(0))).isEqualTo("third!");
            assertThat(read(keys.get(1))).isEqualTo("second");

            final PollableCall last = calls.callOf(put(keys.get(2), "second"));
            assertThat(last.step()).isFalse();
            last.abandon(); // with nothing else in flight: completed by the next owner
            await().atMost(PATIENCE).until(server.spaceRequests()::releaseGrants);
            assertThat(read(keys.get(2))).isEqualTo("second");
        }
    }
}
