package org.rowankv.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.server.inspect.StoredEntry;

class InspectCommandTest {
    /** Of two replicas; the large object counts too. */
    private static final int OBJECTS = 2 * (ToolStore.OBJECTS + 1);

    @TempDir
    Path temporary;

    private Path dir() {
        return new ToolStore(temporary.resolve("store")).filled().dir;
    }

    private static ToolStore.Run inspect(Object... arguments) {
        return ToolStore.run(new InspectCommand(), arguments);
    }

    private static ToolStore.Run verify(Path dir) {
        return inspect(dir, "--verify");
    }

    @Test
    void shouldTellWhatLiesInAStoreAndChangeNothing() throws IOException {
        final Path dir = dir();
        final Map<String, String> before = ToolStore.image(dir);

        final ToolStore.Run plain = inspect(dir);
        final ToolStore.Run verified = verify(dir);
        final ToolStore.Run listed = inspect(dir, "--entries", "--json");
        final ToolStore.Run json = inspect(dir, "--json", "--verify");

        assertThat(ToolStore.image(dir)).isEqualTo(before);
        assertThat(plain.exitCode()).isZero();
        assertThat(plain.out())
                .contains("servers 3, replicas 2, shards 6", "durability process", "format 1")
                .contains("cache 1: greetings", "cache 2: cleared")
                .contains("copy A valid, copy B valid")
                .contains("  closed, under boot id")
                .containsPattern("objects [1-9][0-9]* .*tombstones [1-9]")
                .containsPattern("(using|used|committed) worker +[1-9]")
                .containsPattern("backup +[1-9]")
                .containsPattern("free +[1-9]");
        assertThat(plain.lastLine()).matches("inspect: servers=3 objects=" + OBJECTS + " entries=[1-9][0-9]* bad=0");
        assertThat(verified.exitCode()).isZero();
        assertThat(verified.out()).isEqualTo(plain.out());
        assertThat(json.exitCode()).isZero();
        assertThat(json.out().strip())
                .startsWith("{\"directory\":")
                .contains("\"term\":2", "\"caches\":[{\"id\":1,\"name\":\"greetings\"}", "\"damages\":[]")
                .endsWith("}");
        assertThat(listed.out().lines()).allMatch(line -> line.startsWith("{\"server\":") && line.endsWith("}"));
        assertThat(listed.out().lines().count())
                .isEqualTo(Long.parseLong(group(plain.lastLine(), "entries=([0-9]+)"))
                        + Long.parseLong(sum(plain.out(), "([0-9]+) in blocks only")));
    }

    private static String group(String text, String pattern) {
        final Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(pattern).isTrue();
        return matcher.group(1);
    }

    private static String sum(String text, String pattern) {
        return ""
                + Pattern.compile(pattern)
                        .matcher(text)
                        .results()
                        .mapToLong(each -> Long.parseLong(each.group(1)))
                        .sum();
    }

    @Test
    void shouldAccountForEveryByteOfTheSegments() {
        final ToolStore.Run run = inspect(dir());
        final Matcher groups = Pattern.compile(
                        "(?m)^  (?:free|using|used|committed) ?[a-z]* +([0-9]+) +([0-9]+) +([0-9]+) +([0-9]+) +([0-9]+) ")
                .matcher(run.out());
        long segments = 0;
        long bytes = 0;
        long live = 0;
        while (groups.find()) {
            segments += Long.parseLong(groups.group(1));
            for (int i = 2; i <= 5; i++) {
                bytes += Long.parseLong(groups.group(i));
            }
            live += Long.parseLong(groups.group(2));
        }
        assertThat(bytes).isEqualTo(3 * (4L << 20));
        assertThat(segments).isEqualTo(3 * ((4 << 20) / Long.parseLong(group(run.out(), "segments of ([0-9]+)"))));
        assertThat(live)
                .isBetween(2 * 20_000L + 2 * ToolStore.OBJECTS * 64L, 2 * 24_000L + 2 * ToolStore.OBJECTS * 256L);
    }

