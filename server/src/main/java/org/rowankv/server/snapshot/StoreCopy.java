package org.rowankv.server.snapshot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.AreaDescriptor;
import org.rowankv.server.area.AreaProbe;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.area.Superblock;
import org.rowankv.server.area.SuperblockDescriptor;
import org.rowankv.server.area.SuperblockDescriptor.Content;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.directory.DirectoryLock;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.durability.DurableFile;
import org.rowankv.server.durability.FileThread;
import org.rowankv.server.durability.MemoryVerbs;
import org.rowankv.server.durability.PrivateFiles;

/**
 * A copy of a closed store in another directory, which opens like any other store: directory and areas of the copy are
 * recorded as originals, not as copies. {@link StoreSnapshot} copies an open one.
 *
 * <p>Guarantees: when {@link #make} returns, every file of the copy is on the device, was read back, and has the
 * checksum of the original's bytes. Until the end the target holds no manifest, and therefore no store: an interrupted
 * copy cannot be opened by mistake. A failed copy leaves nothing behind.
 *
 * <p>Not guaranteed: that the copied bytes are sound, which verification checks. Cluster, areas, terms and the clean
 * mark are those of the original: after a restart of the machine the copy of a store that was not closed is refused
 * like the original.
 */
public final class StoreCopy {
    private static final int BUFFER_LENGTH = 1 << 20;

    /** The copied files and bytes. */
    public record Outcome(int files, long bytes) {}

    private final ClosedStore source;
    private final Path target;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_LENGTH);
    private long bytes;

    private StoreCopy(ClosedStore source, Path target) {
        this.source = source;
        this.target = target;
    }

    /**
     * Copies into a directory that is missing or empty.
     *
     * @throws StoreOpenException on failure; then the target is as it was
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
        try (CopyTarget copy = CopyTarget.begin(source.path(), target)) {
            copy.requireSpace(lengthOf(files));
            for (Path file : files) {
                copy(file, copy);
            }
            copy.publish(source.manifest());
            return new Outcome(files.size() + 1, bytes);
        }
    }

    /**
     * Everything in the directory except files of this opening, half-written files, and files written anew; relative to
     * it. Excludes checkpoints, which belong to the original files: the copy's first start reads its logs, and takes
     * its own.
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

    private long lengthOf(List<Path> files) throws IOException {
        long length = 0;
        for (Path file : files) {
            length += Files.size(source.path().resolve(file));
        }
        return length;
    }

    private void copy(Path relative, CopyTarget copy) throws IOException {
        final Path from = source.path().resolve(relative);
        final Path to = copy.fileToMake(relative.toString());
        // The superblocks of the copy are its own.
        final int own = isArea(relative) ? AreaDescriptor.TENURES_OFFSET : 0;
        final int expected;
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
                FileChannel out = PrivateFiles.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            if (own > 0) {
                writeAll(out, superblocks(from, to));
            }
            expected = crcOf(in, own, out);
            out.force(true);
        }
        try (FileChannel written = FileChannel.open(to, StandardOpenOption.READ)) {
            final int found = crcOf(written, own, null);
            if (found != expected || (own > 0 && !areSuperblocksValid(to))) {
                throw new StoreOpenException("the copy " + to + " does not read back as it was written (checksum "
                        + Integer.toHexString(found) + ", not " + Integer.toHexString(expected)
                        + "): check that disk, or give a directory on another one");
            }
            bytes += written.size();
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

    /** The copied area's header: the original's content, in both copies, with this file's identity. */
    private static ByteBuffer superblocks(Path from, Path to) throws IOException {
        final Content content = AreaProbe.requireSuperblock(from, AreaProbe.readSuperblocks(from));
        final ByteBuffer copies = AreaProbe.superblockBuffer();
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
        final ByteBuffer copies = AreaProbe.readSuperblocks(file);
        return SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_A_OFFSET) == null
                && SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_B_OFFSET) == null;
    }

    /**
     * Reads a file from an offset to its end; returns the checksum of that, and writes it to another file if there is
     * one.
     */
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
}
