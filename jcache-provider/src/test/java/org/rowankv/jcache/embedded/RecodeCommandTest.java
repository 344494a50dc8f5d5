package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Serializable;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.server.embedded.offline.CacheReplacement;

/** Caches with serialized keys get structural ones, in one step. */
class RecodeCommandTest {
    private static final String LAST_LINE = "recode: cache=c keys=%d recoded=%d merged=%d unclear=%d%n";

    record K(String a, String b) implements Serializable {}

    /** Has no equals. */
    private static final class Identity implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    @TempDir
    Path directory;

    private final RowanCachingProvider provider = new RowanCachingProvider();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private String more = "&servers=2&replicas=2";

    @AfterEach
    void close() {
        provider.close();
    }

    private CacheManager manager(String parameters) {
        return provider.getCacheManager(
                URI.create("rowan:embedded?capacity=32m&dir=" + directory + more + parameters), null);
    }

    private Cache<Object, String> open(String parameters) {
        final CacheManager manager = manager(parameters);
        final Cache<Object, String> open = manager.getCache("c");
        return open != null ? open : manager.createCache("c", new MutableConfiguration<>());
    }

    private Cache<Object, String> serialized() {
        return open("&template.c.keys=serialized");
    }

    private int recode(String... options) {
        provider.close();
        return run(out, 10, directory, options);
    }

    private static int run(OutputStream target, int progressEvery, Path directory, String... options) {
        final List<String> arguments = new ArrayList<>(List.of(directory.toString(), "c"));
        arguments.addAll(List.of(options));
        final PrintStream print = new PrintStream(target, true, StandardCharsets.UTF_8);
        return RecodeCommand.run(print, print, progressEvery, arguments.toArray(new String[0]));
    }

    private String printed() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String copy(String text) {
        return new StringBuilder(text).toString();
    }

    private static Map<Object, String> mixed(int count) {
        final Map<Object, String> content = new HashMap<>();
        for (int i = 0; i < count; i++) {
            final String text = "k" + i;
            content.put(
                    switch (i % 4) {
                        case 0 -> new K(text, text);
                        case 1 -> new ArrayList<Object>(List.of(text, i));
                        case 2 -> text;
                        default -> (long) i;
                    },
                    "v" + i);
        }
        return content;
    }

    private static Map<Object, String> contentOf(Cache<Object, String> cache) {
        final Map<Object, String> content = new HashMap<>();
        cache.forEach(each -> content.put(each.getKey(), each.getValue()));
        return content;
    }

    @Test
    void shouldRewriteSerializedKeysAndNothingElse() {
        final Map<Object, String> content = mixed(200);
        serialized().putAll(content);
        manager("&template.c.keys=serialized")
                .createCache("other", new MutableConfiguration<Object, String>())
                .put("k", "v");

        assertThat(recode()).isZero();

        assertThat(printed()).contains("copied 150 objects").endsWith(LAST_LINE.formatted(200, 100, 0, 0));
        final Cache<Object, String> after = open("&template.c.keys=structural");
        assertThat(contentOf(after)).isEqualTo(content);
        content.forEach((key, value) -> assertThat(after.get(key)).isEqualTo(value));
        assertThat(after.get(new K(copy("k4"), copy("k4")))).isEqualTo("v4");
        assertThat(after.get(List.of("k5", 5))).isEqualTo("v5");
        final CacheManager manager = manager("&template.c.keys=structural");
        assertThat(manager.createCache("other", new MutableConfiguration<>()).get("k"))
                .isEqualTo("v");
        assertThat(manager.unwrap(RowanClient.class).catalogue().list()).hasSize(2);
        assertThat(recode()).isZero();
        assertThat(printed()).contains("structural already").endsWith(LAST_LINE.formatted(0, 0, 0, 0));
    }

    @Test
    void shouldKeepTheCodecOfTheValues(@TempDir Path classes) throws IOException {
        final Path services = Files.createDirectories(classes.resolve("META-INF/services"));
        Files.writeString(
                services.resolve("org.rowankv.jcache.codec.custom.ValueCodec"),
                "org.rowankv.jcache.codec.custom.CodecInUseTest$NoteCodec");
        try (URLClassLoader codecs = new URLClassLoader(
                new URL[] {services.getParent().getParent().toUri().toURL()},
                getClass().getClassLoader())) {
            final URI uri = URI.create("rowan:embedded?capacity=32m&dir=" + directory + more);
            provider.getCacheManager(
                            URI.create(uri + "&template.c.keys=serialized&template.c.codec=note"),
                            codecs,
                            new Properties())
                    .createCache("c", new MutableConfiguration<Object, String>())
                    .put(new K("a", "b"), "v");
            assertThat(recode()).isZero();
            final Cache<Object, String> after = provider.getCacheManager(uri, codecs, new Properties())
                    .createCache("c", new MutableConfiguration<>());
            assertThat(after.get(new K("a", "b"))).isEqualTo("v");
            provider.close();
            assertThatThrownBy(() -> open(""))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("codec=note");
        }
    }

