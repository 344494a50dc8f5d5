package org.rowankv.server.configstore;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.durability.DurableFile;
import org.rowankv.server.durability.PrivateFiles;

/**
 * The configuration store of servers in one process: a file per node, and all nodes in memory.
 *
 * <p>Guarantees: a change is on the device before it is visible; after a crash a node is as it was before the change or
 * after it. Opening the store detects and names a damaged file.
 *
 * <p>Not guaranteed: that two stores on one directory agree; the store directory's lock excludes other processes.
 *
 * <p>Thread-safe. One thread of the store accesses the files, and ends with it.
 */
public final class FileConfigurationStore implements ConfigurationStore {
    private final Path directory;
    private final StoreThread files;
    private final TreeMap<String, VersionedNode> nodes = new TreeMap<>();
    private long lastVersion;
    private volatile @Nullable IOException failure;

    /** Opens the store, and creates its directory if necessary. */
    public FileConfigurationStore(Path directory) {
        this.directory = directory;
        final String store = "the configuration store in " + directory;
        this.files = new StoreThread("rowan-configuration " + directory, store, cause -> store + " failed: " + cause);
        try {
            files.call(this::load);
        } catch (RuntimeException e) {
            files.end();
            throw e;
        }
    }

    @Override
    public @Nullable VersionedNode read(String path) {
        requireIntact();
        final VersionedNode node = known(NodePath.require(path));
        return node == null ? null : MemoryConfigurationStore.copy(node);
    }

    @Override
    public boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        MemoryConfigurationStore.requireLength(path, bytes);
        final Path file = NodeFile.of(directory, NodePath.require(path));
        final byte[] copy = bytes.clone();
        return files.call(() -> {
            requireIntact();
            final VersionedNode before = known(path);
            if (versionOf(before) != expectedVersion
                    || condition != null && versionOf(known(condition.path())) != condition.version()) {
                return false;
            }
            final VersionedNode node = new VersionedNode(copy, ++lastVersion, stamp);
            try {
                DurableFile.replace(file, NodeDescriptor.encode(path, node));
            } catch (IOException e) {
                failIfChanged(file, before, e);
                throw e;
            }
            synchronized (nodes) {
                nodes.put(path, node);
            }
            return true;
        });
    }

    @Override
    public boolean delete(String path, long expectedVersion) {
        final Path file = NodeFile.of(directory, NodePath.require(path));
        return files.call(() -> {
            requireIntact();
            final VersionedNode before = known(path);
            if (expectedVersion == ABSENT || versionOf(before) != expectedVersion) {
                return false;
            }
            try {
                DurableFile.delete(file);
            } catch (IOException e) {
                failIfChanged(file, before, e);
                throw e;
            }
            synchronized (nodes) {
                nodes.remove(path);
            }
            return true;
        });
    }

    @Override
    public List<String> list(String prefix) {
        requireIntact();
        synchronized (nodes) {
            return nodes.keySet().stream()
                    .filter(path -> NodePath.isChild(path, prefix))
                    .toList();
        }
    }

    /** Ends the store's thread; a change in progress completes. */
    @Override
    public void close() {
        files.end();
    }

    private @Nullable VersionedNode known(String path) {
        synchronized (nodes) {
            return nodes.get(path);
        }
    }

    private static long versionOf(@Nullable VersionedNode node) {
        return node == null ? ABSENT : node.version();
    }

    /**
     * After a failed change: if the directory shows it nevertheless, the state after a crash is unknown. Then the store
     * refuses all operations until it is opened again.
     */
    private void failIfChanged(Path file, @Nullable VersionedNode before, IOException reason) {
        @Nullable VersionedNode found = null;
        try {
            final byte[] bytes = Files.readAllBytes(file);
            found = NodeDescriptor.whyInvalid(bytes) == null ? NodeDescriptor.node(bytes) : null;
        } catch (NoSuchFileException e) {
            // There is no node.
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
        if (!Objects.equals(before, found)) {
            failure = reason;
        }
    }

    private void requireIntact() {
        final IOException reason = failure;
        if (reason != null) {
            throw new ConfigurationStoreException(
                    "the configuration store in " + directory
                            + " could not write a change to the disk; close it, check the disk, and open it again",
                    reason);
        }
    }

    private boolean load() throws IOException {
        PrivateFiles.makeDirectories(directory);
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path file : found) {
                final String name = file.getFileName().toString();
                if (NodeFile.isNamed(name)) {
                    final NodeFile read = NodeFile.read(directory, file);
                    lastVersion = Math.max(lastVersion, read.node().version());
                    nodes.put(read.path(), read.node());
                } else if (name.endsWith(DurableFile.TEMPORARY_SUFFIX)
                        && NodeFile.isNamed(name.substring(0, name.length() - DurableFile.TEMPORARY_SUFFIX.length()))) {
                    Files.deleteIfExists(file);
                }
            }
        }
        return true;
    }
}
