package org.rowankv.rules;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.BaseStream;
import org.rowankv.runtime.concurrent.DetachedThread;

/**
 * Seam rules: the calls that a deterministic simulation must be able to replace, and the calls that servers must not
 * make.
 */
final class Seams {
    private static final String RUNTIME = "org.rowankv.runtime..";

    /** Wall and monotonic clock are read through the runtime's seam; benchmarks and checkers may read both. */
    @ArchTest
    static final ArchRule CLOCKS_ARE_READ_IN_RUNTIME = noClasses()
            .that(resideOutsideOfPackages(
                    RUNTIME,
                    "org.rowankv.bench..",
                    "org.rowankv.samples..",
                    "org.rowankv.check..",
                    "org.rowankv.tck.."))
            .should()
            .accessTargetWhere(calls(System.class, "nanoTime", "currentTimeMillis")
                    .or(calls(Instant.class, "now"))
                    .or(calls(LocalDate.class, "now"))
                    .or(calls(LocalDateTime.class, "now"))
                    .or(calls(ZonedDateTime.class, "now"))
                    .or(calls(Clock.class, "systemUTC", "systemDefaultZone", "system"))
                    .or(callsWith(0, Date.class, "<init>")))
            .as("clocks are read only in org.rowankv.runtime, and by programs that measure or check")
            .allowEmptyShould(true);

    /** A given seed is deterministic: {@code new Random(seed)} is allowed, {@code new Random()} is not. */
    @ArchTest
    static final ArchRule CHANCE_COMES_FROM_RUNTIME = noClasses()
            .that(resideOutsideOfPackages(RUNTIME))
            .should()
            .accessTargetWhere(calls(ThreadLocalRandom.class, "current")
                    .or(calls(UUID.class, "randomUUID"))
                    .or(calls(Math.class, "random"))
                    .or(calls(StrictMath.class, "random"))
                    .or(callsWith(0, Random.class, "<init>"))
                    .or(callsWith(0, SplittableRandom.class, "<init>"))
                    .or(calls(SecureRandom.class, "<init>", "getInstance", "getInstanceStrong"))
                    .or(callsWith(1, Collections.class, "shuffle")))
            .as("randomness comes only from org.rowankv.runtime")
            .allowEmptyShould(true);

    /** A thread waits only for an event: a lock, a latch with a timeout, an idle strategy of the runtime. */
    @ArchTest
    static final ArchRule NOBODY_SLEEPS = noClasses()
            .that(resideInAnyPackage("org.rowankv.."))
            .should()
            .accessTargetWhere(calls(Thread.class, "sleep").or(calls(TimeUnit.class, "sleep")))
            .as("no thread sleeps")
            .allowEmptyShould(true);

    /** Streams on the common pool do not follow a seed. */
    @ArchTest
    static final ArchRule STREAMS_ARE_SEQUENTIAL = noClasses()
            .that(resideInAnyPackage("org.rowankv.."))
            .should()
            .accessTargetWhere(calls(Collection.class, "parallelStream").or(calls(BaseStream.class, "parallel")))
            .as("streams are sequential")
            .allowEmptyShould(true);

    /**
     * Exceptions: the benchmark's floor uses its own mapped file, and so does the journal of a process that will be
     * killed.
     */
    @ArchTest
    static final ArchRule MAPPINGS_STAND_IN_AREAS_AND_LOCAL = noClasses()
            .that(resideOutsideOfPackages(
                    "org.rowankv.server.area..",
                    "org.rowankv.server.directory..",
                    "org.rowankv.server.durability..",
                    "org.rowankv.rdma.local..",
                    "org.rowankv.bench..",
                    "org.rowankv.check.crash.."))
            .should()
            .accessTargetWhere(calls(FileChannel.class, "map").or(calls(MappedByteBuffer.class, "force")))
            .as("memory is mapped and flushed only by areas, their directories, their devices and rdma.local")
            .allowEmptyShould(true);

    /** Keys and values are opaque bytes below the provider: no user type is ever deserialized there. */
    @ArchTest
    static final ArchRule NOTHING_IS_DESERIALIZED_BELOW_THE_PROVIDER = noClasses()
            .that(resideInAnyPackage(
                    RUNTIME,
                    "org.rowankv.rdma..",
                    "org.rowankv.protocol..",
                    "org.rowankv.topology..",
                    "org.rowankv.driver..",
                    "org.rowankv.server.."))
            .should()
            .dependOnClassesThat(DescribedPredicate.or(
                            assignableTo("java.io.ObjectInput"),
                            assignableTo("java.beans.XMLDecoder"),
                            assignableTo("java.io.Externalizable"))
                    .as("read objects"))
            .as("no class below the provider deserializes objects")
            .allowEmptyShould(true);

    /** A thread that an application's call creates may outlive the application. Server processes have one application. */
    @ArchTest
    static final ArchRule THREADS_ARE_DETACHED = noClasses()
            .that(resideInAnyPackage(
                            RUNTIME,
                            "org.rowankv.rdma..",
                            "org.rowankv.driver..",
                            "org.rowankv.server..",
                            "org.rowankv.jcache..",
                            "org.rowankv.jdbc..",
                            "org.rowankv.micrometer..",
                            "org.rowankv.spring..")
                    .and(resideOutsideOfPackages("org.rowankv.rdma.tcp.."))
                    .and(DescribedPredicate.not(DescribedPredicate.describe(
                            "make the threads", type -> type.isEquivalentTo(DetachedThread.class)))))
            .should()
            .accessTargetWhere(calls(Thread.class, "<init>"))
            .as("threads are made by DetachedThread")
            .allowEmptyShould(true);

    /** State belongs to an agent, or to a context that a caller acquires, never to the current thread. */
    @ArchTest
    static final ArchRule NO_THREAD_LOCALS = noClasses()
            .that(resideInAnyPackage("org.rowankv.."))
            .should()
            .dependOnClassesThat(assignableTo(ThreadLocal.class))
            .as("there are no thread locals")
            .allowEmptyShould(true);

    private Seams() {}

    /**
     * Matches a call of any of these methods of the class or a subclass, or a reference such as {@code
     * System::nanoTime}.
     */
    private static DescribedPredicate<JavaAccess<?>> calls(Class<?> owner, String... names) {
        final Set<String> chosen = Set.of(names);
        return DescribedPredicate.describe(
                "calls " + owner.getSimpleName() + " " + chosen,
                access -> access.getTargetOwner().isAssignableTo(owner) && chosen.contains(access.getName()));
    }

    private static DescribedPredicate<JavaAccess<?>> callsWith(int argumentCount, Class<?> owner, String name) {
        return calls(owner, name)
                .and(DescribedPredicate.describe(
                        "with " + argumentCount + " arguments",
                        access -> access.getTarget() instanceof CodeUnitAccessTarget target
                                && target.getRawParameterTypes().size() == argumentCount));
    }
}
