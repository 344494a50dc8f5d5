package org.rowankv.server.membership;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.pm.DurableFile;

/**
 * The configuration store of servers that live in one process: a file per node, and all nodes in memory.
 *
 * <p>Guarantees: a change is on the device before it is seen by anybody; a crash leaves a node as it was before the
 * change or after. A damaged file is found when the store is opened, and named.
 *
 * <p>Not guaranteed: that two stores on one directory agree; the store directory's lock keeps other processes away.
 *
 * <p>For any thread. Files are touched by one thread of the store's own, which ends with it.
 */
public final class FileConfigurationStore implements ConfigurationStore {
    private static final String SUFFIX = ".node";
    /** Stands for the slash in the name of a file; no path holds one. */
    private static final char SLASH = '+';

    private static final int MAX_FILE_NAME_LENGTH = 250;

    private final Path directory;
    private final ExecutorService files;
    private final TreeMap<String, Versioned> nodes = new TreeMap<>();
    private long lastVersion;
    private volatile @Nullable IOException failure;

    /** Opens the store, and makes its directory if there is none. */
    public FileConfigurationStore(Path directory) {
        this.directory = directory;
        this.files = Executors.newSingleThreadExecutor(work -> {
            final Thread thread = new Thread(work, "rowan-configuration");
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            return thread;
        });
        try {
            call(this::load);
        } catch (RuntimeException e) {
            files.shutdown();
            throw e;
        }
    }

    @Override
    public @Nullable Versioned read(String path) {
        requireIntact();
        final Versioned node = known(NodePath.require(path));
        return node == null ? null : MemoryConfigurationStore.copy(node);
    }

    @Override
    public boolean compareAndSet(String path, long expectedVersion, byte[] bytes, Stamp stamp) {
        MemoryConfigurationStore.requireLength(path, bytes);
        final Path file = fileOf(NodePath.require(path));
        final byte[] copy = bytes.clone();
        return call(() -> {
            requireIntact();
            final Versioned before = known(path);
            if (versionOf(before) != expectedVersion) {
                return false;
            }
            final Versioned node = new Versioned(copy, ++lastVersion, stamp);
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
        final Path file = fileOf(NodePath.require(path));
        return call(() -> {
            requireIntact();
            final Versioned before = known(path);
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

    /** Ends the store's thread; a change under way is finished. */
    @Override
    public void close() {
        files.shutdown();
    }

    private @Nullable Versioned known(String path) {
        synchronized (nodes) {
            return nodes.get(path);
        }
    }

    private static long versionOf(@Nullable Versioned node) {
        return node == null ? ABSENT : node.version();
    }

    /**
     * After a change that failed: if the directory shows it all the same, it is not known which of the two a crash
     * would find, and the store says nothing more about anything until it is opened again.
     */
    private void failIfChanged(Path file, @Nullable Versioned before, IOException reason) {
        @Nullable Versioned found = null;
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
                            + " could not bring a change to the disk; close it, see to the disk, and open it again",
                    reason);
        }
    }

    private boolean load() throws IOException {
        Files.createDirectories(directory);
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path file : found) {
                final String name = file.getFileName().toString();
                if (name.endsWith(SUFFIX + DurableFile.TEMPORARY_SUFFIX)) {
                    Files.deleteIfExists(file);
                } else if (name.endsWith(SUFFIX)) {
                    loadNode(file);
                }
            }
        }
        return true;
    }

    private void loadNode(Path file) throws IOException {
        final byte[] bytes = Files.readAllBytes(file);
        final String reason = NodeDescriptor.whyInvalid(bytes);
        if (reason != null) {
            throw new ConfigurationStoreException("the configuration in " + file + " cannot be read: " + reason
                    + ". Put the store back from a backup");
        }
        final String path = NodeDescriptor.path(bytes);
        if (!fileOf(path).getFileName().equals(file.getFileName())) {
            throw new ConfigurationStoreException("the configuration in " + file + " belongs to " + fileOf(path)
                    + ": files were renamed. Put the store back from a backup");
        }
        final Versioned node = NodeDescriptor.node(bytes);
        lastVersion = Math.max(lastVersion, node.version());
        nodes.put(path, node);
    }

    private Path fileOf(String path) {
        final String name = path.substring(1).replace('/', SLASH) + SUFFIX;
        if (name.length() > MAX_FILE_NAME_LENGTH) {
            throw new IllegalArgumentException("path is too long for a file: " + path);
        }
        return directory.resolve(name);
    }

    /** Waits for the store's thread. An interrupt does not cut the wait short; the interrupt status is kept. */
    private <T> T call(Callable<T> work) {
        boolean interrupted = false;
        try {
            final Future<T> result = files.submit(work);
            while (true) {
                try {
                    return result.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (RejectedExecutionException e) {
            throw new ConfigurationStoreException("the configuration store in " + directory + " is closed", e);
        } catch (ExecutionException e) {
            final Throwable cause = e.getCause();
            throw cause instanceof ConfigurationStoreException known
                    ? known
                    : new ConfigurationStoreException(
                            "the configuration store in " + directory + " failed: " + cause, cause);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
