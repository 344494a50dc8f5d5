package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.replication.Replicator;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/**
 * A primary of one shard with a worker for callers and one for the agents. Its backup acknowledges when the test lets
 * it.
 */
final class OnePrimary {
    private static final int SEGMENT = 64 << 10;

    final KeyHash keyHash = new KeyHash(7);
    final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 32 * SEGMENT, SEGMENT, 0, 5, 1, Durability.NONE),
                    new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            24 * SEGMENT);
    final ShardReplica replica = new ShardReplica(0, 1, keyHash, segments, 1);
    final ShardPrimary primary = new ShardPrimary(replica, new VersionCounter(1));
    final CurrentRoles roles = RolesOfOne.current(List.of(primary), 1);
    final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final InFlightWindow inFlightWindow = new InFlightWindow(2);
    private final Worker callers = worker(0);
    final RetentionWorker retention = new RetentionWorker(worker(1), segments);
    /** The backup does not acknowledge. */
    boolean awaited;

    private Worker worker(int slot) {
        return new Worker(
                slot,
                1,
                0,
                segments,
                roles,
                AnswerPermit.ALWAYS,
                new Backup(),
                inFlightWindow,
                new NoOthers(),
                clock,
                new LimitedCaches(() -> roles.get().counts(), 1, () -> 0, new Space(0)),
                1);
    }

    /** Another server becomes the primary of the shard. */
    void loseShard() {
        RolesOfOne.replace(roles, RolesOfOne.without(roles.get().configuration(), 0));
    }

    private void answer(Request request) {
        callers.begin(primary, request);
        assertThat(callers.advance()).isTrue();
        assertThat(request.status()).isEqualTo(Status.OK);
    }

    void put(int cache, String key, int valueLength, long ttlMs) {
        final byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        final Request put = new Request().put(cache, name, 0, name.length, new byte[valueLength], 0, valueLength);
        put.placed(keyHash.hash(cache, name, 0, name.length), 0);
        answer(put.ttl(ttlMs, ttlMs));
    }

    /** Puts what the request says. */
    void put(Request put) {
        put.placed(keyHash.hash(put.cacheId(), put.key(), put.keyOffset(), put.keyLength()), 0);
        answer(put);
    }

    void clear(int cache) {
        answer(new Request().clear(cache, 0));
    }

    void openSession(long session) {
        answer(new Request().openSession(0, session, primary.versions().last()));
    }

    long positionOf(int cache, String key) {
        final byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        return replica.positionOf(keyHash.hash(cache, name, 0, name.length));
    }

    long addressOf(int cache, String key) {
        final byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        return replica.index().find(positionOf(cache, key), cache, name, 0, name.length);
    }

    private final class Backup implements Replicator {
        @Override
        public Replication newReplication() {
            return new Replication() {
                @Override
                public int acquireCredit(int shard, int usedLength) {
                    return -1;
                }

                @Override
                public void returnCredit() {
                    // It has no account.
                }

                @Override
                public void begin(int shard, long address) {
                    // The content sent is irrelevant here.
                }

                @Override
                public boolean advance() {
                    return !awaited;
                }

                @Override
                public void interrupted() {
                    // Nothing was counted.
                }

                @Override
                public void acknowledgementsLost() {
                    // Nothing was counted.
                }
            };
        }

        @Override
        public void poll() {
            // There is nothing to poll.
        }

        @Override
        public void releaseCredit() {
            // It has no account.
        }

        @Override
        public void releaseSpareCredit() {
            // It has no account.
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }

    /** No server frees space. */
    private static final class NoOthers implements SpacePressure {
        @Override
        public void wakeUp(int server) {
            // There are no agents.
        }

        @Override
        public void requestSpace(int server) {
            // There is no cleaner.
        }

        @Override
        public boolean isExpiring(long sinceNs) {
            return false;
        }

        @Override
        public long quietCycles(int server) {
            return 0;
        }
    }
}
