package org.rowankv.bench.trace;

import java.util.Arrays;

/** Whether a trace has each landed entry once: b-logs are filled without gaps, and each operation has all its backups. */
final class LandedOnce {
    private LandedOnce() {}

    /** Landings that overlap another one, or begin behind a gap; the first one of a segment's use begins it. */
    static long misplaced(WriteTrace trace, int segmentLength, long segmentBase) {
        final long[][] landed = new long[trace.size()][];
        int count = 0;
        for (int i = 0; i < trace.size(); i++) {
            if (trace.owner(i) == WriteOwner.BACKUP) {
                landed[count++] = new long[] {
                    (long) trace.server(i) << Integer.SIZE | (trace.use(i) & 0xFFFF_FFFFL),
                    trace.address(i) - segmentBase,
                    trace.length(i)
                };
            }
        }
        Arrays.sort(
                landed,
                0,
                count,
                (one, other) -> one[0] != other[0] ? Long.compare(one[0], other[0]) : Long.compare(one[1], other[1]));
        long misplaced = 0;
        for (int i = 0; i < count; i++) {
            final boolean continues = i > 0 && landed[i - 1][0] == landed[i][0];
            final long expected =
                    continues ? landed[i - 1][1] + landed[i - 1][2] : landed[i][1] / segmentLength * segmentLength;
            misplaced += landed[i][1] == expected ? 0 : 1;
        }
        return misplaced;
    }

    /** Operations that have not landed on as many servers, each another than their own. */
    static long incomplete(WriteTrace trace, int backups) {
        final int[] seen = new int[trace.operationCount()];
        final int[] home = new int[trace.operationCount()];
        final int[] count = new int[trace.operationCount()];
        for (int i = 0; i < trace.size(); i++) {
            final int operation = trace.operation(i);
            if (operation != WriteTrace.NO_OPERATION) {
                if (trace.owner(i) == WriteOwner.WORKER) {
                    home[operation] = 1 << trace.server(i);
                } else {
                    seen[operation] |= 1 << trace.server(i);
                    count[operation]++;
                }
            }
        }
        long incomplete = 0;
        for (int i = 0; i < seen.length; i++) {
            final boolean whole =
                    count[i] == backups && Integer.bitCount(seen[i]) == backups && (seen[i] & home[i]) == 0;
            incomplete += whole ? 0 : 1;
        }
        return incomplete;
    }
}