    @Test
    void shouldListTheEntriesThatAreAskedFor() {
        final Path dir = dir();
        final ToolStore.Run one = inspect(dir, "--entries", "--key", "key-199");
        assertThat(one.exitCode()).isZero();
        assertThat(one.out().lines().filter(line -> line.contains("key \"key-199\"")))
                .hasSize(2)
                .allMatch(line ->
                        line.matches("server [0-2] segment [0-9]+ offset [0-9]+ PUT shard [0-5] version 2\\.[0-9]+"
                                + " cache 1 hash [0-9a-f]{16} key \"key-199\" value 12 request .* created"));
        assertThat(inspect(dir, "--entries", "--key", "0x6b65792d313939").out()).isEqualTo(one.out());
        final String shard = group(one.out(), "shard ([0-9])");
        final String segment = group(one.out(), "segment ([0-9]+)");
        final String server = group(one.out(), "server ([0-9])");
        assertThat(inspect(
                                dir,
                                "--entries",
                                "--key",
                                "key-199",
                                "--shard",
                                shard,
                                "--segment",
                                segment,
                                "--server",
                                server)
                        .out()
                        .lines())
                .isNotEmpty()
                .allMatch(one.out()::contains);
        assertThat(inspect(dir, "--entries", "--shard", (Integer.parseInt(shard) + 1) % 6, "--key", "key-199")
                        .out())
                .isEmpty();
        assertThat(inspect(dir, "--entries", "--key", "gone-3").out()).contains(" DELETE ", "removed");
        final ToolStore.Run wrong = inspect(dir, "--shard", "1");
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("add --entries");
        assertThat(inspect(dir, "--entries", "--key", "0x1").err()).contains("hex");
    }

    @Test
    void shouldFindEveryDamagedByteOfAnEntry() throws IOException {
        final Path dir = dir();
        final Map.Entry<Integer, StoredEntry> found = ToolStore.find(dir, "key-5");
        final StoredEntry entry = found.getValue();
        final Path area = ToolStore.area(dir, found.getKey());
        final int header = 48 + 16;
        final int used = header + entry.key().length + entry.valueLength();
        for (int at = 0; at < used; at++) {
            // As "reserved" or "void" a publication word promises nothing; a single flipped bit cannot produce these.
            final int bit = 1 << at % 8;
            ToolStore.flip(area, entry.place().fileOffset() + at, bit);
            final ToolStore.Run run = verify(dir);
            assertThat(run.exitCode()).as("byte %d", at).isOne();
            assertThat(run.out())
                    .contains("bad: " + area + " at offset " + entry.place().fileOffset() + ": segment "
                            + entry.place().segment() + ": ");
            assertThat(run.lastLine()).matches("inspect: servers=3 objects=" + (OBJECTS - 1) + " .* bad=1");
            ToolStore.flip(area, entry.place().fileOffset() + at, bit);
        }
        assertThat(verify(dir).exitCode()).isZero();
    }

    @Test
    void shouldOnlyCountDamagesUnlessAskedToVerify() throws IOException {
        final Path dir = dir();
        final Map.Entry<Integer, StoredEntry> found = ToolStore.find(dir, "key-5");
        ToolStore.flip(
                ToolStore.area(dir, found.getKey()), found.getValue().place().fileOffset() + 70, 1);
        final ToolStore.Run run = inspect(dir);
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("damaged places 1 (--verify names them)").doesNotContain("bad:");
        assertThat(run.lastLine()).endsWith("bad=1");
        assertThat(inspect(dir, "--entries", "--shard", "0", "--verify").exitCode())
                .isOne();
    }

    @Test
    void shouldReadTheOtherCopyOfADamagedSuperblock() throws IOException {
        final Path dir = dir();
        for (int copy = 0; copy < 2; copy++) {
            for (int at : new int[] {0, 13, 16, 30, 60, 104, 120}) {
                final Path area = ToolStore.area(dir, 1);
                ToolStore.flip(area, 4096L * copy + at, 0x10);
                final ToolStore.Run run = verify(dir);
                assertThat(run.exitCode()).isOne();
                assertThat(run.out())
                        .contains("bad: " + area + " at offset " + 4096 * copy + ": superblock, copy "
                                + (copy == 0 ? "A" : "B"));
                assertThat(run.lastLine()).startsWith("inspect: servers=3 objects=" + OBJECTS);
                ToolStore.flip(area, 4096L * copy + at, 0x10);
            }
        }
        assertThat(verify(dir).exitCode()).isZero();
    }

    @Test
    void shouldNameADamagedLineOfTheTables() throws IOException {
        final Path dir = dir();
        final Path area = ToolStore.area(dir, 2);
        final int tenures = 2 * 4096;
        final int segments = 3 * 4096;
        for (int at = 0; at < 32; at++) {
            ToolStore.flip(area, segments + at, 0x40);
            final ToolStore.Run run = verify(dir);
            assertThat(run.exitCode())
                    .as("byte %d of the line of segment 0", at)
                    .isOne();
            assertThat(run.out())
                    .contains("bad: " + area + " at offset " + segments + ": segment 0: ", "unknown unknown");
            ToolStore.flip(area, segments + at, 0x40);
        }
        ToolStore.flip(area, tenures + 8, 1);
        assertThat(verify(dir).out()).contains("bad: " + area + " at offset " + (tenures + 8) + ": tenure of shard 1");
        assertThat(verify(dir).exitCode()).isOne();
        ToolStore.flip(area, tenures + 8, 1);
        assertThat(verify(dir).exitCode()).isZero();
    }

