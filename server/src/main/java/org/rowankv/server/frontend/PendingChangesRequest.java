package org.rowankv.server.frontend;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.wire.ChangesDescriptor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.server.shard.ShardChanges;

/**
 * A change request without an answer yet: its sections and their results. It does not wait itself;
 * {@link ChangeFeedHandler} does. Owned by one loop.
 */
public final class PendingChangesRequest {
    /** Backend of the answers; may change between two calls. */
    public interface Source {
        RequestBackend served();

        /** OK, or why a shard is not served to a client with a configuration of that term. */
        Status whyNotServed(int shard, long clientTerm);

        int maxFrame();
    }

    /** Limit of all sections of an answer together, except for a single longer change. */
    private static final int MAX_BYTES = 256 << 10;
    /** Bytes of an answer with a single change, besides that change. */
    private static final int OVERHEAD = 64 + ChangesDescriptor.SECTION_LENGTH + ChangesDescriptor.CHANGE_LENGTH;

    /** Replaces a position: the feed limit is reached, no changes of the cache are kept. */
    private static final long NOT_KEPT = ChangesRequestDescriptor.FROM_NOW;

    private static final long NS_PER_MS = 1_000_000;
    /** Memory charge of a waiting request, besides its sections, and per section. */
    private static final int CHARGE = 512;

    private static final int SECTION_CHARGE = 32;

    private static final long SEARCH_NS = 1_000_000_000L;

    private final long number;
    private final long term;
    private final long untilNs;
    /** By section: start version, or {@link ChangesRequestDescriptor#FROM_NOW}. */
    private final long[] asked;
    /** By section: version up to which there was no change. */
    private final long[] seen;

    private final int[] cacheIds;
    private final int[] shards;
    private final boolean[] oldValues;
    /** By section: status of a refusal. */
    private final @Nullable Status[] refused;
    /** Sections whose cache is being resolved in the catalogue: their changes are not kept yet. */
    private final BitSet unknown = new BitSet();
    /** Number of the loop's catalogue reading that resolves them. */
    private long awaited;
    /** A change is held back by an earlier, unfinished one. */
    private boolean unfinished;

    /** Parses a request that passed {@link ChangesRequestDescriptor#check}. */
    public PendingChangesRequest(long number, ByteBuffer buffer, int at, long nowNs) {
        final int count = ChangesRequestDescriptor.sections(buffer, at);
        this.number = number;
        this.term = ChangesRequestDescriptor.term(buffer, at);
        this.untilNs = nowNs + ChangesRequestDescriptor.waitMs(buffer, at) * NS_PER_MS;
        this.asked = new long[count];
        this.seen = new long[count];
        this.cacheIds = new int[count];
        this.shards = new int[count];
        this.oldValues = new boolean[count];
        this.refused = new @Nullable Status[count];
        for (int i = 0; i < count; i++) {
            asked[i] = ChangesRequestDescriptor.position(buffer, at, i);
            seen[i] = asked[i];
            cacheIds[i] = ChangesRequestDescriptor.cacheId(buffer, at, i);
            shards[i] = ChangesRequestDescriptor.shard(buffer, at, i);
            oldValues[i] = ChangesRequestDescriptor.oldValues(buffer, at, i);
        }
    }

    public long number() {
        return number;
    }

    /** Number of sections. */
    public int count() {
        return shards.length;
    }

    int cacheId(int index) {
        return cacheIds[index];
    }

    /** Bytes charged to the loop's memory while it waits. */
    int charge() {
        return CHARGE + SECTION_CHARGE * shards.length;
    }

    // --- deadline ---

    /** Whether its wait time is over. */
    public boolean isOver(long nowNs) {
        return nowNs - untilNs >= 0;
    }

    /** The same, with extra time while the catalogue is read for it. */
    boolean isOverdue(long nowNs) {
        return nowNs - untilNs >= (isSearched() ? SEARCH_NS : 0);
    }

    // --- unknown caches ---

    /** Marks the section's cache as being resolved in the catalogue. */
    void search(int index) {
        unknown.set(index);
    }

    boolean isSearched() {
        return !unknown.isEmpty();
    }

    boolean isSearched(int index) {
        return unknown.get(index);
    }

    void await(long reading) {
        awaited = reading;
    }

    long awaited() {
        return awaited;
    }

    /** Answers the section with that status from now on. */
    void refuse(int index, Status why) {
        refused[index] = why;
    }

    /** The catalogue reading is complete. */
    void endSearch() {
        unknown.clear();
    }

    // --- sections ---

