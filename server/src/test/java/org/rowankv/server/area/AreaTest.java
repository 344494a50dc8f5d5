package org.rowankv.server.area;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.Fixtures;
import org.rowankv.server.durability.ForceRanges;

@Tag("jvm")
class AreaTest {
    @TempDir
    Path directory;

    @Test
    void shouldBeFoundAgainAsItWasLeft() {
        final AreaSettings settings = Fixtures.fileSettings(directory.resolve("area"));
        try (Area area = Area.create(settings, Fixtures.random())) {
            assertThat(area.superblock().startIncarnation()).isEqualTo(1);
            area.superblock().adoptTerm(4);
            area.tenures().set(3, 7);
            area.segments().open(2, SegmentOwner.WORKER, 99, area.segments().nextSequence(), 1);
            final long address = area.addressOf(2);
            area.region().buffer(address).putLong(area.region().offset(address), 123);
            area.flush(address, 8);
            area.drain();
        }
        try (Area area = Area.open(settings, OpenOverrides.NONE)) {
            assertThat(area.superblock().incarnation()).isEqualTo(1);
            assertThat(area.superblock().startIncarnation()).isEqualTo(2);
            assertThat(area.superblock().term()).isEqualTo(4);
            assertThat(area.superblock().serverCount()).isEqualTo(3);
            assertThat(area.superblock().replicaCount()).isEqualTo(2);
            assertThat(area.tenures().tenure(3)).isEqualTo(7);
            assertThat(area.segments().generation(2)).isEqualTo(99);
            final long address = area.addressOf(2);
            assertThat(area.region().buffer(address).getLong(area.region().offset(address)))
                    .isEqualTo(123);
            assertThat(area.durability()).isEqualTo(Durability.PROCESS);
        }
    }

    @Test
    void shouldBeTakenWithConsentOnlyOnceItIsMarkedAsIncomplete() {
        final AreaSettings settings = Fixtures.fileSettings(directory.resolve("area"));
        try (Area area = Area.create(settings, Fixtures.random())) {
            area.superblock().startIncarnation();
            area.superblock().markIncomplete();
            area.superblock().adoptTerm(4);
            area.closeClean();
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(() -> Area.open(settings, OpenOverrides.NONE))
                    .isInstanceOf(UnusableAreaException.class)
                    .hasMessageContainingAll("area lacks an entry", "accept-unclean=true", "--accept-unclean")
                    .matches(e -> ((UnusableAreaException) e).isUnclean());
            // Until the result is stored, the next start asks again.
            try (Area area = Area.open(settings, new OpenOverrides(true, false))) {
                assertThat(area.mayBeTorn())
                        .as("its damaged entries are made void")
                        .isTrue();
                area.superblock().startIncarnation();
                area.superblock().adoptTerm(5);
                assertThat(area.superblock().isIncomplete()).isTrue();
            }
        }
        try (Area area = Area.open(settings, new OpenOverrides(true, false))) {
            area.superblock().startIncarnation();
            area.superblock().acceptIncomplete();
            assertThat(area.superblock().isIncomplete()).isFalse();
            // A mark set now stays.
            assertThat(area.foundIncomplete()).hasMessageContaining("lacks an entry");
            area.superblock().acceptIncomplete();
            assertThat(area.superblock().isIncomplete()).isTrue();
        }
        try (Area area = Area.open(settings, new OpenOverrides(true, false))) {
            area.superblock().startIncarnation();
            area.superblock().acceptIncomplete();
        }
        Area.open(settings, OpenOverrides.NONE).close();
    }

    /** A mark that reaches the device first would be trusted by a start that finds the rest missing. */
    @Test
    void shouldBeMarkedCleanOnlyOnceEverythingIsOnTheDevice() {
        final List<Boolean> cleanWhenForced = new ArrayList<>();
        final AreaMemory memory = new WatchedMemory(
                new AnonymousMemory(Fixtures.memorySettings()), header -> cleanWhenForced.add(isClean(header)));
        final Area area = Area.create(Fixtures.memorySettings(), memory, Fixtures.random());
        area.superblock().startIncarnation();

        area.closeClean();

        assertThat(cleanWhenForced).containsExactly(false);
        assertThat(isClean(memory.header())).isTrue();
    }

    private static boolean isClean(ByteBuffer header) {
        final SuperblockDescriptor.Content content = Superblock.newestValid(header);
        return content != null && content.clean();
    }

    /** Exposes its header when everything is forced. */
    private record WatchedMemory(AreaMemory memory, Consumer<ByteBuffer> whenForced) implements AreaMemory {
        @Override
        public MemoryRegion region() {
            return memory.region();
        }

        @Override
        public ByteBuffer header() {
            return memory.header();
        }

        @Override
        public void ensureBacked(long address) {
            memory.ensureBacked(address);
        }

        @Override
        public DurabilityVerbs verbs() {
            return memory.verbs();
        }

        @Override
        public DurabilityVerbs device() {
            return memory.device();
        }

