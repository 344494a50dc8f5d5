package org.rowankv.daemon.admin;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to the admin port: reads one line, or the head of an HTTP request, then writes the answer. Owned by the
 * port's thread.
 */
final class AdminConnection {
    private static final Logger LOG = LoggerFactory.getLogger(AdminConnection.class);
    private static final int MAX_REQUEST = 4096;

    private final SocketChannel channel;
    private final long deadlineNs;
    private final ByteBuffer received = ByteBuffer.allocate(MAX_REQUEST);
    /** Null until the request is complete. */
    private @Nullable ByteBuffer answer;

    AdminConnection(SocketChannel channel, long deadlineNs) {
        this.channel = channel;
        this.deadlineNs = deadlineNs;
    }

    /**
     * Continues as far as the socket allows.
     *
     * @param key of the channel
     * @return whether the connection is finished: the answer is written, or there is no request
     */
    boolean isDone(SelectionKey key, UnaryOperator<String> answers) throws IOException {
        ByteBuffer out = answer;
        if (out == null) {
            if (channel.read(received) < 0) {
                return true;
            }
            final String text = new String(received.array(), 0, received.position(), StandardCharsets.ISO_8859_1);
            final int end = text.indexOf('\n');
            final String line = end < 0 ? "" : text.substring(0, end).strip();
            final boolean isHttp = HttpAnswer.isRequest(line);
            if (end < 0 || isHttp && !HttpAnswer.isComplete(text)) {
                return !received.hasRemaining();
            }
            out = ByteBuffer.wrap(
                    isHttp ? HttpAnswer.to(line, answers) : answers.apply(line).getBytes(StandardCharsets.UTF_8));
            answer = out;
        }
        while (out.hasRemaining()) {
            if (channel.write(out) == 0) {
                key.interestOps(SelectionKey.OP_WRITE);
                return false;
            }
        }
        return true;
    }

    boolean isOverdue(long nowNs) {
        return nowNs - deadlineNs >= 0;
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("Closing a connection of the admin port failed: {}", e.toString());
        }
    }

    @Override
    public String toString() {
        try {
            final SocketAddress remote = channel.getRemoteAddress();
            return String.valueOf(remote);
        } catch (IOException e) {
            return "a closed peer";
        }
    }
}
