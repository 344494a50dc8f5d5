package org.rowankv.server.directory;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaFile;
import org.rowankv.server.area.AreaProbe;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.DurableFile;
import org.rowankv.server.durability.FileThread;
import org.rowankv.server.durability.PrivateFiles;

/**
 * The directory of an embedded store:
 *
 * <pre>
 *   rowan.lock          held while the store is open
 *   rowan.manifest      the store's shape and identity: {@link Manifest}
 *   area-0.rowan …      one per server: {@link Area}
 *   area-0.rowan.aside  a quarantined file: an area that could not be used, kept for inspection
 *   configuration/      the configuration store's files
 *   checkpoint-0/ …     one per server: files without which everything is there too, and a start takes longer
 * </pre>
 *
 * <p>Guarantees: a directory is open once at a time, in all processes and under all spellings; it is opened only as
 * what it was created as; one that holds anything else is left alone. A creation that stopped before {@link
 * #markComplete} is begun again from nothing. A failed {@link #open} holds no lock and has changed nothing that
 * counts.
 *
 * <p>Not guaranteed: what is inside the areas; each checks itself when it is opened.
 *
 * <p>For any thread; files are touched on threads of its own.
 */
public final class StoreDirectory implements AutoCloseable {
    public static final String MANIFEST = "rowan.manifest";
    public static final String CONFIGURATION = "configuration";
    private static final String AREA_PREFIX = "area-";
    public static final String CHECKPOINT_PREFIX = "checkpoint-";
    private static final String AREA_SUFFIX = ".rowan";
    private static final String ASIDE_SUFFIX = ".aside";
    /** Files allowed in a directory that holds no store yet. */
    private static final Set<String> IGNORED = Set.of(
            DirectoryLock.FILE_NAME,
            MANIFEST + DurableFile.TEMPORARY_SUFFIX,
            ServerDirectory.IDENTITY + DurableFile.TEMPORARY_SUFFIX,
            "lost+found");

    private final Path directory;
    private final DirectoryLock lock;
    private final OpenOverrides consent;
    private Manifest manifest;
    private boolean open = true;

    private StoreDirectory(Path directory, DirectoryLock lock, OpenOverrides consent, Manifest manifest) {
        this.directory = directory;
        this.lock = lock;
        this.consent = consent;
        this.manifest = manifest;
    }

    /** {@link #open(Path, StoreShape, OpenOverrides, RandomSource)}, refusing a copied directory. */
    public static StoreDirectory open(Path directory, StoreShape shape, boolean acceptUnclean, RandomSource random) {
        return open(directory, shape, new OpenOverrides(acceptUnclean, false), random);
    }

    /**
     * Opens the store in a directory, or begins one ({@link #isNew}) if the directory is missing or empty.
     *
     * @throws StoreOpenException if it cannot be opened
     */
    public static StoreDirectory open(Path directory, StoreShape shape, OpenOverrides consent, RandomSource random) {
        // Drawn in any case: the caller's stream does not depend on the disk's content.
        final long drawn = random.nextLong();
        final long clusterId = drawn == 0 ? 1 : drawn;
        return FileThread.call("rowan-directory-open", () -> openHere(directory, shape, consent, clusterId));
    }

    private static StoreDirectory openHere(Path directory, StoreShape shape, OpenOverrides consent, long clusterId) {
        try {
            makeDirectory(directory, MANIFEST);
            final DirectoryLock lock = DirectoryLock.take(directory);
            try {
                return new StoreDirectory(directory, lock, consent, findOrBegin(directory, shape, consent, clusterId));
            } catch (IOException | RuntimeException e) {
                lock.release();
                throw e;
            }
        } catch (IOException e) {
            throw new StoreOpenException("cannot use the directory " + directory + ": " + e, e);
        }
    }

    /** The shape of the store in a directory, which may be open; empty if no store that can be opened is there. */
    public static Optional<StoreShape> shapeIn(Path directory) {
        final Path file = directory.resolve(MANIFEST);
        return FileThread.call("rowan-shape-read", () -> {
            try {
                final Manifest found = Manifest.decode(file.toString(), readManifest(file));
                return found.complete() ? Optional.of(found.shape()) : Optional.empty();
            } catch (IOException | StoreOpenException e) {
                return Optional.empty(); // the opening says what is wrong
            }
        });
    }

