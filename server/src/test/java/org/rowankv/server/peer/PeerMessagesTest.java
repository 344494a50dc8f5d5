package org.rowankv.server.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.ServerRegistration;
import org.rowankv.server.opening.CollectedAnswer;
import org.rowankv.topology.Configuration;

/** Invalid bytes from other servers, and from the configuration store. */
class PeerMessagesTest {
    private final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
    private final PeerMessages messages = new PeerMessages(0, errors, Runnable::run);

    private static ByteBuffer message() {
        return PeerMessageDescriptor.write(
                PeerRequestType.COLLECT, false, 3, 7, 9, 11, ByteBuffer.wrap(new byte[] {1, 2}));
    }

    @Test
    void shouldReadWhatItWrote() {
        final ByteBuffer message = message();
        assertThat(PeerMessageDescriptor.whyInvalid(message)).isNull();
        assertThat(PeerMessageDescriptor.question(message)).isEqualTo(PeerRequestType.COLLECT);
        assertThat(PeerMessageDescriptor.isAnswer(message)).isFalse();
        assertThat(PeerMessageDescriptor.shard(message)).isEqualTo(3);
        assertThat(PeerMessageDescriptor.term(message)).isEqualTo(7);
        assertThat(PeerMessageDescriptor.number(message)).isEqualTo(9);
        assertThat(PeerMessageDescriptor.argument(message)).isEqualTo(11);
        assertThat(PeerMessageDescriptor.payload(message)).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2}));
    }

    @Test
    void shouldReportWhatIsNoMessageAndDoNothingElse() {
        final ByteBuffer cut = ByteBuffer.allocate(PeerMessageDescriptor.HEADER_LENGTH - 1);
        final ByteBuffer otherVersion = message().put(PeerMessageDescriptor.VERSION_OFFSET, (byte) 9);
        final ByteBuffer neither = message().put(PeerMessageDescriptor.ANSWER_OFFSET, (byte) 2);
        for (ByteBuffer bytes : List.of(ByteBuffer.allocate(0), cut, otherVersion, neither)) {
            final long before = errors.count();
            messages.onMessage(1, 1, bytes);
            assertThat(errors.count()).isEqualTo(before + 1);
        }
    }

    @Test
    void shouldIgnoreBytesOfAnySeedBeforeItHasRoles() {
        final SplittableRandomSource random = new SplittableRandomSource(3);
        for (int i = 0; i < 10_000; i++) {
            final ByteBuffer bytes = ByteBuffer.allocate(random.nextInt(100)).order(ByteOrder.LITTLE_ENDIAN);
            while (bytes.remaining() >= Long.BYTES) {
                bytes.putLong(random.nextLong());
            }
            bytes.clear();
            if (bytes.limit() > PeerMessageDescriptor.ZERO_OFFSET) {
                bytes.putInt(0, 1); // so that some pass the version check
            }
            messages.onMessage(random.nextInt(4) - 1, random.nextLong(), bytes);
        }
        assertThat(messages.collected()).isEmpty();
        assertThat(messages.ready()).isEmpty();
    }

    /**
     * Each of the two checks alone would suffice, since no incarnation has roles in two terms: so each is tested alone.
     */
    @Test
    void shouldHearNoQuestionOfAnotherTermOrOfAnotherStartOfItsSender() {
        final Configuration adopted = Configuration.initial(5, 6, 2, 2, 2, List.of(3L, 4L));
        final PeerMessages hearing = new PeerMessages(0, errors, Runnable::run);
        final Endpoint unused = (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                });
        hearing.adopt(
                adopted, new PeerCalls(unused, adopted::term, ThreadScheduling.INSTANCE), noReconciliation(adopted));
        hearing.onMessage(1, 4, ready(adopted.term() - 1));
        hearing.onMessage(1, 4, ready(adopted.term() + 1));
        hearing.onMessage(1, 3, ready(adopted.term()));
        hearing.onMessage(1, 5, ready(adopted.term()));
        hearing.onMessage(2, 4, ready(adopted.term()));
        assertThat(hearing.ready()).isEmpty();
        hearing.onMessage(1, 4, ready(adopted.term()));
        assertThat(hearing.ready()).containsExactly(1);
        assertThat(errors.count()).isZero();
    }

    /** In 32 bits, the second and third would be ids of existing caches. */
    @ParameterizedTest
    @ValueSource(longs = {0, (1L << 32) + 1, Long.MIN_VALUE + 1, 1 << 20, 1 << 30})
    void shouldDestroyNoCacheThatNoCatalogueHasNamed(long cacheId) {
        final Configuration adopted = Configuration.initial(5, 6, 2, 2, 2, List.of(3L, 4L));
        final PeerMessages hearing = new PeerMessages(0, errors, Runnable::run);
        final Endpoint none = (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                });
        hearing.adopt(
                adopted, new PeerCalls(none, adopted::term, ThreadScheduling.INSTANCE), noReconciliation(adopted));
        hearing.onMessage(1, 4, destroy(adopted.term(), 1));
        assertThat(errors.count()).as("dropped: there is no catalogue yet").isZero();
        hearing.onMessage(1, 4, destroy(adopted.term(), cacheId));
        assertThat(errors.distinct()).hasSize(1);
        assertThat(errors.distinct().get(0).toString()).contains("cache id " + cacheId);
    }

    private static ByteBuffer destroy(long term, long cacheId) {
        return PeerMessageDescriptor.write(PeerRequestType.DESTROY, false, 0, term, 1, cacheId, ByteBuffer.allocate(0));
    }

    private static ByteBuffer ready(long term) {
        return PeerMessageDescriptor.write(PeerRequestType.READY, false, 0, term, 1, 0, ByteBuffer.allocate(0));
    }

    /** Of a server that has read nothing. */
    private static ReconciliationMessages noReconciliation(Configuration adopted) {
        return new ReconciliationMessages(adopted, null, null, () -> {});
    }

    @Test
    void shouldRefuseNodesOfTheStoreThatAreDamagedOrOfAnotherVersion() {
        final ServerRegistration announcement = new ServerRegistration(
                "a",
                -1,
                new HostAndPort("::1", 7),
                "host:8",
                "",
                "zone",
                new ClusterShape(3, 2, 9, 1 << 20, 16 << 10, Durability.POWER),
                4,
                -5);
        assertThat(ServerRegistration.decode("/servers/a", announcement.encode()))
                .isEqualTo(announcement);
        final String text = new String(announcement.encode(), java.nio.charset.StandardCharsets.UTF_8);
        for (String damaged : List.of(
                "",
                text.substring(0, text.length() - 1),
                text.replace("format=1", "format=2"),
                text.replace("incarnation=4", "incarnation=x"),
                text.replace("incarnation=4", "incarnation=-4"),
                text.replace("servers=3\n", ""),
                text.replace("rowan-kv", "other"))) {
            assertThatThrownBy(() -> ServerRegistration.decode(
                            "/servers/a", damaged.getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                    .as(damaged)
                    .isInstanceOf(ConfigurationStoreException.class)
                    .hasMessageContaining("/servers/a");
        }
    }

    @Test
    void shouldTakeOverNoEntryThatIsNotWhole() {
        final ByteBuffer entry = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
        for (int length : List.of(0, 63, 64, 128)) {
            assertThat(CollectedAnswer.whyInvalid(
                            3,
                            7,
                            entry.duplicate().order(ByteOrder.LITTLE_ENDIAN).limit(length),
                            1 << 20))
                    .as("%d zero bytes", length)
                    .isNotNull();
        }
        for (int type = 1; type <= 9; type++) {
            FrameDescriptor.source(entry, 0, 128, type, 12345);
            assertThat(CollectedAnswer.whyInvalid(3, 7, entry, 1 << 20))
                    .as("type %d", type)
                    .isNotNull();
        }
    }
}
