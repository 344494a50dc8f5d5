package org.rowankv.daemon;

import java.io.IOException;
import java.util.function.Function;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.daemon.admin.Metric;
import org.rowankv.daemon.admin.MetricsText;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;
import org.rowankv.server.membership.HostAndPort;

/** The metrics of all servers of a cluster as one text, requested at their admin ports. */
public final class StatusMetrics {
    private StatusMetrics() {}

    public static String of(ClusterView view) {
        return of(view, StatusMetrics::ask);
    }

    /** @param metricsOf a server's answer; an incomplete one counts as no answer */
    public static String of(ClusterView view, Function<MemberView, String> metricsOf) {
        final MetricsText text = new MetricsText();
        for (MemberView member : view.members()) {
            if (!text.add(metricsOf.apply(member))) {
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
            return AdminRequest.ask(admin.host(), admin.port(), "metrics");
        } catch (IOException e) {
            return StatusText.AWAY;
        }
    }
}