    @Test
    void shouldKeepExpiriesLimitsAndGenerations() {
        more += "&template.c.keys=serialized&template.c.generation=1&template.c.max-entries=1000";
        final Cache<Object, String> before = manager("")
                .createCache(
                        "c",
                        new MutableConfiguration<Object, String>()
                                .setExpiryPolicyFactory(
                                        CreatedExpiryPolicy.factoryOf(new Duration(TimeUnit.HOURS, 5))));
        before.put(new K("a", "b"), "v");
        provider.close();
        final long expiryMs = expiry();

        assertThat(recode()).isZero();

        assertThat(expiry()).isCloseTo(expiryMs, within(TimeUnit.MINUTES.toMillis(20)));
        more = "&servers=2&replicas=2&template.c.generation=1";
        final Cache<Object, String> after = manager("")
                .createCache(
                        "c",
                        new MutableConfiguration<Object, String>()
                                .setExpiryPolicyFactory(
                                        CreatedExpiryPolicy.factoryOf(new Duration(TimeUnit.HOURS, 5))));
        assertThat(after.get(new K("a", "b"))).isEqualTo("v");
        final RowanClient client = manager("").unwrap(RowanClient.class);
        assertThat(client.catalogue().find("c").limit().maxEntries()).isEqualTo(1_000);
    }

