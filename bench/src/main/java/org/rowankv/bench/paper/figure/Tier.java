package org.rowankv.bench.paper.figure;

import java.util.Locale;

/** What a number comes from. */
public enum Tier {
    /** A simulation without the product. */
    MODEL("Simulated", "no product"),
    /** Writes of the product, replayed through the model of persistent memory. */
    TRACE("Traced", "the product's writes, replayed through the model's memory");

    private final String title;
    private final String meaning;

    Tier(String title, String meaning) {
        this.title = title;
        this.meaning = meaning;
    }

    String title() {
        return title;
    }

    String meaning() {
        return meaning;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
