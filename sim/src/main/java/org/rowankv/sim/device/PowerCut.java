package org.rowankv.sim.device;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.rowankv.runtime.RandomSource;

/**
 * Model of a power cut: its effect on bytes that the device was never forced to keep. It keeps or drops words of 8
 * bytes, or whole sectors in any order, or it tears sectors: of those it keeps the first words or the last ones. Words
 * that the device holds stay unchanged, whatever happens to their sector.
 */
final class PowerCut {
    private static final int EIGHTHS = 8;
    /** Bytes that are kept or dropped together. */
    private static final int[] UNITS = {Long.BYTES, Long.BYTES, 512, 512, 4096, 4096};

    private final int unit;
    private final boolean tears;
    /** Of eight changed units, about this many are kept: sometimes nearly all, sometimes nearly none. */
    private final int kept;

    private final RandomSource random;
    private final Consumer<String> happened;
    private int dropped;

    /** @param happened receives each dropped or torn sector */
    PowerCut(RandomSource random, Consumer<String> happened) {
        this.random = random;
        this.happened = happened;
        this.kept = random.nextInt(EIGHTHS + 1);
        final int drawn = random.nextInt(UNITS.length);
        this.unit = UNITS[drawn];
        this.tears = unit > Long.BYTES && drawn % 2 == 1;
    }

    /** Makes both equal, each changed word taken from one or the other. Returns the number of dropped words. */
    int apply(ByteBuffer stored, ByteBuffer durable) {
        for (int at = 0; at < stored.capacity(); at += unit) {
            final int end = Math.min(at + unit, stored.capacity());
            if (differs(stored, durable, at, end)) {
                decide(stored, durable, at, end);
            }
        }
        return dropped;
    }

    private static boolean differs(ByteBuffer stored, ByteBuffer durable, int from, int end) {
        for (int at = from; at < end; at += Long.BYTES) {
            if (stored.getLong(at) != durable.getLong(at)) {
                return true;
            }
        }
        return false;
    }

    private void decide(ByteBuffer stored, ByteBuffer durable, int from, int end) {
        final int words = (end - from) / Long.BYTES;
        final boolean isTorn = tears && random.nextInt(2) == 0;
        final boolean isKept = random.nextInt(EIGHTHS) < kept;
        final int border = isTorn ? 1 + random.nextInt(words - 1) : words;
        if (isTorn) {
            happened.accept("sectors that power cuts tore");
        } else if (unit > Long.BYTES && !isKept) {
            happened.accept("sectors that power cuts dropped");
        }
        for (int word = 0; word < words; word++) {
            final int at = from + word * Long.BYTES;
            final long value = stored.getLong(at);
            if (value == durable.getLong(at)) {
                continue;
            }
            if (isKept == word < border) {
                durable.putLong(at, value);
            } else {
                stored.putLong(at, durable.getLong(at));
                dropped++;
            }
        }
    }
}
