package org.rowankv.check.disturb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CutNetworkTest {
    private static final NetworkNode SERVER = NetworkNode.server(0);
    private static final int SHORTLY_MS = 200;
    private static final int LONG_MS = 20_000;

    /** This process is server 1, so that its connections come from there. */
    private final CutNetwork network =
            new CutNetwork(2, server -> server == 1 ? Optional.of(ProcessHandle.current()) : Optional.empty());

    private ServerSocket behind;
    private Socket near;
    private Socket far;

    @BeforeEach
    void connect() throws IOException {
        behind = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        behind.setSoTimeout(LONG_MS);
        final CuttingProxy proxy = network.proxy(SERVER);
        proxy.target(new InetSocketAddress(InetAddress.getLoopbackAddress(), behind.getLocalPort()));
        final String[] address = proxy.address().split(":");
        near = new Socket(address[0], Integer.parseInt(address[1]));
        far = behind.accept();
        near.setSoTimeout(LONG_MS);
        far.setSoTimeout(LONG_MS);
    }

    @AfterEach
    void close() throws IOException {
        network.close();
        near.close();
        far.close();
        behind.close();
    }

    private static void pass(Socket from, Socket to, int value) throws IOException {
        from.getOutputStream().write(value);
        assertThat(to.getInputStream().read()).isEqualTo(value);
    }

    private static void requireSilence(Socket socket) throws IOException {
        socket.setSoTimeout(SHORTLY_MS);
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        socket.setSoTimeout(LONG_MS);
    }

    @Test
    void shouldHoldWhatIsSentOverACutLinkUntilItHeals() throws IOException {
        pass(near, far, 1);
        network.cut(NetworkNode.server(1), SERVER);
        near.getOutputStream().write(2);
        requireSilence(far);
        pass(far, near, 3);
        network.heal();
        assertThat(far.getInputStream().read()).isEqualTo(2);
    }

    @Test
    void shouldCutTheOtherDirectionAlone() throws IOException {
        network.cut(SERVER, NetworkNode.server(1));
        far.getOutputStream().write(4);
        requireSilence(near);
        pass(near, far, 5);
        network.heal();
        assertThat(near.getInputStream().read()).isEqualTo(4);
    }

    @Test
    void shouldKnowTheReaderByItsProcess() {
        final CutNetwork other = new CutNetwork(0, server -> Optional.empty());
        final InetSocketAddress local = (InetSocketAddress) near.getLocalSocketAddress();
        assertThat(other.origin(local, near.getPort())).isEqualTo(NetworkNode.CLIENT);
        other.reader(ProcessHandle.current().pid());
        assertThat(other.origin(local, near.getPort())).isEqualTo(NetworkNode.READER);
    }

    @Test
    void shouldNotCutConnectionsOfOthers() throws IOException {
        network.cut(NetworkNode.CLIENT, SERVER);
        network.cut(SERVER, NetworkNode.CLIENT);
        pass(near, far, 6);
        pass(far, near, 7);
    }
}
