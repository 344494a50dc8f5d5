package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;

/** The backup's content, as far as the test let it land: the reference for the primary. */
final class Backup {
    private final Segments segments;
    private final int pieces;
    private final Map<Long, Integer> landed = new LinkedHashMap<>();
    private long highestCommit;
    private int credit;

    /** @param pieces that every entry is sent in */
    Backup(Segments segments, int pieces) {
        this.segments = segments;
        this.pieces = pieces;
    }

    int pieces() {
        return pieces;
    }

    /** The entry lies in a log of the primary. */
    void announced(long address) {
        if (landed.putIfAbsent(address, 0) == null) {
            if (version(address) <= highestCommit) {
                throw new AssertionError("an entry not yet sent has version " + version(address) + ", but all up to "
                        + highestCommit + " counts as committed");
            }
        }
    }

    void landed(long address, int piece) {
        landed.merge(address, 1 << piece, (old, bit) -> old | bit);
    }

    boolean holds(long address) {
        return landed.getOrDefault(address, 0) == (1 << pieces) - 1;
    }

    void drawn(int times) {
        credit += times;
    }

    Set<Long> entries() {
        return landed.keySet();
    }

    /** A version up to which everything is reported to be on all replicas. */
    void committed(long commit) {
        highestCommit = Math.max(highestCommit, commit);
        for (long address : entries()) {
            if (!holds(address) && version(address) <= commit) {
                throw new AssertionError("an entry under way has version " + version(address) + ", but all up to "
                        + commit + " counts as committed");
            }
        }
    }

    boolean holdsVersion(long version) {
        return entries().stream().anyMatch(address -> version(address) == version && holds(address));
    }

    /** The number of entries with that request id. */
    long entriesOf(long session, long sequence) {
        return entries().stream()
                .filter(address -> {
                    final int flags = EntryDescriptor.flags(buffer(address), at(address));
                    return EntryDescriptor.sessionId(buffer(address), at(address), flags) == session
                            && EntryDescriptor.sequence(buffer(address), at(address), flags) == sequence;
                })
                .count();
    }

    /** The credit in use equals that of the entries that acquired it. */
    void requireExactCredit() {
        final long drawn = entries().stream()
                .filter(address ->
                        (EntryDescriptor.flags(buffer(address), at(address)) & EntryDescriptor.WITHOUT_SPACE) == 0)
                .count();
        assertThat(credit).as("credit in use at the backup").isEqualTo((int) drawn);
    }

    /** The charge of all entries on the primary. */
    long charge() {
        return entries().stream()
                .mapToLong(address -> segments.charge(
                        FrameDescriptor.length(FrameDescriptor.wordPlain(buffer(address), at(address)))))
                .sum();
    }

    private long version(long address) {
        return EntryDescriptor.version(buffer(address), at(address));
    }

    private ByteBuffer buffer(long address) {
        return segments.region().buffer(address);
    }

    private int at(long address) {
        return segments.region().offset(address);
    }
}
