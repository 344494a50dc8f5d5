package org.rowankv.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.embedded.EmbeddedCluster;

/**
 * Directories that every tool refuses: with one line that states cause and remedy, with exit code 2, and without a
 * change.
 */
class StoreToolRefusalTest {
    @TempDir
    Path temporary;

    private Path dir() {
        return new ToolStore(temporary.resolve("store")).filled().dir;
    }

    private void refused(Path dir, String... parts) throws IOException {
        final Map<String, String> before = Files.isDirectory(dir) ? ToolStore.image(dir) : Map.of();
        final Path target = temporary.resolve("target");
        expectRefusal("inspect", ToolStore.run(new InspectCommand(), dir, "--verify"), parts);
        expectRefusal("verify-replicas", ToolStore.run(new VerifyReplicasCommand(), dir), parts);
        expectRefusal("snapshot", ToolStore.run(new SnapshotCommand(), dir, target), parts);
        assertThat(target).doesNotExist();
        if (Files.isDirectory(dir)) {
            assertThat(ToolStore.image(dir)).isEqualTo(before);
        }
    }

    private static void expectRefusal(String command, ToolStore.Run run, String... parts) {
        assertThat(run.err()).startsWith(command + ": ").contains(parts).doesNotContain("\tat ");
        assertThat(run.out()).isEmpty();
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void shouldRefuseWhatIsNoStore() throws IOException {
        refused(temporary.resolve("nowhere"), "nowhere does not exist", "dir=");
        refused(Files.writeString(temporary.resolve("file"), "text"), "is a file", "dir=");
        refused(Files.createDirectory(temporary.resolve("empty")), "holds no Rowan-KV store", "dir=");
        final Path foreign = Files.createDirectory(temporary.resolve("foreign"));
        Files.writeString(foreign.resolve("notes.txt"), "text");
        refused(foreign, "holds no Rowan-KV store", "rowan.manifest");
    }

    @Test
    void shouldRefuseADirectoryInUse() throws Exception {
        final Path dir = temporary.resolve("held");
        final Process holder = ToolStore.holder(dir);
        try {
            for (ToolStore.Run run : new ToolStore.Run[] {
                ToolStore.run(new InspectCommand(), dir),
                ToolStore.run(new VerifyReplicasCommand(), dir),
                ToolStore.run(new SnapshotCommand(), dir, temporary.resolve("target"))
            }) {
                assertThat(run.err()).contains("in use (process " + holder.pid() + ")", "Close it there first");
                assertThat(run.exitCode()).isEqualTo(2);
            }
        } finally {
            holder.getOutputStream().close();
            assertThat(holder.waitFor()).isZero();
        }
        assertThat(ToolStore.run(new InspectCommand(), dir).exitCode()).isZero();
    }

    @Test
    void shouldRefuseADirectoryInUseByThisJvmAndLeaveItsLock() throws Exception {
        final Path dir = dir();
        try (EmbeddedCluster cluster = ToolStore.open(dir)) {
            assertThat(ToolStore.run(new InspectCommand(), dir).err()).contains("in use in this JVM", "Close it");
            final CommandProcess other = CommandProcess.run(InspectCommand.class, dir.toString());
            assertThat(other.exitCode()).isEqualTo(2);
            assertThat(other.lastLine())
                    .contains("in use (process " + ProcessHandle.current().pid() + ")");
            assertThat(cluster.configuration().term()).isEqualTo(3);
        }
    }

    @Test
    void shouldKeepOpenersAwayWhileItReads() {
        final Path dir = dir();
        try (ClosedStore store = ClosedStore.open(dir)) {
            assertThat(store.shape().servers()).isEqualTo(3);
            assertThatThrownBy(() -> ToolStore.open(dir).close())
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("open in this JVM");
        }
        ToolStore.open(dir).close();
    }

    @Test
    void shouldRefuseAnotherFormatVersion() throws IOException {
        final Path dir = dir();
        final Path manifest = dir.resolve("rowan.manifest");
        final String text = Files.readString(manifest, StandardCharsets.US_ASCII);
        Files.writeString(manifest, text.replace("format=1", "format=2"));
        refused(dir, "format version 2", "open it with the version that wrote it");
        Files.writeString(manifest, text);
        ToolStore.flip(ToolStore.area(dir, 0), 8, 1);
        refused(dir, "area-0.rowan has format version 5", "open it with the version that wrote it");
    }

    @Test
    void shouldRefuseADamagedOrUnfinishedManifest() throws IOException {
        final Path dir = dir();
        final Path manifest = dir.resolve("rowan.manifest");
        final String text = Files.readString(manifest, StandardCharsets.US_ASCII);
        Files.writeString(manifest, text.replace("replicas=2", "replicas=1"));
        refused(dir, "rowan.manifest is damaged", "checksum", "Put the store back from a backup");
        Files.writeString(manifest, text.substring(0, 30));
        refused(dir, "rowan.manifest is damaged", "Put the store back from a backup");
    }

    @Test
    void shouldRefuseMissingCutOffAndForeignAreas() throws IOException {
        final Path dir = dir();
        final Path area = ToolStore.area(dir, 1);
        final Path aside = Files.move(area, temporary.resolve("aside"));
        refused(dir, "lacks the file area-1.rowan", "put it back");
        Files.copy(ToolStore.area(dir, 0), area);
        refused(dir, "area-1.rowan belongs to server 0", "put the right file in its place");
        Files.delete(area);
        Files.move(aside, area);
        final long length = Files.size(area);
        try (FileChannel channel = FileChannel.open(area, StandardOpenOption.WRITE)) {
            channel.truncate(length - 1);
        }
        refused(dir, "area-1.rowan has " + (length - 1) + " bytes, not " + length, "Put it back from a backup");
    }

    @Test
    void shouldRefuseAnAreaWithoutAWholeSuperblock() throws IOException {
        final Path dir = dir();
        ToolStore.flip(ToolStore.area(dir, 2), 20, 1);
        ToolStore.flip(ToolStore.area(dir, 2), 4096 + 20, 1);
        refused(dir, "both copies of the superblock of", "area-2.rowan", "put the store back from a backup");
    }

    @Test
    void shouldRefuseAStoreWithoutItsConfiguration() throws IOException {
        final Path dir = dir();
        final Path node = dir.resolve("configuration").resolve("configuration.node");
        ToolStore.flip(node, Files.size(node) / 2, 1);
        refused(dir, "configuration.node", "its checksum is wrong", "Put the store back from a backup");
        Files.delete(node);
        refused(dir, "configuration.node is missing", "put it back from a backup");
    }
}
