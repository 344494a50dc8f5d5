package org.rowankv.sim.command;

import java.util.Arrays;
import java.util.function.Supplier;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.Seeds;
import org.rowankv.sim.cluster.ClusterSeeds;
import org.rowankv.sim.embedded.EmbeddedSeeds;

/** What a seed simulates. */
public enum Form {
    /** A store whose servers are in one process. */
    EMBEDDED("--embedded", EmbeddedSeeds::new),
    /** A cluster of processes over TCP. */
    CLUSTER("--cluster", () -> new ClusterSeeds(FabricKind.TCP)),
    /** A cluster over simulated RDMA devices, whose receivers land. */
    LANDED("--fabric landed", () -> new ClusterSeeds(FabricKind.RDMA_LANDED)),
    /** A cluster over simulated RDMA devices, with leased segments. */
    LEASED("--fabric leased", () -> new ClusterSeeds(FabricKind.RDMA_LEASED));

    /** Of each 16 seeds: embedded ones run several times as fast. */
    private static final Form[] DRAWN = new Form[16];

    static {
        Arrays.fill(DRAWN, EMBEDDED);
        Arrays.fill(DRAWN, 10, 13, CLUSTER);
        Arrays.fill(DRAWN, 13, 14, LANDED);
        Arrays.fill(DRAWN, 14, 16, LEASED);
    }

    private final String options;
    private final Supplier<Seeds> opened;

    Form(String options, Supplier<Seeds> opened) {
        this.options = options;
        this.opened = opened;
    }

    /** The options of the command that ask for this form. */
    public String options() {
        return options;
    }

    /** The form with those options. */
    public static Form of(String options) {
        return Arrays.stream(values())
                .filter(each -> each.options.equals(options))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no form has the options '" + options + "'"));
    }

    /** The form that a seed draws. */
    public static Form drawn(long seed) {
        // The upper bits of a product with the golden ratio: near seeds have different forms.
        return DRAWN[(int) (seed * 0x9E3779B97F4A7C15L >>> 60)];
    }

    /** The command that repeats a seed of this form. */
    String command(long seed) {
        return "./rowan sim " + options + " --seed " + seed;
    }

    Seeds open() {
        return opened.get();
    }
}
