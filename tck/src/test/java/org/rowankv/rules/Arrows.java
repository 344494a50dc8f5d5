package org.rowankv.rules;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.List;

/**
 * Dependency rules between modules. A rule lists, for the classes of one place, all packages of this project that they
 * may use. The rest of {@code org.rowankv} is forbidden, including future packages.
 */
final class Arrows {
    private static final String RUNTIME = "org.rowankv.runtime..";
    private static final String RDMA = "org.rowankv.rdma..";
    private static final String RDMA_LANDING = "org.rowankv.rdma.landing..";
    private static final String RDMA_TCP = "org.rowankv.rdma.tcp..";
    private static final String RDMA_CHANNEL = "org.rowankv.rdma.channel..";
    private static final String RDMA_LEASED = "org.rowankv.rdma.leased..";
    private static final String RDMA_DISNI = "org.rowankv.rdma.disni..";
    private static final String DRIVER = "org.rowankv.driver..";
    private static final String PROTOCOL = "org.rowankv.protocol..";
    private static final String FRAMING = "org.rowankv.protocol.frame";
    private static final String TOPOLOGY = "org.rowankv.topology..";
    private static final String SERVER = "org.rowankv.server..";
    private static final String SERVER_EMBEDDED = "org.rowankv.server.embedded..";
    private static final String DAEMON = "org.rowankv.daemon..";
    private static final String TOOLS = "org.rowankv.tools..";
    private static final String JCACHE = "org.rowankv.jcache..";
    private static final String JCACHE_EMBEDDED = "org.rowankv.jcache.embedded..";
    private static final String VALUE_CODEC = "org.rowankv.jcache.codec.custom";
    private static final String JACKSON = "org.rowankv.jackson..";
    private static final String KRYO = "org.rowankv.kryo..";
    private static final String JCACHE_NEAR = "org.rowankv.jcache.near..";
    private static final String JDBC = "org.rowankv.jdbc..";
    private static final String MICROMETER = "org.rowankv.micrometer..";
    private static final String SPRING = "org.rowankv.spring..";
    private static final String SAMPLES = "org.rowankv.samples..";
    private static final String BENCH = "org.rowankv.bench..";

    private static final DescribedPredicate<JavaClass> HAVE_NO_PACKAGE = DescribedPredicate.describe(
            "have no package, as int and byte[] have none",
            type -> type.getBaseComponentType().isPrimitive());

    /** Every package that may contain code; a test checks that a new package is entered here. */
    static final String[] PLACES = {
        RUNTIME,
        RDMA,
        DRIVER,
        PROTOCOL,
        TOPOLOGY,
        SERVER,
        DAEMON,
        TOOLS,
        JCACHE,
        JACKSON,
        KRYO,
        JDBC,
        MICROMETER,
        SPRING,
        SAMPLES,
        BENCH,
        "org.rowankv.tck..",
        "org.rowankv.check..",
        "org.rowankv.sim.."
    };

    @ArchTest
    static final ArchRule RUNTIME_SEES_NOTHING_OF_OURS = onlySees(resideInAnyPackage(RUNTIME), RUNTIME);

    @ArchTest
    static final ArchRule RDMA_SEES_RUNTIME = onlySees(
            resideInAnyPackage(RDMA).and(resideOutsideOfPackages(RDMA_LANDING, RDMA_TCP, RDMA_LEASED)), RDMA, RUNTIME);

    /** The wire between servers is framed as that of clients is, and has none of its messages. */
    @ArchTest
    static final ArchRule LANDING_SEES_THE_FRAMING =
            onlySees(resideInAnyPackage(RDMA_LANDING, RDMA_TCP, RDMA_LEASED), RDMA, FRAMING, RUNTIME);

    @ArchTest
    static final ArchRule FRAMING_STANDS_ALONE = onlySees(resideInAnyPackage(FRAMING), FRAMING);

    @ArchTest
    static final ArchRule PROTOCOL_SEES_RUNTIME = onlySees(resideInAnyPackage(PROTOCOL), PROTOCOL, RUNTIME);

    @ArchTest
    static final ArchRule TOPOLOGY_SEES_PROTOCOL = onlySees(resideInAnyPackage(TOPOLOGY), TOPOLOGY, PROTOCOL, RUNTIME);

    @ArchTest
    static final ArchRule DRIVER_SEES_PROTOCOL_AND_TOPOLOGY =
            onlySees(resideInAnyPackage(DRIVER), DRIVER, PROTOCOL, TOPOLOGY, RUNTIME);

