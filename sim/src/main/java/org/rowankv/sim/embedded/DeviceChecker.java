package org.rowankv.sim.embedded;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.sim.Task;
import org.rowankv.sim.state.StateChecker;

/**
 * Checker of forces before reuse, at the durability level {@code power}. Invariant: when a segment is freed, the device
 * holds the replacements of its entries. A power cut that reveals a violation is rare: the sender must have been late
 * with its own force, and its copy must be lost too. So the invariant is checked directly: what a server's index
 * pointed to before the cleaner waited for the device is on the device after the wait.
 */
final class DeviceChecker {
    private static final String BEFORE_DRAIN = "clean.before-drain";
    private static final String BEFORE_FREE = "clean.before-free";
    private static final int LOCK_OWNER = 1 << 22;

    private final EmbeddedSimulation simulation;
    /** By cleaner in a wait: the addresses of the entries that its index points to. */
    private final Map<Task, List<Long>> awaited = new HashMap<>();

    DeviceChecker(EmbeddedSimulation simulation) {
        this.simulation = simulation;
    }

    /** A server's agent, which is its cleaner now, waits for the device, or has waited. */
    void onPoint(String name, Task cleaner) {
        final boolean begins = name.equals(BEFORE_DRAIN);
        if (!begins && !name.equals(BEFORE_FREE) || !simulation.plan().power()) {
            return;
        }
        final int number = simulation.store().scheduling().servers().indexOf(cleaner);
        if (number < 0) {
            throw new AssertionError(cleaner + " frees a segment");
        }
        final Server server = simulation.store().cluster().servers().get(number);
        if (begins) {
            awaited.put(cleaner, pointedTo(server));
            return;
        }
        final List<Long> entries = awaited.remove(cleaner);
        if (entries != null) {
            entries.forEach(address -> requireForced(server, address));
        }
    }

    private static List<Long> pointedTo(Server server) {
        final List<Long> addresses = new ArrayList<>();
        for (int shard = 0; shard < server.replicas().shardCount(); shard++) {
            if (!server.replicas().has(shard)) {
                continue;
            }
            final ShardReplica replica = server.replicas().get(shard);
            long position = 0;
            do {
                replica.index().lock(LOCK_OWNER);
                try {
                    position = replica.index().visit(position, addresses::add);
                } finally {
                    replica.index().unlock();
                }
            } while (position != 0);
        }
        return addresses;
    }

    private void requireForced(Server server, long address) {
        final MemoryRegion region = server.segments().region();
        if (simulation.victim().isRotten()
                && StateChecker.isDamaged(server.segments(), new EntryCheck(region), address)) {
            return; // its length may be wrong
        }
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(buffer, at));
        if (!simulation.store().isForced(server.serverId(), address, length)) {
            simulation.violation(
                    "server " + server.serverId() + " frees a segment, and its device does not have the entry at "
                            + address + ", of version " + Version.toString(EntryDescriptor.version(buffer, at))
                            + ", which its index pointed to before");
        }
    }
}
