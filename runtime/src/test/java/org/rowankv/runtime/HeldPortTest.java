package org.rowankv.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import org.junit.jupiter.api.Test;

class HeldPortTest {
    private static Socket connected(HeldPort port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port.number());
    }

    @Test
    void shouldRefuseConnectionsUntilAListenerComesAndTakeTheNextOne() throws IOException {
        try (HeldPort port = new HeldPort()) {
            for (int listeners = 0; listeners < 3; listeners++) {
                assertThatThrownBy(() -> connected(port)).isInstanceOf(ConnectException.class);
                try (ServerSocketChannel listener = ServerSocketChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port.number()));
                        Socket client = connected(port);
                        Socket accepted = listener.accept().socket()) {
                    assertThat(accepted.getPort()).isEqualTo(client.getLocalPort());
                }
            }
        }
    }

    @Test
    void shouldNotBeGivenToAnybodyElse() throws IOException {
        try (HeldPort port = new HeldPort();
                HeldPort another = new HeldPort()) {
            assertThat(another.number()).isNotEqualTo(port.number());
        }
    }
}
