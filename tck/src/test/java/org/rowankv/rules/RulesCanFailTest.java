package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each rule is applied to code that breaks it, and to code that just keeps it: a rule that cannot fail proves nothing.
 */
final class RulesCanFailTest {
    private static final String SESSION = "org.rowankv.driver.api.Session";

    @TempDir
    Path directory;

    @ParameterizedTest(name = "{0}")
    @MethodSource("offences")
    void shouldCatch(String offence, ArchRule rule, Specimen specimen) throws IOException {
        final EvaluationResult result = rule.evaluate(specimen.classes(directory));

        assertThat(result.hasViolation()).as(offence).isTrue();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("customs")
    void shouldAllow(String custom, ArchRule rule, Specimen specimen) throws IOException {
        final EvaluationResult result = rule.evaluate(specimen.classes(directory));

        assertThat(result.getFailureReport().getDetails()).as(custom).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOG.warn(\"Admin request failed\", e);",
                "Log.LOG.error(\n        \"server {} cannot run\", name);",
                "LOG.error(text);",
                "LOG.error(\"ROWAN-40 short\");",
                "LOG.error(\"ROWAN-4001: no space follows\");",
                "log.warn(\"ROWAN-2001 a code of another module\");",
                "logger.atError().log(\"ROWAN-4001 in another way\");",
                "report(LOG::warn);"
            })
    void shouldCatchAMessageWithoutACodeOfItsModule(String call) {
        assertThat(MessageCodes.offences("daemon", call)).hasSize(1);
        assertThat(MessageCodes.offences("no module", "LOG.warn(\"ROWAN-4001 x\");"))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOG.warn(\"ROWAN-4001 Admin request failed\", e);",
                "LOG.error(\n        \"ROWAN-4001 server {} cannot run\", name);",
                "LOG.info(\"Store open\");",
                "errors.report(where, e);"
            })
    void shouldAllowAMessageWithACodeOfItsModule(String call) {
        assertThat(MessageCodes.offences("daemon", call)).isEmpty();
    }

    @Test
    void shouldShowAnOffenceForEveryRule() throws IllegalAccessException {
        final List<ArchRule> shown =
                offences().map(arguments -> (ArchRule) arguments.get()[1]).toList();
        final List<String> unproved = new ArrayList<>();
        for (Class<?> rules : List.of(Arrows.class, Rooms.class, Seams.class, Waits.class, Names.class)) {
            for (Field field : rules.getDeclaredFields()) {
                if (field.getType() == ArchRule.class && !shown.contains((ArchRule) field.get(null))) {
                    unproved.add(rules.getSimpleName() + "." + field.getName());
                }
            }
        }

        assertThat(unproved).isEmpty();
    }

    static Stream<Arguments> offences() {
        return Stream.of(
                sees("runtime sees rdma", Arrows.RUNTIME_SEES_NOTHING_OF_OURS, "runtime", "rdma"),
                sees("rdma sees protocol", Arrows.RDMA_SEES_RUNTIME, "rdma.local", "protocol.frame"),
                sees(
                        "the fabric sees clients' frames",
                        Arrows.LANDING_SEES_THE_FRAMING,
                        "rdma.landing.wire",
                        "protocol.wire"),
                sees("the framing sees frames", Arrows.FRAMING_STANDS_ALONE, "protocol.frame", "protocol.wire"),
                sees("protocol sees driver", Arrows.PROTOCOL_SEES_RUNTIME, "protocol", "driver"),
                sees("topology sees driver", Arrows.TOPOLOGY_SEES_PROTOCOL, "topology", "driver"),
                sees("driver sees the fabric", Arrows.DRIVER_SEES_PROTOCOL_AND_TOPOLOGY, "driver.net", "rdma"),
                sees("driver sees server", Arrows.DRIVER_SEES_PROTOCOL_AND_TOPOLOGY, "driver.session", "server"),
                sees("server sees driver", Arrows.SERVER_SEES_PROTOCOL_AND_RDMA, "server.request", "driver"),
                sees("server sees jcache", Arrows.SERVER_SEES_PROTOCOL_AND_RDMA, "server", "jcache.codec"),
                sees(
                        "the wiring sees the retries",
                        Arrows.SERVER_EMBEDDED_SEES_THE_SESSION_SEAM,
                        "server.embedded",
                        "driver.session"),
                sees(
                        "a room sees the wiring",
                        Arrows.SERVER_ROOMS_DO_NOT_SEE_THE_WIRING,
                        "server.request",
                        "server.embedded"),
                sees("jcache sees server", Arrows.JCACHE_SEES_DRIVER, "jcache", "server"),
                sees("jcache sees the wiring", Arrows.JCACHE_SEES_DRIVER, "jcache.spi", "server.embedded"),
                sees("jcache sees rdma", Arrows.JCACHE_SEES_DRIVER, "jcache", "rdma"),
                sees(
                        "jcache.embedded sees a room",
                        Arrows.JCACHE_EMBEDDED_SEES_THE_WIRING,
                        "jcache.embedded",
                        "server.log"),
                sees("a codec sees the cache", Arrows.CODECS_SEE_THEIR_INTERFACE, "jackson", "jcache.codec"),
                sees(
                        "the interface of codecs sees the codec",
                        Arrows.VALUE_CODEC_STANDS_ALONE,
                        "jcache.codec.custom",
                        "jcache.codec"),
                has("JSON uses JUnit", Arrows.JACKSON_SEES_ITS_LIBRARY, "jackson", "org.junit.jupiter.api.Test test;"),
                has("Kryo uses JUnit", Arrows.KRYO_SEES_ITS_LIBRARIES, "kryo", "org.junit.jupiter.api.Test test;"),
                sees("JDBC sees the engine", Arrows.JDBC_SEES_CACHES, "jdbc", "server.embedded"),
                has("JDBC uses JUnit", Arrows.JDBC_SEES_ITS_LIBRARY, "jdbc", "org.junit.jupiter.api.Test test;"),
                sees("meters see a room", Arrows.MICROMETER_SEES_CACHES_AND_STORES, "micrometer", "server.log"),
                sees("Spring sees the engine", Arrows.SPRING_SEES_CACHES, "spring", "server.embedded"),
                has(
                        "meters use JUnit",
                        Arrows.MICROMETER_SEES_ITS_LIBRARY,
                        "micrometer",
                        "org.junit.jupiter.api.Test test;"),
                has(
                        "Spring uses JUnit's tests",
                        Arrows.SPRING_SEES_ITS_LIBRARIES,
                        "spring",
                        "org.junit.jupiter.api.Test test;"),
                sees("samples see check", Arrows.SAMPLES_SEE_NO_TESTS_AND_NO_BENCH, "samples", "check"),
                sees("samples see bench", Arrows.SAMPLES_SEE_NO_TESTS_AND_NO_BENCH, "samples", "bench"),
                sees("bench sees simulation", Arrows.BENCH_SEES_NO_TESTS, "bench", "sim"),
                has(
                        "server uses JUnit",
                        Arrows.PRODUCT_SEES_FEW_LIBRARIES,
                        "server",
                        "org.junit.jupiter.api.Test test;"),
                has(
                        "driver uses JCache",
                        Arrows.PRODUCT_SEES_FEW_LIBRARIES,
                        "driver",
                        "javax.cache.Cache<?, ?> cache;"),
                sees("the process sees driver", Arrows.DAEMON_SEES_THE_ENGINE, "daemon", "driver"),
                sees("tools see the checkers", Arrows.TOOLS_SEE_THE_SERVER, "tools", "check"),
                sees("server sees the process", Arrows.NOBODY_BUILDS_ON_THE_PROCESS, "server", "daemon"),
                has(
                        "the process uses JUnit",
                        Arrows.DAEMON_SEES_ITS_LIBRARIES,
                        "daemon",
                        "org.junit.jupiter.api.Test test;"),
                has(
                        "the TCP fabric uses JUnit",
                        Arrows.LANDING_SEES_NETTY,
                        "rdma.tcp",
                        "org.junit.jupiter.api.Test test;"),
                sees(
                        "the adapter sees more of DiSNI",
                        Arrows.DISNI_SEES_ITS_LIBRARY,
                        "rdma.disni",
                        "com.ibm.disni.util.A"),
                sees("a channel sees DiSNI", Arrows.ONE_CLASS_KNOWS_DISNI, "rdma.channel", "com.ibm.disni.verbs.A"),
                has(
                        "jcache uses JUnit",
                        Arrows.JCACHE_SEES_FEW_LIBRARIES,
                        "jcache",
                        "org.junit.jupiter.api.Test test;"),
                has(
                        "kept values use JCache",
                        Arrows.JCACHE_NEAR_SEES_CAFFEINE,
                        "jcache.near",
                        "javax.cache.Cache<?, ?> cache;"),
                sees("durability sees area", Rooms.DURABILITY_IS_THE_GROUND, "server.durability", "server.area"),
                sees("area sees log", Rooms.AREA_STANDS_ON_DURABILITY, "server.area", "server.log"),
                sees("log sees index", Rooms.LOG_STANDS_ON_AREA, "server.log", "server.index"),
                sees("index sees digest", Rooms.INDEX_STANDS_ON_LOG, "server.index", "server.digest"),
                sees("session sees log", Rooms.SESSION_STANDS_ALONE, "server.session", "server.log"),
                sees(
                        "shard sees request",
                        Rooms.SHARD_STANDS_ON_LOG_INDEX_AND_SESSION,
                        "server.shard",
                        "server.request"),
                specimen(
                        "two rooms see each other",
                        Rooms.NO_PACKAGE_CYCLES,
                        new Specimen()
                                .type("org.rowankv.server.digest.A", "org.rowankv.server.cleaning.B b;")
                                .type("org.rowankv.server.cleaning.B", "org.rowankv.server.digest.A a;")),
                specimen(
                        "the engine and a room see each other",
                        Rooms.NO_PACKAGE_CYCLES,
                        new Specimen()
                                .type("org.rowankv.server.engine.A", "org.rowankv.server.log.B b;")
                                .type("org.rowankv.server.log.B", "org.rowankv.server.engine.A a;")),
                has("clock", Seams.CLOCKS_ARE_READ_IN_RUNTIME, "server", "long now = System.nanoTime();"),
                has("wall clock", Seams.CLOCKS_ARE_READ_IN_RUNTIME, "driver", "long now = System.currentTimeMillis();"),
                has("instant", Seams.CLOCKS_ARE_READ_IN_RUNTIME, "jcache", "Object now = java.time.Instant.now();"),
                has("date", Seams.CLOCKS_ARE_READ_IN_RUNTIME, "jcache", "Object now = new java.util.Date();"),
                has(
                        "clock by zone",
                        Seams.CLOCKS_ARE_READ_IN_RUNTIME,
                        "rdma",
                        "Object c = java.time.Clock.systemUTC();"),
                has(
                        "clock by reference",
                        Seams.CLOCKS_ARE_READ_IN_RUNTIME,
                        "sim",
                        "java.util.function.LongSupplier clock = System::nanoTime;"),
                has(
                        "thread's random",
                        Seams.CHANCE_COMES_FROM_RUNTIME,
                        "server",
                        "int dice = java.util.concurrent.ThreadLocalRandom.current().nextInt();"),
                has("uuid", Seams.CHANCE_COMES_FROM_RUNTIME, "driver", "Object id = java.util.UUID.randomUUID();"),
                has("math", Seams.CHANCE_COMES_FROM_RUNTIME, "rdma", "double dice = Math.random();"),
                has("no seed", Seams.CHANCE_COMES_FROM_RUNTIME, "bench", "Object dice = new java.util.Random();"),
                has(
                        "no seed to split",
                        Seams.CHANCE_COMES_FROM_RUNTIME,
                        "check",
                        "Object dice = new java.util.SplittableRandom();"),
                has(
                        "secure",
                        Seams.CHANCE_COMES_FROM_RUNTIME,
                        "server",
                        "Object dice = new java.security.SecureRandom();"),
                has(
                        "shuffle",
                        Seams.CHANCE_COMES_FROM_RUNTIME,
                        "sim",
                        "void mix(java.util.List<?> cards) { java.util.Collections.shuffle(cards); }"),
                has(
                        "sleep",
                        Seams.NOBODY_SLEEPS,
                        "runtime",
                        "void rest() throws InterruptedException { Thread.sleep(1); }"),
                has(
                        "sleep in units",
                        Seams.NOBODY_SLEEPS,
                        "samples",
                        "void rest() throws Exception { java.util.concurrent.TimeUnit.SECONDS.sleep(1); }"),
                has(
                        "latch without a time-out",
                        Waits.WAITS_END,
                        "server.request",
                        "void rest(java.util.concurrent.CountDownLatch l) throws InterruptedException { l.await(); }"),
                has(
                        "future without a time-out",
                        Waits.WAITS_END,
                        "driver",
                        "Object of(java.util.concurrent.Future<?> f) throws Exception { return f.get(); }"),
                has(
                        "park without a time-out",
                        Waits.WAITS_END,
                        "jcache",
                        "void rest() { java.util.concurrent.locks.LockSupport.park(this); }"),
                has(
                        "parallel stream",
                        Seams.STREAMS_ARE_SEQUENTIAL,
                        "server",
                        "Object s = java.util.List.of(1).parallelStream();"),
                has(
                        "stream made parallel",
                        Seams.STREAMS_ARE_SEQUENTIAL,
                        "jcache",
                        "Object s = java.util.stream.IntStream.range(0, 9).parallel();"),
                has(
                        "map",
                        Seams.MAPPINGS_STAND_IN_AREAS_AND_LOCAL,
                        "server.log",
                        "Object map(java.nio.channels.FileChannel c) throws java.io.IOException {",
                        "    return c.map(java.nio.channels.FileChannel.MapMode.READ_WRITE, 0, 1); }"),
                has(
                        "force",
                        Seams.MAPPINGS_STAND_IN_AREAS_AND_LOCAL,
                        "rdma",
                        "void flush(java.nio.MappedByteBuffer b) { b.force(0, 64); }"),
                has(
                        "object stream",
                        Seams.NOTHING_IS_DESERIALIZED_BELOW_THE_PROVIDER,
                        "server.request",
                        "Object read(java.io.InputStream in) throws Exception {",
                        "    return new java.io.ObjectInputStream(in).readObject(); }"),
                has(
                        "read itself",
                        Seams.NOTHING_IS_DESERIALIZED_BELOW_THE_PROVIDER,
                        "rdma",
                        "private void readObject(java.io.ObjectInputStream in) {}"),
                has("thread", Seams.THREADS_ARE_DETACHED, "jcache", "Object thread = new Thread(() -> {});"),
                has(
                        "thread local",
                        Seams.NO_THREAD_LOCALS,
                        "server",
                        "static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[8]);"),
                specimen(
                        "helper",
                        Names.TYPES_ARE_CALLED_BY_THEIR_SUBJECT,
                        new Specimen().type("org.rowankv.rdma.RingHelper")),
                specimen(
                        "util",
                        Names.TYPES_ARE_CALLED_BY_THEIR_SUBJECT,
                        new Specimen().type("org.rowankv.server.ByteUtil")),
                specimen(
                        "impl",
                        Names.TYPES_ARE_CALLED_BY_THEIR_SUBJECT,
                        new Specimen().type("org.rowankv.jcache.CacheImpl")),
                specimen(
                        "manager",
                        Names.TYPES_ARE_CALLED_BY_THEIR_SUBJECT,
                        new Specimen().type("org.rowankv.server.log.SegmentManager")),
                specimen(
                        "package without @NullMarked",
                        Names.PACKAGES_ARE_NULL_MARKED,
                        new Specimen().type("org.rowankv.server.unmarked.A")));
    }

    static Stream<Arguments> customs() {
        return Stream.of(
                sees(
                        "the wiring sees the seam",
                        Arrows.SERVER_EMBEDDED_SEES_THE_SESSION_SEAM,
                        "server.embedded",
                        SESSION),
                sees(
                        "jcache.embedded sees the wiring",
                        Arrows.JCACHE_EMBEDDED_SEES_THE_WIRING,
                        "jcache.embedded",
                        "server.embedded"),
                sees("server sees placement", Arrows.SERVER_SEES_PROTOCOL_AND_RDMA, "server.request", "topology"),
                sees("log sees area", Rooms.LOG_STANDS_ON_AREA, "server.log", "server.area"),
                sees("request sees index", Rooms.NO_PACKAGE_CYCLES, "server.request", "server.index"),
                has("runtime's clock", Seams.CLOCKS_ARE_READ_IN_RUNTIME, "runtime", "long now = System.nanoTime();"),
                has(
                        "latch with a time-out",
                        Waits.WAITS_END,
                        "server.request",
                        "void rest(java.util.concurrent.CountDownLatch l) throws InterruptedException {",
                        "    if (!l.await(1, java.util.concurrent.TimeUnit.SECONDS)) { throw new AssertionError(); } }"),
                has("a seed", Seams.CHANCE_COMES_FROM_RUNTIME, "check", "Object dice = new java.util.Random(42);"),
                has(
                        "an area maps",
                        Seams.MAPPINGS_STAND_IN_AREAS_AND_LOCAL,
                        "server.area",
                        "void flush(java.nio.MappedByteBuffer b) { b.force(0, 64); }"),
                has(
                        "jcache reads objects",
                        Seams.NOTHING_IS_DESERIALIZED_BELOW_THE_PROVIDER,
                        "jcache.codec",
                        "Object read(java.io.ObjectInputStream in) throws Exception { return in.readObject(); }"),
                has(
                        "bytes, numbers and logs",
                        Arrows.PRODUCT_SEES_FEW_LIBRARIES,
                        "server",
                        "byte[][] bytes; long number; org.slf4j.Logger log; java.nio.ByteBuffer buffer;"),
                has("jcache uses JCache", Arrows.JCACHE_SEES_FEW_LIBRARIES, "jcache", "javax.cache.Cache<?, ?> cache;"),
                specimen(
                        "the JSR's manager",
                        Names.TYPES_ARE_CALLED_BY_THEIR_SUBJECT,
                        new Specimen().type("org.rowankv.jcache.RowanCacheManager")),
                specimen(
                        "package that is marked",
                        Names.PACKAGES_ARE_NULL_MARKED,
                        new Specimen()
                                .type("org.rowankv.server.marked.A")
                                .source(
                                        "org.rowankv.server.marked.package-info",
                                        "@org.jspecify.annotations.NullMarked package org.rowankv.server.marked;")));
    }

    /** A class in one package with a field of a type in another package, or of the named class. */
    private static Arguments sees(String title, ArchRule rule, String place, String seen) {
        final String target =
                seen.startsWith("org.") || seen.startsWith("com.") ? seen : "org.rowankv." + seen + ".Seen";
        return specimen(
                title,
                rule,
                new Specimen()
                        .type("org.rowankv." + place + ".Seeing", target + " seen;")
                        .type(target));
    }

    private static Arguments has(String title, ArchRule rule, String place, String... members) {
        return specimen(title, rule, new Specimen().type("org.rowankv." + place + ".Specimen", members));
    }

    private static Arguments specimen(String title, ArchRule rule, Specimen specimen) {
        return Arguments.of(title, rule, specimen);
    }
}
