package org.rowankv.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.server.inspect.StoredEntry;
import org.rowankv.server.log.EntryType;

class InspectBlocksTest {
    private static final int WORD_LENGTH = 8;

    @TempDir
    Path temporary;

    /**
     * A large object lies on its backup in blocks. After damage to the publication word only the second checksum proves
     * that they were there.
     */
    @Test
    void shouldFindEveryDamagedByteOfThePublicationWordOfABlock() throws IOException {
        final Path dir = new ToolStore(temporary.resolve("store")).filled().dir;
        final Map.Entry<Integer, StoredEntry> block = anyBlock(dir);
        final Path area = ToolStore.area(dir, block.getKey());
        assertThat(bad(dir)).isEqualTo("0");
        for (int i = 0; i < WORD_LENGTH; i++) {
            final long at = block.getValue().place().fileOffset() + i;
            ToolStore.flip(area, at, 1);
            assertThat(bad(dir)).as("byte %d of the word", i).isNotEqualTo("0");
            ToolStore.flip(area, at, 1);
        }
        assertThat(bad(dir)).isEqualTo("0");
    }

    private static String bad(Path dir) {
        final ToolStore.Run run = ToolStore.run(new InspectCommand(), dir, "--verify");
        final String bad = run.lastLine().replaceAll(".* bad=", "");
        assertThat(run.exitCode()).isEqualTo(bad.equals("0") ? 0 : 1);
        return bad;
    }

    private static Map.Entry<Integer, StoredEntry> anyBlock(Path dir) {
        try (ClosedStore store = ClosedStore.open(dir)) {
            final Map<Integer, StoredEntry> found = new TreeMap<>();
            StoreInspection.of(store).forEachEntry((server, entry) -> {
                if (entry.type() == EntryType.BLOCK) {
                    found.putIfAbsent(server, entry);
                }
            });
            assertThat(found).isNotEmpty();
            return found.entrySet().iterator().next();
        }
    }
}
