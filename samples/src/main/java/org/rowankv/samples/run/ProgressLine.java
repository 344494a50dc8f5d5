package org.rowankv.samples.run;

import java.io.PrintStream;
import java.util.Locale;

/**
 * Progress display of one step: a redrawn bar on a terminal, otherwise a plain line for every tenth. Confined to one
 * thread.
 */
public final class ProgressLine {
    private static final int WIDTH = 40;
    private static final long REDRAW_NS = 50_000_000;

    private final PrintStream out;
    private final boolean terminal;
    private final String step;
    private final long total;
    private final long startNs = System.nanoTime();
    private long done;
    private long drawnNs;
    private long drawnTenth;

    public ProgressLine(PrintStream out, boolean terminal, String step, long total) {
        this.out = out;
        this.terminal = terminal;
        this.step = step;
        this.total = total;
    }

    public void advance() {
        done++;
        final long tenth = 10 * done / total;
        if (terminal) {
            final long nowNs = System.nanoTime();
            if (nowNs - drawnNs > REDRAW_NS || done == total) {
                drawnNs = nowNs;
                draw();
            }
        } else if (tenth > drawnTenth) {
            drawnTenth = tenth;
            out.printf(Locale.ROOT, "  %-9s %3d %%  %,d of %,d%n", step, 10 * tenth, done, total);
        }
    }

    private void draw() {
        final int filled = (int) (WIDTH * done / total);
        out.printf(
                Locale.ROOT,
                "\r  %-9s [%s%s] %3d %%  %,d of %,d%s",
                step,
                "#".repeat(filled),
                ".".repeat(WIDTH - filled),
                100 * done / total,
                done,
                total,
                done == total ? System.lineSeparator() : "");
        out.flush();
    }

    double seconds() {
        return (System.nanoTime() - startNs) / 1e9;
    }
}