    /** Starts the retention of changes for a section's cache; returns the feed, or null if there will be no changes. */
    public @Nullable ShardChanges begin(Source source, int index) {
        final int shard = shards[index];
        final RequestBackend served = source.served();
        final ShardChanges changes = source.whyNotServed(shard, term) == Status.OK ? served.changes(shard) : null;
        if (changes == null || served.isDestroyed(shard, cacheIds[index])) {
            return null;
        }
        final long from = changes.request(cacheIds[index], oldValues[index], () -> served.lastVersion(shard));
        if (from == Version.NONE) {
            seen[index] = NOT_KEPT;
        } else if (asked[index] == ChangesRequestDescriptor.FROM_NOW) {
            seen[index] = from;
        }
        return changes;
    }

    /**
     * Collects the sections of the answer.
     *
     * @param anyway whether an answer is sent in any case; else the result is empty without news
     */
    public List<Section> sections(Source source, boolean anyway) {
        final List<Section> sections = new ArrayList<>();
        int room = Math.min(MAX_BYTES, source.maxFrame() / 4);
        boolean news = anyway;
        unfinished = false;
        for (int i = 0; i < shards.length && room > 0; i++) {
            if (unknown.get(i)) {
                continue;
            }
            final Section section = section(source, i, room);
            if (section.status() != Status.OK
                    || section.lostTo() != 0
                    || !section.changes().isEmpty()) {
                news = true;
            }
            // The start version of a FROM_NOW section is news.
            news |= asked[i] == ChangesRequestDescriptor.FROM_NOW;
            if (section.status() != Status.OK || section.to() > section.from()) {
                sections.add(section);
            }
            for (Change change : section.changes()) {
                room -= (int) change.length() + ChangesDescriptor.CHANGE_LENGTH;
            }
            room -= ChangesDescriptor.SECTION_LENGTH;
        }
        return news ? sections : List.of();
    }

    /** Whether the last call of {@link #sections} met changes that an earlier, unfinished change holds back. */
    public boolean isUnfinished() {
        return unfinished;
    }

    private Section section(Source source, int index, int room) {
        final int shard = shards[index];
        final int cacheId = cacheIds[index];
        final Status unanswered = refused[index];
        if (unanswered != null) {
            return nothing(index, unanswered);
        }
        final Status why = source.whyNotServed(shard, term);
        final RequestBackend served = source.served();
        final ShardChanges changes = why == Status.OK ? served.changes(shard) : null;
        if (changes == null) {
            return nothing(index, why != Status.OK ? why : Status.NOT_PRIMARY);
        }
        if (served.isDestroyed(shard, cacheId)) {
            return nothing(index, Status.UNKNOWN_CACHE);
        }
        if (seen[index] == NOT_KEPT) {
            return nothing(index, Status.FULL);
        }
        // Changes are of committed versions, which no other primary takes back; where a stream begins is a read.
        if (asked[index] == ChangesRequestDescriptor.FROM_NOW && !served.mayAnswer()) {
            return nothing(index, Status.NOT_PRIMARY);
        }
        final long last = served.lastVersion(shard);
        final long finished = served.finishedVersion(shard);
        final ShardChanges.Reading reading = changes.read(cacheId, seen[index], finished, room);
        // Last: the versions above are of this primary, and no role has changed in between.
        if (last == 0 || source.whyNotServed(shard, term) != Status.OK || served.changes(shard) != changes) {
            return nothing(index, Status.NOT_PRIMARY);
        }
        if (asked[index] > last) {
            return nothing(index, Status.BAD_REQUEST); // no stream was ever at that position
        }
        unfinished |= changes.newest() > finished && changes.newest() > reading.to();
        return answered(index, source.maxFrame(), reading);
    }

    private Section answered(int index, int maxFrame, ShardChanges.Reading reading) {
        final long from = asked[index];
        final List<Change> changes = reading.changes();
        if (!changes.isEmpty() && changes.get(0).length() + OVERHEAD > maxFrame) {
            final Change without = changes.get(0).withoutOldValue();
            if (without.length() + OVERHEAD > maxFrame) {
                return new Section(index, Status.OK, from, without.version(), without.version(), List.of());
            }
            return new Section(index, Status.OK, from, reading.lostTo(), without.version(), List.of(without));
        }
        if (changes.isEmpty() && reading.lostTo() == 0) {
            seen[index] = reading.to();
        }
        return new Section(index, Status.OK, from, reading.lostTo(), reading.to(), changes);
    }

    /** A section without changes. */
    Section nothing(int index, Status status) {
        return new Section(index, status, asked[index], 0, asked[index], List.of());
    }
}
