package org.rowankv.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.inspect.StoredEntry;

class SnapshotCommandTest {
    private static final int OBJECTS = 2 * (ToolStore.OBJECTS + 1);

    @TempDir
    Path temporary;

    private Path dir() {
        return new ToolStore(temporary.resolve("store")).filled().dir;
    }

    private static ToolStore.Run snapshot(Object... arguments) {
        return ToolStore.run(new SnapshotCommand(), arguments);
    }

    private static void expectObjects(Path dir) {
        ToolStore.use(dir, (client, cache) -> {
            for (int i = 0; i < ToolStore.OBJECTS; i++) {
                assertThat(client.get(cache, ToolStore.bytes("key-" + i))).isEqualTo(ToolStore.bytes("value of " + i));
                assertThat(client.get(cache, ToolStore.bytes("gone-" + i))).isNull();
            }
            assertThat(client.get(cache, ToolStore.bytes("large"))).isEqualTo(new byte[20_000]);
        });
    }

    @Test
    void shouldMakeAStoreThatOpensAsItsOwn() throws IOException {
        final Path dir = dir();
        final Path target = temporary.resolve("above").resolve("copy");
        final Map<String, String> before = ToolStore.image(dir);

        final ToolStore.Run run = snapshot(dir, target);

        assertThat(ToolStore.image(dir)).isEqualTo(before);
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        assertThat(run.lastLine())
                .matches("snapshot: files=[1-9][0-9]* bytes=[1-9][0-9]* objects=" + OBJECTS + " bad=0");
        final ToolStore.Run inspected = ToolStore.run(new InspectCommand(), target, "--verify");
        assertThat(inspected.exitCode()).isZero();
        assertThat(inspected.out()).doesNotContain("accept-copied").contains("copy A valid, copy B valid");
        expectObjects(target);
        expectObjects(dir);
    }

    @Test
    void shouldCopyAStoreWhoseProcessWasKilled() throws Exception {
        final Path dir = ToolStore.killed(temporary.resolve("killed"));
        final Path target = Files.createDirectory(temporary.resolve("copy"));
        final ToolStore.Run run = snapshot(dir, target);
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("note: the store was not closed", "accept-unclean=true");
        expectObjects(target);
        expectObjects(dir);
    }

    /** A file-by-file copy is refused without the override: the snapshot has its own identity. */
    @Test
    void shouldMakeACopyOfACopyThatNeedsNoConsent() throws IOException {
        final Path dir = dir();
        final Path copied = temporary.resolve("copied");
        ToolStore.copy(dir, copied);
        assertThat(ToolStore.run(new InspectCommand(), copied).out())
                .contains("in another directory than it was created in (opens with accept-copied=true)")
                .contains("the file is a copy (opens with accept-copied=true)");
        assertThat(snapshot(copied, temporary.resolve("snapshot")).exitCode()).isZero();
        expectObjects(temporary.resolve("snapshot"));
    }

    @Test
    void shouldLeaveAloneWhatIsThere() throws IOException {
        final Path dir = dir();
        final Path full = Files.createDirectory(temporary.resolve("full"));
        Files.writeString(full.resolve("notes.txt"), "text");
        final Path file = Files.writeString(temporary.resolve("file"), "text");
        final Path store = new ToolStore(temporary.resolve("another")).filled().dir;
        final Map<String, String> before = ToolStore.image(temporary);

        refused(snapshot(dir, full), "notes.txt", "nothing was changed in it");
        refused(snapshot(dir, file), "is a file", "new or empty directory");
        refused(snapshot(dir, store), "holds a Rowan-KV store already", "new or empty directory");
        refused(snapshot(dir, dir), "another directory");
        refused(snapshot(dir, dir.resolve("copy")), "in the store's own directory", "another directory");

        assertThat(ToolStore.image(temporary)).isEqualTo(before);
    }

    private static void refused(ToolStore.Run run, String... parts) {
        assertThat(run.err()).startsWith("snapshot: ").contains(parts);
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void shouldSayWhatIsDamagedInTheCopy() throws IOException {
        final Path dir = dir();
        final Map.Entry<Integer, StoredEntry> found = ToolStore.find(dir, "key-5");
        ToolStore.flip(
                ToolStore.area(dir, found.getKey()), found.getValue().place().fileOffset() + 70, 1);
        final Path target = temporary.resolve("copy");
        final ToolStore.Run run = snapshot(dir, target);
        assertThat(run.exitCode()).isOne();
        assertThat(run.out())
                .contains("bad: " + ToolStore.area(target, found.getKey()) + " at offset "
                        + found.getValue().place().fileOffset());
        assertThat(run.lastLine()).endsWith(" bad=1");
    }

    @Test
    void shouldHealADamagedCopyOfTheSuperblockAndRefuseADamagedTable() throws IOException {
        final Path dir = dir();
        ToolStore.flip(ToolStore.area(dir, 0), 50, 1);
        assertThat(snapshot(dir, temporary.resolve("healed")).exitCode()).isZero();
        expectObjects(temporary.resolve("healed"));
        ToolStore.flip(ToolStore.area(dir, 0), 3 * 4096 + 9, 1);
        refused(snapshot(dir, temporary.resolve("no")), "area-0.rowan is damaged (segment 0", "from a backup");
        assertThat(temporary.resolve("no")).doesNotExist();
    }
}
