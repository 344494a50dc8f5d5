package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;

/** A client finds the primary, whatever configuration it and the servers have. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ClientRoutingTest {
    private static final byte[] KEY = {1, 2, 3};

    private final List<FakeServer> servers = List.of(new FakeServer(0), new FakeServer(1));
    private final List<ClientPort> ports = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private RowanClient client;

    /** One shard with that primary. */
    private Routing routing(long term, int primary) {
        return new Routing(
                new Configuration(
                        7, 8, term, List.of(1L, 1L), List.of(new ShardAssignment((int) term, primary, new int[0]))),
                addresses);
    }

    @BeforeEach
    void open() throws IOException {
        for (FakeServer server : servers) {
            final ClientPort port = ClientPort.bind(
                    server,
                    new OneCache(),
                    ClientPortSettings.at("127.0.0.1", 0),
                    SystemClock.INSTANCE,
                    new ErrorLog(SystemClock.INSTANCE));
            ports.add(port);
            addresses.add("127.0.0.1:" + port.address().getPort());
        }
        ports.forEach(port -> port.serve(routing(1, 0)));
        servers.get(0).primary = true;
        client = RowanClient.connect(
                addresses, NetSettings.DEFAULT.withTimes(1_000_000_000, 1_000_000_000), 2_000_000_000);
        assertThat(get()).isEqualTo(0);
    }

    @AfterEach
    void close() {
        client.close();
        ports.forEach(ClientPort::close);
    }

    /** The server that answers a read. */
    private int get() {
        final Request get = new Request().get(1, KEY, 0, KEY.length);
        client.execute(get);
        assertThat(get.status()).isEqualTo(Status.OK);
        return (int) get.version() - 100;
    }

    private void swap(int to) {
        servers.forEach(server -> server.primary = server.id == to);
    }

    @Test
    void shouldFollowThePrimaryWhenEverybodyIsTold() {
        swap(1);
        ports.forEach(port -> port.publish(routing(2, 1)));
        assertThat(get()).isEqualTo(1);
        assertThat(client.configuration().term()).isEqualTo(2);
        swap(0);
        ports.forEach(port -> port.publish(routing(3, 0)));
        final Request put = new Request().put(1, KEY, 0, KEY.length, KEY, 0, KEY.length);
        client.execute(put);
        assertThat(put.version()).isEqualTo(100);
        assertThat(client.configuration().term()).isEqualTo(3);
    }

    @Test
    void shouldAskTheOthersWhenTheOldPrimaryKnowsNothingNewer() {
        swap(1);
        ports.get(1).publish(routing(2, 1));
        assertThat(get()).isEqualTo(1);
    }

    @Test
    void shouldNotBeServedByWhoIsBehindTheClient() {
        ports.get(0).publish(routing(2, 0));
        // The client learns of it at its next call.
        while (client.configuration().term() < 2) {
            assertThat(get()).isZero();
        }
        // A server with an older configuration in which it is the primary.
        final int before = servers.get(1).answered.get();
        servers.get(1).primary = true;
        ports.get(0).publish(routing(3, 1));
        final Request get = new Request().get(1, KEY, 0, KEY.length);
        do {
            client.execute(get);
        } while (get.status() == Status.OK && get.version() == 100);
        // Refused again and again until its time is over, which may be while an attempt is under way.
        assertThat(get.status()).isIn(Status.NOT_PRIMARY, Status.NO_REPLY);
        assertThat(servers.get(1).answered).hasValue(before);
        ports.get(1).publish(routing(3, 1));
        assertThat(get()).isEqualTo(1);
    }

    @Test
    void shouldIgnoreAnotherClustersConfiguration() {
        final Configuration other =
                new Configuration(9, 8, 5, List.of(1L, 1L), List.of(new ShardAssignment(1, 1, new int[0])));
        ports.get(0).publish(new Routing(other, addresses));
        assertThat(get()).isZero();
        assertThat(client.configuration().term()).isEqualTo(1);
    }

    @Test
    void shouldFollowTheOperationsTogetherToo() {
        swap(1);
        ports.forEach(port -> port.publish(routing(2, 1)));
        final List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            keys.add(new byte[] {(byte) i});
        }
        assertThat(client.getAll(1, keys)).allMatch(value -> value.version() == 101);
    }

    /** Of an orderly end: the shard has another primary soon. */
    @Test
    void shouldWaitForTheNextPrimaryWhenAServerEnds() throws Exception {
        final Request get = new Request().get(1, KEY, 0, KEY.length);
        servers.get(0).serving = false;
        do { // NO_REPLY: an attempt was under way when its time was over
            client.execute(get);
        } while (get.status() == Status.NO_REPLY);
        assertThat(get.status()).as("nothing was applied").isEqualTo(Status.UNREACHABLE);
        final Thread caller = new Thread(() -> client.execute(get));
        caller.start();
        swap(1);
        ports.get(1).publish(routing(2, 1));
        caller.join();
        assertThat(get.version()).isEqualTo(101);
    }
}
