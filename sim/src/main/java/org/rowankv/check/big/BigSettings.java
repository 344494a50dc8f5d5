package org.rowankv.check.big;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Settings of a check of values in parts.
 *
 * @param rounds number of kills
 * @param sizes bytes of the values; each put draws one
 * @param loadMs longest time from the first acknowledged put to the kill
 * @param seed of every random decision; the exact moment of a kill is not reproduced
 */
public record BigSettings(int rounds, int writers, int readers, List<Integer> sizes, int loadMs, long seed) {
    private static final int MIB = 1 << 20;

    public BigSettings {
        if (rounds < 1 || writers < 1 || readers < 0 || sizes.isEmpty()) {
            throw new IllegalArgumentException("at least one round, one writer and one size");
        }
        for (int size : sizes) {
            if (size < BigValue.LEAST_LENGTH) {
                throw new IllegalArgumentException("a value has at least " + BigValue.LEAST_LENGTH + " bytes");
            }
        }
    }

    int largest() {
        return sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    /** MiB of values that the callers of a process hold at once: not each of many callers can have a large one. */
    int budgetMib() {
        return Math.max(64, 3 * (largest() / MIB + 1));
    }

    /** Heap of such a process. A value is there, and once more while it is read. */
    int heapMib() {
        return 256 + 2 * budgetMib();
    }

    /** Room for the present value, those being put, and those whose readers have a grace. */
    long capacityBytes() {
        return Math.max(96L * MIB, 2L * budgetMib() * MIB);
    }

    String sizesText() {
        return sizes.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** Sizes separated by commas, each bytes or with a unit k or m. */
    public static List<Integer> sizes(String text) {
        return Arrays.stream(text.split(",", -1)).map(BigSettings::size).toList();
    }

    private static int size(String text) {
        return Math.toIntExact(Long.parseLong(org.rowankv.runtime.SettingForm.BYTES.canonical(text.trim(), List.of())));
    }
}
