package org.rowankv.server.embedded;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.NodeVersion;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;

/** A configuration store that can be copied. For one thread. */
final class KeptNodes implements ConfigurationStore {
    private final TreeMap<String, VersionedNode> nodes;
    private long lastVersion;

    KeptNodes() {
        this(Map.of(), 0);
    }

    private KeptNodes(Map<String, VersionedNode> nodes, long lastVersion) {
        this.nodes = new TreeMap<>(nodes);
        this.lastVersion = lastVersion;
    }

    KeptNodes copy() {
        return new KeptNodes(nodes, lastVersion); // a node is immutable
    }

    @Override
    public @Nullable VersionedNode read(String path) {
        return nodes.get(path);
    }

    @Override
    public boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        if (version(path) != expectedVersion || condition != null && version(condition.path()) != condition.version()) {
            return false;
        }
        nodes.put(path, new VersionedNode(bytes.clone(), lastVersion++, stamp));
        return true;
    }

    @Override
    public boolean delete(String path, long expectedVersion) {
        if (expectedVersion == ABSENT || version(path) != expectedVersion) {
            return false;
        }
        nodes.remove(path);
        return true;
    }

    @Override
    public List<String> list(String prefix) {
        final String below = prefix + "/";
        return nodes.keySet().stream()
                .filter(path -> path.startsWith(below) && path.indexOf('/', below.length()) < 0)
                .toList();
    }

    @Override
    public void close() {
        // The next process continues with them.
    }

    private long version(String path) {
        final VersionedNode node = nodes.get(path);
        return node == null ? ABSENT : node.version();
    }
}