        @Override
        public void force(ForceRanges ranges) {
            memory.force(ranges);
        }

        @Override
        public void flushAll() {
            whenForced.accept(memory.header());
            memory.flushAll();
        }
    }

    /** A killed start has not made every torn entry void. */
    @Test
    void shouldStayPossiblyTornUntilItIsClosedCleanly() {
        final Path file = directory.resolve("area");
        final AreaSettings settings = Fixtures.fileSettings(file);
        final BootId before = new BootId(1, 1);
        final BootId after = new BootId(1, 2);
        Area.create(settings, Fixtures.random()).close();
        try (Area area = Area.openFile(settings, file, new OpenOverrides(true, false), before)) {
            area.superblock().startIncarnation();
        }
        try (Area area = Area.openFile(settings, file, new OpenOverrides(true, false), after)) {
            assertThat(area.mayBeTorn()).isTrue();
            area.superblock().startIncarnation();
        }
        for (int start = 0; start < 2; start++) {
            try (Area area = Area.openFile(settings, file, OpenOverrides.NONE, after)) {
                assertThat(area.mayBeTorn()).isTrue();
                area.superblock().startIncarnation();
            }
        }
        try (Area area = Area.openFile(settings, file, OpenOverrides.NONE, after)) {
            area.superblock().startIncarnation();
            area.closeClean();
        }
        try (Area area = Area.openFile(settings, file, OpenOverrides.NONE, after)) {
            assertThat(area.mayBeTorn()).isFalse();
            area.superblock().startIncarnation();
        }
        try (Area area = Area.openFile(settings, file, OpenOverrides.NONE, after)) {
            assertThat(area.mayBeTorn()).isFalse();
        }
    }

    @Test
    void shouldPutEverySegmentWithinTheRegionAndFindItByAddress() {
        try (Area area = Area.create(Fixtures.fileSettings(directory.resolve("area")), Fixtures.random())) {
            assertThat(area.segmentCount()).isEqualTo(16);
            assertThat(area.region().length()).isEqualTo(area.addressOf(15) + area.segmentLength());
            for (int segment = 0; segment < area.segmentCount(); segment++) {
                final long address = area.addressOf(segment);
                assertThat(area.isBacked(segment)).isTrue();
                assertThat(area.region().isContiguous(address, area.segmentLength()))
                        .isTrue();
                assertThat(area.segmentOf(address)).isEqualTo(segment);
                assertThat(area.segmentOf(address + area.segmentLength() - 1)).isEqualTo(segment);
                assertThat(address % 256).isZero();
            }
        }
    }

