package org.rowankv.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;

/** How shards receive new epochs, and what happens if there are none. */
final class EpochAgentTest {
    private static final int SEGMENT = 64 << 10;
    private static final long SECOND_NS = 1_000_000_000;

    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 16 * SEGMENT, SEGMENT, 0, 5, 3, Durability.NONE),
                    new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            12 * SEGMENT);
    private final ManualClock clock = new ManualClock();
    private final ErrorLog errors = new ErrorLog(clock);
    private final List<ShardPrimary> primaries = new ArrayList<>();
    private final List<List<Integer>> asked = new ArrayList<>();
    private Configuration stored = Configuration.initial(1, 7, 1, 1, 3, List.of(1L));
    private boolean isAway;
    private boolean isBusy;

    private EpochAgent agent() {
        for (int shard = 0; shard < 3; shard++) {
            final VersionCounter versions =
                    shard == 2 ? new VersionCounter(1) : new VersionCounter(1, shard, CounterStarts.nearEnds(0));
            primaries.add(new ShardPrimary(new ShardReplica(shard, 3, new KeyHash(7), segments, 1), versions));
        }
        return new EpochAgent(0, RolesOfOne.current(primaries), this::renew, clock, errors);
    }

    private Configuration renew(List<Integer> shards) {
        asked.add(List.copyOf(shards));
        if (isAway) {
            throw new IllegalStateException("the store is away");
        }
        if (isBusy) {
            return null;
        }
        stored = stored.renewed(shards);
        return stored;
    }

    private VersionCounter versions(int shard) {
        return primaries.get(shard).versions();
    }

    @Test
    void shouldGetOneForEachShardWhoseVersionsEndAndForNoOther() {
        final EpochAgent agent = agent();
        assertThat(agent.doWork()).isOne();
        assertThat(asked).containsExactly(List.of(0, 1));
        assertThat(versions(0).take()).isEqualTo(Version.of(2, 1));
        assertThat(versions(1).take()).isEqualTo(Version.of(2, 1));
        assertThat(versions(2).take()).isEqualTo(Version.of(1, 1));

        clock.advanceNs(SECOND_NS);
        assertThat(agent.doWork()).isZero();
        assertThat(asked).hasSize(1);
    }

    @Test
    void shouldTellThoseWhoWaitThatThereIsNoneAndTryAgain() {
        isAway = true;
        final EpochAgent agent = agent();
        agent.doWork();
        assertThat(versions(1).failures()).isOne();
        assertThat(versions(1).mayTake()).isFalse();
        assertThat(versions(0).mayTake()).as("versions are left").isTrue();
        assertThat(versions(2).failures()).isZero();
        assertThat(errors.distinct()).hasSize(1);
        agent.doWork();
        assertThat(asked).as("not in each cycle").hasSize(1);

        isAway = false;
        clock.advanceNs(SECOND_NS);
        agent.doWork();
        assertThat(versions(1).mayTake()).isTrue();
    }

    @Test
    void shouldAskAgainWhereTheEpochsComeWithANewStart() {
        isBusy = true;
        final EpochAgent agent = agent();
        agent.doWork();
        clock.advanceNs(SECOND_NS);
        agent.doWork();
        assertThat(asked).hasSize(2);
        assertThat(versions(1).failures()).isZero();
    }
}
