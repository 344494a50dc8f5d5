package org.rowankv.server.directory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.FileThread;
import org.rowankv.server.durability.PrivateFiles;

/**
 * The exclusive lock of a store directory. A lock of the operating system excludes other processes and ends with the
 * process in any case. A table of this JVM excludes a second opener under any spelling of the path.
 *
 * <p>On POSIX systems a process loses its lock on a file when it closes <em>any</em> descriptor of it. Therefore the
 * table is checked before the file is opened, and a channel that met the lock of another class loader of this JVM is
 * never closed. Reading the lock file from within this JVM releases the lock unnoticed.
 *
 * <p>Opened and closed on an internal thread; thread-safe otherwise.
 */
public final class DirectoryLock {
    public static final String FILE_NAME = "rowan.lock";

    private static final int MAX_HOLDER_LENGTH = 64;
    /**
     * By the directory's file key, or its real path if it has none. The collector closes a channel that nothing refers
     * to: a lock that is never released must stay here.
     */
    private static final Map<Object, DirectoryLock> HELD = new HashMap<>();

    /** Channels that met the lock of another class loader, by access and key of the file: the next attempt uses them. */
    private static final Map<List<Object>, FileChannel> NEVER_CLOSED = new HashMap<>();

    private final Object key;
    private final Path directory;
    private final @Nullable FileChannel channel;

    /** Call with the monitor of {@link #HELD}. */
    private DirectoryLock(Object key, Path directory, @Nullable FileChannel channel) {
        this.key = key;
        this.directory = directory;
        this.channel = channel;
        HELD.put(key, this);
    }

    /**
     * The path under which this JVM has the directory open; null if it has not. A deleted directory may be open still,
     * and another one have its file key.
     */
    private static @Nullable Path holderOf(Object key, Path directory) throws IOException {
        final DirectoryLock held = HELD.get(key);
        return held != null && Files.exists(held.directory) && Files.isSameFile(held.directory, directory)
                ? held.directory
                : null;
    }

    /** Takes the lock of an existing directory, or throws StoreOpenException that names the holder. */
    public static DirectoryLock take(Path directory) throws IOException {
        final Object key = keyOf(directory);
        synchronized (HELD) {
            final Path holder = holderOf(key, directory);
            if (holder != null) {
                throw new StoreOpenException("the directory " + directory + " is open in this JVM already"
                        + (holder.equals(directory) ? "" : ", as " + holder)
                        + ": one store per directory. Use the same URI everywhere, or another dir=");
            }
            final Path file = directory.resolve(FILE_NAME);
            final FileChannel kept = keptOf("write", file);
            final FileChannel channel = kept != null
                    ? kept
                    : PrivateFiles.open(
                            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            final FileLock lock;
            try {
                lock = channel.tryLock();
            } catch (OverlappingFileLockException e) {
                NEVER_CLOSED.put(List.of("write", keyOf(file)), channel);
                throw new StoreOpenException(
                        "the directory " + directory
                                + " is open in this JVM already, by classes of another class loader:"
                                + " one store per directory. Share the library between the applications, or use another"
                                + " dir=",
                        e);
            }
            if (lock == null) {
                final String holderText = readHolder(channel);
                channel.close();
                throw new StoreOpenException("the directory " + directory + " is locked by another process" + holderText
                        + ": close it there, or use another dir=");
            }
            writeHolder(channel);
            return new DirectoryLock(key, directory, channel);
        }
    }

    /**
     * Excludes openers while a store is read, and changes nothing in its directory; or throws StoreOpenException that
     * names the holder. Readers of several processes can hold it together. A directory without the file, such as a
     * copy, is locked within this JVM only.
     */
    static DirectoryLock takeToRead(Path directory) throws IOException {
        final Object key = keyOf(directory);
        synchronized (HELD) {
            if (holderOf(key, directory) != null) {
                throw inUse(directory, " in this JVM");
            }
            @Nullable FileChannel channel = null;
            final Path file = directory.resolve(FILE_NAME);
            if (Files.exists(file)) {
                final FileChannel kept = keptOf("read", file);
                channel = kept != null ? kept : FileChannel.open(file, StandardOpenOption.READ);
                final FileLock lock;
                try {
                    lock = channel.tryLock(0, Long.MAX_VALUE, true);
                } catch (OverlappingFileLockException e) {
                    NEVER_CLOSED.put(List.of("read", keyOf(file)), channel);
                    throw inUse(directory, " in this JVM, by classes of another class loader");
                }
                if (lock == null) {
                    final String holder = readHolder(channel);
                    channel.close();
                    throw inUse(directory, holder.isEmpty() ? " by another process" : holder);
                }
            }
            return new DirectoryLock(key, directory, channel);
        }
    }

    /** Takes the channel of an earlier attempt that met another class loader's lock, or returns null. */
    private static @Nullable FileChannel keptOf(String access, Path file) throws IOException {
        return Files.exists(file) ? NEVER_CLOSED.remove(List.of(access, keyOf(file))) : null;
    }

    private static StoreOpenException inUse(Path directory, String holder) {
        return new StoreOpenException("the store in " + directory + " is in use" + holder
                + ": a tool can read it only while it is closed. Close it there first; nothing was changed");
    }

    /** Releases the lock. */
    public void release() throws IOException {
        synchronized (HELD) {
            // The file stays: deleting it could delete the one that the next holder has just locked.
            if (channel != null) {
                channel.close();
            }
            HELD.remove(key, this);
        }
    }

    /** As {@link #release}, for a caller that must not access files: on a thread of that name. */
    void release(String thread) {
        FileThread.run(thread, () -> {
            try {
                release();
            } catch (IOException e) {
                throw new IllegalStateException("the lock of " + directory + " cannot be released: " + e, e);
            }
        });
    }

    private static Object keyOf(Path directory) throws IOException {
        final Path real = directory.toRealPath();
        final @Nullable Object fileKey =
                Files.readAttributes(real, BasicFileAttributes.class).fileKey();
        return fileKey == null ? real : fileKey;
    }

    private static void writeHolder(FileChannel channel) {
        final byte[] holder = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
        try {
            channel.write(ByteBuffer.wrap(holder), 0);
            channel.truncate(holder.length);
        } catch (IOException e) {
            // A full disk: the lock holds without the holder's name.
        }
    }

    /**
     * The holder's process id, if readable and that of a process; systems with mandatory locks prevent the read, and a
     * reader leaves that of an earlier opener.
     */
    private static String readHolder(FileChannel channel) {
        final ByteBuffer holder = ByteBuffer.allocate(MAX_HOLDER_LENGTH);
        try {
            channel.read(holder, 0);
        } catch (IOException e) {
            return "";
        }
        final String pid = new String(holder.array(), 0, holder.position(), StandardCharsets.US_ASCII).strip();
        return pid.matches("[0-9]{1,18}")
                        && ProcessHandle.of(Long.parseLong(pid)).isPresent()
                ? " (process " + pid + ")"
                : "";
    }
}
