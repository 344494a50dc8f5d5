package org.rowankv.server.area;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.SuperblockDescriptor.Content;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.DurabilityVerbs;

/**
 * A server's persistent state across restarts: its id, number of starts, highest adopted term, whether it was shut down
 * cleanly, and whether its replicas are complete.
 *
 * <p>Guarantees: when a method that changes it returns, the change is on the device (for an area without files: in
 * memory). A crash in between leaves the state before or after. Incarnation and term are monotone.
 *
 * <p>Not guaranteed: anything about the other bytes of the area; see {@link Area#closeClean}.
 *
 * <p>Thread-safe; changes are rare and mutually exclusive.
 */
public final class Superblock {
    private final ByteBuffer header;
    private final DurabilityVerbs device;
    private final BootId bootId;
    private final long fileIdentity;
    private final boolean power;
    /** As found: the superblock keeps it from the next incarnation until a clean close. */
    private final boolean mayBeTorn;

    private volatile Content content;
    /** Set in this use, on the device or not: only a mark found set can be accepted. */
    private volatile boolean markedIncomplete;

    /**
     * @param header the first bytes of the area
     * @param device verbs that reach the device at every level
     * @param bootId of the running system
     * @param fileIdentity of the file as it is now
     * @param power whether the area is used at {@link Durability#POWER} from the next incarnation on
     */
    Superblock(
            ByteBuffer header,
            DurabilityVerbs device,
            BootId bootId,
            long fileIdentity,
            boolean power,
            Content content) {
        this.header = header;
        this.device = device;
        this.bootId = bootId;
        this.fileIdentity = fileIdentity;
        this.power = power;
        this.mayBeTorn = AreaProbe.mayBeTorn(content, bootId);
        this.content = content;
    }

    /** Writes both copies of a new area's superblock; returns the newer one's content. */
    public static Content format(ByteBuffer header, DurabilityVerbs device, Content content) {
        write(header, device, content);
        final Content second = content.next(
                content.incarnation(),
                content.term(),
                content.bootId(),
                content.fileIdentity(),
                content.clean(),
                content.power());
        write(header, device, second);
        return second;
    }

    /** The content of the newer valid copy, or null when neither is valid. */
    public static @Nullable Content newestValid(ByteBuffer header) {
        final Content a = readValid(header, AreaDescriptor.SUPERBLOCK_A_OFFSET);
        final Content b = readValid(header, AreaDescriptor.SUPERBLOCK_B_OFFSET);
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return a.sequence() > b.sequence() ? a : b;
    }

    private static @Nullable Content readValid(ByteBuffer header, int offset) {
        return SuperblockDescriptor.whyInvalid(header, offset) == null
                ? SuperblockDescriptor.read(header, offset)
                : null;
    }

    /** The present content. */
    public Content content() {
        return content;
    }

    public int serverId() {
        return content.serverId();
    }

    public long clusterId() {
        return content.clusterId();
    }

    /** Drawn when the area was created: unique per area. */
    public long areaId() {
        return content.areaId();
    }

    /** The number of this server's present start; 0 before the first. */
    public long incarnation() {
        return content.incarnation();
    }

    /** The highest term adopted; 0 before the first. */
    public long term() {
        return content.term();
    }

    public int segmentLength() {
        return content.segmentLength();
    }

    public int segmentCount() {
        return content.segmentCount();
    }

    public int shardCount() {
        return content.shardCount();
    }

    public int serverCount() {
        return content.serverCount();
    }

    public int replicaCount() {
        return content.replicaCount();
    }

    /** Whether the area was shut down cleanly and not started since. */
    public boolean isClean() {
        return content.clean();
    }

    /**
     * Whether every byte stored in the area is in it: it was shut down cleanly, or the operating system has run since.
     * Call before {@link #startIncarnation}.
     */
    public boolean isWhole() {
        return content.clean() || content.bootId().equals(bootId);
    }

    /** The identity of the area's file, or 0 when unknown. */
    public long fileIdentity() {
        return fileIdentity;
    }

    /**
     * Begins a start of the server: raises the incarnation, clears the clean mark and records the level, all on the
     * device before this returns. Call before any other write to the area.
     *
     * @return the new incarnation
     */
    public synchronized long startIncarnation() {
        final long incarnation = content.incarnation() + 1;
        startIncarnation(incarnation);
        return incarnation;
    }

    /**
     * As above, for an area that replaces a lost one: with the server's incarnation in the stored configuration. Until
     * then the lower incarnation identifies the area as empty.
     */
    public synchronized void startIncarnation(long incarnation) {
        if (incarnation <= content.incarnation()) {
            throw new IllegalStateException("server " + serverId() + " has incarnation " + content.incarnation()
                    + " and refuses " + incarnation);
        }
        write(content.next(incarnation, content.term(), bootId, fileIdentity, false, power)
                .withMarks(content.incomplete(), content.torn() || mayBeTorn));
    }

    /** Whether the replicas in the area lack an acknowledged entry. */
    public boolean isIncomplete() {
        return markedIncomplete || content.incomplete();
    }

    /**
     * Records that the replicas in the area lack an entry that their senders count as replicated. From now on, in this
     * process and later ones, the area opens only with the user's override. On the device before this returns. If that
     * fails, each later change writes the mark too.
     */
    public synchronized void markIncomplete() {
        markedIncomplete = true;
        if (!content.incomplete()) {
            write(same().withMarks(true, content.torn()));
        }
    }

    /**
     * Clears the incomplete mark that was found, because the area is used all the same: with the user's override, and
     * once the configuration records which of its replicas count. A mark set since the area was opened stays.
     */
    public synchronized void acceptIncomplete() {
        if (content.incomplete() && !markedIncomplete) {
            write(same().withMarks(false, content.torn()));
        }
    }

    private Content same() {
        return content.next(
                content.incarnation(),
                content.term(),
                content.bootId(),
                content.fileIdentity(),
                content.clean(),
                content.power());
    }

    /** Records an adopted term. A lower one than the highest so far is refused: terms are monotone. */
    public synchronized void adoptTerm(long term) {
        if (term < content.term()) {
            throw new IllegalStateException(
                    "server " + serverId() + " has adopted term " + content.term() + " and refuses the lower " + term);
        }
        if (term > content.term()) {
            write(content.next(
                    content.incarnation(),
                    term,
                    content.bootId(),
                    content.fileIdentity(),
                    content.clean(),
                    content.power()));
        }
    }

    /** Sets the clean mark. Everything else in the area must be on the device already. */
    synchronized void markClean() {
        write(content.next(content.incarnation(), content.term(), bootId, fileIdentity, true, content.power()));
    }

    private synchronized void write(Content next) {
        final Content marked = next.withMarks(next.incomplete() || markedIncomplete, next.torn());
        write(header, device, marked);
        content = marked;
    }

    private static void write(ByteBuffer header, DurabilityVerbs device, Content content) {
        final int offset = SuperblockDescriptor.offsetOf(content.sequence());
        SuperblockDescriptor.write(header, offset, content);
        device.flush(offset, SuperblockDescriptor.LENGTH);
        device.drain();
    }
}
