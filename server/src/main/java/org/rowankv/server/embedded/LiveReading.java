package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.durability.FileThread;
import org.rowankv.server.engine.Server;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.snapshot.ConsistentCut;
import org.rowankv.server.snapshot.LiveComparison;
import org.rowankv.server.snapshot.OnlineSnapshot;
import org.rowankv.server.snapshot.SnapshotOutcome;
import org.rowankv.server.snapshot.SnapshotProgress;

/**
 * Snapshots and comparisons of an open store, which read its logs as a whole, one at a time. Thread-safe; a separate
 * thread does the work while the caller waits.
 */
final class LiveReading {
    private final StoreFiles files;
    private final List<Server> servers;
    private final EmbeddedConfigurationManager manager;
    private final EmbeddedCatalogue catalogue;
    private final EmbeddedSettings settings;
    private final Clock clock;
    private final Scheduling scheduling;
    /** Held by the current reader, and finally by {@link #close}. */
    private final ReentrantLock reading = new ReentrantLock();

    private volatile boolean closing;

    LiveReading(
            StoreFiles files,
            List<Server> servers,
            EmbeddedConfigurationManager manager,
            EmbeddedCatalogue catalogue,
            EmbeddedSettings settings,
            Clock clock,
            Scheduling scheduling) {
        this.files = files;
        this.servers = List.copyOf(servers);
        this.manager = manager;
        this.catalogue = catalogue;
        this.settings = settings;
        this.clock = clock;
        this.scheduling = scheduling;
    }

    SnapshotOutcome snapshot(Path target, SnapshotProgress progress) {
        final StoreShape shape = new StoreShape(
                settings.shape().servers(),
                settings.shape().replicas(),
                settings.capacityBytes(),
                settings.shape().shards(),
                settings.shape().segmentBytes());
        return alone("rowan-snapshot", () -> {
            final CutWithFiles source = new CutWithFiles();
            return OnlineSnapshot.make(servers, source, shape, settings.dir(), target, progress);
        });
    }

    LiveReplicaReport compareReplicas() {
        return alone("rowan-comparison", () -> {
            try (ConsistentCut cut =
                    ConsistentCut.take(manager.inForce(), servers, clock, scheduling, () -> closing, () -> {})) {
                return LiveComparison.compare(cut, servers);
            }
        });
    }

    private <T> T alone(String name, Callable<T> work) {
        if (!reading.tryLock()) {
            throw new StoreOpenException(
                    "the store is already being copied or compared; wait until that ends, and try again");
        }
        manager.mayNotMove(); // a cut needs the last version of each shard
        try {
            requireOpen();
            return onOwnThread(name, () -> {
                awaitStill();
                return work.call();
            });
        } finally {
            manager.mayMove();
            reading.unlock();
        }
    }

    /** Under single-threaded scheduling the work stays on the caller's thread: agents run while it waits for them. */
    private <T> T onOwnThread(String name, Callable<T> work) {
        if (!scheduling.isOneAtATime()) {
            return FileThread.call(name, work);
        }
        try {
            return work.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(name + " failed", e);
        }
    }

    private void awaitStill() {
        if (!manager.awaitStill(new WaitLimit(clock, settings.deadlineMs() * 1_000_000), () -> closing)) {
            requireOpen();
            throw new StoreOpenException("the primary of a shard has been moving for " + settings.deadlineMs()
                    + " ms; see the error log, and try again");
        }
    }

    private void requireOpen() {
        if (closing) {
            throw new StoreOpenException("the store is closed");
        }
    }

    /** Ends the work in progress, and prevents more. */
    void close() {
        closing = true;
        reading.lock(); // and never released; terminates: a reader checks `closing` after each segment
    }

    /** A cut while no cache is being created or removed, with configuration and catalogue of that moment. */
    private final class CutWithFiles implements OnlineSnapshot.Source {
        private final AtomicReference<StoreFiles.@Nullable SavedNodes> saved = new AtomicReference<>();

        @Override
        public ConsistentCut cut() {
            // A cache removal in progress waits for writes, which must not wait for this thread: hence before the pins.
            return catalogue.undisturbed(() -> ConsistentCut.take(
                    manager.inForce(), servers, clock, scheduling, () -> closing, () -> saved.set(files.saveNodes())));
        }

        @Override
        public long writeConfiguration(Path directory) {
            final StoreFiles.SavedNodes atTheCut = java.util.Objects.requireNonNull(saved.get());
            atTheCut.writeTo(directory);
            return atTheCut.term();
        }
    }
}
