package org.rowankv.server.snapshot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.Manifest;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.server.durability.DurableFile;

/**
 * The files of a copy made while the store is open, and the order in which they take effect. The caller supplies
 * consistent content.
 *
 * <p>Guarantees: before {@link #publish} there is no store in the target, and afterwards there is a whole one, on the
 * device. Closed without it, the target is as it was.
 *
 * <p>For one internal thread.
 */
public final class StoreSnapshot implements AutoCloseable {
    private final CopyTarget target;
    private final List<AreaCopy> areas = new ArrayList<>();

    private StoreSnapshot(CopyTarget target) {
        this.target = target;
    }

    /**
     * Begins with empty areas of their full length, so that a disk too small fails here and not later.
     *
     * @param source directory of the store; null if it has none
     * @throws StoreOpenException if the target is not a new or empty directory elsewhere, or has no room; it is as it
     *     was
     */
    public static StoreSnapshot begin(@Nullable Path source, Path target, List<Area> originals) throws IOException {
        final StoreSnapshot snapshot = new StoreSnapshot(CopyTarget.begin(source, target));
        try {
            long length = 0;
            for (Area original : originals) {
                length += AreaCopy.lengthOf(original);
            }
            snapshot.target.requireSpace(length);
            for (Area original : originals) {
                final String name = StoreDirectory.areaFile(Path.of(""), original.serverId())
                        .toString();
                snapshot.target.fileToMake(name + DurableFile.TEMPORARY_SUFFIX);
                snapshot.areas.add(AreaCopy.make(original, snapshot.target.fileToMake(name)));
            }
            return snapshot;
        } catch (IOException | RuntimeException e) {
            snapshot.closeAfter(e);
            throw e;
        }
    }

    /** In the order of the originals. */
    public AreaCopy area(int index) {
        return areas.get(index);
    }

    /** An empty directory for the files of the configuration store. */
    public Path configurationDir() throws IOException {
        return target.directoryToMake(StoreDirectory.CONFIGURATION);
    }

    /** Completes the store. Every area is finished, and the configuration is there. */
    public void publish(long clusterId, StoreShape shape) throws IOException {
        target.publish(new Manifest(true, clusterId, shape, FileIdentity.UNKNOWN));
    }

    private void closeAfter(Exception failure) {
        try {
            close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    @Override
    public void close() throws IOException {
        IOException failure = null;
        for (AreaCopy area : areas) {
            try {
                area.close();
            } catch (IOException e) {
                failure = e;
            }
        }
        areas.clear();
        target.close();
        if (failure != null) {
            throw failure;
        }
    }
}
