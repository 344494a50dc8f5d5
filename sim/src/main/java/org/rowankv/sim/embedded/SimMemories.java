package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.sim.device.SimCheckpoints;
import org.rowankv.sim.device.SimMemory;

/**
 * State that survives a crash: the servers' areas and the configuration store. Reused from one simulation to the next.
 */
final class SimMemories implements EmbeddedContext.Memories {
    private final List<SimMemory> kept = new ArrayList<>();
    private final List<SimMemory> used = new ArrayList<>();
    private SimConfigurationStore store = new SimConfigurationStore();
    private final Map<Integer, SimCheckpoints> checkpoints = new HashMap<>();
    private boolean isNew = true;
    private int refused;

    /** Resets it for the next simulation. */
    void begin() {
        kept.addAll(used);
        used.clear();
        store = new SimConfigurationStore();
        checkpoints.clear();
        refused = 0;
        isNew = true;
    }

    /** The store was opened once: from now on it is found. */
    void written() {
        isNew = false;
    }

    /** Removes a server's area. */
    void empty(int server) {
        used.get(server).wipe();
    }

    /** Whether a power cut would keep these bytes of a server's area. */
    boolean isForced(int server, long address, int length) {
        return used.get(server).isForced(address, length);
    }

    /** The store was closed cleanly. */
    void closed() {
        checkpoints.values().forEach(SimCheckpoints::crash);
        for (SimMemory memory : used) {
            if (memory.hasDevice()) {
                memory.device().replaced();
            }
        }
    }

    void crash() {
        checkpoints.values().forEach(SimCheckpoints::crash);
        used.forEach(SimMemory::crash);
    }

    /**
     * All machines lose power at once; each loses random unforced bytes. Returns the number of dropped words.
     *
     * @param happened receives lost sectors and forces
     */
    int cutPower(RandomSource random, Consumer<String> happened) {
        checkpoints.values().forEach(SimCheckpoints::crash);
        int dropped = 0;
        for (SimMemory memory : used) {
            dropped += memory.cutPower(random, happened);
        }
        return dropped;
    }

    /** Number of file changes that failed for lack of space. */
    int refused() {
        return refused;
    }

    SimMemory of(int server) {
        return used.get(server);
    }

    SimCheckpoints checkpointsOf(int server) {
        return checkpoints.computeIfAbsent(server, unused -> new SimCheckpoints(() -> refused++));
    }

    /** Whether a force of the running process has failed. */
    boolean haveFailed() {
        for (int i = 0; i < used.size(); i++) {
            if (used.get(i).hasDevice() && used.get(i).device().hasFailed()) {
                return true;
            }
        }
        return false;
    }

    /** Cancels all scheduled device failures. */
    void spare() {
        for (SimMemory memory : used) {
            if (memory.hasDevice()) {
                memory.device().spare();
            }
        }
    }

    @Override
    public boolean isNew() {
        return isNew;
    }

    @Override
    public AreaMemory memory(AreaSettings settings) {
        final int server = settings.serverId();
        if (!isNew) {
            final SimMemory found = used.get(server);
            // A store is opened at the bottom of the stack, when all tasks of the former one have left.
            found.allHaveLeft();
            return found.present();
        }
        final SimMemory memory = take(settings);
        used.add(memory);
        return memory.present();
    }

    private SimMemory take(AreaSettings settings) {
        for (SimMemory candidate : kept) {
            if (candidate.suits(settings)) {
                kept.remove(candidate);
                candidate.allHaveLeft();
                candidate.wipe();
                return candidate;
            }
        }
        if (kept.size() > 6) {
            kept.clear();
        }
        return new SimMemory(settings);
    }

    @Override
    public ConfigurationStore store() {
        return store;
    }

    @Override
    public AreaMemory anew(AreaSettings settings) {
        final SimMemory found = used.get(settings.serverId());
        found.wipe();
        return found.present();
    }

    @Override
    public CheckpointStore checkpoints(int server) {
        final SimMemory memory = used.get(server);
        return checkpointsOf(server).ofProcess(memory.hasDevice() ? memory.device() : null);
    }
}
