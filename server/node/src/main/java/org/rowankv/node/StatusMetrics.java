package org.rowankv.node;

import java.io.IOException;
import java.util.function.Function;
import org.rowankv.server.cluster.ClusterView;
import org.rowankv.server.cluster.ClusterView.MemberView;
import org.rowankv.server.cluster.HostAndPort;

/** The metrics of all servers of a cluster as one text: each is asked at its admin port. */
final class StatusMetrics {
    private StatusMetrics() {}

    static String of(ClusterView view) {
        return of(view, StatusMetrics::ask);
    }

    /** @param told what a server answers, or something else if it does not */
    static String of(ClusterView view, Function<MemberView, String> told) {
        final MetricsText text = new MetricsText();
        for (MemberView member : view.members()) {
            if (!text.add(told.apply(member))) {
                text.of(member.name()).value(Metric.UP, 0);
            }
        }
        return text.toString();
    }

    private static String ask(MemberView member) {
        if (member.admin().isEmpty()) {
            return "";
        }
        final HostAndPort admin = HostAndPort.parse(member.admin());
        try {
            return AdminQuestion.ask(admin.host(), admin.port(), "metrics");
        } catch (IOException e) {
            return StatusText.AWAY;
        }
    }
}