    private long expiry() {
        final List<Long> found = new ArrayList<>();
        try (CacheReplacement cache = CacheReplacement.open(directory, "c")) {
            cache.forEach(each -> found.add(each.expiryMs()));
        }
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    private void putPairs(String value, boolean shares) {
        final Cache<Object, String> cache = serialized();
        for (int i = 0; i < 40; i++) {
            final String text = "k" + i;
            cache.put(shares ? new K(text, text) : new K(text, copy(text)), value);
        }
    }

    private void requireAll(String value) {
        final Cache<Object, String> after = open("");
        for (int i = 0; i < 40; i++) {
            assertThat(after.get(new K("k" + i, "k" + i))).isEqualTo(value);
        }
        assertThat(contentOf(after)).hasSize(40);
    }

    @Test
    void shouldKeepTheVersionOfTheLaterStart() {
        putPairs("old", false);
        provider.close();
        putPairs("new", true);
        assertThat(recode()).isZero();
        assertThat(printed())
                .contains("40 entries had a key that equals another's")
                .endsWith(LAST_LINE.formatted(80, 80, 40, 0));
        requireAll("new");
    }

    @Test
    void shouldKeepTheLaterVersionOfAShard() {
        more = "&shards=1";
        putPairs("old", true);
        putPairs("new", false);
        assertThat(recode()).isZero();
        assertThat(printed()).endsWith(LAST_LINE.formatted(80, 80, 40, 0));
        requireAll("new");
    }

    private int unclear() {
        return Integer.parseInt(printed().replaceAll("(?s).*unclear=", "").trim());
    }

    @Test
    void shouldSayForHowManyKeysTheNewerIsNotKnown() {
        putPairs("one", true);
        putPairs("other", false);
        serialized().put(List.of(1), "same");
        serialized().put(Arrays.asList(1), "same");
        assertThat(recode()).isZero();
        assertThat(printed())
                .contains("the newer is not known, and one entry was kept")
                .contains("keys=82 recoded=82 merged=41 unclear=");
        assertThat(unclear()).isBetween(20, 40); // few have both keys in one shard
        final Map<Object, String> content = contentOf(open(""));
        assertThat(content).hasSize(41).containsEntry(List.of(1), "same");
        assertThat(content.get(new K("k0", "k0"))).isIn("one", "other");
    }

    @Test
    void shouldLeaveOutWhatIsUnclearIfAsked() {
        putPairs("one", true);
        putPairs("other", false);
        serialized().put(List.of(1), "same");
        serialized().put(Arrays.asList(1), "same");
        assertThat(recode("--drop-unclear")).isZero();
        assertThat(unclear()).isBetween(20, 40);
        assertThat(contentOf(open(""))).hasSize(41 - unclear()).containsEntry(List.of(1), "same");
    }

    @Test
    void shouldChangeNothingIfAKeyCannotBeStructural() {
        serialized().put(new Identity(), "v");
        serialized().put(new K("a", "b"), "v");
        assertThat(recode()).isEqualTo(2);
        assertThat(printed())
                .contains("nothing was changed")
                .contains("Identity")
                .contains("no equals of its own");
        final Cache<Object, String> still = serialized();
        assertThat(still.get(new K("a", "b"))).isEqualTo("v");
        assertThat(contentOf(still)).hasSize(2);
        assertThat(manager("&template.c.keys=serialized")
                        .unwrap(RowanClient.class)
                        .catalogue()
                        .list())
                .hasSize(1);
    }

    /** A decoded list is an ArrayList, which a cache of other lists could not show. */
    @Test
    void shouldChangeNothingIfKeysWouldNotBeOfTheCachesType() {
        manager("&template.c.keys=serialized")
                .createCache("c", new MutableConfiguration<LinkedList<?>, String>().setTypes(type(), String.class))
                .put(new LinkedList<>(List.of(1)), "v");
        assertThat(recode()).isEqualTo(2);
        assertThat(printed()).contains("nothing was changed").contains("java.util.LinkedList");
    }

    @SuppressWarnings("unchecked")
    private static Class<LinkedList<?>> type() {
        return (Class<LinkedList<?>>) (Class<?>) LinkedList.class;
    }

    @Test
    void shouldChangeNothingIfTheStoreHasNoRoomForTwoCopies() {
        more += "&workers=4";
        final Cache<Object, String> before = serialized();
        final String value = "v".repeat(40_000);
        for (int i = 0; i < 400; i++) {
            before.put(new K("k" + i, "x"), value);
        }
        assertThat(recode()).isEqualTo(2);
        assertThat(printed()).contains("no room for a second copy").contains("nothing was changed");
        final Cache<Object, String> still = serialized();
        assertThat(still.get(new K("k7", "x"))).isEqualTo(value);
        assertThat(contentOf(still)).hasSize(400);
    }

    @Test
    void shouldRefuseWithWhatToDo() {
        serialized().put(new K("a", "b"), "v");
        final PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        assertThat(run(out, 10, directory)).isEqualTo(2);
        assertThat(printed()).contains("in use");
        provider.close();
        assertThat(RecodeCommand.run(print, print, 10, directory.toString(), "nothing"))
                .isEqualTo(2);
        assertThat(printed()).contains("has no cache nothing; its caches: c");
        assertThat(RecodeCommand.run(print, print, 10, directory.toString())).isEqualTo(2);
        assertThat(RecodeCommand.run(print, print, 10, "--classpath")).isEqualTo(2);
        assertThat(run(out, 10, directory, "--classpath", "/no/such.jar")).isEqualTo(2);
        assertThat(run(out, 10, directory, "--no-such")).isEqualTo(2);
        assertThat(printed())
                .contains("--classpath names /no/such.jar")
                .contains("unknown option --no-such")
                .contains("Usage: rowan recode DIR CACHE");
        assertThat(RecodeCommand.run(print, print, 10, "--help")).isZero();
    }

    /** A process that dies at one of its lines of output. */
    static final class Victim {
        private Victim() {}

        public static void main(String[] args) throws IOException {
            final int last = Integer.parseInt(args[1]);
            final OutputStream dying = new OutputStream() {
                private int lines;

                @Override
                public void write(int each) {
                    System.out.write(each);
                    if (each == '\n' && ++lines == last) {
                        System.out.flush();
                        Runtime.getRuntime().halt(9);
                    }
                }
            };
            System.exit(run(dying, 20, Path.of(args[0])));
        }
    }

    private int killAtLine(int line, Path output) throws IOException, InterruptedException {
        final Process victim = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Victim.class.getName(),
                        directory.toString(),
                        String.valueOf(line))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        return victim.waitFor();
    }

    @Test
    void shouldLeaveTheOldCacheOrTheNewOneWhereverItIsKilled(@TempDir Path elsewhere) throws Exception {
        final Map<Object, String> content = mixed(60);
        boolean ended = false;
        int old = 0;
        for (int line = 1; !ended; line++) {
            serialized().putAll(content);
            provider.close();
            final Path output = elsewhere.resolve("output");
            final int exit = killAtLine(line, output);
            final String victim = Files.readString(output);
            assertThat(exit).as(victim).isIn(0, 9);
            ended = exit == 0;
            final boolean isNew = victim.contains("cache=c");
            final Cache<Object, String> after = open("");
            assertThat(contentOf(after)).isEqualTo(content);
            assertThat(after.get(new K(copy("k4"), copy("k4")))).isEqualTo(isNew ? "v4" : null);
            final RowanClient client = manager("").unwrap(RowanClient.class);
            assertThat(client.catalogue().list()).hasSize(1);
            old += isNew ? 0 : 1;
            manager("").destroyCache("c");
        }
        assertThat(old).isEqualTo(4);
    }
}
