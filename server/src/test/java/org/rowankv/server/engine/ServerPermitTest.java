package org.rowankv.server.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.local.LocalFabricSettings;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.frontend.BackendShards;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.Inquiry;
import org.rowankv.server.shard.RolesOfOne;

/** A whole server asks its permit, by every way that a client's request takes. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ServerPermitTest {
    private static final byte[] KEY = "k".getBytes(StandardCharsets.US_ASCII);

    private final RecoveredServer area = new LoggedServer(0).start();
    private volatile boolean isLeased = true;
    private Server server;

    private static final class NoCopies implements CopyListener {
        @Override
        public boolean announced(int shard, int epoch, int joining, long bytes, BitSet destroyed) {
            return false; // nothing joins
        }

        @Override
        public boolean copied(int shard, int epoch, int joining) {
            return false;
        }

        @Override
        public Inquiry ask(int server, int shard, int epoch, ByteBuffer question) {
            return Inquiry.over(new BitSet());
        }

        @Override
        public boolean joined(int joining, SortedMap<Integer, Integer> epochs) {
            return false;
        }
    }

    private static final class NoPressure implements SpacePressure {
        @Override
        public boolean isExpiring(long sinceNs) {
            return false;
        }

        @Override
        public void wakeUp(int unused) {
            // The agents run.
        }

        @Override
        public void requestSpace(int unused) {
            // There is enough.
        }

        @Override
        public long quietCycles(int unused) {
            return 0;
        }
    }

    private static final class Alone implements MembershipView {
        @Override
        public long term() {
            return 1;
        }

        @Override
        public long startTerm() {
            return 1;
        }

        @Override
        public boolean admits(int serverId, long incarnation, long term) {
            return false;
        }
    }

    @BeforeEach
    void open() {
        final LocalFabric fabric = new LocalFabric(LocalFabricSettings.of(with -> {}));
        final ServerContext context = new ServerContext(
                ServerSettings.of(area.segments().count(), 1, false, with -> {}),
                area.segments(),
                area.replicas(),
                RolesOfOne.configuration(1),
                SystemClock.INSTANCE,
                ThreadScheduling.INSTANCE,
                ThreadingMode.SHARED,
                new ErrorLog(SystemClock.INSTANCE),
                new NoPressure(),
                new NoCopies(),
                shards -> null,
                () -> isLeased,
                List.of());
        server = context.open(0, fabric, new Alone());
        server.start();
        assertThat(status(put())).isEqualTo(Status.OK);
    }

    @AfterEach
    void close() {
        server.close();
        server.stopAgents();
        server.stop();
    }

    private static Request placed(Request request) {
        request.placed(LoggedServer.HASH.hash(LoggedServer.CACHE, KEY, 0, KEY.length), 0);
        return request;
    }

    private static Request put() {
        return placed(new Request().put(LoggedServer.CACHE, KEY, 0, KEY.length, KEY, 0, KEY.length));
    }

    private static Request get() {
        return placed(new Request().get(LoggedServer.CACHE, KEY, 0, KEY.length));
    }

    private Status status(Request request) {
        server.requests().call(request);
        return request.status();
    }

    private static Status stepped(PollableCall call, Request request) {
        while (!call.step()) {
            Thread.onSpinWait();
        }
        return request.status();
    }

    private List<byte[]> scanned() {
        final List<byte[]> keys = new ArrayList<>();
        long position = 0;
        do {
            position = new BackendShards(server)
                    .scan(LoggedServer.CACHE, 0, position, false, (key, value, version) -> keys.add(key));
        } while (position != 0);
        return keys;
    }

    @Test
    void shouldAnswerAloneWithALeaseOnly() {
        for (boolean leased : new boolean[] {true, false, true}) {
            isLeased = leased;
            final Request get = get();
            assertThat(status(get)).isEqualTo(leased ? Status.OK : Status.NOT_PRIMARY);
            assertThat(get.hasResult()).isEqualTo(leased);
            final Request polled = get();
            assertThat(stepped(server.requests().stepped(polled), polled))
                    .isEqualTo(leased ? Status.OK : Status.NOT_PRIMARY);
            final Request ofLoop = get();
            assertThat(stepped(server.callsOfLoop(0, 1).callOf(ofLoop), ofLoop))
                    .isEqualTo(leased ? Status.OK : Status.NOT_PRIMARY);
            assertThat(status(put().when(Condition.IF_ABSENT)))
                    .isEqualTo(leased ? Status.CONDITION_FAILED : Status.NOT_PRIMARY);
            assertThat(new BackendShards(server).mayAnswer()).isEqualTo(leased);
            if (leased) {
                assertThat(scanned()).containsExactly(KEY);
            } else {
                assertThatThrownBy(this::scanned).isInstanceOf(NotServedException.class);
            }
            assertThat(status(put())).as("the backups have it").isEqualTo(Status.OK);
        }
    }
}
