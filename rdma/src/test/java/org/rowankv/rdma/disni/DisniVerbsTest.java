package org.rowankv.rdma.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyShort;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.rdma.verbs.WorkStatus;

/** What the adapter asks of DiSNI, and what it says when that refuses. */
final class DisniVerbsTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final ModelNetwork network = new ModelNetwork(1);
    private final MockedDisni disni;
    private final DisniVerbs verbs;

    DisniVerbsTest() throws IOException {
        disni = new MockedDisni(network);
        verbs = new DisniVerbs(disni.channel());
    }

    /** Both ends of one connection, each with a send and a receive. */
    private final class Ends implements ConnectionEventHandler {
        private final RegisteredMemory memory;
        private final List<VerbsConnection.SendPosting> sends = new ArrayList<>();
        private final List<VerbsConnection> connections = new ArrayList<>();
        private int established;
        private int disconnected;

        Ends(RegisteredMemory memory) {
            this.memory = memory;
        }

        private void open(VerbsConnection connection) {
            final int end = sends.size();
            try {
                connection.createQueuePair(8, 1);
                connections.add(connection);
                sends.add(connection.prepareSend(memory, 64 * end, 10 + end));
                connection.prepareReceive(memory, 128 + 64 * end, 64, 20 + end).post();
                connection.open();
            } catch (VerbsException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void onRequest(VerbsConnection connection) {
            open(connection);
        }

        @Override
        public void onResolved(VerbsConnection connection) {
            open(connection);
        }

        @Override
        public void onEstablished(VerbsConnection connection) {
            established++;
        }

        @Override
        public void onFailed(VerbsConnection connection, String why) {
            throw new AssertionError(why);
        }

        @Override
        public void onDisconnected(VerbsConnection connection) {
            disconnected++;
        }
    }

    @Test
    void shouldConnectSendAndComplete() throws VerbsException {
        final InetSocketAddress address = verbs.listen(LOOPBACK, 8, 16);
        final ByteBuffer bytes = ByteBuffer.allocateDirect(256);
        final Ends ends = new Ends(verbs.register(bytes));
        final VerbsConnection connection = verbs.connect(address, 1000);
        while (ends.established < 2) {
            verbs.pollEvents(ends);
        }
        bytes.putLong(0, 77);
        final int prepared = disni.prepared();
        ends.sends.get(0).post(9);
        final List<String> completions = new ArrayList<>();
        while (completions.size() < 2) {
            verbs.pollWork((id, status, length) -> completions.add(id + " " + status + " " + length));
        }
        assertThat(completions).containsExactlyInAnyOrder("21 0 9", "10 0 0");
        assertThat(bytes.getLong(192)).isEqualTo(77);
        assertThat(disni.prepared()).as("prepared once").isEqualTo(prepared);
        connection.destroy();
        while (ends.disconnected == 0) {
            verbs.pollEvents(ends);
        }
        verbs.close();
        assertThat(network.queuePairs()).isZero();
    }

    /** A failed completion has only its identifier and its status: the length is that of an earlier one. */
    @Test
    void shouldBelieveNoLengthOfAFailedCompletion() throws VerbsException {
        final InetSocketAddress address = verbs.listen(LOOPBACK, 8, 16);
        final Ends ends = new Ends(verbs.register(ByteBuffer.allocateDirect(256)));
        verbs.connect(address, 1000);
        while (ends.established < 2) {
            verbs.pollEvents(ends);
        }
        ends.sends.get(0).post(9);
        final List<String> completions = new ArrayList<>();
        while (completions.size() < 2) {
            verbs.pollWork((id, status, length) -> completions.add(id + " " + status + " " + length));
        }
        completions.clear();
        network.breakAfter(0);
        ends.sends.get(0).post(9);
        while (completions.size() < 2) {
            verbs.pollWork((id, status, length) -> completions.add(id + " " + status + " " + length));
        }
        assertThat(completions)
                .containsExactly("10 " + WorkStatus.RETRIES_EXCEEDED + " 0", "20 " + WorkStatus.FLUSHED + " 0");
    }

    /** In one call; only the READ has a completion, when the bytes are there. */
    @Test
    void shouldWriteIntoExposedMemoryAndReadBehindIt() throws VerbsException {
        final InetSocketAddress address = verbs.listen(LOOPBACK, 8, 16);
        final ByteBuffer bytes = ByteBuffer.allocateDirect(256);
        final RegisteredMemory memory = verbs.register(bytes);
        final ByteBuffer log = ByteBuffer.allocateDirect(4096);
        final ExposedMemory exposed = verbs.expose(log);
        final Ends ends = new Ends(memory);
        verbs.connect(address, 1000);
        while (ends.established < 2) {
            verbs.pollEvents(ends);
        }
        final VerbsConnection.OneSidedPosting posting =
                ends.connections.get(0).prepareOneSided(memory, 2, memory, 255, 30);
        bytes.putLong(8, 11).putLong(16, 12);
        log.put(1024, (byte) 9);
        posting.write(0, 8, 8, exposed.address() + 64, exposed.remoteKey());
        posting.write(1, 16, 8, exposed.address() + 4088, exposed.remoteKey());
        posting.read(exposed.address() + 1024, exposed.remoteKey());
        final int prepared = disni.prepared();
        final List<String> completions = new ArrayList<>();
        posting.post();
        while (completions.isEmpty()) {
            verbs.pollWork((id, status, length) -> completions.add(id + " " + status + " " + length));
        }
        assertThat(completions).containsExactly("30 0 0");
        assertThat(disni.prepared()).as("prepared once").isEqualTo(prepared);
        assertThat(log.getLong(64)).isEqualTo(11);
        assertThat(log.getLong(4088)).isEqualTo(12);
        assertThat(bytes.get(255)).isEqualTo((byte) 9);
    }

    @Test
    void shouldFailAWriteBeyondWhatIsExposed() throws VerbsException {
        final InetSocketAddress address = verbs.listen(LOOPBACK, 8, 16);
        final RegisteredMemory memory = verbs.register(ByteBuffer.allocateDirect(256));
        final ExposedMemory exposed = verbs.expose(ByteBuffer.allocateDirect(4096));
        final Ends ends = new Ends(memory);
        verbs.connect(address, 1000);
        while (ends.established < 2) {
            verbs.pollEvents(ends);
        }
        final VerbsConnection.OneSidedPosting posting =
                ends.connections.get(0).prepareOneSided(memory, 1, memory, 255, 30);
        posting.write(0, 0, 16, exposed.address() + 4088, exposed.remoteKey());
        posting.read(exposed.address(), exposed.remoteKey());
        posting.post();
        final List<String> completions = new ArrayList<>();
        while (completions.size() < 2) {
            verbs.pollWork((id, status, length) -> completions.add(id + " " + status));
        }
        assertThat(completions).contains("30 " + WorkStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldNeedAnAddressThatSelectsADevice() {
        for (String host : new String[] {"0.0.0.0", "::1"}) {
            assertThatThrownBy(() -> verbs.listen(new InetSocketAddress(host, 1), 8, 16))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("--rdma-listen needs the IPv4 address of an RDMA interface");
        }
    }

    @Test
    void shouldSayThatNoDeviceHasTheAddress() throws IOException {
        final RdmaEventChannel channel = mock(RdmaEventChannel.class);
        final RdmaCmId id = mock(RdmaCmId.class);
        when(channel.createId(anyShort())).thenReturn(id);
        assertThatThrownBy(() -> new DisniVerbs(channel).listen(LOOPBACK, 8, 16))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("no RDMA device has the address 127.0.0.1")
                .hasMessageContaining("rdma link");
        doThrow(new IOException("No such device")).when(id).bindAddr(any());
        assertThatThrownBy(() -> new DisniVerbs(channel).listen(LOOPBACK, 8, 16))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("no RDMA device has the address 127.0.0.1")
                .hasMessageContaining("No such device");
    }

    @Test
    void shouldNameTheLimitOfLockedMemory() throws VerbsException {
        verbs.listen(LOOPBACK, 8, 16);
        network.refuseMemory("Cannot allocate memory");
        assertThatThrownBy(() -> verbs.register(ByteBuffer.allocateDirect(4096)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("4096 bytes")
                .hasMessageContaining("ulimit -l");
    }
}
