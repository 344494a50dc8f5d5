package org.rowankv.sim.service;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.engine.Server;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.snapshot.SnapshotOutcome;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * Takes copies and comparisons of the running store while clients write, and checks them. A copy is opened as a
 * separate store. Each key must have the value that it had at one moment during the copy; a read in the key's history
 * represents that. Each shard must contain all acknowledged changes up to its snapshot version, and none beyond.
 */
public final class LiveCopies implements Service {
    private static final int MOST_COPIES = 2;
    private static final int COPY_ONE_IN = 3;
    /** Many times what the copies of all seeds that run at once take. */
    private static final long ROOM_BYTES = 1L << 30;

    private final StoreScene scene;
    private final RandomSource random;
    private final CallerLog log;
    private final long stepNs;
    /** By key: versions of acknowledged changes. */
    private final Map<Integer, NavigableSet<Long>> acknowledged = new HashMap<>();

    private final Map<String, Integer> numbers = new HashMap<>();
    private long nextAtNs;
    private int copies;
    private boolean active;
    private boolean resting;

    /**
     * Begins at a random time.
     *
     * @param log receives the contents of copies
     */
    public LiveCopies(StoreScene scene, RandomSource random, CallerLog log, long stepNs) {
        this.scene = scene;
        this.random = random;
        this.log = log;
        this.stepNs = stepNs;
        this.nextAtNs = pause();
    }

    private long pause() {
        return scene.nowNs() + stepNs * (1 + random.nextInt(40_000));
    }

    @Override
    public void answered(Request request) {
        final boolean changes = request.operation() == Operation.PUT || request.operation() == Operation.DELETE;
        if (changes && request.status() == Status.OK && request.cacheId() == scene.cacheId()) {
            final String key =
                    new String(request.key(), request.keyOffset(), request.keyLength(), StandardCharsets.UTF_8);
            final Integer number = numberOf(key);
            if (number != null) {
                acknowledged.computeIfAbsent(number, unused -> new TreeSet<>()).add(request.version());
            }
        }
    }

    private @Nullable Integer numberOf(String key) {
        for (int number = numbers.size(); number < scene.keys(); number++) {
            numbers.put(new String(scene.key(number), StandardCharsets.UTF_8), number);
        }
        return numbers.get(key);
    }

    @Override
    public void rest() {
        resting = true;
        try {
            compare();
        } finally {
            resting = false;
        }
    }

    @Override
    public long readyAtNs() {
        return active ? NEVER : nextAtNs;
    }

    @Override
    public boolean blocks() {
        return true;
    }

    @Override
    public void step() {
        if (!scene.isUp()) {
            nextAtNs = scene.nowNs() + 1_000_000;
            return;
        }
        active = true;
        boolean isOver = false;
        try {
            if (copies < MOST_COPIES && random.nextInt(COPY_ONE_IN) == 0) {
                copies++;
                copy();
            } else {
                compare();
            }
            isOver = true;
        } finally {
            active = false;
            nextAtNs = pause();
            if (!isOver) {
                scene.count("copies and comparisons that a crash ended", 1);
            }
        }
    }

    // --- comparisons ---

    private void compare() {
        final LiveReplicaReport report;
        try {
            report = scene.cluster().verifyReplicas();
        } catch (StoreOpenException e) {
            refused(e);
            return;
        }
        scene.count("replicas compared while the store ran", 1);
        scene.mix(report.objects());
        if (report.damages().isEmpty() && !report.agrees()) {
            // For an entry with a damaged word, in a log still being written, the report is no more precise.
            scene.requireDamage("a comparison of the running store finds: " + report.findings());
        }
    }

    /** In a nearly full store writes take precedence. */
    private void refused(StoreOpenException why) {
        scene.count("copies and comparisons that were refused", 1);
        if (scene.isRead()) {
            scene.tell("a copy or comparison is refused: " + why.getMessage());
        }
        if (resting) {
            scene.requireServing();
            scene.violation("a store during a pause cannot be compared: " + why.getMessage());
        }
    }

    // --- copies ---

