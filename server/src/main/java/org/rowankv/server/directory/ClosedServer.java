package org.rowankv.server.directory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.FileThread;

/**
 * The data directory of a stopped server of a cluster of processes ({@link ServerDirectory}), for tools that read it.
 * The configuration is in the cluster's configuration store, not here.
 *
 * <p>Guarantees and threads as with {@link ClosedStore}.
 */
public final class ClosedServer implements AutoCloseable {
    private final Path directory;
    private final DirectoryLock lock;
    private final ServerDirectory.Owner owner;
    private final boolean copied;
    private final @Nullable Path areaFile;

    private ClosedServer(
            Path directory, DirectoryLock lock, ServerDirectory.Owner owner, boolean copied, @Nullable Path areaFile) {
        this.directory = directory;
        this.lock = lock;
        this.owner = owner;
        this.copied = copied;
        this.areaFile = areaFile;
    }

    /** Whether the directory is that of a server, whatever else is in it. */
    public static boolean isOne(Path directory) {
        return FileThread.call(
                "rowan-server-look", () -> Files.isRegularFile(directory.resolve(ServerDirectory.IDENTITY)));
    }

    /** @throws StoreOpenException if it cannot be read, or the server runs */
    public static ClosedServer open(Path directory) {
        return FileThread.call("rowan-closed-server", () -> {
            try {
                return openHere(directory);
            } catch (IOException e) {
                throw new StoreOpenException(
                        "cannot read the server's directory " + directory + ": " + e
                                + ". Run the tool as a user with read permission",
                        e);
            }
        });
    }

    private static ClosedServer openHere(Path directory) throws IOException {
        final ServerDirectory.Owner owner = ServerDirectory.read(directory.resolve(ServerDirectory.IDENTITY));
        final DirectoryLock lock;
        try {
            lock = DirectoryLock.takeToRead(directory);
        } catch (StoreOpenException e) {
            throw new StoreOpenException(
                    "server '" + owner.name() + "' of cluster '" + owner.cluster() + "' runs: " + e.getMessage(), e);
        }
        try {
            final List<Path> areas = areasIn(directory);
            if (areas.size() > 1) {
                throw new StoreOpenException("the directory " + directory + " holds " + areas.size()
                        + " areas, and a server has one: remove the areas that were put there by hand");
            }
            final boolean copied = FileIdentity.isCopy(owner.directory(), FileIdentity.of(directory));
            return new ClosedServer(directory, lock, owner, copied, areas.isEmpty() ? null : areas.get(0));
        } catch (IOException | RuntimeException e) {
            lock.release();
            throw e;
        }
    }

    private static List<Path> areasIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> String.valueOf(file.getFileName()).matches("area-[0-9]+\\.rowan"))
                    .sorted()
                    .toList();
        }
    }

    public Path path() {
        return directory;
    }

    /** Of the server. */
    public String name() {
        return owner.name();
    }

    /** Name of its cluster. */
    public String cluster() {
        return owner.cluster();
    }

    /** Drawn when the directory was made. */
    public long identity() {
        return owner.identity();
    }

    /** Whether the directory is not the one the server was created in. */
    public boolean isCopied() {
        return copied;
    }

    /** The server's area, with at least one intact superblock; null if the server never created one. */
    public @Nullable AreaImage area() {
        final Path file = areaFile;
        return file == null ? null : AreaImage.read(file);
    }

    @Override
    public void close() {
        lock.release("rowan-closed-server-end");
    }
}
