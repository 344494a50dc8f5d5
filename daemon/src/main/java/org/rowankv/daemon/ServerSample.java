package org.rowankv.daemon;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.daemon.admin.Metric;
import org.rowankv.daemon.admin.MetricsReading;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.membership.ClusterView.MemberView;
import org.rowankv.server.membership.HostAndPort;

/**
 * What a server answered at one moment.
 *
 * @param status values by name; empty if it did not answer
 * @param atNs when its metrics were read
 */
record ServerSample(Map<String, String> status, MetricsReading metrics, long atNs) {
    /** Of a server that did not answer. */
    static final ServerSample NONE = new ServerSample(Map.of(), MetricsReading.of(""), 0);

    private static final double NS_PER_S = 1e9;

    static Callable<ServerSample> of(MemberView member) {
        return () -> {
            if (!member.admin().isEmpty()) {
                final HostAndPort admin = HostAndPort.parse(member.admin());
                try {
                    final Map<String, String> status = AdminRequest.askStatus(admin);
                    final String metrics = AdminRequest.ask(admin.host(), admin.port(), "metrics");
                    return new ServerSample(status, MetricsReading.of(metrics), SystemClock.INSTANCE.nanoTime());
                } catch (IOException e) {
                    // As below.
                }
            }
            return NONE;
        };
    }

    boolean hasAnswered() {
        return !status.isEmpty();
    }

    String health() {
        return status.getOrDefault("health", StatusText.AWAY);
    }

    String readiness() {
        return status.getOrDefault("ready", StatusText.AWAY);
    }

    /**
     * What a counter has risen by per second since an earlier sample.
     *
     * @return NaN if one of the two lacks it, or the server has started again in between
     */
    double rate(ServerSample earlier, Metric counter, String... labels) {
        final double risen = metrics.sum(counter, labels) - earlier.metrics.sum(counter, labels);
        final double seconds = (atNs - earlier.atNs) / NS_PER_S;
        return risen < 0 || seconds <= 0 ? Double.NaN : risen / seconds;
    }
}