    /** @param mark the file that identifies the owner of the directory */
    static void makeDirectory(Path directory, String mark) throws IOException {
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw new StoreOpenException("dir=" + directory + " is a file, not a directory: give another dir=");
        }
        if (Files.isDirectory(directory) && Files.notExists(directory.resolve(mark))) {
            // Before the lock file is made in it.
            requireNothingForeign(directory);
        }
        try {
            PrivateFiles.makeDirectories(directory);
        } catch (IOException e) {
            throw new StoreOpenException(
                    "the directory " + directory + " cannot be made (" + e + "): make it, or give another dir=", e);
        }
        if (!Files.isWritable(directory) || !Files.isReadable(directory)) {
            throw new StoreOpenException("the directory " + directory
                    + " cannot be read and written by this user: change its owner or its permissions, or give another"
                    + " dir=");
        }
        PrivateFiles.warnOfReaders(directory);
    }

    public static void requireNothingForeign(Path directory) throws IOException {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path file : found) {
                if (!IGNORED.contains(file.getFileName().toString())) {
                    throw new StoreOpenException("the directory " + directory
                            + " holds no Rowan-KV store, but other files (" + file.getFileName()
                            + "): nothing was changed in it. Give an empty or new dir=");
                }
            }
        }
    }

    private static Manifest findOrBegin(Path directory, StoreShape shape, OpenOverrides consent, long clusterId)
            throws IOException {
        final Path file = directory.resolve(MANIFEST);
        final Manifest found;
        try {
            found = Manifest.decode(file.toString(), readManifest(file));
        } catch (NoSuchFileException e) {
            requireNothingForeign(directory);
            return begin(directory, shape, clusterId);
        }
        if (!found.complete()) {
            removeUnfinished(directory);
            return begin(directory, shape, clusterId);
        }
        requireShape(directory, found.shape(), shape);
        final long identity = FileIdentity.of(directory);
        final boolean copied = FileIdentity.isCopy(found.directoryIdentity(), identity);
        if (copied && !consent.copied()) {
            throw new StoreOpenException(
                    "the directory " + directory + " is a copy of the one this store was created in."
                            + " If the original is still in use, two stores would claim to be one. If not (a restored"
                            + " backup, say), add accept-copied=true once");
        }
        if (shape.replicas() == 1) {
            requireAreas(directory, shape, found.clusterId()); // with more, the store may do without some
        }
        if (!copied) {
            return found;
        }
        final Manifest moved = found.movedTo(identity);
        DurableFile.replace(file, moved.encode());
        return moved;
    }

    static byte[] readManifest(Path file) throws IOException {
        if (Files.size(file) > Manifest.MAX_LENGTH) {
            throw new StoreOpenException(file + " is damaged: it is too long. Put the store back from a backup");
        }
        return Files.readAllBytes(file);
    }

    private static Manifest begin(Path directory, StoreShape shape, long clusterId) throws IOException {
        final long needed = shape.servers()
                * settings(directory, shape, clusterId, 0, Durability.PROCESS).fileLength();
        final long usable = Files.getFileStore(directory).getUsableSpace();
        if (usable < needed) {
            throw AreaFile.diskFull(directory, needed, usable);
        }
        final Manifest manifest = new Manifest(false, clusterId, shape, FileIdentity.of(directory));
        DurableFile.replace(directory.resolve(MANIFEST), manifest.encode());
        return manifest;
    }

    /** Removes the remains of an earlier creation, by the names that it uses. */
    private static void removeUnfinished(Path directory) throws IOException {
        final List<Path> ours = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            for (Path file : found) {
                final String name = file.getFileName().toString();
                if (name.startsWith(AREA_PREFIX)
                        && (name.endsWith(AREA_SUFFIX) || name.endsWith(AREA_SUFFIX + DurableFile.TEMPORARY_SUFFIX))) {
                    ours.add(file);
                }
            }
        }
        final Path configuration = directory.resolve(CONFIGURATION);
        if (Files.isDirectory(configuration)) {
            try (DirectoryStream<Path> found = Files.newDirectoryStream(configuration, "*.node*")) {
                found.forEach(ours::add);
            }
        }
        for (Path file : ours) {
            Files.deleteIfExists(file);
        }
    }

    private static void requireShape(Path directory, StoreShape found, StoreShape asked) {
        requireSame(directory, "servers", found.servers(), asked.servers());
        requireSame(directory, "replicas", found.replicas(), asked.replicas());
        requireSame(directory, "capacity", found.capacity(), asked.capacity());
        requireSame(directory, "shards", found.shards(), asked.shards());
        requireSame(directory, "segment length", found.segmentLength(), asked.segmentLength());
    }

    private static void requireSame(Path directory, String what, long found, long asked) {
        if (found != asked) {
            throw new StoreOpenException("the store in " + directory + " was created with " + what + " " + found
                    + ", and is opened with " + asked + ": open it with " + found
                    + ", or make a new store in another dir and copy the objects over");
        }
    }

    static void requireAreas(Path directory, StoreShape shape, long clusterId) throws IOException {
        for (int server = 0; server < shape.servers(); server++) {
            final AreaSettings settings = settings(directory, shape, clusterId, server, Durability.PROCESS);
            final Path file = areaFile(directory, server);
            if (!Files.isRegularFile(file)) {
                throw new StoreOpenException("the store in " + directory + " lacks the file " + file.getFileName()
                        + " of server " + server + ": put it back, or start with an empty dir");
            }
            final long length = Files.size(file);
            if (length != settings.fileLength()) {
                throw AreaProbe.truncated(file, length, settings.fileLength());
            }
        }
    }

    public static Path areaFile(Path directory, int server) {
        return directory.resolve(AREA_PREFIX + server + AREA_SUFFIX);
    }

    static AreaSettings settings(Path directory, StoreShape shape, long clusterId, int server, Durability durability) {
        return new AreaSettings(
                areaFile(directory, server),
                shape.capacity(),
                shape.segmentLength(),
                server,
                clusterId,
                shape.shards(),
                durability,
                shape.servers(),
                shape.replicas());
    }

    /** Whether the store is being created: its areas must be made, then {@link #markComplete} called. */
    public synchronized boolean isNew() {
        return !manifest.complete();
    }

    /** Ends the creation: areas and first configuration exist. Nothing may be stored before. */
    public synchronized void markComplete() {
        final Manifest complete = manifest.completed();
        FileThread.run("rowan-directory-complete", () -> {
            try {
                DurableFile.replace(directory.resolve(MANIFEST), complete.encode());
            } catch (IOException e) {
                throw new StoreOpenException("the creation of the store in " + directory + " failed: " + e, e);
            }
        });
        manifest = complete;
    }

    public Path path() {
        return directory;
    }

    /** Drawn when the store was created. */
    public synchronized long clusterId() {
        return manifest.clusterId();
    }

    public OpenOverrides consent() {
        return consent;
    }

    public Path areaFile(int server) {
        return areaFile(directory, server);
    }

    /** Settings of a server's area: to create it when the store is new, and to open it otherwise. */
    public AreaSettings areaSettings(int server) {
        return areaSettings(server, Durability.PROCESS);
    }

    /** As above, at that level. */
    public synchronized AreaSettings areaSettings(int server, Durability durability) {
        return settings(directory, manifest.shape(), manifest.clusterId(), server, durability);
    }

    /**
     * Quarantines the file of an unusable area, so that another can be created. Keeps it, replacing an earlier
     * quarantined file.
     *
     * @return its present path; empty if there was none
     */
    public Optional<Path> setAside(int server) {
        final Path file = areaFile(server);
        return FileThread.call("rowan-area-aside", () -> {
            final Path aside = file.resolveSibling(file.getFileName() + ASIDE_SUFFIX);
            try {
                Files.move(file, aside, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                return Optional.of(aside);
            } catch (NoSuchFileException e) {
                return Optional.empty();
            } catch (IOException e) {
                throw new StoreOpenException(
                        "the area " + file + ", which cannot be used, cannot be renamed to " + aside + ": " + e
                                + ". Move it out of the directory",
                        e);
            }
        });
    }

    /**
     * Undoes {@link #setAside}: the quarantined file replaces the one created since, which is closed.
     *
     * @return its present path; empty if none was quarantined
     */
    public Optional<Path> putBack(int server) {
        final Path file = areaFile(server);
        final Path aside = file.resolveSibling(file.getFileName() + ASIDE_SUFFIX);
        return FileThread.call("rowan-area-back", () -> {
            try {
                Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                return Optional.of(file);
            } catch (NoSuchFileException e) {
                return Optional.empty();
            } catch (IOException e) {
                throw new StoreOpenException(
                        "the area " + aside + " cannot be renamed back to " + file + ": " + e + ". Rename it by hand",
                        e);
            }
        });
    }

    /** The directory of a server's checkpoints; created with the first one. */
    public Path checkpointDir(int server) {
        return checkpointDir(directory, server);
    }

    public static Path checkpointDir(Path directory, int server) {
        return directory.resolve(CHECKPOINT_PREFIX + server);
    }

    public Path configurationDir() {
        return directory.resolve(CONFIGURATION);
    }

    /** Releases the directory. Requires that everything in it is closed. */
    @Override
    public synchronized void close() {
        if (!open) {
            return;
        }
        open = false;
        lock.release("rowan-directory-close");
    }
}