    @Test
    void shouldNameADamagedNodeOfTheCatalogue() throws IOException {
        final Path dir = dir();
        final Path node = dir.resolve("configuration").resolve("catalogue+next_id.node");
        ToolStore.flip(node, Files.size(node) - 1, 1);
        final ToolStore.Run run = verify(dir);
        assertThat(run.exitCode()).isOne();
        assertThat(run.out()).contains("bad: " + node + " at offset 0", "its checksum is wrong");
    }

    @Test
    void shouldFindAConfigurationThatIsOlderThanTheData() throws IOException {
        final Path dir = dir();
        final Path node = dir.resolve("configuration").resolve("configuration.node");
        final byte[] old = Files.readAllBytes(node);
        ToolStore.use(dir, (client, cache) -> client.put(cache, ToolStore.bytes("new"), ToolStore.bytes("v")));
        Files.write(node, old);
        final ToolStore.Run run = verify(dir);
        assertThat(run.exitCode()).isOne();
        assertThat(run.out()).contains("adopted term", "version 3.", "the configuration is older than the data");
    }

    @Test
    void shouldReadAStoreWhoseProcessWasKilled() throws Exception {
        final Path dir = ToolStore.killed(temporary.resolve("killed"));
        final Map<String, String> before = ToolStore.image(dir);
        final ToolStore.Run run = verify(dir);
        assertThat(ToolStore.image(dir)).isEqualTo(before);
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("not closed, under boot id").containsPattern("open sessions [1-9]");
        assertThat(run.lastLine()).matches("inspect: servers=3 objects=" + OBJECTS + " entries=[1-9][0-9]* bad=0");
    }

    @Test
    void shouldRunAsACommand() throws Exception {
        final CommandProcess process = CommandProcess.run(InspectCommand.class, dir().toString(), "--verify");
        assertThat(process.exitCode()).isZero();
        process.assertThatLastLine().matches("inspect: servers=3 objects=" + OBJECTS + " entries=[1-9][0-9]* bad=0");
    }

    /** Bytes after the written part that resemble an entry of this use of the segment, but are none. */
    @Test
    void shouldPassOverGarbageBehindWhatWasWritten() throws IOException {
        final Path garbage = new ToolStore(temporary.resolve("garbage")).filled().dir;
        final long[] ends = new long[1 << 10];
        final StoredEntry[] last = new StoredEntry[1 << 10];
        try (ClosedStore store = ClosedStore.open(garbage)) {
            StoreInspection.of(store).forEachEntry((server, entry) -> {
                final int segment = entry.place().segment();
                final long end = entry.place().fileOffset() + entry.place().length();
                if (server == 0 && !entry.isInBlocks() && end > ends[segment]) {
                    ends[segment] = end;
                    last[segment] = entry;
                }
            });
        }
        final Path area = ToolStore.area(garbage, 0);
        int checked = 0;
        for (int segment = 0; segment < ends.length; segment++) {
            if (last[segment] == null) {
                continue;
            }
            final ByteBuffer word = ByteBuffer.allocate(8);
            final ByteBuffer before = ByteBuffer.allocate(8);
            try (FileChannel channel = FileChannel.open(area, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                assertThat(channel.read(word, last[segment].place().fileOffset()))
                        .isEqualTo(8);
                for (int strides : new int[] {5, 0}) {
                    final long at = ends[segment] + strides * 64L;
                    assertThat(channel.read(before.clear(), at)).isEqualTo(8);
                    if (before.getLong(0) != 0) {
                        continue; // of another use, or of the next segment
                    }
                    assertThat(channel.write(word.clear(), at)).isEqualTo(8);
                    final ToolStore.Run run = ToolStore.run(new InspectCommand(), garbage, "--verify");
                    // At the position of the next entry it counts as damaged.
                    assertThat(run.lastLine()).endsWith(strides == 0 ? " bad=1" : " bad=0");
                    assertThat(channel.write(before.clear(), at)).isEqualTo(8);
                    checked++;
                }
            }
        }
        assertThat(checked).isGreaterThan(1);
    }
}
