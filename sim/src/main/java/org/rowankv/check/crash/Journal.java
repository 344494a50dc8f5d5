package org.rowankv.check.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;
import org.rowankv.check.area.Stored;

/**
 * The operations that the crash check's child has begun and completed, in a file that survives its kill. The child's
 * threads write, through one {@link Writer} each; the parent reads the phase while the child lives, and the records
 * after its death.
 */
final class Journal {
    /** Kind of an operation on a key. */
    enum Kind {
        STORE,
        REMOVE,
        /** Applies to every key of the cache; the record's key is unused. */
        CLEAR
    }

    /** Progress of an operation. */
    enum State {
        /** No record. */
        EMPTY,
        /** About to begin, or begun without a reply. */
        ATTEMPTED,
        /** Reply: it took effect. */
        ACKED,
        /** Reply: it changed nothing. */
        NOTHING,
        /** Reply: there was no space. */
        FULL
    }

    /** One operation. {@code key} is a number, unique in the cache. */
    record Entry(int thread, State state, Kind kind, int cache, int key, Stored stored) {}

    private static final State[] STATES = State.values();
    private static final Kind[] KINDS = Kind.values();
    private static final ChildPhase[] PHASES = ChildPhase.values();

    private final ByteBuffer buffer;
    private final int threads;
    private final int recordsPerThread;

    private Journal(ByteBuffer buffer, int threads, int recordsPerThread) {
        this.buffer = buffer;
        this.threads = threads;
        this.recordsPerThread = recordsPerThread;
    }

    /** Creates the file if it is missing. Both sides must pass the same sizes. */
    static Journal open(Path file, int threads, int recordsPerThread) throws IOException {
        final int length = JournalDescriptor.recordOffset(threads, recordsPerThread, 0);
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final ByteBuffer buffer =
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, length).order(ByteOrder.LITTLE_ENDIAN);
            return new Journal(buffer, threads, recordsPerThread);
        }
    }

    ChildPhase phase() {
        return PHASES[JournalDescriptor.intAcquire(buffer, JournalDescriptor.PHASE_OFFSET)];
    }

    void phase(ChildPhase phase) {
        JournalDescriptor.intRelease(buffer, JournalDescriptor.PHASE_OFFSET, phase.ordinal());
    }

    /** Whether an operation of the first thread has been acknowledged. */
    boolean hasAcked() {
        for (int record = 0; record < recordsPerThread; record++) {
            final int at = JournalDescriptor.recordOffset(0, recordsPerThread, record);
            final State state = STATES[JournalDescriptor.intAcquire(buffer, at + JournalDescriptor.STATE_OFFSET)];
            if (state == State.ACKED || state == State.EMPTY) {
                return state == State.ACKED;
            }
        }
        return false;
    }

    Writer writer(int thread) {
        return new Writer(thread);
    }

    /** Visits every operation, thread by thread, in the order of each thread. */
    void forEach(Consumer<Entry> visitor) {
        for (int thread = 0; thread < threads; thread++) {
            for (int record = 0; record < recordsPerThread; record++) {
                final int at = JournalDescriptor.recordOffset(thread, recordsPerThread, record);
                final State state = STATES[JournalDescriptor.intAcquire(buffer, at + JournalDescriptor.STATE_OFFSET)];
                if (state == State.EMPTY) {
                    break;
                }
                visitor.accept(new Entry(
                        thread,
                        state,
                        KINDS[buffer.getInt(at + JournalDescriptor.KIND_OFFSET)],
                        buffer.getInt(at + JournalDescriptor.CACHE_OFFSET),
                        buffer.getInt(at + JournalDescriptor.KEY_OFFSET),
                        new Stored(
                                buffer.getLong(at + JournalDescriptor.HASH_OFFSET),
                                buffer.getInt(at + JournalDescriptor.LENGTH_OFFSET),
                                state == State.ACKED ? buffer.getLong(at + JournalDescriptor.VERSION_OFFSET) : 0)));
            }
        }
    }

    /** One thread's records. Owned by that thread. */
    final class Writer {
        private final int thread;
        private int record = -1;

        private Writer(int thread) {
            this.thread = thread;
        }

        boolean isFull() {
            return record + 1 == recordsPerThread;
        }

        void attempt(Kind kind, int cache, int key, Stored stored) {
            record++;
            final int at = JournalDescriptor.recordOffset(thread, recordsPerThread, record);
            buffer.putInt(at + JournalDescriptor.KIND_OFFSET, kind.ordinal());
            buffer.putInt(at + JournalDescriptor.CACHE_OFFSET, cache);
            buffer.putInt(at + JournalDescriptor.KEY_OFFSET, key);
            buffer.putLong(at + JournalDescriptor.HASH_OFFSET, stored.hash());
            buffer.putInt(at + JournalDescriptor.LENGTH_OFFSET, stored.length());
            JournalDescriptor.intRelease(buffer, at + JournalDescriptor.STATE_OFFSET, State.ATTEMPTED.ordinal());
        }

        void acked(long version) {
            final int at = JournalDescriptor.recordOffset(thread, recordsPerThread, record);
            buffer.putLong(at + JournalDescriptor.VERSION_OFFSET, version);
            JournalDescriptor.intRelease(buffer, at + JournalDescriptor.STATE_OFFSET, State.ACKED.ordinal());
        }

        /** @param state NOTHING or FULL */
        void nothingDone(State state) {
            final int at = JournalDescriptor.recordOffset(thread, recordsPerThread, record);
            JournalDescriptor.intRelease(buffer, at + JournalDescriptor.STATE_OFFSET, state.ordinal());
        }
    }
}
