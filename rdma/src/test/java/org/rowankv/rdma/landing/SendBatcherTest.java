package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The posts of a queue pair are sent once, whole and in order, however slow the network is. */
final class SendBatcherTest {
    private static final int CAPACITY = 64;
    /** Buffers that may be in flight while one is filled. */
    private static final int MOST_ON_THEIR_WAY = 3;

    /** A queue pair's batches, and the network behind them. */
    private static final class Connection {
        private final Deque<Byte> posted = new ArrayDeque<>();
        private final Deque<ByteBuf> onTheirWay = new ArrayDeque<>();
        private final Set<ByteBuf> buffers = Collections.newSetFromMap(new IdentityHashMap<>());
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private final SendBatcher batches = new SendBatcher(channel, CAPACITY);

        private void send() {
            batches.ring();
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                buffers.add(out);
                onTheirWay.add(out);
            }
            assertThat(onTheirWay.size()).isLessThanOrEqualTo(MOST_ON_THEIR_WAY);
        }

        /** The network sends the oldest batch. */
        private void take() {
            final ByteBuf out = onTheirWay.poll();
            if (out != null) {
                final byte[] came = new byte[out.readableBytes()];
                out.readBytes(came);
                final byte[] expected = new byte[came.length];
                for (int i = 0; i < expected.length && !posted.isEmpty(); i++) {
                    expected[i] = posted.remove();
                }
                assertThat(came).isEqualTo(expected);
                out.release();
            }
        }

        private void post(byte[] bytes) {
            if (batches.claim(bytes.length)) {
                batches.view().put(batches.at(), bytes);
                batches.filled(bytes.length);
                for (final byte each : bytes) {
                    posted.add(each);
                }
            } else {
                assertThat(onTheirWay).as("there is no room").hasSize(MOST_ON_THEIR_WAY);
            }
            send();
        }
    }

    @Property(tries = 100)
    void shouldSendWhatWasPostedOnceAndInOrder(
            @ForAll long seed, @ForAll @IntRange(min = 2, max = 6) int slowness, @ForAll boolean ringsOften) {
        final Random random = new Random(seed);
        final Connection connection = new Connection();
        for (int step = 0; step < 100; step++) {
            if (random.nextInt(slowness) == 0) {
                connection.take();
            }
            final byte[] bytes = new byte[1 + random.nextInt(CAPACITY)];
            random.nextBytes(bytes);
            connection.post(bytes);
            if (ringsOften) {
                connection.send();
            }
        }
        while (!connection.onTheirWay.isEmpty() || !connection.batches.isEmpty()) {
            connection.take();
            connection.send();
        }
        assertThat(connection.posted).isEmpty();
        connection.batches.release();
        assertThat(connection.buffers).isNotEmpty().allMatch(each -> each.refCnt() == 0);
    }
}
