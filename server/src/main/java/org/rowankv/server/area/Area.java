package org.rowankv.server.area;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.SuperblockDescriptor.Content;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.FileThread;
import org.rowankv.server.durability.ForceAgent;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.durability.GroupCommit;
import org.rowankv.server.durability.MemoryVerbs;

/**
 * The persistent memory of one server: segments of equal length after the superblock, the tenures and the table of
 * segments. Bytes are read and written through {@link #region}; only the durability verbs decide when they count.
 *
 * <p>Guarantees: {@link #create} makes the whole area or nothing. {@link #open} accepts an area only if it matches the
 * settings and its bytes are reliable. Neither changes what it refuses. An interrupt of the caller harms neither the
 * area nor the caller's interrupt status.
 *
 * <p>Not guaranteed: that two processes do not open one area (the data directory ensures that), and that memory is
 * freed at {@link #close}: mappings and buffers end when they become garbage.
 *
 * <p>Thread-safe; the owner closes it after every agent that uses the area has ended.
 */
public final class Area implements AutoCloseable {
    private final AreaSettings settings;
    private final AreaMemory memory;
    private final Superblock superblock;
    private final SegmentMetaTable segments;
    private final TenureTable tenures;
    private final DurabilityVerbs verbs;
    /** At level power only. */
    private final @Nullable GroupCommit groupCommit;

    private final boolean mayBeTorn;
    /** Whether the process before this one committed a segment only after the device had all of it. */
    private final boolean committedIsForced;

    private @Nullable AgentHandle forceAgent;
    private final long segmentBase;
    private final int segmentShift;

    private Area(
            AreaSettings settings,
            AreaMemory memory,
            @Nullable GroupCommit groupCommit,
            Superblock superblock,
            boolean mayBeTorn,
            boolean committedIsForced) {
        this.settings = settings;
        this.memory = memory;
        this.superblock = superblock;
        this.mayBeTorn = mayBeTorn;
        this.committedIsForced = committedIsForced;
        this.groupCommit = groupCommit;
        this.verbs = groupCommit == null ? memory.verbs() : groupCommit;
        this.segments = new SegmentMetaTable(
                memory.header(),
                verbs,
                AreaDescriptor.segmentMetaOffset(settings.shardCount()),
                settings.segmentCount());
        this.tenures = new TenureTable(memory.header(), verbs, settings.shardCount());
        this.segmentBase = settings.segmentBase();
        this.segmentShift = Integer.numberOfTrailingZeros(settings.segmentLength());
    }

    private static String nameOf(AreaSettings settings) {
        return settings.file() == null ? "the area of server " + settings.serverId() : "the area " + settings.file();
    }

    /** A new area. A file of that name must not exist yet. */
    public static Area create(AreaSettings settings, RandomSource random) {
        return create(settings, random, Machine.PRESENT);
    }

    /** As above, on that machine. */
    public static Area create(AreaSettings settings, RandomSource random, Machine machine) {
        final Path file = settings.file();
        if (file == null) {
            if (settings.durability() != Durability.NONE) {
                throw new IllegalArgumentException("durability="
                        + settings.durability().parameter() + " needs a file: give dir=, or durability=none");
            }
            return create(settings, new AnonymousMemory(settings), random);
        }
        final long areaId = random.nextLong();
        return FileThread.call("rowan-area-create", () -> createFile(settings, file, areaId, machine));
    }

    /** Opens the area in a file, written by an earlier process. */
    public static Area open(AreaSettings settings, OpenOverrides consent) {
        return open(settings, consent, Machine.PRESENT);
    }

    /** As above, on that machine. */
    public static Area open(AreaSettings settings, OpenOverrides consent, Machine machine) {
        final Path file = settings.file();
        if (file == null) {
            throw new IllegalArgumentException("an area of durability=none cannot be opened again");
        }
        return FileThread.call(
                "rowan-area-open",
                () -> openFile(settings, file, consent, machine.bootId().current(), machine));
    }