    @Test
    void shouldMapMoreThanTwoGiBInChunks() throws Exception {
        final Path file = directory.resolve("large");
        final AreaSettings settings =
                new AreaSettings(file, 2500L << 20, 4 << 20, 1, 5, Fixtures.SHARDS, Durability.PROCESS);
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(settings.fileLength());
        }
        final MemoryRegion region = FileMemory.map(file, settings).region();
        assertThat(region.chunkShift()).isEqualTo(30);
        assertThat(region.length()).isEqualTo(settings.fileLength());
        for (int segment = 0; segment < settings.segmentCount(); segment++) {
            final long address = settings.segmentBase() + (long) segment * settings.segmentLength();
            assertThat(region.isContiguous(address, settings.segmentLength())).isTrue();
            region.buffer(address).putLong(region.offset(address), segment);
        }
        assertThat(region.buffer(settings.segmentBase() + (624L << 22))
                        .getLong(region.offset(settings.segmentBase() + (624L << 22))))
                .isEqualTo(624);
    }

    @Test
    void shouldHoldAlmostNothingUntilASegmentIsUsed() {
        try (Area area = Area.create(Fixtures.memorySettings(), Fixtures.random())) {
            for (int segment = 0; segment < area.segmentCount(); segment++) {
                assertThat(area.isBacked(segment)).isFalse();
            }
            area.ensureBacked(5);
            area.ensureBacked(5);
            assertThat(area.isBacked(5)).isTrue();
            assertThat(area.isBacked(4)).isFalse();
            final long address = area.addressOf(5);
            assertThat(area.region().isContiguous(address, area.segmentLength()))
                    .isTrue();
            area.region().buffer(address).putLong(area.region().offset(address) + area.segmentLength() - 8, 1);
            area.superblock().startIncarnation();
            area.tenures().set(1, 1);
            area.segments().open(5, SegmentOwner.BACKUP, 1, 1, 1);
            assertThat(area.file()).isNull();
            area.closeClean();
        }
    }

    @Test
    void shouldRefuseACapacityBeyondTheDirectMemoryOfTheJvm() {
        final long tooMuch = Runtime.getRuntime().maxMemory() * 4;
        final AreaSettings settings = new AreaSettings(null, tooMuch, 4 << 20, 0, 5, Fixtures.SHARDS, Durability.NONE);
        assertThatThrownBy(() -> Area.create(settings, Fixtures.random()))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("-XX:MaxDirectMemorySize")
                .hasMessageContaining("capacity=");
    }

    /** Reaching the limit of direct memory gives a clear error, and the segment stays free. */
    @Test
    void shouldNameTheJvmOptionWhenDirectMemoryRunsOut() throws Exception {
        final Process child = Fixtures.java(List.of("-XX:MaxDirectMemorySize=1m", "-Xmx256m"), OutOfDirectMemory.class);
        final String output = Fixtures.allOutput(child);
        assertThat(child.waitFor()).as(output).isZero();
        assertThat(output)
                .containsPattern("backed before: 1[0-9]\n")
                .contains("-XX:MaxDirectMemorySize")
                .contains("1048576")
                .contains("not backed, FREE");
    }

    static final class OutOfDirectMemory {
        public static void main(String[] args) {
            final Area area = Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 16, Durability.NONE), Fixtures.random());
            int segment = 0;
            try {
                while (true) {
                    area.ensureBacked(segment);
                    segment++;
                }
            } catch (OutOfDirectMemoryException e) {
                System.out.println("backed before: " + segment);
                System.out.println(e.getMessage());
                System.out.println((area.isBacked(segment) ? "backed, " : "not backed, ")
                        + area.segments().state(segment));
            }
        }
    }

    @Test
    void shouldReadSizesAsTheJvmWritesThem() {
        assertThat(AnonymousMemory.parseBytes("1048576")).isEqualTo(1 << 20);
        assertThat(AnonymousMemory.parseBytes("3G")).isEqualTo(3L << 30);
        assertThat(AnonymousMemory.parseBytes("64k")).isEqualTo(64 << 10);
        assertThat(AnonymousMemory.parseBytes("")).isZero();
        assertThat(AnonymousMemory.parseBytes("9999999999999t")).isZero();
        assertThat(AnonymousMemory.parseBytes("m")).isZero();
    }

    /** An interrupt of the caller harms no area, and is kept. */
    @Test
    void shouldServeAnInterruptedCaller() {
        final AreaSettings settings = Fixtures.fileSettings(directory.resolve("area"));
        Thread.currentThread().interrupt();
        final Area created = Area.create(settings, Fixtures.random());
        assertThat(Thread.interrupted()).isTrue();
        Thread.currentThread().interrupt();
        created.superblock().startIncarnation();
        created.tenures().set(1, 1);
        created.closeClean();
        final Area opened = Area.open(settings, OpenOverrides.NONE);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(opened.superblock().isClean()).isTrue();
        assertThat(opened.tenures().tenure(1)).isEqualTo(1);
    }

    /** The promise of level process: a killed process loses nothing that it wrote. */
    @Test
    void shouldKeepEverythingThatAKilledProcessWrote() throws Exception {
        final Path file = directory.resolve("area");
        final Process child = Fixtures.java(List.of("-Xmx64m"), KilledWriter.class, file.toString());
        Fixtures.awaitLine(child, "written");
        child.destroyForcibly().waitFor();
        try (Area area = Area.open(Fixtures.fileSettings(file), OpenOverrides.NONE)) {
            assertThat(area.superblock().isClean()).isFalse();
            assertThat(area.superblock().incarnation()).isEqualTo(1);
            for (int segment = 0; segment < area.segmentCount(); segment++) {
                final long address = area.addressOf(segment);
                assertThat(area.segments().generation(segment)).isEqualTo(segment + 1);
                assertThat(area.region().buffer(address).getLong(area.region().offset(address)))
                        .isEqualTo(segment + 1000L);
            }
        }
    }

    static final class KilledWriter {
        public static void main(String[] args) throws InterruptedException {
            final Area area = Area.create(Fixtures.fileSettings(Path.of(args[0])), Fixtures.random());
            area.superblock().startIncarnation();
            for (int segment = 0; segment < area.segmentCount(); segment++) {
                area.segments()
                        .open(
                                segment,
                                SegmentOwner.WORKER,
                                segment + 1,
                                area.segments().nextSequence(),
                                1);
                final long address = area.addressOf(segment);
                area.region().buffer(address).putLong(area.region().offset(address), segment + 1000L);
            }
            System.out.println("written");
            Thread.currentThread().join();
        }
    }

    @Test
    void shouldHaveItsBlocksFromTheStart() throws Exception {
        final Path file = directory.resolve("area");
        Area.create(Fixtures.fileSettings(file), Fixtures.random()).close();
        assertThat(Files.size(file)).isEqualTo(Fixtures.fileSettings(file).fileLength());
        if (Files.getFileStore(file).supportsFileAttributeView("unix")) {
            final Process du = new ProcessBuilder("du", "-k", file.toString()).start();
            final String kib = Fixtures.allOutput(du).split("\\s")[0];
            assertThat(Long.parseLong(kib) << 10).isGreaterThanOrEqualTo(Files.size(file));
        }
    }
}
