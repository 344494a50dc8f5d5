package org.rowankv.server.area;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.Fixtures;

/** Invalid areas: each is refused with a remedy, and stays unchanged. */
@Tag("jvm")
class AreaRefusalTest {
    @TempDir
    Path directory;

    private Path file;
    private AreaSettings settings;
    private byte[] undamaged;

    @BeforeEach
    void createArea() throws IOException {
        file = directory.resolve("area");
        settings = Fixtures.fileSettings(file);
        try (Area area = Area.create(settings, Fixtures.random())) {
            area.superblock().startIncarnation();
            area.segments().open(1, SegmentOwner.WORKER, 8, 1, 1);
            area.tenures().set(2, 3);
        }
        undamaged = Files.readAllBytes(file);
    }

    @AfterEach
    void shouldOpenProperlyAfterwards() throws IOException {
        // In place, so that it stays the same file.
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(undamaged), 0);
        }
        try (Area area = Area.open(settings, new OpenOverrides(false, true))) {
            assertThat(area.superblock().incarnation()).isEqualTo(1);
            assertThat(area.segments().generation(1)).isEqualTo(8);
            assertThat(area.tenures().tenure(2)).isEqualTo(3);
        }
    }

    private void refused(ThrowingCallable opening, String... parts) throws IOException {
        final byte[] before = Files.exists(file) ? Files.readAllBytes(file) : null;
        assertThatThrownBy(opening).isInstanceOf(StoreOpenException.class).hasMessageContainingAll(parts);
        if (before != null) {
            assertThat(Files.readAllBytes(file)).isEqualTo(before);
        }
    }

    private void open() {
        Area.open(settings, OpenOverrides.NONE);
    }

    private void put(long at, int value) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1).put(0, (byte) value), at);
        }
    }

    @Test
    void shouldRefuseAnUnknownFormatVersion() throws IOException {
        put(AreaDescriptor.SUPERBLOCK_A_OFFSET + SuperblockDescriptor.FORMAT_VERSION_OFFSET, 9);
        refused(
                this::open,
                "format version 9",
                "reads " + SuperblockDescriptor.FORMAT_VERSION,
                "the version that wrote it");
    }

    @Test
    void shouldRefuseWhenBothSuperblocksAreDamaged() throws IOException {
        put(AreaDescriptor.SUPERBLOCK_A_OFFSET + SuperblockDescriptor.TERM_OFFSET, 9);
        put(AreaDescriptor.SUPERBLOCK_B_OFFSET + SuperblockDescriptor.MAGIC_OFFSET, 9);
        refused(this::open, "superblock", "checksum is wrong", "no superblock", "backup");
    }

    @Test
    void shouldUseTheOlderSuperblockWhenTheNewerIsDamaged() throws IOException {
        // Sequence 3, the start of incarnation 1, lies in copy B.
        put(AreaDescriptor.SUPERBLOCK_B_OFFSET + SuperblockDescriptor.TERM_OFFSET, 9);
        try (Area area = Area.open(settings, OpenOverrides.NONE)) {
            assertThat(area.superblock().incarnation()).isZero();
        }
    }

    @Test
    void shouldRefuseAnotherShape() throws IOException {
        refused(
                () -> Area.open(
                        new AreaSettings(file, 2 << 20, 64 << 10, 1, 5, 16, Durability.PROCESS, 3, 2),
                        OpenOverrides.NONE),
                "capacity 1048576",
                "2097152");
        refused(
                () -> Area.open(
                        new AreaSettings(file, 1 << 20, 128 << 10, 1, 5, 16, Durability.PROCESS, 3, 2),
                        OpenOverrides.NONE),
                "segment length 65536",
                "131072");
        refused(
                () -> Area.open(
                        new AreaSettings(file, 1 << 20, 64 << 10, 1, 5, 17, Durability.PROCESS, 3, 2),
                        OpenOverrides.NONE),
                "shards 16",
                "17");
        refused(
                () -> Area.open(
                        new AreaSettings(file, 1 << 20, 64 << 10, 1, 5, 16, Durability.PROCESS, 4, 2),
                        OpenOverrides.NONE),
                "servers 3",
                "4");
        refused(
                () -> Area.open(
                        new AreaSettings(file, 1 << 20, 64 << 10, 1, 5, 16, Durability.PROCESS, 3, 3),
                        OpenOverrides.NONE),
                "replicas 2",
                "3");
    }

    @Test
    void shouldRefuseTheAreaOfAnotherServerOrCluster() throws IOException {
        refused(
                () -> Area.open(
                        new AreaSettings(file, 1 << 20, 64 << 10, 2, 5, 16, Durability.PROCESS, 3, 2),
                        OpenOverrides.NONE),
                "belongs to server 1",
                "server 2");
        refused(
                () -> Area.open(
                        new AreaSettings(file, 1 << 20, 64 << 10, 1, 6, 16, Durability.PROCESS, 3, 2),
                        OpenOverrides.NONE),
                "cluster 5",
                "cluster 6");
    }

    @Test
    void shouldRefuseAMissingFile() throws IOException {
        Files.delete(file);
        refused(this::open, "missing");
    }

    @Test
    void shouldRefuseATruncatedFile() throws IOException {
        for (long length : new long[] {undamaged.length - 1, 9000, 100, 0}) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(length);
            }
            refused(this::open, "has " + length + " bytes", String.valueOf(undamaged.length));
        }
    }

    @Test
    void shouldRefuseDamagedTables() throws IOException {
        final int line = AreaDescriptor.segmentMetaOffset(Fixtures.SHARDS) + SegmentMetaDescriptor.LENGTH;
        put(line + SegmentMetaDescriptor.SEQUENCE_OFFSET, 77);
        refused(this::open, "damaged", "segment 1");
        put(line + SegmentMetaDescriptor.SEQUENCE_OFFSET, 1);
        put(AreaDescriptor.TENURES_OFFSET + 2 * AreaDescriptor.TENURE_LENGTH, 4);
        refused(this::open, "damaged", "shard 2");
    }

    /** At level process, bytes are reliable under the boot id they were written under, or after a clean close. */
    @Test
    void shouldNotTrustAnUncleanAreaAfterARestartOfTheMachine() throws IOException {
        final BootId other = new BootId(1, 2);
        refused(
                () -> Area.openFile(settings, file, OpenOverrides.NONE, other),
                "accept-unclean=true",
                "boot id",
                "durability=process");
        // The operator accepts the area, and the next start does not ask again.
        final Area accepted = Area.openFile(settings, file, new OpenOverrides(true, false), other);
        assertThat(accepted.superblock().startIncarnation()).isEqualTo(2);
        assertThat(Area.openFile(settings, file, OpenOverrides.NONE, other)
                        .superblock()
                        .incarnation())
                .isEqualTo(2);
    }

    @Test
    void shouldTrustACleanlyClosedAreaAfterARestartOfTheMachine() {
        final BootId other = new BootId(1, 2);
        Area.openFile(settings, file, OpenOverrides.NONE, BootId.current()).closeClean();
        final Area opened = Area.openFile(settings, file, OpenOverrides.NONE, other);
        assertThat(opened.superblock().isClean()).isTrue();
        opened.superblock().startIncarnation();
        assertThatThrownBy(() -> Area.openFile(settings, file, OpenOverrides.NONE, BootId.current()))
                .hasMessageContaining("accept-unclean=true");
    }

    @Test
    void shouldRefuseACopy() throws IOException {
        assumeTrue(FileIdentity.of(file) != FileIdentity.UNKNOWN, "the file system tells files apart");
        final Path copy = directory.resolve("copy");
        Files.copy(file, copy);
        final AreaSettings copied = Fixtures.fileSettings(copy);
        refused(() -> Area.open(copied, OpenOverrides.NONE), "copy", "accept-copied=true");
        try (Area area = Area.open(copied, new OpenOverrides(false, true))) {
            area.superblock().startIncarnation();
        }
        Area.open(copied, OpenOverrides.NONE).close();
    }

    @Test
    void shouldNeverWriteOverAnArea() throws IOException {
        refused(() -> Area.create(settings, Fixtures.random()), "exists already");
    }

    @Test
    void shouldMakeNothingOnAFullDisk() throws IOException {
        final AreaSettings huge =
                new AreaSettings(directory.resolve("huge"), 8L << 40, 4 << 20, 1, 5, 16, Durability.PROCESS);
        refused(() -> Area.create(huge, Fixtures.random()), "not enough disk space", "needed", "usable", "capacity=");
        assertThat(names()).containsExactly("area");
    }

    @Test
    void shouldReportADiskThatFillsUpWhileTheFileIsMade() throws IOException {
        final Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "needs a device that is always full");
        try (FileChannel channel = FileChannel.open(full, StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> AreaFile.writeZeros(channel, 1 << 20))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("No space left");
        }
    }

    @Test
    void shouldLeaveNothingBehindWhenMakingFails() throws IOException {
        assertThatThrownBy(() -> AreaFile.make(directory.resolve("other"), 1 << 20, identity -> {
                    throw new IllegalStateException("no superblock today");
                }))
                .hasMessageContaining("today");
        assertThat(names()).containsExactly("area");
    }

    @Test
    void shouldRefuseADirectoryThatIsNotThere() throws IOException {
        refused(
                () -> Area.create(Fixtures.fileSettings(directory.resolve("no/area")), Fixtures.random()),
                "no directory");
    }

    @Test
    void shouldRefuseAnUnwritableFile() throws IOException {
        assertThat(file.toFile().setWritable(false)).isTrue();
        try {
            assumeTrue(!Files.isWritable(file), "this user is bound by permissions");
            refused(this::open, "permissions");
        } finally {
            assertThat(file.toFile().setWritable(true)).isTrue();
        }
    }

    private List<String> names() throws IOException {
        final List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            found.forEach(path -> names.add(path.getFileName().toString()));
        }
        return names;
    }
}
