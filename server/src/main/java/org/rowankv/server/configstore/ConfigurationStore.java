package org.rowankv.server.configstore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The seam to what all servers of a cluster agree on: small nodes of bytes, each with a version, changed by
 * compare-and-set. The least that a file, a map in memory and an ensemble of coordination servers have in common.
 *
 * <p>A path is {@code /} and a name, repeated; a name is 1 to {@value NodePath#MAX_NAME_LENGTH} of
 * {@code a-z 0-9 . _ - %} and begins with none of {@code . -}. Parents need not exist. A node holds at most
 * {@value #MAX_NODE_LENGTH} bytes.
 *
 * <p>Guarantees: each operation is atomic, and linearizable with the others of the same path. What {@code true}
 * answered is durable, as far as the store is. A version is never given twice to one path, also not when the node was
 * deleted and created again: a late writer never hits a node it has not seen.
 *
 * <p>Not guaranteed: that a failed operation did nothing. After a {@link ConfigurationStoreException} the caller reads
 * the node back, and compares the stamp, before it concludes anything. Versions need not be consecutive.
 *
 * <p>For any thread; the calls block, but never touch a FileChannel on the caller's thread.
 */
public interface ConfigurationStore extends AutoCloseable {
    /** The expected version of a node that does not exist yet. */
    long ABSENT = -1;

    /** Fits a node of the coordination service that clusters use, with its overhead. */
    int MAX_NODE_LENGTH = 1_000_000;

    /** The node, or null if there is none. */
    @Nullable
    VersionedNode read(String path);

    /**
     * Creates the node ({@link #ABSENT}), or replaces its bytes.
     *
     * @return false if the node is not at the expected version; nothing was changed
     */
    boolean compareAndSet(String path, long expectedVersion, byte[] bytes, Stamp stamp);

    /** Deletes the node; false if it is not at the expected version. */
    boolean delete(String path, long expectedVersion);

    /** Full paths of the nodes directly below a path, in order. */
    List<String> list(String prefix);

    /**
     * Has that called after nodes may have changed, by whomever: a hint, which may come for nothing, late, or not at all, as when
     * the connection was lost. So whoever waits for a change looks now and then all the same. Called on a thread of the store or of
     * whoever changed the node: it must not block, or call the store. One at most; the last one counts.
     *
     * @return false where it is never called
     */
    default boolean watch(Runnable changed) {
        return false;
    }

    @Override
    void close();
}
