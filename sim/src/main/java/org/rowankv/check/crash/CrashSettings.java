package org.rowankv.check.crash;

import java.nio.file.Path;
import org.rowankv.server.area.BootId;
import org.rowankv.server.area.Machine;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.EmbeddedSettings;

/**
 * Settings of a crash check.
 *
 * @param rounds number of kills
 * @param replicas servers that hold each object, of {@link #SERVERS}
 * @param seed of every random decision; the exact moment of a kill is not reproduced
 * @param power whether each kill becomes a power cut: the areas lose unforced bytes
 * @param directory for stores and journals; those of a failure are kept
 */
public record CrashSettings(int rounds, int replicas, long seed, boolean power, Path directory) {
    static final int SERVERS = 3;

    // Small enough that a second of load writes the store several times over, so that the cleaner always runs.
    private static final long CAPACITY_BYTES = 48L << 20;
    private static final int SEGMENT_BYTES = 256 << 10;
    private static final int SHARDS = 16;
    private static final long SLOW_COPY = 256 << 10;
    private static final int WORKERS = 4;
    /** Short enough that many kills strike while a checkpoint is written. */
    private static final long CHECKPOINT_INTERVAL_MS = 10;

    /** After this many rounds an empty store replaces the old one. */
    static final int ROUNDS_PER_STORE = 25;

    public CrashSettings {
        if (rounds < 1 || replicas < 1 || replicas > SERVERS) {
            throw new IllegalArgumentException("at least one round, and 1 to " + SERVERS + " replicas");
        }
    }

    EmbeddedSettings embedded(Path store) {
        return EmbeddedSettings.of(with -> {
            with.servers = SERVERS;
            with.replicas = replicas;
            with.dir = store;
            with.capacityBytes = CAPACITY_BYTES;
            with.segmentBytes = SEGMENT_BYTES;
            with.shards = SHARDS;
            with.workers = WORKERS;
            with.durability = power ? Durability.POWER : Durability.PROCESS;
            with.checkpointIntervalMs = CHECKPOINT_INTERVAL_MS;
        });
    }

    /**
     * The environment of a child: a new boot of the machine in every round, whose forces are recorded, if the power is
     * cut.
     */
    EmbeddedContext surroundings(CrashRound round) {
        // In every other round a copy to a joining replica takes longer than the child lives.
        final EmbeddedContext present = round.number() % 2 == 0
                ? EmbeddedContext.machine()
                : EmbeddedContext.machine().withTuning(with -> with.copyBytesPerSecond = SLOW_COPY);
        return power
                ? present.withMachine(
                        new Machine(() -> new BootId(round.number(), round.store()), ShadowedMemory::around))
                : present;
    }

    static CrashSettings ofChild(String[] arguments) {
        return new CrashSettings(
                1, Integer.parseInt(arguments[0]), 0, Boolean.parseBoolean(arguments[6]), Path.of(arguments[1]));
    }
}
