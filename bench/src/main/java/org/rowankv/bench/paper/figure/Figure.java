package org.rowankv.bench.paper.figure;

import java.util.List;
import org.rowankv.bench.paper.plot.Panel;

/** A figure or table: points to simulate, plots of them, and what is expected. */
interface Figure {
    /** As in {@code --figure}. */
    String name();

    String title();

    default Tier tier() {
        return Tier.MODEL;
    }

    List<String> labelColumns();

    List<String> valueColumns();

    List<Point> points(Scale scale);

    List<Panel> panels(Results results, Scale scale);

    void judge(Results results, Scale scale, ReportLines report);
}