    /** Creates an area in memory that may outlive it: another process run opens it as this one left it. */
    public static Area create(AreaSettings settings, AreaMemory memory, RandomSource random) {
        final Content content = Superblock.format(
                memory.header(),
                memory.device(),
                newContent(settings, random.nextLong(), BootId.UNKNOWN, FileIdentity.UNKNOWN));
        final GroupCommit groupCommit = forcerOf(settings, memory);
        return new Area(
                settings,
                memory,
                groupCommit,
                superblockOf(settings, memory, groupCommit, content),
                false,
                content.power());
    }

    /** Opens the area found in memory. */
    public static Area open(AreaSettings settings, AreaMemory memory, OpenOverrides consent) {
        final Content content = Superblock.newestValid(memory.header());
        if (content == null) {
            throw new UnusableAreaException("both copies of the superblock of server " + settings.serverId()
                    + " are damaged: start with new memory");
        }
        AreaProbe.requireComplete(nameOf(settings), content, consent);
        bringToDevice(settings, memory);
        final GroupCommit groupCommit = forcerOf(settings, memory);
        final Area area = new Area(
                settings,
                memory,
                groupCommit,
                superblockOf(settings, memory, groupCommit, content),
                AreaProbe.mayBeTorn(content, BootId.UNKNOWN),
                content.power());
        final String reason =
                area.segments.whyInvalid() == null ? area.tenures.whyInvalid() : area.segments.whyInvalid();
        if (reason != null) {
            throw new UnusableAreaException("the area of server " + settings.serverId() + " is damaged (" + reason
                    + "): start with new memory");
        }
        return area;
    }

    private static @Nullable GroupCommit forcerOf(AreaSettings settings, AreaMemory memory) {
        return settings.durability() == Durability.POWER ? new GroupCommit(memory, nameOf(settings)) : null;
    }

    private static DurabilityVerbs deviceOf(AreaMemory memory, @Nullable GroupCommit groupCommit) {
        return groupCommit == null ? memory.device() : groupCommit.atOnce(memory.device());
    }

    private static Superblock superblockOf(
            AreaSettings settings, AreaMemory memory, @Nullable GroupCommit groupCommit, Content content) {
        return new Superblock(
                memory.header(),
                deviceOf(memory, groupCommit),
                BootId.UNKNOWN,
                FileIdentity.UNKNOWN,
                settings.durability() == Durability.POWER,
                content);
    }

    /**
     * Bytes that a process left in the page cache are not on the device yet. Later effects of them, a freed segment for
     * example, could reach it first. So at level power everything is forced before it is read.
     */
    private static void bringToDevice(AreaSettings settings, AreaMemory memory) {
        if (settings.durability() == Durability.POWER) {
            try {
                memory.flushAll();
            } catch (UncheckedIOException e) {
                throw new StoreOpenException(
                        "the area of server " + settings.serverId() + " cannot be forced to its device ("
                                + e.getMessage()
                                + "), which durability=power needs: look after the device and its free space",
                        e);
            }
        }
    }

    private static Area createFile(AreaSettings settings, Path file, long areaId, Machine machine) {
        if (Files.exists(file)) {
            throw new StoreOpenException(file + " exists already: an area is never written over");
        }
        final BootId bootId = machine.bootId().current();
        try {
            AreaFile.make(file, settings.fileLength(), fileIdentity -> {
                final ByteBuffer copies = AreaProbe.superblockBuffer();
                Superblock.format(copies, new MemoryVerbs(), newContent(settings, areaId, bootId, fileIdentity));
                return copies;
            });
        } catch (IOException e) {
            throw new StoreOpenException("cannot create the area " + file + ": " + e, e);
        }
        return openFile(settings, file, OpenOverrides.NONE, bootId, machine);
    }

    private static Content newContent(AreaSettings settings, long areaId, BootId bootId, long fileIdentity) {
        return new Content(
                1,
                settings.clusterId(),
                areaId,
                0,
                0,
                bootId,
                fileIdentity,
                settings.serverId(),
                settings.segmentLength(),
                settings.segmentCount(),
                settings.shardCount(),
                settings.serverCount(),
                settings.replicaCount(),
                false,
                settings.durability() == Durability.POWER,
                false,
                false);
    }

