package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.topology.Routing;

/** A restarted server serves the caches known at its start, also while its configuration store is unreachable. */
class CachesWithoutStoreTest {
    private static final long PATIENCE_NS = 20_000_000_000L;
    private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path dir;

    private static Request put(RowanClient client, int cache) {
        final Request put = new Request().put(cache, KEY, 0, KEY.length, KEY, 0, KEY.length);
        client.execute(put);
        return put;
    }

    @Test
    void shouldServeTheCachesOfTheStoreAfterAStartWhileTheStoreIsAway() throws IOException {
        final AwayStore store = new AwayStore();
        final List<ClientPort> ports = new ArrayList<>();
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20, store).startAll()) {
            final ClusterCatalogue before = bed.members.get(0).catalogue;
            final int destroyed = before.create("destroyed", new byte[0]).id();
            final int kept = before.create("kept", new byte[0]).id();
            assertThat(before.destroy("destroyed")).isTrue();
            bed.stopAll();
            bed.startAll();

            final List<String> addresses = new ArrayList<>();
            for (int id = 0; id < 2; id++) {
                final int server = id;
                final ClusterBed.Member member = bed.members.stream()
                        .filter(each -> each.server.serverId() == server)
                        .findFirst()
                        .orElseThrow();
                final ClientPort port = ClientPort.bind(
                        bed.server(id),
                        member.catalogue,
                        ClientPortSettings.at("127.0.0.1", 0, with -> with.drainNs = 0),
                        SystemClock.INSTANCE,
                        new ErrorLog(SystemClock.INSTANCE));
                ports.add(port);
                addresses.add("127.0.0.1:" + port.address().getPort());
            }
            ports.forEach(port -> port.serve(new Routing(bed.configuration(), addresses)));
            store.away = true;
            try (NetSession session = NetSession.connect(
                            addresses, NetSettings.DEFAULT.withTimes(PATIENCE_NS, PATIENCE_NS), SystemClock.INSTANCE);
                    RowanClient client = new RowanClient(
                            session, SystemClock.INSTANCE, new SplittableRandomSource(1), PATIENCE_NS)) {
                assertThat(put(client, kept).status()).isEqualTo(Status.OK);
                assertThat(client.get(kept, KEY)).isEqualTo(KEY);
                final RowanClient impatient =
                        new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(2), 500_000_000L);
                for (int unknown : new int[] {destroyed, kept + 1}) {
                    assertThat(put(impatient, unknown).status())
                            .as("it is not known whether there is a cache %d", unknown)
                            .isEqualTo(Status.UNREACHABLE);
                }
                store.away = false;
                assertThat(put(client, kept + 1).status()).isEqualTo(Status.UNKNOWN_CACHE);
                assertThat(put(client, destroyed).status()).isEqualTo(Status.UNKNOWN_CACHE);
            }
        } finally {
            ports.forEach(ClientPort::close);
        }
    }
}
