package org.rowankv.server.opening;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;

/** The checks of what another server answers to a shard's new primary: it may be forged or damaged. */
public final class CollectedAnswer {
    /** Versions in one answer to COLLECT, at most; with fewer it is the last. */
    public static final int MOST_VERSIONS = 64 << 10;

    private CollectedAnswer() {}

    /**
     * Why an answer to COLLECT is impossible, or null. A CommitVer that is too high would hide entries that are not on
     * all replicas. One of an earlier epoch is not checked, since this server may have dropped what it covers.
     *
     * @param epoch of the shard that begins now: it holds no entry yet
     * @param above the version that was asked for
     * @param versions from its position to its limit, little endian
     */
    public static @Nullable String whyImpossible(int epoch, long above, long commitVersion, ByteBuffer versions) {
        if (commitVersion < Version.NONE || Version.epoch(commitVersion) >= epoch) {
            return "CommitVer " + Version.toString(commitVersion) + ", but epoch " + epoch + " is new";
        }
        if (versions.remaining() % Long.BYTES != 0 || versions.remaining() / Long.BYTES > MOST_VERSIONS) {
            return versions.remaining() + " bytes of versions";
        }
        long before = above;
        for (int at = versions.position(); at < versions.limit(); at += Long.BYTES) {
            final long version = versions.getLong(at);
            if (version <= before || Version.epoch(version) >= epoch) {
                return "version " + Version.toString(version) + " after " + Version.toString(before) + ", but epoch "
                        + epoch + " is new";
            }
            before = version;
        }
        return null;
    }

    /**
     * Why the bytes, from 0 to the limit, are not the entry with that version, or null.
     *
     * @param mostBytes of an entry
     */
    public static @Nullable String whyInvalid(int shard, long version, ByteBuffer entry, int mostBytes) {
        final String invalid = whyInvalid(shard, entry, mostBytes);
        return invalid == null && EntryDescriptor.version(entry, 0) != version ? "wrong version" : invalid;
    }

    /** As above, whatever its version. */
    public static @Nullable String whyInvalid(int shard, ByteBuffer entry, int mostBytes) {
        if (entry.limit() < FrameDescriptor.STRIDE || entry.limit() > mostBytes) {
            return entry.limit() + " bytes";
        }
        final long word = FrameDescriptor.wordPlain(entry, 0);
        final int type = FrameDescriptor.type(word);
        if (FrameDescriptor.length(word) != entry.limit()) {
            return "wrong length";
        }
        if (type < EntryType.PUT || type > EntryType.COMPLETION) {
            return "type " + type;
        }
        final String malformed = EntryDescriptor.whyMalformed(entry, 0, entry.limit());
        if (malformed != null) {
            return malformed;
        }
        if (EntryDescriptor.shard(entry, 0) != shard) {
            return "wrong shard";
        }
        return FrameDescriptor.whyBodyInvalid(
                entry, 0, EntryDescriptor.usedLength(entry, 0) - EntryDescriptor.FRAME_LENGTH, new FrameChecksum());
    }
}
