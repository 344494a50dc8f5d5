package org.rowankv.rdma.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsConnection.OneSidedPosting;
import org.rowankv.rdma.verbs.VerbsException;

final class VerbsSettingsTest {
    private static final int SLOTS = 4;
    private static final int WRITES = 15;

    private final ModelNetwork network = new ModelNetwork(3);
    private final ModelVerbs verbs = new ModelVerbs(network);
    private final VerbsSettings settings = new VerbsSettings(SLOTS, 64, 2, 1000, WRITES + 1);
    private final List<VerbsConnection> ends = new ArrayList<>();
    private int established;

    private final class Opening implements ConnectionEventHandler {
        private void open(VerbsConnection connection) {
            try {
                connection.createQueuePair(SLOTS + settings.oneSided(), SLOTS);
                connection.open();
            } catch (VerbsException e) {
                throw new AssertionError(e);
            }
            ends.add(connection);
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
            throw new AssertionError("none disconnects");
        }
    }

    /** Each completes all that is posted on it, also each WRITE: at once, as when a link is lost. */
    @Test
    void shouldHavePlaceForTheCompletionsOfConnectionsThatAllFail() throws VerbsException {
        final InetSocketAddress address =
                verbs.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1, settings.completions());
        verbs.connect(address, 1000);
        while (established < 2) {
            verbs.pollEvents(new Opening());
        }
        final ExposedMemory memory = verbs.expose(ByteBuffer.allocateDirect(4096));
        network.holdOneSided(64);
        for (final VerbsConnection each : ends) {
            for (int slot = 0; slot < SLOTS; slot++) {
                each.prepareReceive(memory, 64, 64, 1).post();
            }
            final OneSidedPosting writes = each.prepareOneSided(memory, WRITES, memory, 0, 2);
            for (int i = 0; i < WRITES; i++) {
                writes.write(i, 0, 64, memory.address(), memory.remoteKey());
            }
            writes.read(memory.address(), memory.remoteKey());
            writes.post();
            for (int slot = 0; slot < SLOTS; slot++) {
                each.prepareSend(memory, 0, 3).post(64);
            }
        }
        network.breakAfter(0);
        final List<Long> completed = new ArrayList<>();
        while (completed.size() < 2 * (2 * SLOTS + WRITES + 1)) {
            verbs.pollWork((id, status, length) -> completed.add(id));
        }
        assertThat(completed).hasSize(settings.completions());
    }
}
