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
 * A question for changes that has no answer yet: its sections, and what there is to answer to each of them. It waits for nothing
 * itself; {@link ChangeFeedHandler} does. Of one loop.
 */
public final class PendingChangesRequest {
    /** What the answers are read from; may change between two calls. */
    public interface Source {
        RequestBackend served();

        /** OK, or why a shard is not served to a client with a configuration of that term. */
        Status whyNotServed(int shard, long clientTerm);

        int maxFrame();
    }

    /** Of all sections of an answer together, but for a single change that is longer. */
    private static final int MAX_BYTES = 256 << 10;
    /** What an answer with a single change has besides that change. */
    private static final int OVERHEAD = 64 + ChangesDescriptor.SECTION_LENGTH + ChangesDescriptor.CHANGE_LENGTH;

    /** Instead of a position: there are too many caches of which changes are kept. */
    private static final long NOT_KEPT = ChangesRequestDescriptor.FROM_NOW;

    private static final long NS_PER_MS = 1_000_000;
    /** What a question that waits holds besides its sections, and for each of them. */
    private static final int CHARGE = 512;

    private static final int SECTION_CHARGE = 32;

    private static final long SEARCH_NS = 1_000_000_000L;

    private final long number;
    private final long term;
    private final long untilNs;
    /** By section: where it begins, or {@link ChangesRequestDescriptor#FROM_NOW}. */
    private final long[] asked;
    /** By section: up to where there was nothing. */
    private final long[] seen;

    private final int[] cacheIds;
    private final int[] shards;
    private final boolean[] oldValues;
    /** By section: why it is not answered for. */
    private final @Nullable Status[] refused;
    /** Sections whose cache is looked for in the catalogue: nothing is kept of them yet. */
    private final BitSet unknown = new BitSet();
    /** Number of the loop's reading of the catalogue that says of these. */
    private long awaited;
    /** What happened is not finished: something before it is still under way. */
    private boolean unfinished;

    /** A question that was {@link ChangesRequestDescriptor#check checked}. */
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

    /** Of its sections. */
    public int count() {
        return shards.length;
    }

    int cacheId(int index) {
        return cacheIds[index];
    }

    /** What it takes of the loop's memory while it waits. */
    int charge() {
        return CHARGE + SECTION_CHARGE * shards.length;
    }

    // --- when it is answered in any case ---

    /** Whether the time is over that it may wait. */
    public boolean isOver(long nowNs) {
        return nowNs - untilNs >= 0;
    }

    /** While the catalogue is read for it, a question waits a little longer. */
    boolean isOverdue(long nowNs) {
        return nowNs - untilNs >= (isSearched() ? SEARCH_NS : 0);
    }

    // --- caches that are looked for ---

    /** The section's cache is looked for in the catalogue. */
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

    /** The section is answered by that from now on. */
    void refuse(int index, Status why) {
        refused[index] = why;
    }

    /** The catalogue was read. */
    void endSearch() {
        unknown.clear();
    }

    // --- what there is to answer ---

    /** Has the changes of a section's cache kept from now on; returns where they are, or null if there are none to come. */
    public @Nullable ShardChanges begin(Source source, int index) {
        final int shard = shards[index];
        final RequestBackend served = source.served();
        final ShardChanges changes = source.whyNotServed(shard, term) == Status.OK ? served.changes(shard) : null;
        if (changes == null || served.isDestroyed(shard, cacheIds[index])) {
            return null;
        }
        final long from = changes.want(cacheIds[index], oldValues[index], () -> served.lastVersion(shard));
        if (from == Version.NONE) {
            seen[index] = NOT_KEPT;
        } else if (asked[index] == ChangesRequestDescriptor.FROM_NOW) {
            seen[index] = from;
        }
        return changes;
    }

    /**
     * What there is to answer.
     *
     * @param anyway whether an answer is sent in any case; else none without news
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
            // From now on: where that is, is news.
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

    /** Whether the last look has met changes that something before them, still under way, held back. */
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
        if (asked[index] > served.lastVersion(shard)) {
            return nothing(index, Status.BAD_REQUEST); // no stream was ever at that place
        }
        final long finished = served.finishedVersion(shard);
        final ShardChanges.Reading reading = changes.read(cacheId, seen[index], finished, room);
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
