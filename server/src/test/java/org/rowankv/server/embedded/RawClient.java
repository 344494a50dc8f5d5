package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientHello;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientWelcome;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;

/** A client that sends arbitrary bytes, and reads on request of a test. */
final class RawClient implements AutoCloseable {
    private final Socket socket = new Socket();

    RawClient(ClientPort port) throws IOException {
        this(port, 64 << 10);
    }

    /** @param receiveBuffer of the socket, in bytes */
    RawClient(ClientPort port, int receiveBuffer) throws IOException {
        socket.setReceiveBufferSize(receiveBuffer);
        socket.connect(new InetSocketAddress("127.0.0.1", port.address().getPort()));
        socket.setSoTimeout(30_000);
    }

    RawClient say(byte... bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        return this;
    }

    RawClient hello(long cluster, int maxFrame) throws IOException {
        return say(ClientHandshakeDescriptor.hello(new ClientHello(cluster, maxFrame))
                .array());
    }

    /** Reason of a refusal. */
    record Refusal(int status, String text) {}

    private ByteBuffer heardAnswer(WirePort port) throws IOException, WireException {
        final HandshakeInput answer = new HandshakeInput(port, false, HandshakeDescriptor.MAX_REFUSAL);
        final ReadableByteChannel channel = Channels.newChannel(socket.getInputStream());
        while (!answer.isComplete()) {
            assertThat(answer.readFrom(channel)).isNotNegative();
        }
        return answer.frame();
    }

    ClientWelcome heardWelcome() throws Exception {
        final ByteBuffer answer = heardAnswer(WirePort.CLIENTS);
        assertThat(HandshakeDescriptor.code(answer)).isEqualTo(HandshakeDescriptor.ACCEPTED);
        return ClientHandshakeDescriptor.readWelcome(answer);
    }

    Refusal heardRefusal() throws Exception {
        return heardRefusal(WirePort.CLIENTS);
    }

    /** In the format of that port. */
    Refusal heardRefusal(WirePort port) throws Exception {
        final ByteBuffer answer = heardAnswer(port);
        assertThat(HandshakeDescriptor.code(answer)).isNotEqualTo(HandshakeDescriptor.ACCEPTED);
        return new Refusal(HandshakeDescriptor.code(answer), HandshakeDescriptor.text(answer));
    }

    RawClient welcomed() throws Exception {
        hello(0, ClientPortSettings.DEFAULT_MAX_FRAME);
        assertThat(heardWelcome()).isNotNull();
        return this;
    }

    /** Reads until the server closes the connection. */
    void awaitEnd() throws IOException {
        try {
            while (socket.getInputStream().read() >= 0) {
                // Earlier input is ignored.
            }
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    /** Whether the server has closed the connection; reads what is available, without waiting. */
    boolean isEnded() throws IOException {
        socket.setSoTimeout(1);
        try {
            final byte[] bytes = new byte[64 << 10];
            while (socket.getInputStream().read(bytes) >= 0) {
                // Earlier input is ignored.
            }
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        } finally {
            socket.setSoTimeout(30_000);
        }
    }

    /** Input from the server. */
    DataInputStream input() throws IOException {
        return new DataInputStream(socket.getInputStream());
    }

    /** The next complete frame. */
    ByteBuffer heardFrame() throws IOException {
        final DataInputStream in = input();
        final byte[] head = new byte[FrameHeadDescriptor.HEAD_LENGTH];
        in.readFully(head);
        final int length = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
        final ByteBuffer frame = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        frame.put(head);
        in.readFully(frame.array(), head.length, length - head.length);
        return frame.clear();
    }

    static byte[] frame(int type, byte[] body) {
        final FrameEncoder out = new FrameEncoder(64);
        BytesFrame.write(out, type, 7, body);
        return written(out);
    }

    static byte[] written(FrameEncoder out) {
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (WritableByteChannel channel = Channels.newChannel(all)) {
            out.writeTo(channel);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return all.toByteArray();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
