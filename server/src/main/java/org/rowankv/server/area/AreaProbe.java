package org.rowankv.server.area;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.SuperblockDescriptor.Content;

/**
 * The validation of an area's file before it is mapped: whether it is whole, is the expected one, and has reliable
 * bytes. Reads only. Only on an internal thread.
 */
public final class AreaProbe {
    private AreaProbe() {}

    static void requireReadable(Path file) {
        if (!Files.isReadable(file) || !Files.isWritable(file)) {
            throw new StoreOpenException("the area " + file
                    + " cannot be read and written by this user: change its owner or its permissions");
        }
    }

    /** A buffer for both copies of a superblock, at their offsets. */
    public static ByteBuffer superblockBuffer() {
        return ByteBuffer.allocate(AreaDescriptor.TENURES_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    }

    public static ByteBuffer readSuperblocks(Path file) throws IOException {
        final ByteBuffer copies = superblockBuffer();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            while (copies.hasRemaining() && channel.read(copies) >= 0) {
                // until full
            }
        }
        return copies.clear();
    }

    public static Content requireSuperblock(Path file, ByteBuffer copies) {
        final Content content = Superblock.newestValid(copies);
        for (int offset : new int[] {AreaDescriptor.SUPERBLOCK_A_OFFSET, AreaDescriptor.SUPERBLOCK_B_OFFSET}) {
            final int version = SuperblockDescriptor.formatVersion(copies, offset);
            if (SuperblockDescriptor.hasMagic(copies, offset) && version != SuperblockDescriptor.FORMAT_VERSION) {
                throw new StoreOpenException("the area " + file + " has format version " + version
                        + ", this version of Rowan-KV reads " + SuperblockDescriptor.FORMAT_VERSION
                        + ": open it with the version that wrote it, and copy the objects over");
            }
        }
        if (content == null) {
            throw new UnusableAreaException("both copies of the superblock of " + file + " are damaged ("
                    + SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_A_OFFSET) + "; "
                    + SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_B_OFFSET)
                    + "): put the store back from a backup, or start with an empty dir");
        }
        return content;
    }

    public static void requireMatch(Path file, Content content, AreaSettings settings) {
        if (content.clusterId() != settings.clusterId() || content.serverId() != settings.serverId()) {
            throw new UnusableAreaException("the area " + file + " belongs to server " + content.serverId()
                    + " of cluster " + Long.toHexString(content.clusterId()) + ", expected was server "
                    + settings.serverId() + " of cluster " + Long.toHexString(settings.clusterId())
                    + ": put the right file in its place");
        }
        requireSame(file, "servers", content.serverCount(), settings.serverCount());
        requireSame(file, "replicas", content.replicaCount(), settings.replicaCount());
        requireSame(file, "shards", content.shardCount(), settings.shardCount());
        requireSame(file, "segment length", content.segmentLength(), settings.segmentLength());
        requireSame(
                file,
                "capacity",
                (long) content.segmentCount() * content.segmentLength(),
                (long) settings.segmentCount() * settings.segmentLength());
    }

    private static void requireSame(Path file, String what, long found, long expected) {
        if (found != expected) {
            throw new StoreOpenException("the area " + file + " was created with " + what + " " + found
                    + ", and is opened with " + expected + ": open it with " + found
                    + ", or make a new store and copy the objects over");
        }
    }

    static void requireConsent(Path file, Content content, long fileIdentity, BootId bootId, OpenOverrides consent) {
        if (FileIdentity.isCopy(content.fileIdentity(), fileIdentity) && !consent.copied()) {
            throw new StoreOpenException(
                    "the area " + file + " is a copy of the file it was created as. If the original"
                            + " is still in use, two stores would claim to be one. If not (a restored backup, say), add"
                            + " accept-copied=true once");
        }
        if (!content.clean() && !content.power() && !content.bootId().equals(bootId) && !consent.unclean()) {
            throw new UnusableAreaException(
                    "the area " + file + " was not closed before the machine was restarted (it was"
                            + " written under boot id " + content.bootId() + ", now it is " + bootId + "). At"
                            + " durability=process the last writes may be lost, and removed objects may be back. To go on with"
                            + " what is there, add accept-unclean=true once; otherwise start with an empty dir",
                    true);
        }
    }

    /**
     * Whether any subset of the words stored and not forced may be missing. A start that found the area torn, and ended
     * before all torn entries were void, leaves that to the next one. An incomplete area opens only with an override;
     * its damaged entries then count as torn ones.
     */
    static boolean mayBeTorn(Content content, BootId bootId) {
        return content.incomplete()
                || !content.clean()
                        && (content.power()
                                || content.torn()
                                || !content.bootId().equals(bootId));
    }

    static void requireComplete(String area, Content content, OpenOverrides consent) {
        if (content.incomplete() && !consent.unclean()) {
            throw incomplete(area);
        }
    }

    static UnusableAreaException incomplete(String area) {
        return new UnusableAreaException(
                area + " lacks an entry that was acknowledged: what landed in it was found damaged. An embedded store"
                        + " makes it anew by itself if the other servers hold complete replicas of all that is in it. To go on with"
                        + " what is there, add accept-unclean=true once (--accept-unclean of a server process): that entry may"
                        + " be lost",
                true);
    }

    public static void requireTables(Path file, @Nullable String reason) {
        if (reason != null) {
            throw new UnusableAreaException("the area " + file + " is damaged (" + reason
                    + "): put the store back from a backup, or start with an empty dir");
        }
    }

    public static UnusableAreaException truncated(Path file, long found, long expected) {
        return new UnusableAreaException("the area " + file + " has " + found + " bytes, not " + expected
                + ": it was cut off or written over. Put it back from a backup, or start with an empty dir");
    }
}
