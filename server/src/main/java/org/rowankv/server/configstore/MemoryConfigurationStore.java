package org.rowankv.server.configstore;

import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The configuration store of servers without files: its content ends with the last reference to it. Thread-safe. */
public final class MemoryConfigurationStore implements ConfigurationStore {
    private final TreeMap<String, VersionedNode> nodes = new TreeMap<>();
    private final List<Consumer<String>> watchers = new CopyOnWriteArrayList<>();
    private long lastVersion;

    @Override
    public synchronized @Nullable VersionedNode read(String path) {
        final VersionedNode node = nodes.get(NodePath.require(path));
        return node == null ? null : copy(node);
    }

    @Override
    public boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        requireLength(path, bytes);
        final boolean changed = change(path, expectedVersion, bytes, stamp, condition);
        if (changed) {
            watchers.forEach(watcher -> watcher.accept(path));
        }
        return changed;
    }

    private synchronized boolean change(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        if (version(NodePath.require(path)) != expectedVersion
                || condition != null && version(condition.path()) != condition.version()) {
            return false;
        }
        nodes.put(path, new VersionedNode(bytes.clone(), lastVersion++, stamp));
        return true;
    }

    @Override
    public boolean delete(String path, long expectedVersion) {
        final boolean changed = remove(path, expectedVersion);
        if (changed) {
            watchers.forEach(watcher -> watcher.accept(path));
        }
        return changed;
    }

    /** Several servers share one instance: each watcher is kept. */
    @Override
    public boolean watch(Consumer<String> changed) {
        watchers.add(changed);
        return true;
    }

    private synchronized boolean remove(String path, long expectedVersion) {
        if (expectedVersion == ABSENT || version(NodePath.require(path)) != expectedVersion) {
            return false;
        }
        nodes.remove(path);
        return true;
    }

    @Override
    public synchronized List<String> list(String prefix) {
        return nodes.keySet().stream()
                .filter(path -> NodePath.isChild(path, prefix))
                .toList();
    }

    @Override
    public void close() {
        // The nodes stay for other holders of a reference.
    }

    private long version(String path) {
        final VersionedNode node = nodes.get(path);
        return node == null ? ABSENT : node.version();
    }

    static VersionedNode copy(VersionedNode node) {
        return new VersionedNode(node.bytes().clone(), node.version(), node.stamp());
    }

    static void requireLength(String path, byte[] bytes) {
        if (bytes.length > MAX_NODE_LENGTH) {
            throw new IllegalArgumentException(
                    "node " + path + " of " + bytes.length + " bytes is longer than " + MAX_NODE_LENGTH);
        }
    }
}
