package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;

/**
 * A value that is too long for its page needs a separate read. Whatever the result of the read, no live object is
 * omitted.
 */
@Timeout(120)
final class ScanOfLongValuesTest {
    private static final int TOO_LONG = 700_000;

    private final FakeServer server = new FakeServer(0);
    private ClientPort port;
    private CuttingProxy proxy;

    @BeforeEach
    void open() throws IOException {
        server.primary = true;
        server.value = new byte[TOO_LONG];
        port = ClientPort.bind(
                server,
                new OneCache(),
                ClientPortSettings.at("127.0.0.1", 0),
                SystemClock.INSTANCE,
                new ErrorLog(SystemClock.INSTANCE));
        proxy = new CuttingProxy(port.address().getPort());
        final List<ShardAssignment> shards = List.of(new ShardAssignment(1, 0, new int[0]));
        port.serve(new Routing(new Configuration(7, 8, 1, List.of(1L), shards), List.of(proxy.address())));
    }

    @AfterEach
    void close() throws IOException {
        server.hanging.clear();
        port.close();
        proxy.close();
    }

    private NetSession session(long attemptMs) {
        return NetSession.connect(
                List.of(proxy.address()),
                NetSettings.DEFAULT.withTimes(60_000_000_000L, attemptMs * 1_000_000),
                SystemClock.INSTANCE);
    }

    private static List<ScanPage.Entry> scan(NetSession session, long attemptMs) {
        final RowanClient client = new RowanClient(
                session, SystemClock.INSTANCE, new SplittableRandomSource(1), 2 * attemptMs * 1_000_000);
        final List<ScanPage.Entry> entries = new ArrayList<>();
        client.scan(1, true).forEachRemaining(entries::add);
        return entries;
    }

    @ParameterizedTest
    @EnumSource(
            value = Status.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"OK", "NOT_FOUND", "IN_PARTS"})
    void shouldFailWhenTheReadOfAValueDoes(Status status) {
        try (NetSession session = session(500)) {
            server.answer = status;
            assertThatThrownBy(() -> scan(session, 500))
                    .isInstanceOf(RowanException.class)
                    .hasMessageContaining("shard 0")
                    .satisfies(failure -> assertThat(failure.getMessage()).containsAnyOf(asSeenByCallers(status)));
        }
    }

    /** A server that ends or fails has no last word: another one may know better. */
    private static String[] asSeenByCallers(Status answer) {
        return switch (answer) {
            case OUTCOME_UNKNOWN -> new String[] {"NO_REPLY"};
            // Asked again until the deadline, which may cut off the last attempt.
            case CLOSED -> new String[] {"UNREACHABLE", "NO_REPLY"};
            case STALE_TERM, NOT_PRIMARY, UNDER_REPLICATED -> new String[] {answer.toString(), "UNREACHABLE"};
            default -> new String[] {answer.toString()};
        };
    }

    @Test
    void shouldLeaveOutAnObjectThatIsGone() {
        try (NetSession session = session(60_000)) {
            server.answer = Status.NOT_FOUND;
            assertThat(scan(session, 60_000)).isEmpty();
        }
    }

    @Test
    void shouldReadAgainWhenTheReplyIsLost() throws IOException {
        try (NetSession session = session(60_000)) {
            server.hanging.add(Operation.GET);
            final CompletableFuture<List<ScanPage.Entry>> entries =
                    CompletableFuture.supplyAsync(() -> scan(session, 60_000));
            await().until(() -> server.hung.get() > 0);
            proxy.cut();
            server.hanging.clear();
            assertThat(entries.join())
                    .hasSize(1)
                    .allSatisfy(entry -> assertThat(entry.value()).hasSize(TOO_LONG));
        }
    }

    @Test
    void shouldFailWhenNoReadIsAnswered() {
        try (NetSession session = session(500)) {
            server.hanging.add(Operation.GET);
            assertThatThrownBy(() -> scan(session, 500))
                    .isInstanceOf(RowanException.class)
                    .hasMessageContaining("NO_REPLY");
        }
    }
}
