package org.rowankv.server.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.BootId;
import org.rowankv.server.area.Machine;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.durability.Durability;

/** The parts that a start takes from a checkpoint, and those that it reads all the same. */
final class CheckpointLoaderTest {
    private static final int MANY = 20;

    /** A round rewrites only some images: segments closed since the oldest of them must be read. */
    @Test
    void shouldReadWhatWasClosedSinceTheOldestImage() {
        final CheckpointedServer server = new CheckpointedServer();
        for (int shard = 0; shard < 2; shard++) {
            for (int i = 0; i < MANY; i++) {
                server.put(shard, CheckpointedServer.key(shard, i));
            }
        }
        server.closeLog();
        server.takeCheckpoint();
        for (int shard = 0; shard < 2; shard++) {
            server.put(shard, CheckpointedServer.key(shard, MANY));
        }
        server.closeLog();
        server.takeCheckpoint();

        server.restart();

        assertThat(server.load.isLoaded()).isTrue();
        for (int shard = 0; shard < 2; shard++) {
            for (int i = 0; i <= MANY; i++) {
                final String key = CheckpointedServer.key(shard, i);
                assertThat(server.find(shard, key))
                        .as("%s of shard %d", key, shard)
                        .isPositive();
            }
        }
    }

    /** Images that a round leaves out follow in later ones, though nothing changes any more; then segments are covered. */
    @Test
    void shouldGoOnWhenTheLoadHasEnded() {
        final CheckpointedServer server = new CheckpointedServer();
        server.put(0, CheckpointedServer.key(0, 0));
        server.put(1, CheckpointedServer.key(1, 0));
        server.takeCheckpoint();
        for (int i = 1; i < MANY; i++) {
            server.put(0, CheckpointedServer.key(0, i));
            server.put(1, CheckpointedServer.key(1, i));
        }
        final int segment = server.segments.segmentOf(server.put(0, CheckpointedServer.key(0, MANY)));
        server.closeLog();
        server.takeCheckpoint(); // the image of shard 0 alone
        server.takeCheckpoint();

        server.restart();

        assertThat(server.load.isCovered(segment)).isTrue();
    }

    /** A failed round has written some images: segments closed since are in none of them. */
    @Test
    void shouldReadWhatWasClosedSinceARoundThatFailed() {
        final CheckpointedServer server = new CheckpointedServer();
        for (int i = 0; i < MANY; i++) {
            server.put(0, CheckpointedServer.key(0, i));
            server.put(1, CheckpointedServer.key(1, i));
        }
        server.closeLog();
        server.takeCheckpoint();
        server.put(0, CheckpointedServer.key(0, MANY));
        server.put(1, CheckpointedServer.key(1, MANY));
        server.closeLog();
        server.checkpoints.refuseNext(Checkpoint.PREFIX); // the image of shard 0 is there by then
        server.failCheckpoint();
        final String late = CheckpointedServer.key(0, MANY + 1);
        server.put(0, late);
        server.closeLog();
        server.takeCheckpointAfterFailures(); // writes the image of shard 1 alone

        server.restart();

        assertThat(server.load.isLoaded()).isTrue();
        assertThat(server.find(0, late)).isPositive();
    }

    /** The number of a failed round is skipped, and with it the file that does not hold the newest checkpoint. */
    @Test
    void shouldKeepTheNewestCheckpointWhenTheRoundAfterItFails() {
        final CheckpointedServer server = new CheckpointedServer();
        server.put(0, CheckpointedServer.key(0, 0));
        server.takeCheckpoint();
        server.put(0, CheckpointedServer.key(0, 1));
        server.takeCheckpoint();
        server.put(0, CheckpointedServer.key(0, 2));
        server.checkpoints.refuseNext(Checkpoint.PREFIX);
        server.failCheckpoint();
        server.takeCheckpointAfterFailures();

        assertThat(server.checkpoints.names())
                .filteredOn(name -> name.startsWith(Checkpoint.PREFIX))
                .hasSize(2);
    }

    /** An image that has passed the bucket of a write is older than that write. */
    @Test
    void shouldReadWhatWasWrittenWhileTheImageWas() {
        final CheckpointedServer server = new CheckpointedServer();
        final String late = CheckpointedServer.key(0, 1);
        server.put(0, CheckpointedServer.key(0, 0));
        server.closeLog();
        server.checkpoints.beforeCommit(() -> server.put(0, late));
        server.takeCheckpoint();
        assertThat(server.find(0, late)).isPositive();
        server.closeLog();
        server.takeCheckpoint();

        server.restart();

        assertThat(server.load.isLoaded()).isTrue();
        assertThat(server.find(0, late)).isPositive();
    }

    /** The next replica's index has changed as often. */
    @Test
    void shouldNotGoOnWithTheImageOfAnEarlierTenure() {
        final CheckpointedServer server = new CheckpointedServer();
        final String late = CheckpointedServer.key(0, 1);
        server.put(0, CheckpointedServer.key(0, 0));
        server.closeLog();
        server.takeCheckpoint();
        server.rejoin(0);
        server.put(0, late);
        server.closeLog();
        server.takeCheckpoint();

        server.restart();

        assertThat(server.load.isLoaded()).isTrue();
        assertThat(server.find(0, late)).isPositive();
    }

    /** By the next start, an item's address in the image holds another entry. */
    @Test
    void shouldNotGoOnWithAnImageThatWasLoadedInPart() {
        final CheckpointedServer server = new CheckpointedServer();
        final String over = CheckpointedServer.key(0, 0);
        final String other = CheckpointedServer.key(1, 0);
        final long place = server.put(0, over); // in a segment that is open still
        final int segment = server.segments.segmentOf(place);
        server.takeCheckpoint();
        server.closeLog();
        assertThat(server.replicas.get(0).index().remove(server.positionOf(0, over), place))
                .isTrue();
        server.segments.free(segment);
        server.restart();
        assertThat(server.load.isLoaded()).isTrue();
        assertThat(server.replicas.get(0).index().count()).isZero();

        assertThat(server.put(1, other)).isEqualTo(place);
        server.closeLog();
        server.takeCheckpoint();
        server.restart();

        assertThat(server.load.isLoaded()).isTrue();
        assertThat(server.replicas.get(0).index().count()).isZero();
        assertThat(server.find(1, other)).isEqualTo(place);
    }

    /** The entries that the checkpoint refers to may not have been written before the machine stopped. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotBeBelievedAfterARestartOfTheMachine(boolean restarted, @TempDir Path dir) {
        final AreaSettings settings =
                new AreaSettings(dir.resolve("area"), 1 << 20, 64 << 10, 0, 5, 2, Durability.PROCESS, 1, 1);
        final CheckpointedServer server =
                new CheckpointedServer(started(Area.create(settings, new SplittableRandomSource(1), boot(1))));
        final String key = CheckpointedServer.key(0, 0);
        server.put(0, key);
        server.closeLog();
        server.takeCheckpoint();
        server.segments.area().close();

        final Area found = Area.open(settings, new OpenOverrides(true, false), boot(restarted ? 2 : 1));
        server.start(found);

        assertThat(server.load.isLoaded()).isEqualTo(!restarted);
        assertThat(server.find(0, key)).isPositive();
        found.close();
    }

    private static Area started(Area area) {
        assertThat(area.superblock().startIncarnation()).isPositive();
        return area;
    }

    private static Machine boot(long number) {
        return new Machine(() -> new BootId(1, number), (settings, memory) -> memory);
    }
}
