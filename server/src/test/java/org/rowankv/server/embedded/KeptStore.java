package org.rowankv.server.embedded;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.durability.AreaMemory;

/**
 * The persistent state of a store: the areas of its servers, its configuration and its checkpoints, in memory. A copy
 * taken while nothing runs is the state after a kill at that moment.
 */
public final class KeptStore implements EmbeddedContext.Memories {
    private final Map<Integer, KeptMemory> areas = new TreeMap<>();
    private final Map<Integer, KeptCheckpoints> checkpoints = new TreeMap<>();
    private KeptNodes nodes;

    public KeptStore() {
        this(new KeptNodes());
    }

    private KeptStore(KeptNodes nodes) {
        this.nodes = nodes;
    }

    /** Copy of the present state. */
    KeptStore copy() {
        final KeptStore copy = withoutCheckpoints();
        checkpoints.forEach((server, files) -> copy.checkpoints.put(server, files.copy()));
        return copy;
    }

    /** Copy without the checkpoints: a start from it reads every log as a whole. */
    KeptStore withoutCheckpoints() {
        final KeptStore copy = new KeptStore(nodes.copy());
        areas.forEach((server, area) -> copy.areas.put(server, area.copy()));
        return copy;
    }

    /** A power cut, for all servers at the same moment. */
    void cutPower(Random random) {
        areas.values().forEach(area -> area.cutPower(random));
    }

    /** As {@link #cutPower}, of words alone. */
    void tearWords(Random random) {
        areas.values().forEach(area -> area.tearWords(random));
    }

    /** Stores that many words as they are in a later state; returns how many there were, if fewer. */
    int store(KeptStore later, int limit) {
        int stored = 0;
        for (Map.Entry<Integer, KeptMemory> area : areas.entrySet()) {
            stored += area.getValue().store(later.areas.get(area.getKey()), limit - stored);
        }
        return stored;
    }

    /** Takes the state of another store of this shape, in its own memory; nothing runs over either. */
    void become(KeptStore other) {
        nodes = other.nodes.copy();
        checkpoints.clear();
        areas.forEach((server, area) -> area.become(other.areas.get(server)));
    }

    /** Of all bytes of the areas. */
    long checksum() {
        final CRC32C crc = new CRC32C();
        areas.values().forEach(area -> crc.update(area.header().duplicate().clear()));
        return crc.getValue();
    }

    @Override
    public boolean isNew() {
        return areas.isEmpty();
    }

    @Override
    public AreaMemory memory(AreaSettings settings) {
        return areas.computeIfAbsent(settings.serverId(), server -> new KeptMemory(settings));
    }

    @Override
    public AreaMemory anew(AreaSettings settings) {
        final KeptMemory empty = new KeptMemory(settings);
        areas.put(settings.serverId(), empty);
        return empty;
    }

    @Override
    public ConfigurationStore store() {
        return nodes;
    }

    @Override
    public CheckpointStore checkpoints(int server) {
        return checkpoints.computeIfAbsent(server, unused -> new KeptCheckpoints());
    }
}