    /** {@link #open} with the boot id given, on a thread of ours. */
    static Area openFile(AreaSettings settings, Path file, OpenOverrides consent, BootId bootId) {
        return openFile(settings, file, consent, bootId, Machine.PRESENT);
    }

    private static Area openFile(
            AreaSettings settings, Path file, OpenOverrides consent, BootId bootId, Machine machine) {
        try {
            if (!Files.isRegularFile(file)) {
                throw new UnusableAreaException("the area " + file
                        + " is missing: put it back (a copy of it from a backup will do), or start with an empty dir");
            }
            AreaProbe.requireReadable(file);
            final long length = Files.size(file);
            if (length < AreaDescriptor.TENURES_OFFSET) {
                throw AreaProbe.truncated(file, length, settings.fileLength());
            }
            // The superblock is read first, separately: a file of another shape cannot be mapped with these settings.
            final ByteBuffer copies = AreaProbe.readSuperblocks(file);
            final Content content = AreaProbe.requireSuperblock(file, copies);
            final long fileIdentity = FileIdentity.of(file);
            AreaProbe.requireMatch(file, content, settings);
            if (length != settings.fileLength()) {
                throw AreaProbe.truncated(file, length, settings.fileLength());
            }
            AreaProbe.requireConsent(file, content, fileIdentity, bootId, consent);
            AreaProbe.requireComplete(nameOf(settings), content, consent);
            final AreaMemory memory = machine.memory().around(settings, FileMemory.map(file, settings));
            bringToDevice(settings, memory);
            final GroupCommit groupCommit = forcerOf(settings, memory);
            final Superblock superblock = new Superblock(
                    memory.header(),
                    deviceOf(memory, groupCommit),
                    bootId,
                    fileIdentity,
                    settings.durability() == Durability.POWER,
                    content);
            final Area area = new Area(
                    settings, memory, groupCommit, superblock, AreaProbe.mayBeTorn(content, bootId), content.power());
            AreaProbe.requireTables(file, area.segments.whyInvalid());
            AreaProbe.requireTables(file, area.tenures.whyInvalid());
            return area;
        } catch (IOException e) {
            throw new StoreOpenException("cannot open the area " + file + ": " + e, e);
        }
    }

    public MemoryRegion region() {
        return memory.region();
    }

    /** Address of segment 0. */
    public long segmentBase() {
        return segmentBase;
    }

    public int segmentCount() {
        return settings.segmentCount();
    }

    public int segmentLength() {
        return settings.segmentLength();
    }

    public long addressOf(int segment) {
        assert segment >= 0 && segment < segmentCount() : segment;
        return segmentBase + ((long) segment << segmentShift);
    }

    /** The segment that holds an address at or after {@link #segmentBase}. */
    public int segmentOf(long address) {
        assert address >= segmentBase && address < region().length() : address;
        return (int) ((address - segmentBase) >>> segmentShift);
    }

    public int serverId() {
        return settings.serverId();
    }

    public Durability durability() {
        return settings.durability();
    }

    /** The force that landed bytes must wait for; null unless the level is {@link Durability#POWER}. */
    public @Nullable LandingForce landingForce() {
        return groupCommit;
    }

    /**
     * Whether words stored and not forced may be missing. True if the machine restarted and the area was not closed; at
     * level power also if that happened before an earlier start.
     */
    public boolean mayBeTorn() {
        return mayBeTorn;
    }

    /**
     * As {@link #mayBeTorn()}, for a segment found in that state at start. At level power a segment becomes committed
     * only after the device has all of it. At level process the state implies nothing about the device.
     */
    public boolean mayBeTorn(SegmentState state) {
        return mayBeTorn && (state != SegmentState.COMMITTED || !committedIsForced || superblock.isIncomplete());
    }

