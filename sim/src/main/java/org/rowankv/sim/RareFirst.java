package org.rowankv.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * Supplier of the seeds of a run. Of a few consecutive seeds it takes the one whose plan has the rarest traits in this
 * run so far. It skips the others. A plan's traits are its properties, its faults, each fault with each property, and
 * each fault followed by another. Only the plans decide: so the first seed and the number of seeds determine all seeds
 * of a run. Not thread-safe.
 */
public final class RareFirst implements LongSupplier {
    private static final int CANDIDATES = 4;

    private final LongFunction<List<String>> traits;
    private final Map<String, Integer> met = new HashMap<>();
    private long next;

    /**
     * Begins at a seed.
     *
     * @param traits of a seed's plan, from {@link #traits}
     */
    public RareFirst(long first, LongFunction<List<String>> traits) {
        this.next = first;
        this.traits = traits;
    }

    /** Consecutive seeds, for a run with a given first seed. */
    public static LongSupplier oneByOne(long first) {
        return new LongSupplier() {
            private long next = first;

            @Override
            public long getAsLong() {
                return next++;
            }
        };
    }

    @Override
    public long getAsLong() {
        long chosen = next;
        List<String> ofChosen = List.of();
        double most = -1;
        for (int i = 0; i < CANDIDATES; i++, next++) {
            final List<String> own = traits.apply(next);
            final double rare = rarity(own);
            if (rare > most) {
                most = rare;
                chosen = next;
                ofChosen = own;
            }
        }
        ofChosen.forEach(trait -> met.merge(trait, 1, Integer::sum));
        return chosen;
    }

    /** A trait never seen counts 1, one seen n times 1 / (n + 1). */
    private double rarity(List<String> own) {
        double rarity = 0;
        for (String trait : own) {
            rarity += 1.0 / (met.getOrDefault(trait, 0) + 1);
        }
        return rarity;
    }

    /**
     * The traits of a plan.
     *
     * @param faults in their order
     */
    public static List<String> traits(List<String> properties, List<String> faults) {
        final List<String> traits = new ArrayList<>(properties);
        for (int i = 0; i < properties.size(); i++) {
            for (int j = 0; j < i; j++) {
                traits.add(properties.get(j) + " & " + properties.get(i));
            }
        }
        for (int i = 0; i < faults.size(); i++) {
            final String fault = faults.get(i);
            traits.add(fault);
            if (i > 0) {
                traits.add(faults.get(i - 1) + " > " + fault);
            }
            for (String property : properties) {
                traits.add(property + " & " + fault);
            }
        }
        return traits.stream().distinct().toList();
    }
}
