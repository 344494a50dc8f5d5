package org.rowankv.sim;

import java.io.PrintStream;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The seeds of one form of simulation. They share memory, so one is run at a time. Used by one {@link SimThread}. */
public interface Seeds {
    /** What the seed draws, as text. */
    String plan(long seed);

    /** Traits of its plan, by which rare ones are found. */
    List<String> traits(long seed);

    /** @param reader receives each line of the trace; null for none */
    SeedReport run(long seed, @Nullable Consumer<String> reader);

    /** What so many seeds should have met, and have not; nothing if they are too few for that. */
    List<String> missing(EventCounters met, int seeds);

    /** Prints a smaller plan that fails in the same way, and its trace, if this form can make one. */
    void shrink(SeedReport failing, PrintStream out);
}