    @ArchTest
    static final ArchRule SERVER_SEES_PROTOCOL_AND_RDMA = onlySees(
            resideInAnyPackage(SERVER).and(resideOutsideOfPackages(SERVER_EMBEDDED)),
            SERVER,
            PROTOCOL,
            TOPOLOGY,
            RDMA,
            RUNTIME);

    /** The wiring puts servers behind the driver's interfaces in one JVM. */
    @ArchTest
    static final ArchRule SERVER_EMBEDDED_SEES_THE_SESSION_SEAM = onlySees(
            resideInAnyPackage(SERVER_EMBEDDED), SERVER, "org.rowankv.driver.api", PROTOCOL, TOPOLOGY, RDMA, RUNTIME);

    @ArchTest
    static final ArchRule SERVER_ROOMS_DO_NOT_SEE_THE_WIRING = noClasses()
            .that(resideInAnyPackage(SERVER).and(resideOutsideOfPackages(SERVER_EMBEDDED)))
            .should()
            .dependOnClassesThat()
            .resideInAPackage(SERVER_EMBEDDED)
            .allowEmptyShould(true);

    /** The operators' tools read the directories of closed stores, and need no checkers. */
    @ArchTest
    static final ArchRule TOOLS_SEE_THE_SERVER =
            onlySees(resideInAnyPackage(TOOLS), TOOLS, SERVER, PROTOCOL, TOPOLOGY, RUNTIME);

    /** The server process: the engine, a fabric, and a configuration store. No other module depends on it. */
    @ArchTest
    static final ArchRule DAEMON_SEES_THE_ENGINE =
            onlySees(resideInAnyPackage(DAEMON), DAEMON, SERVER, PROTOCOL, TOPOLOGY, RDMA, RUNTIME);

    @ArchTest
    static final ArchRule NOBODY_BUILDS_ON_THE_PROCESS = noClasses()
            .that(resideOutsideOfPackages(DAEMON, "org.rowankv.tck..", "org.rowankv.check.."))
            .should()
            .dependOnClassesThat()
            .resideInAPackage(DAEMON)
            .allowEmptyShould(true);

    /** Status codes and versions are part of the driver's API, placement is not. */
    @ArchTest
    static final ArchRule JCACHE_SEES_DRIVER = onlySees(
            resideInAnyPackage(JCACHE).and(resideOutsideOfPackages(JCACHE_EMBEDDED)),
            JCACHE,
            DRIVER,
            PROTOCOL,
            RUNTIME);

    @ArchTest
    static final ArchRule JCACHE_EMBEDDED_SEES_THE_WIRING =
            onlySees(resideInAnyPackage(JCACHE_EMBEDDED), JCACHE, DRIVER, PROTOCOL, SERVER_EMBEDDED, RUNTIME);

    /** As codecs of applications do. */
    @ArchTest
    static final ArchRule CODECS_SEE_THEIR_INTERFACE =
            onlySees(resideInAnyPackage(JACKSON, KRYO), JACKSON, KRYO, VALUE_CODEC);

    /** It is the interface of applications, which know nothing else of the codecs. */
    @ArchTest
    static final ArchRule VALUE_CODEC_STANDS_ALONE = onlySees(resideInAnyPackage(VALUE_CODEC), VALUE_CODEC);

    /** It reads and writes the bytes of entries, which the provider's codecs own. */
    @ArchTest
    static final ArchRule JDBC_SEES_CACHES =
            onlySees(resideInAnyPackage(JDBC), JDBC, JCACHE, DRIVER, PROTOCOL, RUNTIME);

    @ArchTest
    static final ArchRule MICROMETER_SEES_CACHES_AND_STORES = onlySees(
            resideInAnyPackage(MICROMETER), MICROMETER, JCACHE, DRIVER, SERVER_EMBEDDED, "org.rowankv.server.engine");

    /** An application with its servers elsewhere has no engine. */
    @ArchTest
    static final ArchRule SPRING_SEES_CACHES =
            onlySees(resideInAnyPackage(SPRING), SPRING, MICROMETER, JCACHE, DRIVER, PROTOCOL, RUNTIME);

    @ArchTest
    static final ArchRule SAMPLES_SEE_NO_TESTS_AND_NO_BENCH = noClasses()
            .that()
            .resideInAPackage(SAMPLES)
            .should()
            .dependOnClassesThat(
                    resideInAnyPackage(BENCH, "org.rowankv.tck..", "org.rowankv.check..", "org.rowankv.sim.."))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule BENCH_SEES_NO_TESTS = noClasses()
            .that()
            .resideInAPackage(BENCH)
            .should()
            .dependOnClassesThat(resideInAnyPackage("org.rowankv.tck..", "org.rowankv.check..", "org.rowankv.sim.."))
            .allowEmptyShould(true);

