package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.engine.Server;
import org.rowankv.server.retention.ShardScan;
import org.rowankv.topology.Configuration;

/** A shard whose primary moves while requests are under way: server 0 was its primary. */
@Tag("mocked")
final class InProcessSessionTest {
    private static final long DEADLINE_NS = 1_000_000_000;

    private final ManualClock clock = new ManualClock(1, 1_000_000);
    private final List<Server> servers = new ArrayList<>();
    private final List<RequestDispatch> dispatches = new ArrayList<>();
    private final AtomicInteger primary = new AtomicInteger(-1);
    private InProcessSession session;

    @BeforeEach
    void open() {
        for (int server = 0; server < 2; server++) {
            final int number = server;
            final RequestDispatch requests = mock(RequestDispatch.class);
            final Server one = mock(Server.class);
            when(one.requests()).thenReturn(requests);
            when(one.isServing()).thenReturn(true);
            when(one.isPrimary(0)).thenAnswer(call -> primary.get() == number);
            doAnswer(call -> {
                        final Request request = call.getArgument(0);
                        request.answer(primary.get() == number ? Status.OK : Status.NOT_PRIMARY, 0, 0, 0);
                        return null;
                    })
                    .when(requests)
                    .call(any());
            doAnswer(call -> {
                        clock.advanceNs(1_000_000);
                        return null;
                    })
                    .when(requests)
                    .rest(anyLong());
            servers.add(one);
            dispatches.add(requests);
        }
        final Configuration first = Configuration.initial(1, 2, 2, 2, 1, List.of(1L, 1L));
        session = new InProcessSession(() -> first, servers, mock(Catalogue.class), clock, DEADLINE_NS);
    }

    private static Request read() {
        final Request request = new Request().get(1, new byte[] {1}, 0, 1);
        request.placed(0, 0);
        return request;
    }

    @Test
    void shouldSendARequestToTheNextPrimaryOnceItIsOpen() {
        doAnswer(call -> {
                    final long waits = call.getArgument(0);
                    if (waits == 5) {
                        primary.set(1);
                    }
                    return null;
                })
                .when(dispatches.get(0))
                .rest(anyLong());
        final Request request = read();
        session.call(request);
        assertThat(request.status()).isEqualTo(Status.OK);
    }

    @Test
    void shouldEndTheWaitForAPrimaryThatDoesNotOpen() {
        assertThatThrownBy(() -> session.call(read()))
                .isInstanceOfSatisfying(
                        RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.UNREACHABLE))
                .hasMessageContaining("has not opened it for 1000 ms");
    }

    /** It refuses, with the reason. */
    @Test
    void shouldAskAServerThatIsClosed() {
        when(servers.get(1).isServing()).thenReturn(false);
        doAnswer(call -> {
                    ((Request) call.getArgument(0)).answer(Status.CLOSED, 0, 0, 0);
                    return null;
                })
                .when(dispatches.get(1))
                .call(any());
        final Request request = read();
        session.call(request);
        assertThat(request.status()).isEqualTo(Status.CLOSED);
    }

    /** What the former primary has passed on before it noticed is void. */
    @Test
    void shouldPassOnEachObjectOfAScanOnce() {
        final NotServedException moved = mock(NotServedException.class);
        when(moved.status()).thenReturn(Status.NOT_PRIMARY);
        when(servers.get(0).scan(anyInt(), anyInt(), anyLong(), anyBoolean(), any()))
                .thenAnswer(call -> {
                    final ShardScan.Visitor visitor = call.getArgument(4);
                    visitor.onObject(new byte[] {1}, new byte[] {1}, 1, Long.MAX_VALUE);
                    primary.set(1);
                    throw moved;
                });
        when(servers.get(1).scan(anyInt(), anyInt(), anyLong(), anyBoolean(), any()))
                .thenAnswer(call -> {
                    final ShardScan.Visitor visitor = call.getArgument(4);
                    visitor.onObject(new byte[] {1}, new byte[] {2}, 2, Long.MAX_VALUE);
                    return 0L;
                });
        final ScanPage page = session.scan(1, 0, 0, 10, true);
        assertThat(page.entries())
                .singleElement()
                .satisfies(entry -> assertThat(entry.version()).isEqualTo(2));
        assertThat(page.last()).isTrue();
    }
}
