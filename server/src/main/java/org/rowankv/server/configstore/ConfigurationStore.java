package org.rowankv.server.configstore;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The seam to the shared state of a cluster's servers: small nodes of bytes, each with a version, changed by
 * compare-and-set. It is the common subset of a file, a map in memory and a coordination service.
 *
 * <p>A path is {@code /} and a name, repeated; a name is 1 to {@value NodePath#MAX_NAME_LENGTH} of
 * {@code a-z 0-9 . _ - %} and begins with none of {@code . -}. Parents need not exist. A node holds at most
 * {@value #MAX_NODE_LENGTH} bytes.
 *
 * <p>Guarantees: each operation is atomic, and linearizable with the others of the same path. A change that returned
 * {@code true} is durable, as far as the store is. A path never has the same version twice, even if the node was
 * deleted and created again: a late writer never hits a node it has not read.
 *
 * <p>Not guaranteed: that a failed operation had no effect. After a {@link ConfigurationStoreException} the caller must
 * read the node back and compare the stamp. Versions need not be consecutive.
 *
 * <p>Thread-safe; the calls block, but never use a FileChannel on the caller's thread.
 */
public interface ConfigurationStore extends AutoCloseable {
    /** The expected version of a node that does not exist yet. */
    long ABSENT = -1;

    /** In a hint: any node may have changed. */
    String ANY_PATH = "/";

    /** Fits a node of ZooKeeper, with its overhead. */
    int MAX_NODE_LENGTH = 1_000_000;

    /** The node, or null if there is none. */
    @Nullable
    VersionedNode read(String path);

    /**
     * Creates the node ({@link #ABSENT}), or replaces its bytes.
     *
     * @return false if the node is not at the expected version; nothing was changed
     */
    default boolean compareAndSet(String path, long expectedVersion, byte[] bytes, Stamp stamp) {
        return compareAndSet(path, expectedVersion, bytes, stamp, null);
    }

    /**
     * As above, in one step with the condition that another node has a version too.
     *
     * @return false also if that does not hold
     */
    boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition);

    /** Deletes the node; false if it is not at the expected version. */
    boolean delete(String path, long expectedVersion);

    /** Full paths of the nodes directly below a path, in order. */
    List<String> list(String prefix);

    /**
     * Registers a callback for changes of nodes by any writer. It is a hint: it may be spurious, late, or missing, for
     * example after a lost connection. So a caller that waits for a change must still poll. It runs on a thread of the
     * store or of the writer: it must not block, or call the store. At most one callback; the last one counts.
     *
     * @param changed receives the node's path, or {@link #ANY_PATH}
     * @return false if the store never calls it
     */
    default boolean watch(Consumer<String> changed) {
        return false;
    }

    @Override
    void close();
}
