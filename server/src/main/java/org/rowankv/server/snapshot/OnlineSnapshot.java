package org.rowankv.server.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.CutReader;

/**
 * A copy of a running store to a directory, as of a {@link ConsistentCut}. The copy holds whole entries up to the snapshot
 * versions and nothing else: neither later entries nor bytes of earlier uses of the segments. For one internal thread.
 */
public final class OnlineSnapshot {
    /** Takes a cut, and records what is stored outside the logs at that moment. */
    public interface Source {
        ConsistentCut cut();

        /** Writes configuration and catalogue as of the cut into a directory; returns the configuration's term. */
        long writeConfiguration(Path directory);
    }

    private final List<Server> servers;
    private final SnapshotProgress progress;
    private int copied;
    private long entries;

    private OnlineSnapshot(List<Server> servers, SnapshotProgress progress) {
        this.servers = servers;
        this.progress = progress;
    }

    /** @param dir of the store, or null */
    public static SnapshotOutcome make(
            List<Server> servers,
            Source source,
            StoreShape shape,
            @Nullable Path dir,
            Path target,
            SnapshotProgress progress) {
        try {
            return new OnlineSnapshot(servers, progress).make(source, shape, dir, target);
        } catch (IOException e) {
            throw new StoreOpenException("cannot copy the store to " + target + ": " + e, e);
        }
    }

    private SnapshotOutcome make(Source source, StoreShape shape, @Nullable Path dir, Path target) throws IOException {
        // The slow part comes first: segments are pinned for as long as it takes to copy them.
        try (StoreSnapshot snapshot = StoreSnapshot.begin(
                dir,
                target,
                servers.stream().map(server -> server.segments().area()).toList())) {
            final ConsistentCut cut = copyCut(source, snapshot);
            final long term = source.writeConfiguration(snapshot.configurationDir());
            for (int i = 0; i < servers.size(); i++) {
                snapshot.area(i).finish(term);
            }
            snapshot.publish(cut.configuration().clusterId(), shape);
            return new SnapshotOutcome(entries, cut.versions());
        }
    }

    /** Copies a cut that is closed when this returns, so that writers no longer wait for it. */
    private ConsistentCut copyCut(Source source, StoreSnapshot snapshot) throws IOException {
        try (ConsistentCut cut = source.cut()) {
            final int all = servers.stream()
                    .mapToInt(server -> cut.segments(server).size())
                    .sum();
            for (int i = 0; i < servers.size(); i++) {
                copy(cut, servers.get(i), snapshot.area(i), all);
            }
            return cut;
        }
    }

    private void copy(ConsistentCut cut, Server server, AreaCopy area, int all) throws IOException {
        final CutReader reader = cut.reader(server);
        final ByteBuffer buffer = ByteBuffer.allocateDirect(server.segments().length());
        for (int segment : cut.segments(server)) {
            final String damage = reader.copy(segment, buffer);
            cut.requireHeld(server);
            if (damage != null) {
                throw new StoreOpenException("server " + server.serverId()
                        + " cannot be copied: its area is damaged at "
                        + damage + ". The scrubber is notified, and restores what is missing from another replica where"
                        + " there is one: try again later");
            }
            area.give(segment, buffer);
            cut.release(server, segment);
            entries += reader.entries();
            copied++;
            progress.copied(copied, all);
        }
    }
}
