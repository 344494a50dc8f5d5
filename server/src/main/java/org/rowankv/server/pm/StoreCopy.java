package org.rowankv.server.pm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.pm.SuperblockDescriptor.Content;

/**
 * Copies a closed store into another directory, as a store that can be opened like any other: directory and areas of the
 * copy are recorded as what they are, and not as copies of others.
 *
 * <p>Guarantees: when {@link #make} returns, every file of the copy was read back and has the checksum of what was read
 * from the original, and is on the device. Until the last moment the target holds no manifest, and therefore no store: a
 * copy that stopped half way cannot be opened by mistake. One that failed leaves nothing behind.
 *
 * <p>Not guaranteed: that what was copied is sound; that is for who verifies. Cluster, areas, terms and the mark of a
 * clean end are those of the original: after a restart of the machine the copy of a store that was not closed is refused
 * as the original is.
 */
public final class StoreCopy {
    private static final int BUFFER_LENGTH = 1 << 20;

    /** What was copied. */
    public record Outcome(int files, long bytes) {}

    private final ClosedStore source;
    private final Path target;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_LENGTH);
    private final List<Path> made = new ArrayList<>();
    private long bytes;

    private StoreCopy(ClosedStore source, Path target) {
        this.source = source;
        this.target = target;
    }

    /**
     * Copies into a directory that is missing or empty.
     *
     * @throws StoreOpenException if that cannot be done; then the target is as it was
     */
    public static Outcome make(ClosedStore source, Path target) {
        return FileThread.call("rowan-store-copy", () -> {
            try {
                return new StoreCopy(source, target).copy();
            } catch (IOException e) {
                throw new StoreOpenException(
                        "cannot copy the store in " + source.path() + " to " + target + ": " + e, e);
            }
        });
    }

    private Outcome copy() throws IOException {
        for (int server = 0; server < source.shape().servers(); server++) {
            source.area(server).requireTables();
        }
        final List<Path> files = files();
        requireTarget();
        makeDirectories(target.resolve(StoreDirectory.MANIFEST));
        final boolean locked = Files.exists(target.resolve(DirectoryLock.FILE_NAME));
        final DirectoryLock lock = DirectoryLock.take(target);
        try {
            if (!locked) {
                made.add(target.resolve(DirectoryLock.FILE_NAME));
            }
            requireSpace(files);
            for (Path file : files) {
                copy(file);
            }
            DurableFile.replace(
                    target.resolve(StoreDirectory.MANIFEST),
                    source.manifest().movedTo(FileIdentity.of(target)).encode());
            return new Outcome(files.size() + 1, bytes);
        } catch (IOException | RuntimeException e) {
            undo(e);
            throw e;
        } finally {
            lock.release();
        }
    }

    /**
     * All that the directory holds but what is of this opening, half written, or written anew; relative to it. Nor
     * checkpoints, which are of these very files: the copy's first start reads its logs, and it takes its own.
     */
    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(source.path())) {
            return all.filter(Files::isRegularFile)
                    .map(source.path()::relativize)
                    .filter(file -> !file.toString().equals(DirectoryLock.FILE_NAME))
                    .filter(file -> !file.toString().equals(StoreDirectory.MANIFEST))
                    .filter(file -> !file.toString().endsWith(DurableFile.TEMPORARY_SUFFIX))
                    .filter(file -> !file.getName(0).toString().startsWith(StoreDirectory.CHECKPOINT_PREFIX))
                    .sorted()
                    .toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private void requireTarget() throws IOException {
        if (Files.exists(target) && !Files.isDirectory(target)) {
            throw new StoreOpenException(target + " is a file, not a directory: give a new or empty directory");
        }
        Path above = target.toAbsolutePath().normalize();
        while (above.getParent() != null && !Files.exists(above)) {
            above = above.getParent();
        }
        if (above.toRealPath().startsWith(source.path().toRealPath())) {
            throw new StoreOpenException(target
                    + " lies in the store's own directory, in which nothing is changed: give" + " another directory");
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

    private void requireSpace(List<Path> files) throws IOException {
        long needed = Manifest.MAX_LENGTH;
        for (Path file : files) {
            needed += Files.size(source.path().resolve(file));
        }
        final long usable = Files.getFileStore(target).getUsableSpace();
        if (usable < needed) {
            throw new StoreOpenException("not enough disk space at " + target + ": " + needed + " bytes are needed, "
                    + usable + " are usable. Free some, or give a directory on another disk");
        }
    }

    private void copy(Path relative) throws IOException {
        final Path from = source.path().resolve(relative);
        final Path to = target.resolve(relative.toString());
        makeDirectories(to);
        made.add(to);
        // The superblocks of the copy are its own.
        final int own = isArea(relative) ? AreaDescriptor.TENURES_OFFSET : 0;
        final int expected;
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            if (own > 0) {
                writeAll(out, superblocks(from, to));
            }
            expected = crcOf(in, own, out);
            out.force(true);
        }
        try (FileChannel copy = FileChannel.open(to, StandardOpenOption.READ)) {
            final int found = crcOf(copy, own, null);
            if (found != expected || (own > 0 && !areSuperblocksValid(to))) {
                throw new StoreOpenException("the copy " + to + " does not read back as it was written (checksum "
                        + Integer.toHexString(found) + ", not " + Integer.toHexString(expected)
                        + "): see to that disk, or give a directory on another one");
            }
            bytes += copy.size();
        }
        DurableFile.forceDirectory(to);
    }

    private boolean isArea(Path relative) {
        for (int server = 0; server < source.shape().servers(); server++) {
            if (relative.equals(StoreDirectory.areaFile(Path.of(""), server))) {
                return true;
            }
        }
        return false;
    }

    private void makeDirectories(Path file) throws IOException {
        final List<Path> missing = new ArrayList<>();
        for (Path above = file.getParent(); above != null && !Files.isDirectory(above); above = above.getParent()) {
            missing.add(above);
        }
        Collections.reverse(missing);
        for (Path directory : missing) {
            Files.createDirectory(directory);
            made.add(directory);
        }
    }

    /** The front of the copied area: what the original says of itself, in both copies, and which file this is. */
    private static ByteBuffer superblocks(Path from, Path to) throws IOException {
        final Content content = AreaFinding.requireSuperblock(from, AreaFinding.readSuperblocks(from));
        final ByteBuffer copies = AreaFinding.superblockBuffer();
        Superblock.format(
                copies,
                new MemoryVerbs(),
                content.next(
                        content.incarnation(),
                        content.term(),
                        content.bootId(),
                        FileIdentity.of(to),
                        content.clean(),
                        content.power()));
        return copies.clear();
    }

    private static boolean areSuperblocksValid(Path file) throws IOException {
        final ByteBuffer copies = AreaFinding.readSuperblocks(file);
        return SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_A_OFFSET) == null
                && SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_B_OFFSET) == null;
    }

    /** Reads a file from an offset to its end; returns the checksum of that, and writes it to another if there is one. */
    private int crcOf(FileChannel in, long offset, @Nullable FileChannel out) throws IOException {
        final CRC32C crc = new CRC32C();
        in.position(offset);
        buffer.clear();
        while (in.read(buffer) >= 0) {
            buffer.flip();
            crc.update(buffer.duplicate());
            if (out != null) {
                writeAll(out, buffer);
            }
            buffer.clear();
        }
        return (int) crc.getValue();
    }

    private static void writeAll(FileChannel out, ByteBuffer content) throws IOException {
        while (content.hasRemaining()) {
            out.write(content);
        }
    }

    private void undo(Exception failure) {
        Collections.reverse(made);
        for (Path path : made) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                failure.addSuppressed(e);
            }
        }
    }
}
