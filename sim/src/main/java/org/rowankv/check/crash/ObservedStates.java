package org.rowankv.check.crash;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.check.area.Stored;

/** The content of a freshly opened store, as the child observed it, and the contradictions it found. */
final class ObservedStates {
    private final List<Map<Integer, Stored>> byCache = new ArrayList<>();
    private final List<String> contradictions = new ArrayList<>();
    private final int[] cacheIds;

    ObservedStates(int[] cacheIds) {
        this.cacheIds = cacheIds.clone();
        for (int cache = 0; cache < CrashKeys.CACHES; cache++) {
            byCache.add(new HashMap<>());
        }
    }

    Map<Integer, Stored> of(int cache) {
        return byCache.get(cache);
    }

    /** The ids of the caches in the store. */
    int[] cacheIds() {
        return cacheIds.clone();
    }

    List<String> contradictions() {
        return contradictions;
    }

    /** Writes the file atomically: complete or not at all. */
    void write(Path file) throws IOException {
        final Path unfinished = file.resolveSibling(file.getFileName() + ".unfinished");
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(unfinished)))) {
            for (int id : cacheIds) {
                out.writeInt(id);
            }
            for (Map<Integer, Stored> states : byCache) {
                out.writeInt(states.size());
                for (Map.Entry<Integer, Stored> state : states.entrySet()) {
                    out.writeInt(state.getKey());
                    out.writeLong(state.getValue().hash());
                    out.writeInt(state.getValue().length());
                    out.writeLong(state.getValue().version());
                }
            }
            out.writeInt(contradictions.size());
            for (String contradiction : contradictions) {
                out.writeUTF(contradiction);
            }
        }
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    }

    static ObservedStates read(Path file) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            final int[] cacheIds = new int[CrashKeys.CACHES];
            for (int cache = 0; cache < cacheIds.length; cache++) {
                cacheIds[cache] = in.readInt();
            }
            final ObservedStates result = new ObservedStates(cacheIds);
            for (Map<Integer, Stored> states : result.byCache) {
                for (int left = in.readInt(); left > 0; left--) {
                    states.put(in.readInt(), new Stored(in.readLong(), in.readInt(), in.readLong()));
                }
            }
            for (int left = in.readInt(); left > 0; left--) {
                result.contradictions.add(in.readUTF());
            }
            return result;
        }
    }
}
