package org.rowankv.server.directory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.DurableFile;
import org.rowankv.server.durability.FileThread;

/**
 * The data directory of one server of a cluster of processes:
 *
 * <pre>
 *   rowan.lock       held while the server runs
 *   rowan.server     its identity, as lines of text: its name, the cluster's name, an identity drawn when it was made, the
 *                    inode of the directory, a checksum
 *   area-N.rowan     its {@link Area}, once the cluster has given it the number N
 * </pre>
 *
 * <p>Guarantees: a directory is open once at a time; it is opened only by the server it was made for; one that holds
 * anything else is left alone. A failed {@link #open} holds no lock and has changed nothing that counts.
 *
 * <p>For any thread; files are touched on threads of its own.
 */
public final class ServerDirectory implements DataDirectory {
    static final String IDENTITY = "rowan.server";
    private static final String FIRST_LINE = "rowan-kv server";
    private static final int FORMAT_VERSION = 1;
    private static final int MAX_LENGTH = 4096;

    /** The server that a directory belongs to. */
    record Owner(String name, String cluster, long identity, long directory) {
        byte[] encode() {
            final String lines = FIRST_LINE + "\nformat=" + FORMAT_VERSION + "\nname=" + name + "\ncluster=" + cluster
                    + "\nidentity=" + Long.toHexString(identity) + "\ndirectory=" + directory + "\n";
            return (lines + "checksum=" + checksum(lines) + "\n").getBytes(StandardCharsets.UTF_8);
        }
    }

    private final Path directory;
    private final DirectoryLock lock;
    private final Owner owner;
    private boolean open = true;

    private ServerDirectory(Path directory, DirectoryLock lock, Owner owner) {
        this.directory = directory;
        this.lock = lock;
        this.owner = owner;
    }

    /**
     * Opens a server's directory, or creates it if it is missing or empty.
     *
     * @param name of the server
     * @param cluster name of its cluster
     * @param acceptCopied whether a copy of the directory replaces the original
     * @throws StoreOpenException if it cannot be opened
     */
    public static ServerDirectory open(
            Path directory, String name, String cluster, boolean acceptCopied, RandomSource random) {
        final long drawn = random.nextLong();
        return FileThread.call(
                "rowan-directory-open", () -> openHere(directory, name, cluster, acceptCopied, drawn == 0 ? 1 : drawn));
    }

    private static ServerDirectory openHere(
            Path directory, String name, String cluster, boolean acceptCopied, long drawn) {
        try {
            StoreDirectory.makeDirectory(directory, IDENTITY);
            final DirectoryLock lock = DirectoryLock.take(directory);
            try {
                return new ServerDirectory(directory, lock, findOrBegin(directory, name, cluster, acceptCopied, drawn));
            } catch (IOException | RuntimeException e) {
                lock.release();
                throw e;
            }
        } catch (IOException e) {
            throw new StoreOpenException("cannot use the directory " + directory + ": " + e, e);
        }
    }

    private static Owner findOrBegin(Path directory, String name, String cluster, boolean acceptCopied, long drawn)
            throws IOException {
        final Path file = directory.resolve(IDENTITY);
        final long inode = FileIdentity.of(directory);
        final Owner found;
        try {
            found = read(file);
        } catch (NoSuchFileException e) {
            StoreDirectory.requireNothingForeign(directory);
            final Owner made = new Owner(name, cluster, drawn, inode);
            DurableFile.replace(file, made.encode());
            return made;
        }
        if (!found.name.equals(name) || !found.cluster.equals(cluster)) {
            throw new StoreOpenException("the directory " + directory + " is that of server '" + found.name
                    + "' of cluster '" + found.cluster + "', not of '" + name + "' of '" + cluster
                    + "': give this server its own, or the right name");
        }
        if (!FileIdentity.isCopy(found.directory, inode)) {
            return found;
        }
        if (!acceptCopied) {
            throw new StoreOpenException("the directory " + directory + " is a copy of the one that server '" + name
                    + "' was made in. If the original is still in use, two servers would claim to be one. If not (a"
                    + " restored backup, say), start it once with accept-copied");
        }
        final Owner moved = new Owner(name, cluster, found.identity, inode);
        DurableFile.replace(file, moved.encode());
        return moved;
    }

    /** Reads the owner of a directory from its file. */
    static Owner read(Path file) throws IOException {
        if (Files.size(file) > MAX_LENGTH) {
            throw damaged(file, "it is too long");
        }
        return decode(file, new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    }

    private static Owner decode(Path file, String text) {
        final Map<String, String> values = new HashMap<>();
        for (String line : text.split("\n", -1)) {
            final int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        if (!text.startsWith(FIRST_LINE + "\n")) {
            throw damaged(file, "it does not begin with '" + FIRST_LINE + "'");
        }
        final String format = values.getOrDefault("format", "");
        if (!format.equals(Integer.toString(FORMAT_VERSION))) {
            throw new StoreOpenException(file + " has format version " + format + ", this version of Rowan-KV reads "
                    + FORMAT_VERSION + ": use the version that wrote it");
        }
        final int checksumAt = text.lastIndexOf("checksum=");
        if (checksumAt < 0 || !checksum(text.substring(0, checksumAt)).equals(values.get("checksum"))) {
            throw damaged(file, "its checksum is wrong");
        }
        try {
            return new Owner(
                    values.getOrDefault("name", ""),
                    values.getOrDefault("cluster", ""),
                    Long.parseUnsignedLong(values.getOrDefault("identity", ""), 16),
                    Long.parseLong(values.getOrDefault("directory", "")));
        } catch (NumberFormatException e) {
            throw damaged(file, "a number in it is none: " + e.getMessage());
        }
    }

    private static StoreOpenException damaged(Path file, String reason) {
        return new StoreOpenException(
                file + " is damaged: " + reason + ". Put the server's directory back from a backup");
    }

    private static String checksum(String lines) {
        final CRC32C crc = new CRC32C();
        crc.update(lines.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }

    @Override
    public Path path() {
        return directory;
    }

    @Override
    public long identity() {
        return owner.identity;
    }

    @Override
    public Path areaFile(int server) {
        return StoreDirectory.areaFile(directory, server);
    }

    @Override
    public boolean hasArea(int server) {
        return FileThread.call("rowan-area-look", () -> Files.exists(areaFile(server)));
    }

    @Override
    public Area openArea(AreaSettings settings, OpenOverrides consent) {
        return Area.open(settings, consent);
    }

    @Override
    public Area createArea(AreaSettings settings, RandomSource random) {
        return Area.create(settings, random);
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
