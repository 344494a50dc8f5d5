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
 * The persistent memory of one server: segments of equal length, and in front of them the superblock, the tenures and
 * the table of segments. Bytes are read and written through {@link #region}; only the durability verbs say when they
 * count.
 *
 * <p>Guarantees: {@link #create} makes the whole area or nothing; {@link #open} takes an area only if it is the one
 * the settings describe and its bytes may be believed; neither changes what it refuses. An interrupt of the caller
 * harms neither the area nor the caller's interrupt status.
 *
 * <p>Not guaranteed: that two processes do not open one area (a store directory sees to that), and that memory is
 * given back at {@link #close}: mappings and buffers end when nothing refers to them any more.
 *
 * <p>For any thread; closing by the owner, after every agent that uses the area has ended.
 */
public final class Area implements AutoCloseable {
    private final AreaSettings settings;
    private final AreaMemory memory;
    private final Superblock superblock;
    private final SegmentMetaTable segments;
    private final TenureTable tenures;
    private final DurabilityVerbs verbs;
    /** Of the level power only. */
    private final @Nullable GroupCommit forcer;

    private final boolean mayBeTorn;
    /** Whether the process before this one committed a segment only when the device had all of it. */
    private final boolean committedIsForced;

    private @Nullable AgentHandle forceAgent;
    private final long segmentBase;
    private final int segmentShift;

    private Area(
            AreaSettings settings,
            AreaMemory memory,
            @Nullable GroupCommit forcer,
            Superblock superblock,
            boolean mayBeTorn,
            boolean committedIsForced) {
        this.settings = settings;
        this.memory = memory;
        this.superblock = superblock;
        this.mayBeTorn = mayBeTorn;
        this.committedIsForced = committedIsForced;
        this.forcer = forcer;
        this.verbs = forcer == null ? memory.verbs() : forcer;
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

    /** The area that a file holds, written by an earlier process. */
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

    /** A new area in memory that may outlive it: to be opened again as an earlier process left it. */
    public static Area create(AreaSettings settings, AreaMemory memory, RandomSource random) {
        final Content content = Superblock.format(
                memory.header(),
                memory.device(),
                newContent(settings, random.nextLong(), BootId.UNKNOWN, FileIdentity.UNKNOWN));
        final GroupCommit forcer = forcerOf(settings, memory);
        return new Area(
                settings, memory, forcer, superblockOf(settings, memory, forcer, content), false, content.power());
    }

    /** The area that is found in memory. */
    public static Area open(AreaSettings settings, AreaMemory memory, OpenOverrides consent) {
        final Content content = Superblock.newestValid(memory.header());
        if (content == null) {
            throw new UnusableAreaException("both copies of the superblock of server " + settings.serverId()
                    + " are damaged: start with new memory");
        }
        AreaProbe.requireComplete(nameOf(settings), content, consent);
        bringToDevice(settings, memory);
        final GroupCommit forcer = forcerOf(settings, memory);
        final Area area = new Area(
                settings,
                memory,
                forcer,
                superblockOf(settings, memory, forcer, content),
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

    private static DurabilityVerbs deviceOf(AreaMemory memory, @Nullable GroupCommit forcer) {
        return forcer == null ? memory.device() : forcer.atOnce(memory.device());
    }

    private static Superblock superblockOf(
            AreaSettings settings, AreaMemory memory, @Nullable GroupCommit forcer, Content content) {
        return new Superblock(
                memory.header(),
                deviceOf(memory, forcer),
                BootId.UNKNOWN,
                FileIdentity.UNKNOWN,
                settings.durability() == Durability.POWER,
                content);
    }

    /**
     * What a process left in the system's pages is not on the device yet; what is done because of it, a segment freed, say,
     * could get there first. So at the level power everything is forced before anybody looks.
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
            // The superblock is read first and apart: of another shape, the file cannot be mapped by these settings.
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
            final GroupCommit forcer = forcerOf(settings, memory);
            final Superblock superblock = new Superblock(
                    memory.header(),
                    deviceOf(memory, forcer),
                    bootId,
                    fileIdentity,
                    settings.durability() == Durability.POWER,
                    content);
            final Area area = new Area(
                    settings, memory, forcer, superblock, AreaProbe.mayBeTorn(content, bootId), content.power());
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

    /** The segment that holds an address behind {@link #segmentBase}. */
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

    /** What whoever lands bytes here has to wait for; null unless the level is {@link Durability#POWER}. */
    public @Nullable LandingForce landingForce() {
        return forcer;
    }

    /**
     * Whether words that were stored and not forced may be missing: the area was not closed, and the machine restarted
     * since, or the level is power, at which that may have been before an earlier start.
     */
    public boolean mayBeTorn() {
        return mayBeTorn;
    }

    /**
     * As {@link #mayBeTorn()}, of a segment that the start finds in that state. At the level power a segment becomes committed only
     * when the device has all of it. At the level process the state says nothing of the device.
     */
    public boolean mayBeTorn(SegmentState state) {
        return mayBeTorn && (state != SegmentState.COMMITTED || !committedIsForced || superblock.isIncomplete());
    }

    /**
     * From now on a thread of our own forces, at the level that needs it. Ends with the area.
     *
     * @param whenFailed told once, by the thread that could not force and before anybody can meet the failure, that nothing
     *     can be forced any more; must not force
     */
    public synchronized void startForcing(
            Scheduling scheduling, ErrorLog errors, Consumer<ForceFailedException> whenFailed) {
        if (forcer != null && forceAgent == null) {
            forcer.whenFailed(whenFailed);
            final AgentHandle turned = scheduling.take(new ForceAgent(forcer, serverId()), errors);
            forceAgent = turned;
            forcer.wakes(turned, scheduling.isOneAtATime());
            turned.start();
        }
    }

    /**
     * Who waits for forces hears of each, at the level that has any.
     *
     * @param told by the thread that forces: must not block
     */
    public void whenForced(Runnable told) {
        if (forcer != null) {
            forcer.whenForced(told);
        }
    }

    private synchronized void stopForcing() {
        if (forcer != null && forceAgent != null) {
            forceAgent.close();
            forceAgent = null;
            forcer.wakes(null, false);
        }
    }

    /** How often the device was written to since the start, at the level power. */
    public long forces() {
        return forcer == null ? 0 : forcer.forces();
    }

    /** The file, or null of an area of durability none. */
    public @Nullable Path file() {
        return settings.file();
    }

    /**
     * Looks whether the file is there, whole, and the one that was mapped. Asks the file system: not on an application's
     * thread.
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
     * A start has found that the replicas here lack an entry that was acknowledged: remembers it ({@link
     * Superblock#markIncomplete}).
     *
     * @return what the start fails with; an area like this is opened with consent only
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
     * Gives a segment its memory. An agent calls it before the segment leaves the state free, and before anybody is
     * told an address in it. An area of files has all its memory already.
     *
     * @throws OutOfDirectMemoryException and the segment stays as it is
     */
    public void ensureBacked(int segment) {
        memory.ensureBacked(addressOf(segment));
    }

    /** Whether the segment has memory. One that has none was never used since the area was opened. */
    public boolean isBacked(int segment) {
        return memory.region().isBacked(addressOf(segment));
    }

    /**
     * Brings everything to the device, then sets the clean mark: the area may be believed after a restart of the
     * machine. Nobody writes to it any more. Where a force has failed, nothing is written and no mark set.
     */
    public void closeClean() {
        stopForcing();
        if (forcer != null && forcer.failure() != null) {
            close();
            return;
        }
        FileThread.run("rowan-area-close", () -> {
            memory.flushAll();
            superblock.markClean();
        });
        close();
    }

    /** Lets go of the area as it is. Nothing is written. */
    @Override
    public void close() {
        // No channel is open. The mappings go with the last reference to them.
        stopForcing();
        if (settings.file() != null) {
            ClosedMappings.closed();
        }
    }
}
