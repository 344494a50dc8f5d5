package org.rowankv.server.directory;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.StoreOpenException;

/**
 * The data directory of one server of a cluster of processes, and the server's identity. Outlives the process, which
 * owns it exclusively until it is closed. Thread-safe.
 */
public interface DataDirectory extends AutoCloseable {

    /** Opens the data directories of servers, and creates missing ones. */
    interface Opener {
        /**
         * @param path of the directory, for messages
         * @param name of the server
         * @param cluster name of its cluster
         * @param acceptCopied whether a copy replaces the original
         * @throws StoreOpenException if it cannot be opened
         */
        DataDirectory open(Path path, String name, String cluster, boolean acceptCopied, RandomSource random);
    }

    /** For messages. */
    Path path();

    /** Drawn at creation: unique per server, whatever the servers' names. */
    long identity();

    /** The path of the server's area, present or future; null if that is no file. */
    @Nullable
    Path areaFile(int server);

    /** Whether the server's area exists. */
    boolean hasArea(int server);

    /** Opens the area that an earlier process has left. */
    Area openArea(AreaSettings settings, OpenOverrides consent);

    /** Creates a new area. */
    Area createArea(AreaSettings settings, RandomSource random);

    /** Releases the directory. Requires that everything in it is closed. */
    @Override
    void close();
}
