package org.rowankv.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.rowankv.daemon.TestJvm;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.server.inspect.StoredEntry;
import org.rowankv.server.log.EntryType;
import picocli.CommandLine;

/** A small store of three servers and two replicas for the tests of the tools, which run in this JVM. */
public final class ToolStore {
    static final int SHARDS = 6;
    public static final int OBJECTS = 200;

    /** Output and exit code of a command. */
    public record Run(int exitCode, String out, String err) {
        public String lastLine() {
            final String[] lines = out.split("\n", -1);
            return lines.length < 2 ? "" : lines[lines.length - 2];
        }
    }

    public final Path dir;

    public ToolStore(Path dir) {
        this.dir = dir;
    }

    private static Consumer<EmbeddedSettings.Builder> builder(Path dir) {
        return with -> {
            with.servers = 3;
            with.replicas = 2;
            with.dir = dir;
            with.shards = SHARDS;
            with.workers = 4;
            with.maxMessage = 1024;
            with.capacityBytes = 4 << 20;
        };
    }

    static EmbeddedCluster open(Path dir) {
        return EmbeddedCluster.open(EmbeddedSettings.of(builder(dir)));
    }

    public static void use(Path dir, BiConsumer<RowanClient, Integer> work) {
        use(dir, work, cluster -> {});
    }

    private static void use(Path dir, BiConsumer<RowanClient, Integer> work, Consumer<EmbeddedCluster> last) {
        try (EmbeddedCluster cluster = open(dir);
                RowanClient client = new RowanClient(
                        new SessionWithIds(cluster.session()), SystemClock.INSTANCE, new SplittableRandomSource(7))) {
            work.accept(
                    client, client.catalogue().create("greetings", new byte[0]).id());
            last.accept(cluster);
        }
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Objects key-0 and so on; some removed, one large enough to be sent in blocks; another cache that was cleared. */
    public ToolStore filled() {
        use(dir, ToolStore::fill);
        return this;
    }

    static void fill(RowanClient client, int cache) {
        for (int i = 0; i < OBJECTS; i++) {
            client.put(cache, bytes("key-" + i), bytes("value of " + i));
            client.put(cache, bytes("gone-" + i), bytes("x"));
        }
        for (int i = 0; i < OBJECTS; i++) {
            client.remove(cache, bytes("gone-" + i));
        }
        client.put(cache, bytes("large"), new byte[20_000]);
        final int other = client.catalogue().create("cleared", new byte[0]).id();
        client.put(other, bytes("key-0"), bytes("cleared"));
        client.clear(other);
    }

    public static Run run(Callable<Integer> command, Object... arguments) {
        final StringWriter out = new StringWriter();
        final StringWriter err = new StringWriter();
        final CommandLine line =
                StoreCommand.line(command).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        final int exitCode =
                line.execute(Arrays.stream(arguments).map(Object::toString).toArray(String[]::new));
        return new Run(exitCode, out.toString().replace("\r\n", "\n"), err.toString());
    }

    /** Every file with its bytes and modification time, and every directory. */
    public static Map<String, String> image(Path root) throws IOException {
        final Map<String, String> image = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : all.toList()) {
                final String content = Files.isDirectory(path)
                        ? ""
                        : " " + Arrays.hashCode(Files.readAllBytes(path)) + Files.size(path);
                image.put(root.relativize(path).toString(), Files.getLastModifiedTime(path) + content);
            }
        }
        return image;
    }

    public static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    /** Flips bits of one byte of a file. */
    public static void flip(Path file, long offset, int bits) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final ByteBuffer one = ByteBuffer.allocate(1);
            assertThat(channel.read(one, offset)).isOne();
            one.put(0, (byte) (one.get(0) ^ bits));
            assertThat(channel.write(one.clear(), offset)).isOne();
        }
    }

    public static Path area(Path dir, int server) {
        return dir.resolve("area-" + server + ".rowan");
    }

    /** The PUT entry of a key on one of its servers: the server, and the entry. */
    public static Map.Entry<Integer, StoredEntry> find(Path dir, String key) {
        try (ClosedStore store = ClosedStore.open(dir)) {
            final Map<Integer, StoredEntry> found = new TreeMap<>();
            StoreInspection.of(store).forEachEntry((server, entry) -> {
                if (entry.type() == EntryType.PUT && Arrays.equals(entry.key(), bytes(key))) {
                    found.put(server, entry);
                }
            });
            assertThat(found).hasSize(2);
            return found.entrySet().iterator().next();
        }
    }

    /** Opens the store, fills it, waits until its agents are idle if requested, and then waits to be ended. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] args) {
            use(Path.of(args[0]), ToolStore::fill, cluster -> {
                if (args.length > 1) {
                    cluster.awaitDigested(); // CommitVer is sent in the same cycles
                }
                System.out.println("filled");
                try {
                    while (System.in.read() >= 0) {
                        // until the parent closes its end
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
    }

    /** Another process that has the directory open, with the objects in it. */
    static Process holder(Path dir, String... rest) throws IOException {
        final List<String> command =
                TestJvm.command("-cp", System.getProperty("java.class.path"), Holder.class.getName(), dir.toString());
        command.addAll(List.of(rest));
        final Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        final BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        assertThat(output.readLine()).isEqualTo("filled");
        return process;
    }

    /** The directory of a store whose process was killed after all its operations. */
    public static Path killed(Path dir) throws IOException, InterruptedException {
        return killed(dir, holder(dir));
    }

    /** The same after its agents were idle. */
    public static Path killedAtRest(Path dir) throws IOException, InterruptedException {
        return killed(dir, holder(dir, "rest"));
    }

    private static Path killed(Path dir, Process process) throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
        return dir;
    }
}
