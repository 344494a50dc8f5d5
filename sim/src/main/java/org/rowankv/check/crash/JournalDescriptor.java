package org.rowankv.check.crash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Layout of the journal in which the child records its attempts and the replies.
 *
 * <pre>
 *   0        4          8
 *   +--------+----------+---------------------------//---+
 *   | phase  | threads  | unused to HEADER_LENGTH        |     one header, then for each thread its records:
 *   +--------+----------+---------------------------//---+
 *
 *   0        4        8        12       16         24       28       32        40
 *   +--------+--------+--------+--------+----------+--------+--------+---------+---//---+
 *   | state  | kind   | cache  | key    | hash     | length | unused | version | unused |
 *   +--------+--------+--------+--------+----------+--------+--------+---------+---//---+
 * </pre>
 *
 * <p>The state is stored last, with release: once before the operation begins, once after its reply. The file is
 * mapped, so a killed process leaves its stores visible, in the order in which they were made.
 */
final class JournalDescriptor {
    static final int PHASE_OFFSET = 0;
    static final int THREADS_OFFSET = PHASE_OFFSET + 4;
    static final int HEADER_LENGTH = 4096;

    static final int STATE_OFFSET = 0;
    static final int KIND_OFFSET = STATE_OFFSET + 4;
    static final int CACHE_OFFSET = KIND_OFFSET + 4;
    static final int KEY_OFFSET = CACHE_OFFSET + 4;
    static final int HASH_OFFSET = KEY_OFFSET + 4;
    static final int LENGTH_OFFSET = HASH_OFFSET + 8;
    static final int VERSION_OFFSET = LENGTH_OFFSET + 8;
    static final int RECORD_LENGTH = 64;

    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private JournalDescriptor() {}

    static int intAcquire(ByteBuffer buffer, int offset) {
        return (int) INTS.getAcquire(buffer, offset);
    }

    static void intRelease(ByteBuffer buffer, int offset, int value) {
        INTS.setRelease(buffer, offset, value);
    }

    static int recordOffset(int thread, int recordsPerThread, int record) {
        return HEADER_LENGTH + (thread * recordsPerThread + record) * RECORD_LENGTH;
    }
}