    /** Libraries of the product modules; each additional one is a deliberate decision, made here. */
    @ArchTest
    static final ArchRule PRODUCT_SEES_FEW_LIBRARIES = usesOnly(
            resideInAnyPackage(RUNTIME, RDMA, DRIVER, PROTOCOL, TOPOLOGY, SERVER)
                    .and(resideOutsideOfPackages(RDMA_LANDING, RDMA_TCP, RDMA_CHANNEL, RDMA_LEASED, RDMA_DISNI)),
            "org.jctools..");

    /** Netty is only for server processes, behind the fabric. */
    @ArchTest
    static final ArchRule LANDING_SEES_NETTY =
            usesOnly(resideInAnyPackage(RDMA_LANDING, RDMA_TCP, RDMA_CHANNEL, RDMA_LEASED), "io.netty..");

    @ArchTest
    static final ArchRule DISNI_SEES_ITS_LIBRARY = usesOnly(resideInAnyPackage(RDMA_DISNI), "com.ibm.disni.verbs");

    /** The library is optional, and another one may take its place. */
    @ArchTest
    static final ArchRule ONE_CLASS_KNOWS_DISNI = noClasses()
            .that(DescribedPredicate.describe(
                    "are not DisniVerbs, its connections or in them",
                    type -> !type.getName().startsWith("org.rowankv.rdma.disni.DisniVerbs")))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.ibm.disni..");

    /** Only a server process carries a command line and the coordination service. */
    @ArchTest
    static final ArchRule DAEMON_SEES_ITS_LIBRARIES = usesOnly(
            resideInAnyPackage(DAEMON), "picocli..", "org.apache.curator.framework..", "org.apache.zookeeper..");

    @ArchTest
    static final ArchRule JCACHE_SEES_FEW_LIBRARIES =
            usesOnly(resideInAnyPackage(JCACHE).and(resideOutsideOfPackages(JCACHE_NEAR)), "javax.cache..");

    /** Optional, for caches that keep decoded values. */
    @ArchTest
    static final ArchRule JCACHE_NEAR_SEES_CAFFEINE =
            usesOnly(resideInAnyPackage(JCACHE_NEAR), "com.github.benmanes.caffeine.cache");

    @ArchTest
    static final ArchRule JACKSON_SEES_ITS_LIBRARY = usesOnly(resideInAnyPackage(JACKSON), "com.fasterxml.jackson..");

    @ArchTest
    static final ArchRule KRYO_SEES_ITS_LIBRARIES =
            usesOnly(resideInAnyPackage(KRYO), "com.esotericsoftware..", "org.objenesis..");

    @ArchTest
    static final ArchRule JDBC_SEES_ITS_LIBRARY =
            usesOnly(resideInAnyPackage(JDBC), "javax.cache..", "javax.sql", "org.h2..", "picocli..", "org.jline..");

    @ArchTest
    static final ArchRule MICROMETER_SEES_ITS_LIBRARY =
            usesOnly(resideInAnyPackage(MICROMETER), "javax.cache..", "io.micrometer..");

    /** Test support extends JUnit, and the application's Hibernate is configured. */
    @ArchTest
    static final ArchRule SPRING_SEES_ITS_LIBRARIES = usesOnly(
            resideInAnyPackage(SPRING),
            "javax.cache..",
            "io.micrometer..",
            "org.springframework..",
            "org.hibernate",
            "org.hibernate.cache.spi..",
            "org.junit.jupiter.api.extension");

    private Arrows() {}

    private static ArchRule usesOnly(DescribedPredicate<JavaClass> classes, String... libraries) {
        final List<String> allowed = new ArrayList<>(List.of(
                "org.rowankv..",
                "java..",
                "javax.crypto..",
                "javax.management..",
                "org.slf4j",
                "org.jspecify.annotations",
                "com.google.errorprone.annotations.."));
        allowed.addAll(List.of(libraries));
        return noClasses()
                .that(classes)
                .should()
                .dependOnClassesThat(
                        resideOutsideOfPackages(allowed.toArray(new String[0])).and(not(HAVE_NO_PACKAGE)))
                .as("classes that " + classes.getDescription() + " use beside the JDK, SLF4J and annotations only "
                        + String.join(", ", libraries))
                .allowEmptyShould(true);
    }

    private static ArchRule onlySees(DescribedPredicate<JavaClass> classes, String... visible) {
        return noClasses()
                .that(classes)
                .should()
                .dependOnClassesThat(resideInAnyPackage("org.rowankv..").and(resideOutsideOfPackages(visible)))
                .as("classes that " + classes.getDescription() + " see of ours only " + String.join(", ", visible))
                .allowEmptyShould(true);
    }
}
