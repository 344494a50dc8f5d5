package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.retention.RetentionWorker.Outcome;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCache;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** How long callers wait for an eviction without progress. */
@Tag("mocked")
class EvictionAgentTest {
    private static final int CACHE = 3;
    private static final int OBJECTS = 20;
    private static final int SEGMENT = 64 << 10;
    private static final int CYCLES = 2000;

    private final KeyHash keyHash = new KeyHash(7);
    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 16 * SEGMENT, SEGMENT, 0, 5, 1, Durability.NONE),
                    new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            12 * SEGMENT);
    private final ShardReplica replica = new ShardReplica(0, 1, keyHash, segments, 1);
    private final CurrentRoles roles = RolesOfOne.current(List.of(new ShardPrimary(replica, new VersionCounter(1))), 1);
    private final LimitedCaches caches = new LimitedCaches(() -> roles.get().counts(), 1, () -> 0, new Space(0));
    private final ManualClock clock = new ManualClock();
    private final RetentionWorker worker = mock(RetentionWorker.class);
    private long quietCycles;
    private final EvictionAgent eviction =
            new EvictionAgent(roles, caches, worker, segments, clock, () -> true, () -> quietCycles);

    @BeforeEach
    void fill() {
        when(worker.canReadKey(anyLong())).thenReturn(true);
        when(worker.positionOf(any(), any(), anyInt()))
                .thenAnswer(asked -> replica.positionOf(
                        asked.<ByteBuffer>getArgument(1), asked.<Integer>getArgument(2), new byte[16]));
        final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
        final EntryDraft draft = new EntryDraft();
        long version = Version.of(1, 0);
        for (int i = 0; i < OBJECTS; i++) {
            final byte[] key = ("k" + i).getBytes(StandardCharsets.US_ASCII);
            version = Version.next(version);
            draft.begin(EntryType.PUT, 0, CACHE)
                    .key(key, 0, key.length)
                    .request(0, 0, 0)
                    .version(version)
                    .value(new byte[100], 0, 100);
            final int length = EntryDescriptor.aligned((int) draft.usedLength());
            assertThat(log.ensureRoom(length)).isTrue();
            final long address = log.append(draft, 1);
            replica.apply(
                    1, replica.positionOf(keyHash.hash(CACHE, key, 0, key.length)), address, EntryType.PUT, length);
        }
        caches.limit(CACHE, "limited", new CacheLimit(OBJECTS / 2, 0));
        assertThat(cache().mustWait()).isTrue();
    }

    private LimitedCache cache() {
        final LimitedCache cache = caches.find(CACHE);
        assertThat(cache).isNotNull();
        return cache;
    }

    private void step(Outcome outcome, int times) {
        when(worker.step()).thenReturn(outcome);
        for (int i = 0; i < times; i++) {
            clock.advanceNs(1_000_000);
            eviction.doWork();
        }
    }

    /**
     * As when a segment is full and the cleaner is still freeing the next; or when other workers must advance first.
     */
    @ParameterizedTest
    @EnumSource(
            value = Outcome.class,
            names = {"WITHOUT_ROOM", "AHEAD"})
    void shouldKeepCallersWaitingHoweverLongOthersHaveSomethingToDo(Outcome outcome) {
        step(outcome, CYCLES);
        assertThat(cache().mustWait()).isTrue();
        assertThat(eviction.isAtWork()).isTrue();
    }

    @Test
    void shouldLetCallersThroughWhenNobodyCanMakeRoom() {
        step(Outcome.WITHOUT_ROOM, 10);
        assertThat(eviction.isGivingSpace()).as("so that cycles can be settled").isFalse();
        quietCycles++;
        step(Outcome.WITHOUT_ROOM, 10);
        assertThat(cache().mustWait()).as("that cycle may have begun before").isTrue();
        quietCycles++;
        step(Outcome.WITHOUT_ROOM, 2);
        assertThat(cache().mustWait()).isFalse();

        step(Outcome.WITHOUT_ROOM, 100);
        assertThat(cache().mustWait()).isFalse();
        when(worker.answerHas(ResultBits.EVICTED)).thenReturn(true);
        step(Outcome.ANSWERED, 12);
        assertThat(cache().mustWait()).isTrue();
        assertThat(eviction.isGivingSpace()).isTrue();
    }

    @Test
    void shouldLetCallersThroughWhenTheyHoldTheLocksOfAllThatCouldGo() {
        step(Outcome.LOCKED, 10);
        assertThat(cache().mustWait()).isFalse();
    }

    /** Only a cycle that attempted an eviction proves that there is nothing to free. */
    @Test
    void shouldCountAsGivingSpaceBetweenItsAttempts() {
        while (segments.allocate(SegmentOwner.WORKER, 0) >= 0) {
            assertThat(segments.freeCount()).isNotNegative();
        }
        step(Outcome.WITHOUT_ROOM, 1);
        assertThat(eviction.isGivingSpace()).isFalse();
        eviction.doWork(); // at the same time
        assertThat(eviction.isGivingSpace()).isTrue();
        step(Outcome.WITHOUT_ROOM, 1);
        assertThat(eviction.isGivingSpace()).isFalse();
    }

    /** An index after the last cache, as after caches have lost their limits, wraps to the first. */
    @Test
    void shouldFindTheCacheThatHasGrownWhereverTheRoundStands() throws ReflectiveOperationException {
        for (int other = CACHE + 1; other < CACHE + 10; other++) {
            caches.limit(other, "other" + other, new CacheLimit(OBJECTS, 0));
        }
        final Field place = EvictionAgent.class.getDeclaredField("nextCache");
        place.setAccessible(true);
        place.setInt(eviction, Integer.MAX_VALUE - 2);

        step(Outcome.PENDING, 20);

        assertThat(eviction.isAtWork()).isTrue();
    }

    @Test
    void shouldLetCallersThroughWhileItFails() {
        when(worker.step()).thenThrow(new IllegalStateException("a bug"));
        assertThatThrownBy(eviction::doWork).hasMessage("a bug");
        assertThat(cache().mustWait()).as("what fails ends nothing").isFalse();

        doReturn(Outcome.ANSWERED).when(worker).step();
        when(worker.answerHas(ResultBits.EVICTED)).thenReturn(true);
        clock.advanceNs(100_000_000);
        eviction.doWork();
        assertThat(cache().mustWait()).as("it goes on").isTrue();
    }

    @Test
    void shouldEvictNothingFromAShardThatIsAnotherServersNow() {
        step(Outcome.LOCKED, 1);
        clearInvocations(worker);
        RolesOfOne.replace(roles, RolesOfOne.without(roles.get().configuration(), 0));
        step(Outcome.ANSWERED, 20);
        verify(worker, never()).beginEviction(any(), any(), anyLong());
        assertThat(eviction.isAtWork()).isFalse();
        assertThat(cache().mustWait()).as("its puts go elsewhere").isFalse();
    }
}
