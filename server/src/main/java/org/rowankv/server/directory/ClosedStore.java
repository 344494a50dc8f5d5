package org.rowankv.server.directory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rowankv.server.area.AreaProbe;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.area.Superblock;
import org.rowankv.server.area.SuperblockDescriptor.Content;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.FileThread;

/**
 * The directory of a closed store, for tools that read it.
 *
 * <p>Guarantees: nothing in the directory changes, not even a modification time. While this is open the store cannot be
 * opened, provided that the directory has its lock file. A directory that is no store, is in use, has another format,
 * or is not whole, is refused with a remedy.
 *
 * <p>Not guaranteed: the content of the areas; each reports its own damage.
 *
 * <p>Files are accessed on internal threads. For one thread.
 */
public final class ClosedStore implements AutoCloseable {
    private final Path directory;
    private final DirectoryLock lock;
    private final Manifest manifest;
    private final boolean copied;

    private ClosedStore(Path directory, DirectoryLock lock, Manifest manifest, boolean copied) {
        this.directory = directory;
        this.lock = lock;
        this.manifest = manifest;
        this.copied = copied;
    }

    /** @throws StoreOpenException if it cannot be read */
    public static ClosedStore open(Path directory) {
        return FileThread.call("rowan-closed-store", () -> {
            try {
                return openHere(directory);
            } catch (IOException e) {
                throw new StoreOpenException(
                        "cannot read the store in " + directory + ": " + e
                                + ". Run the tool as a user with read permission",
                        e);
            }
        });
    }

    private static ClosedStore openHere(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new StoreOpenException(
                    directory + (Files.exists(directory) ? " is a file, not a directory" : " does not exist")
                            + ": give the directory of a store, the one that dir= names");
        }
        final Path file = directory.resolve(StoreDirectory.MANIFEST);
        if (Files.isRegularFile(directory.resolve(ServerDirectory.IDENTITY))) {
            throw new StoreOpenException(
                    directory + " holds the data of one server of a cluster of processes, which are no"
                            + " store by themselves: of the commands for closed stores, only inspect reads them");
        }
        if (!Files.isRegularFile(file)) {
            throw new StoreOpenException(directory + " holds no Rowan-KV store: there is no " + StoreDirectory.MANIFEST
                    + " in it. Give the directory of a store, the one that dir= names");
        }
        final DirectoryLock lock = DirectoryLock.takeToRead(directory);
        try {
            final Manifest manifest = Manifest.decode(file.toString(), StoreDirectory.readManifest(file));
            if (!manifest.complete()) {
                throw new StoreOpenException("the creation of the store in " + directory
                        + " never ended: it holds nothing. Opening it begins it again");
            }
            StoreDirectory.requireAreas(directory, manifest.shape(), manifest.clusterId());
            final boolean copied = FileIdentity.isCopy(manifest.directoryIdentity(), FileIdentity.of(directory));
            return new ClosedStore(directory, lock, manifest, copied);
        } catch (IOException | RuntimeException e) {
            lock.release();
            throw e;
        }
    }

    public Path path() {
        return directory;
    }

    public int formatVersion() {
        return Manifest.FORMAT_VERSION;
    }

    public long clusterId() {
        return manifest.clusterId();
    }

    public StoreShape shape() {
        return manifest.shape();
    }

    /** The level that its first area was last opened at, as far as readable. */
    public Durability durability() {
        return FileThread.call("rowan-level-read", () -> {
            try {
                final Content content =
                        Superblock.newestValid(AreaProbe.readSuperblocks(StoreDirectory.areaFile(directory, 0)));
                return content != null && content.power() ? Durability.POWER : Durability.PROCESS;
            } catch (IOException e) {
                return Durability.PROCESS; // the reader of the area reports what is unreadable
            }
        });
    }

    /** Whether the directory is not the one the store was created in. */
    public boolean isCopied() {
        return copied;
    }

    public Path checkpointDir(int server) {
        return StoreDirectory.checkpointDir(directory, server);
    }

    public Path configurationDir() {
        return directory.resolve(StoreDirectory.CONFIGURATION);
    }

    /** The area of a server, which belongs to this store and has at least one intact superblock. */
    public AreaImage area(int server) {
        final AreaImage image = AreaImage.read(StoreDirectory.areaFile(directory, server));
        image.requireMatch(settings(server));
        return image;
    }

    private AreaSettings settings(int server) {
        return StoreDirectory.settings(directory, manifest.shape(), manifest.clusterId(), server, Durability.PROCESS);
    }

    public Manifest manifest() {
        return manifest;
    }

    @Override
    public void close() {
        lock.release("rowan-closed-store-end");
    }
}
