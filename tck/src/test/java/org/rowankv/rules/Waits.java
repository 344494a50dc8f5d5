package org.rowankv.rules;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.agent.RunningTask;

/**
 * Rule on unbounded waits: a wait without a timeout needs a proof that it ends. Polling loops with short pauses are not
 * covered: each has a deadline, or states why it ends.
 */
final class Waits {
    /** By class: why its waits end. */
    private static final Map<String, String> PROOFS = Map.ofEntries(
            entry(
                    "org.rowankv.runtime.agent.ThreadTask",
                    "its users first end the work they wait for: they are in this list themselves"),
            entry(
                    "org.rowankv.runtime.agent.AgentRunner",
                    "close: an agent never blocks, and the loop ends after the duty cycle; run: parks until it is closed"),
            entry(
                    "org.rowankv.server.durability.FileThread",
                    "file operations, bounded by the device, and readers of segments, which stop after the last segment or at a failure"),
            entry(
                    "org.rowankv.server.configstore.StoreThread",
                    "file operations, bounded by the device; ZooKeeper's client fails every request when its connection is lost, and the session timeout ends a silent connection"),
            entry("org.rowankv.server.replication.BackupConnections", "reads the result of a completed attempt"),
            entry(
                    "org.rowankv.server.frontend.ClientPort",
                    "a loop runs every task; after the loop's end the submitting thread runs it"),
            entry(
                    "org.rowankv.server.frontend.ClientEventLoop",
                    "a closed loop drains for the time in its settings, then ends"),
            entry(
                    "org.rowankv.server.cluster.SerialExecutor",
                    "chores are interrupted first, and their waits end on interruption"),
            entry(
                    "org.rowankv.server.cluster.ClusterServer",
                    "its thread parks briefly, checks whether it is closed or has failed, and drains for the time in its settings"),
            entry(
                    "org.rowankv.server.cluster.RoleTerm",
                    "the server has failed by then, which ends every wait of its close"),
            entry(
                    "org.rowankv.driver.net.ChangePoller",
                    "it is closed, its link is broken, and its pauses are bounded"),
            entry(
                    "org.rowankv.runtime.concurrent.Parker$1",
                    "the connection's reader wakes waiters whose deadline has passed, and all of them when it ends"),
            entry(
                    "org.rowankv.spring.CacheLoads",
                    "the application's loader, or a put of the value, which has a deadline"),
            entry(
                    "org.rowankv.jcache.event.KeyEventQueue",
                    "bounded by the application's listeners; the JSR requires callers to wait for them"));

    @ArchTest
    static final ArchRule WAITS_END = noClasses()
            .that(resideInAnyPackage("org.rowankv..")
                    .and(resideOutsideOfPackages(
                            "org.rowankv.bench..",
                            "org.rowankv.samples..",
                            "org.rowankv.check..",
                            "org.rowankv.sim..",
                            "org.rowankv.tck.."))
                    .and(DescribedPredicate.not(
                            DescribedPredicate.describe("have a proof", type -> PROOFS.containsKey(type.getName())))))
            .should()
            .accessTargetWhere(waitsForEver())
            .as("a wait has a timeout, or a proof in the rules that it ends")
            .allowEmptyShould(true);

    private Waits() {}

    /** A stale proof would silently cover a later wait in the same class. */
    @ArchTest
    static void shouldNeedEveryProof(JavaClasses house) {
        final Set<String> waiting = new TreeSet<>();
        for (JavaClass type : house) {
            if (type.getAccessesFromSelf().stream().anyMatch(waitsForEver())) {
                waiting.add(type.getName());
            }
        }
        assertThat(waiting).containsAll(PROOFS.keySet());
    }

    private static DescribedPredicate<JavaAccess<?>> waitsForEver() {
        return calls(Thread.class, 0, "join")
                .or(calls(Object.class, 0, "wait"))
                .or(calls(CountDownLatch.class, 0, "await"))
                .or(calls(Condition.class, 0, "await"))
                .or(calls(Condition.class, 0, "awaitUninterruptibly"))
                .or(calls(Semaphore.class, 0, "acquire"))
                .or(calls(Semaphore.class, 0, "acquireUninterruptibly"))
                .or(calls(BlockingQueue.class, 0, "take"))
                .or(calls(BlockingQueue.class, 1, "put"))
                .or(calls(Future.class, 0, "get"))
                .or(calls(CompletableFuture.class, 0, "join"))
                .or(calls(LockSupport.class, 0, "park"))
                .or(calls(LockSupport.class, 1, "park"))
                .or(calls(Process.class, 0, "waitFor"))
                .or(calls(RunningTask.class, 0, "join"));
    }

    private static DescribedPredicate<JavaAccess<?>> calls(Class<?> owner, int argumentCount, String name) {
        return DescribedPredicate.describe(
                "calls " + owner.getSimpleName() + "." + name + " without a time-out",
                access -> access.getTargetOwner().isAssignableTo(owner)
                        && access.getName().equals(name)
                        && access.getTarget() instanceof CodeUnitAccessTarget target
                        && target.getRawParameterTypes().size() == argumentCount);
    }
}
