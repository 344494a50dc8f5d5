package org.rowankv.server.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.server.shard.Clears;

/**
 * A checkpoint holds a clear as long as its image may show what the clear ended, and no longer: or each start would sweep
 * all indexes after the first clear of a store's life.
 */
final class ClearsInCheckpointsTest {
    private static final int MANY = 20;

    private final CheckpointedServer server = new CheckpointedServer();

    private void put(int shard) {
        for (int i = 0; i < MANY; i++) {
            server.put(shard, CheckpointedServer.key(shard, i));
        }
    }

    private void requireNothingVisible(int shard) {
        for (int i = 0; i < MANY; i++) {
            assertThat(server.isVisible(shard, CheckpointedServer.key(shard, i)))
                    .as("object %d of shard %d", i, shard)
                    .isFalse();
        }
    }

    private void restart() {
        server.closeLog();
        server.restart();
        assertThat(server.load.isLoaded()).isTrue();
    }

    @Test
    void shouldForgetAClearOfWhichItsImageShowsNothing() {
        put(0);
        server.clear(0);
        server.sweep();
        server.closeLog();
        server.takeCheckpoint();

        restart();

        requireNothingVisible(0);
        assertThat(server.clears(0).isSwept()).as("nothing is to be swept").isTrue();
        assertThat(server.clears(0).forCheckpoint()).isEmpty();
        assertThat(server.clears(0).horizon()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldKeepAClearOfWhichItsImageShowsSomething() {
        put(0);
        final long clear = server.clear(0);
        server.closeLog();
        server.takeCheckpoint();
        server.sweep(); // too late: the next round writes it
        assertThat(server.clears(0).forCheckpoint()).hasSize(1);

        restart();

        assertThat(server.clearedUpTo(0)).isEqualTo(clear);
        requireNothingVisible(0);
        assertThat(server.clears(0).isSwept()).isFalse();
        server.sweep();
        server.takeCheckpoint();
        assertThat(server.clears(0).forCheckpoint()).isEmpty();
        restart();
        requireNothingVisible(0);
        assertThat(server.clears(0).isSwept()).isTrue();
    }

    @Test
    void shouldKeepAClearThatIsSweptWhileTheImageIsWritten() {
        put(0);
        final long clear = server.clear(0);
        server.closeLog();
        server.checkpoints.beforeCommit(server::sweep);
        server.takeCheckpoint();
        assertThat(server.clears(0).isSwept()).isTrue();

        restart();

        assertThat(server.clearedUpTo(0)).isEqualTo(clear);
        requireNothingVisible(0);
    }

    /** A round rewrites only some images, the oldest ones first; the others still show what was cleared. */
    @Test
    void shouldKeepAClearWhileTheImageIsOfAnEarlierRound() {
        put(0);
        put(1);
        server.closeLog();
        server.takeCheckpoint();
        server.put(0, CheckpointedServer.key(0, MANY));
        server.put(1, CheckpointedServer.key(1, MANY));
        final long clear = server.clear(1);
        server.put(1, CheckpointedServer.key(1, MANY + 1));
        server.sweep();
        server.closeLog();
        server.takeCheckpoint();
        assertThat(server.clears(1).forCheckpoint())
                .as("its image was not rewritten")
                .hasSize(1);

        restart();

        assertThat(server.clearedUpTo(1)).isEqualTo(clear);
        requireNothingVisible(1);
        assertThat(server.isVisible(1, CheckpointedServer.key(1, MANY + 1))).isTrue();
    }

    /** It may be repaired from another replica that has not applied the clear. */
    @Test
    void shouldKeepAClearThatHasEndedADamagedEntry() {
        final long address = server.put(0, CheckpointedServer.key(0, 0));
        server.flip(address + 48, 3);
        final long clear = server.clear(0);
        server.sweep();
        server.closeLog();
        server.takeCheckpoint();

        restart();

        assertThat(server.clearedUpTo(0)).isEqualTo(clear);
    }

    @Test
    void shouldKeepOneLineForARunOfDestroyedCaches() {
        final BitSet ids = new BitSet();
        ids.set(1, 1_000);
        ids.set(2_000);
        server.clears(0).retire(ids);
        server.put(0, CheckpointedServer.key(0, 0));
        server.closeLog();
        server.takeCheckpoint();

        restart();

        assertThat(server.clears(0).destroyedIds()).isEqualTo(ids);
        assertThat(server.clears(1).destroyedIds()).isEqualTo(new BitSet());
        assertThat(CheckpointDescriptor.encode(checkpoint(ids)).capacity())
                .isLessThan(
                        CheckpointDescriptor.encode(checkpoint(new BitSet())).capacity() + 100);
    }

    private static Checkpoint checkpoint(BitSet destroyed) {
        return new Checkpoint(
                7,
                new Checkpoint.Origin(5, 1, 0, 11, 0, 1, 16, 64 << 10),
                1,
                0,
                3,
                List.of(),
                List.of(new Checkpoint.ShardPart(
                        0, 1, 7, 0, 0, 7, 9, 9, List.of(new Clears.Clear(4, 8)), destroyed, List.of())));
    }

    /** Files of the former format have one line for a destroyed cache and its last clear. */
    @Test
    void shouldReadTheFormerFormat() {
        final ByteBuffer file = CheckpointDescriptor.encode(checkpoint(new BitSet()));
        final int line = file.capacity() - 16;
        assertThat(file.getInt(line)).as("the clear").isEqualTo(4);
        file.putInt(line + 4, 1);
        file.putInt(CheckpointDescriptor.FORMAT_VERSION_OFFSET, 2);
        CheckpointDescriptor.seal(file);

        assertThat(CheckpointDescriptor.whyInvalid(file)).isNull();
        final Checkpoint.ShardPart part =
                CheckpointDescriptor.decode(file).shards().get(0);
        assertThat(part.clears()).containsExactly(new Clears.Clear(4, 8));
        assertThat(part.destroyed().stream().boxed()).containsExactly(4);
        file.putInt(CheckpointDescriptor.FORMAT_VERSION_OFFSET, 4);
        assertThat(CheckpointDescriptor.whyInvalid(file)).contains("format version 4");
    }
}