    private void copy() {
        final Path directory;
        try {
            directory = Files.createTempDirectory(room(), "rowan-sim-copy");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try {
            final EmbeddedCluster store = scene.cluster();
            final long sinceNs = scene.nowNs();
            final List<Long> before = versions(store);
            final SnapshotOutcome made;
            try {
                made = store.snapshot(directory.resolve("copy"), (copied, of) -> goOn());
            } catch (StoreOpenException e) {
                refused(e);
                return;
            }
            scene.count("copies of the running store", 1);
            scene.tell("a copy of the store is made");
            requireCut(before, made.versions(), versions(store));
            final long untilNs = scene.nowNs();
            scene.undisturbed(() -> {
                final EmbeddedCluster copy = scene.openCopy(directory.resolve("copy"));
                try {
                    check(copy, made.versions(), sinceNs, untilNs);
                } finally {
                    copy.close();
                }
            });
        } finally {
            delete(directory);
        }
    }

    /**
     * Where copies are written: in memory where the machine has a file system for that, since forcing files to a disk,
     * whose failures are not simulated here, took a quarter of a run.
     */
    private static Path room() throws IOException {
        final Path inMemory = Path.of("/dev/shm");
        return Files.isWritable(inMemory) && Files.getFileStore(inMemory).getUsableSpace() >= ROOM_BYTES
                ? inMemory
                : Path.of(System.getProperty("java.io.tmpdir"));
    }

    /** A segment was copied: other tasks run before the next. */
    private void goOn() {
        for (int i = random.nextInt(8); i > 0; i--) {
            scene.park(1 + random.nextInt((int) (4 * stepNs)));
        }
    }

    private static List<Long> versions(EmbeddedCluster store) {
        final List<Long> versions = new ArrayList<>();
        for (int shard = 0; shard < store.configuration().shardCount(); shard++) {
            final int primary = store.configuration().shard(shard).primary();
            versions.add(store.servers().get(primary).lastVersion(shard));
        }
        return versions;
    }

    private void requireCut(List<Long> before, List<Long> cut, List<Long> after) {
        for (int shard = 0; shard < cut.size(); shard++) {
            if (cut.get(shard) < before.get(shard) || cut.get(shard) > after.get(shard)) {
                scene.violation("a copy holds shard " + shard + " up to " + Version.toString(cut.get(shard))
                        + "; it was at " + Version.toString(before.get(shard)) + " when the copy began, and at "
                        + Version.toString(after.get(shard)) + " at its end");
            }
        }
    }

    private void check(EmbeddedCluster copy, List<Long> cut, long sinceNs, long untilNs) {
        final Configuration configuration = copy.configuration();
        final KeyHash hash = new KeyHash(configuration.hashSeed());
        for (int key = 0; key < scene.keys(); key++) {
            final byte[] bytes = scene.key(key);
            final long hashed = hash.hash(scene.cacheId(), bytes, 0, bytes.length);
            final int shard = ShardMap.shardOf(hashed, configuration.shardCount());
            final Server primary = copy.servers().get(configuration.shard(shard).primary());
            final long held = VisibleObject.version(primary, shard, scene.cacheId(), hashed, bytes);
            requireUpTo(key, shard, held, cut.get(shard));
            // By now its lifetime may be over, though it was not at the snapshot version.
            if (!VisibleObject.isMortal(primary, shard, scene.cacheId(), hashed, bytes)) {
                final Request request = new Request().get(scene.cacheId(), bytes, 0, bytes.length);
                request.placed(hashed, shard);
                copy.session().call(request);
                log.add(key, eventOf(request, sinceNs, untilNs));
                scene.mix(request.version());
                scene.count("keys judged in copies", 1);
            }
        }
    }

    private Event eventOf(Request read, long sinceNs, long untilNs) {
        final boolean found = read.status() == Status.OK;
        if (!found && read.status() != Status.NOT_FOUND) {
            scene.violation("a read in a copy is answered " + read.status());
        }
        return new Event(
                -3,
                KeyAction.GET,
                Event.ABSENT,
                0,
                found ? Outcome.DONE : Outcome.NOT_FOUND,
                found ? read.version() : 0,
                0,
                found ? scene.valueOf(read.result(), read.resultLength()) : Event.NOT_ASKED,
                sinceNs,
                untilNs);
    }

    /** The key's value is the last acknowledged change up to the snapshot version, or a later one up to there. */
    private void requireUpTo(int key, int shard, long held, long cut) {
        if (held > cut) {
            scene.violation("a copy holds version " + Version.toString(held) + " of key " + key + "; shard " + shard
                    + " has its snapshot version at " + Version.toString(cut));
        }
        final NavigableSet<Long> versions = acknowledged.get(key);
        final Long last = versions == null ? null : versions.floor(cut);
        if (held != Version.NONE && last != null && held < last) {
            scene.violation("a copy holds version " + Version.toString(held) + " of key " + key + ", and change "
                    + Version.toString(last) + " belongs to its snapshot, which ends at " + Version.toString(cut));
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return "live copies";
    }
}