    /**
     * Starts the forcing thread, at the level that needs it. It ends with the area.
     *
     * @param whenFailed called once, by the forcing thread and before the failure is visible to others, when nothing
     *     can be forced any more; must not force
     */
    public synchronized void startForcing(
            Scheduling scheduling, ErrorLog errors, Consumer<ForceFailedException> whenFailed) {
        if (groupCommit != null && forceAgent == null) {
            groupCommit.whenFailed(whenFailed);
            final AgentHandle handle = scheduling.take(new ForceAgent(groupCommit, serverId()), errors);
            forceAgent = handle;
            groupCommit.wakes(handle, scheduling.isOneAtATime());
            handle.start();
        }
    }

    /**
     * Registers a listener for each force, at the level that has any.
     *
     * @param listener called by the forcing thread; must not block
     */
    public void whenForced(Runnable listener) {
        if (groupCommit != null) {
            groupCommit.whenForced(listener);
        }
    }

    private synchronized void stopForcing() {
        if (groupCommit != null && forceAgent != null) {
            forceAgent.close();
            forceAgent = null;
            groupCommit.wakes(null, false);
        }
    }

    /** The number of device writes since the start, at level power. */
    public long forces() {
        return groupCommit == null ? 0 : groupCommit.forces();
    }

    /** The file; null at durability none. */
    public @Nullable Path file() {
        return settings.file();
    }

    /**
     * Checks that the file exists, whole, and is the one that was mapped. Accesses the file system: never on an
     * application's thread.
     *
     * @throws LostAreaException if not
     */
    public void requireFile() {
        final Path file = settings.file();
        if (file == null || !memory.isMapped()) {
            return;
        }
        try {
            final long length = Files.size(file);
            if (length < settings.fileLength()) {
                throw new LostAreaException("the area " + file + " was cut off to " + length + " of its "
                        + settings.fileLength() + " bytes");
            }
            if (FileIdentity.isCopy(superblock.fileIdentity(), FileIdentity.of(file))) {
                throw new LostAreaException("the area " + file + " was replaced by another file");
            }
        } catch (NoSuchFileException e) {
            throw new LostAreaException("the area " + file + " was removed");
        } catch (IOException e) {
            throw new LostAreaException("the area " + file + " could not be looked at (" + e + ")");
        }
    }

    public DurabilityVerbs verbs() {
        return verbs;
    }

    public void flush(long address, long length) {
        verbs.flush(address, length);
    }

    public void drain() {
        verbs.drain();
    }

    public Superblock superblock() {
        return superblock;
    }

    /**
     * Records that a start found the replicas here without an acknowledged entry ({@link Superblock#markIncomplete}).
     *
     * @return the exception for the start; such an area opens only with an override
     */
    public UnusableAreaException foundIncomplete() {
        superblock.markIncomplete();
        return AreaProbe.incomplete(nameOf(settings));
    }

    public SegmentMetaTable segments() {
        return segments;
    }

    public TenureTable tenures() {
        return tenures;
    }

    /**
     * Allocates a segment's memory. An agent calls it before the segment leaves the state free, and before it publishes
     * an address in it. An area in a file has all its memory already.
     *
     * @throws OutOfDirectMemoryException and the segment stays as it is
     */
    public void ensureBacked(int segment) {
        memory.ensureBacked(addressOf(segment));
    }

    /** Whether the segment has memory. If not, it was never used since the area was opened. */
    public boolean isBacked(int segment) {
        return memory.region().isBacked(addressOf(segment));
    }

    /**
     * Forces everything, then sets the clean mark: the area is reliable after a restart of the machine. Requires that
     * no other thread writes any more. After a failed force, nothing is written and no mark set.
     */
    public void closeClean() {
        stopForcing();
        if (groupCommit != null && groupCommit.failure() != null) {
            close();
            return;
        }
        FileThread.run("rowan-area-close", () -> {
            memory.flushAll();
            superblock.markClean();
        });
        close();
    }

    /** Releases the area as it is. Writes nothing. */
    @Override
    public void close() {
        // No channel is open. The mappings end with the last reference to them.
        stopForcing();
        if (settings.file() != null) {
            ClosedMappings.closed();
        }
    }
}
