package org.rowankv.server.embedded;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.rowankv.server.frontend.ClientPortSettings;

/**
 * A process with a store, a client port and few file descriptors, which answers queries on its standard input. Ends
 * with that input.
 */
final class FewDescriptors {
    private static final long FOR_EVER_NS = 3_600_000_000_000L;

    private FewDescriptors() {}

    public static void main(String[] arguments) throws IOException {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = 1;
                    with.shards = 4;
                }));
                EmbeddedPorts ports = EmbeddedPorts.open(
                        cluster, ClientPortSettings.at("127.0.0.1", 0, with -> with.handshakeNs = FOR_EVER_NS));
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println("PORT " + ports.ports().get(0).address().getPort());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println("PAUSES " + ports.ports().get(0).counts().acceptPauses() + " CONNECTIONS "
                        + ports.ports().get(0).connections() + " ERRORS "
                        + cluster.errors().count());
            }
        }
    }
}
