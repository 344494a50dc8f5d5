package org.rowankv.server.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An index refers to an entry with a flipped bit: no checkpoint covers it, and the agent continues. */
final class DamagedImageTest {
    private static final int VERSION_BYTE = 24;
    private static final int CACHE_BYTE = 36;

    private final CheckpointedServer server = new CheckpointedServer();

    private void requireNoCheckpointUntilReplaced(int bit) {
        final long address = server.put(0, CheckpointedServer.key(0, 1));
        server.closeLog();
        server.flip(address, bit);

        assertThat(server.tryCheckpoint()).singleElement().satisfies(found -> {
            assertThat(found.type()).isEqualTo(IOException.class.getName());
            assertThat(found.message())
                    .contains("the entry at " + address + " is damaged", "before the entry is repaired");
        });

        server.flip(address, bit);
        server.takeCheckpointAfterFailures();
        server.restart();
        assertThat(server.load.isLoaded()).isTrue();
        assertThat(server.find(0, CheckpointedServer.key(0, 1))).isEqualTo(address);
    }

    /** Every bit of the frame's header: its word with the length and the type, its checksums. */
    @ParameterizedTest
    @ValueSource(ints = {0, 5, 20, 27, 33, 40, 47, 55, 63, 64, 100, 130, 160, 191})
    void shouldNotCoverAnEntryWithADamagedHeader(int bit) {
        requireNoCheckpointUntilReplaced(bit);
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 12, 30, 31})
    void shouldNotCountAnEntryToACacheThatHasNone(int bit) {
        requireNoCheckpointUntilReplaced(CACHE_BYTE * Byte.SIZE + bit);
    }

    /** Without it, a retry of its session would be taken for a request of an ended session. */
    @ParameterizedTest
    @ValueSource(ints = {0, 40, 47, 100, 200})
    void shouldNotBelieveACheckpointOfWhichASessionIsDamaged(int bit) {
        final long opening = server.openSession(77);
        server.closeLog();
        server.takeCheckpoint();
        server.flip(opening, bit);

        server.restart();

        assertThat(server.load.isLoaded()).isFalse();
    }

    @Test
    void shouldTakeCheckpointsOfWhatIsSound() {
        final long address = server.put(0, CheckpointedServer.key(0, 1));
        server.closeLog();

        server.takeCheckpoint();

        server.restart();
        assertThat(server.find(0, CheckpointedServer.key(0, 1))).isEqualTo(address);
    }

    /** What the log behind the checkpoint has of the key is newer than any entry that the checkpoint names. */
    @ParameterizedTest
    @ValueSource(ints = {20, 41})
    void shouldReplaceAnEntryWhoseVersionWasDamagedBehindTheCheckpoint(int bit) {
        final String key = CheckpointedServer.key(0, 1);
        final long old = server.put(0, key);
        server.closeLog();
        server.takeCheckpoint();
        final long newest = server.put(0, key);
        server.closeLog();
        server.flip(old, VERSION_BYTE * Byte.SIZE + bit);

        server.restart();

        assertThat(server.load.isLoaded()).isTrue();
        assertThat(server.find(0, key)).isEqualTo(newest);
    }
}
