package org.rowankv.server.snapshot;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.DirectoryLock;
import org.rowankv.server.directory.Manifest;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.durability.DurableFile;
import org.rowankv.server.durability.PrivateFiles;

/**
 * The target directory of a store's copy: missing or empty at first. The manifest is written last and as a whole. So
 * until {@link #publish} begins to succeed the directory holds no store, whatever stops the copy. Closed before that,
 * it is as it was: everything created in it is removed.
 *
 * <p>Locked meanwhile like the directory of an open store. Only on an internal thread.
 */
final class CopyTarget implements AutoCloseable {
    private final Path target;
    private final List<Path> made = new ArrayList<>();

    @Nullable
    private DirectoryLock lock;

    private boolean published;

    private CopyTarget(Path target) {
        this.target = target;
    }

    /**
     * @param source in which nothing is changed; null if the store has no directory
     * @throws StoreOpenException if the target is not a new or empty directory elsewhere; it is as it was
     */
    static CopyTarget begin(@Nullable Path source, Path target) throws IOException {
        requireFree(source, target);
        final CopyTarget begun = new CopyTarget(target);
        try {
            begun.makeDirectories(target.resolve(StoreDirectory.MANIFEST));
            final Path lockFile = target.resolve(DirectoryLock.FILE_NAME);
            final boolean wasThere = Files.exists(lockFile);
            begun.lock = DirectoryLock.take(target);
            if (!wasThere) {
                begun.made.add(lockFile);
            }
            return begun;
        } catch (IOException | RuntimeException e) {
            begun.undo(e);
            throw e;
        }
    }

    private static void requireFree(@Nullable Path source, Path target) throws IOException {
        if (Files.exists(target) && !Files.isDirectory(target)) {
            throw new StoreOpenException(target + " is a file, not a directory: give a new or empty directory");
        }
        Path above = target.toAbsolutePath().normalize();
        while (above.getParent() != null && !Files.exists(above)) {
            above = above.getParent();
        }
        if (source != null && above.toRealPath().startsWith(source.toRealPath())) {
            throw new StoreOpenException(
                    target + " lies in the store's own directory, in which nothing is changed: give another directory");
        }
        if (!Files.isDirectory(target)) {
            return;
        }
        if (Files.exists(target.resolve(StoreDirectory.MANIFEST))) {
            throw new StoreOpenException(
                    target + " holds a Rowan-KV store already, which is left alone: give a new or empty directory");
        }
        StoreDirectory.requireNothingForeign(target);
    }

    /** The path for a new file, in a directory that exists. */
    Path fileToMake(String relative) throws IOException {
        final Path file = target.resolve(relative);
        makeDirectories(file);
        made.add(file);
        return file;
    }

    /** Creates a directory that others fill. */
    Path directoryToMake(String name) throws IOException {
        final Path directory = target.resolve(name);
        PrivateFiles.makeDirectory(directory);
        made.add(directory);
        return directory;
    }

    /** Excluding the manifest's own bytes. */
    void requireSpace(long bytes) throws IOException {
        final long needed = bytes + Manifest.MAX_LENGTH;
        final long usable = Files.getFileStore(target).getUsableSpace();
        if (usable < needed) {
            throw new StoreOpenException("not enough disk space at " + target + ": " + needed + " bytes are needed, "
                    + usable + " are usable. Free some, or give a directory on another disk");
        }
    }

    /** From now on the directory holds a store: that of a manifest, at its new path. */
    void publish(Manifest manifest) throws IOException {
        final Path file = target.resolve(StoreDirectory.MANIFEST);
        made.add(file);
        DurableFile.replace(file, manifest.movedTo(FileIdentity.of(target)).encode());
        published = true;
    }

    private void makeDirectories(Path file) throws IOException {
        final List<Path> missing = new ArrayList<>();
        for (Path above = file.getParent(); above != null && !Files.isDirectory(above); above = above.getParent()) {
            missing.add(above);
        }
        Collections.reverse(missing);
        for (Path directory : missing) {
            PrivateFiles.makeDirectory(directory);
            made.add(directory);
        }
    }

    @Override
    public void close() throws IOException {
        if (!published) {
            final IOException failure = new IOException("the unfinished copy in " + target + " cannot be removed");
            undo(failure);
            if (failure.getSuppressed().length > 0) {
                throw failure;
            }
        } else if (lock != null) {
            lock.release();
            lock = null;
        }
    }

    /** Removes everything created, newest first, including the files of others in created directories. */
    private void undo(Exception failure) {
        Collections.reverse(made);
        for (Path path : made) {
            try {
                if (Files.isDirectory(path)) {
                    removeFilesIn(path);
                }
                Files.deleteIfExists(path);
            } catch (IOException e) {
                failure.addSuppressed(e);
            }
        }
        if (lock != null) {
            try {
                lock.release();
            } catch (IOException e) {
                failure.addSuppressed(e);
            }
            lock = null;
        }
    }

    private static void removeFilesIn(Path directory) throws IOException {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path file : found) {
                if (Files.isRegularFile(file)) {
                    Files.delete(file);
                }
            }
        }
    }
}
