package org.rowankv.sim.embedded;

import java.io.PrintStream;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.Seeds;

/** Embedded stores, whose servers are in one process. */
public final class EmbeddedSeeds implements Seeds {
    private final SimMemories memories = new SimMemories();

    @Override
    public String plan(long seed) {
        return EmbeddedPlan.of(seed).toString();
    }

    @Override
    public List<String> traits(long seed) {
        return EmbeddedPlan.of(seed).traits();
    }

    @Override
    public SeedReport run(long seed, @Nullable Consumer<String> reader) {
        return new EmbeddedSimulation(EmbeddedPlan.of(seed), memories, reader).run();
    }

    @Override
    public List<String> missing(EventCounters met, int seeds) {
        return seeds >= StoreExpected.FULL_RUN ? StoreExpected.missing(met) : List.of();
    }

    @Override
    public void shrink(SeedReport failing, PrintStream out) {
        final EmbeddedPlan smallest = new Shrinking(EmbeddedPlan.of(failing.seed()), failing, memories).shrink();
        out.println("sim: seed " + failing.seed() + ", made smaller: " + smallest);
        new EmbeddedSimulation(smallest, memories, out::println).run();
    }
}
