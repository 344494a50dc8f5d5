package org.rowankv.server.directory;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.StoreOpenException;

/**
 * Where the data of one server of a cluster are, and what tells it from other servers. Outlives the process, which has it
 * to itself until it is closed. For any thread.
 */
public interface DataDirectory extends AutoCloseable {

    /** Opens the homes of servers, and makes those that do not exist yet. */
    interface CacheBinding {
        /**
         * @param path of the home, by which people know it
         * @param name of the server
         * @param cluster name of its cluster
         * @param acceptCopied whether a copy takes the place of the original
         * @throws StoreOpenException if it cannot be opened
         */
        DataDirectory open(Path path, String name, String cluster, boolean acceptCopied, RandomSource random);
    }

    /** For people. */
    Path path();

    /** Drawn when the home was made: two servers never have the same, whatever they are called. */
    long identity();

    /** Where the server's area is, or is to be; null if that is no file. */
    @Nullable
    Path areaFile(int server);

    /** Whether the server's area has been made. */
    boolean hasArea(int server);

    /** The area that an earlier process has left. */
    Area openArea(AreaSettings settings, OpenOverrides consent);

    /** A new area. */
    Area createArea(AreaSettings settings, RandomSource random);

    /** Gives it free. Everything in it has been closed before. */
    @Override
    void close();
}
