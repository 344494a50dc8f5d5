package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.ScriptedServers;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;

/** Entries of all lengths on their way to server 1, whose connection breaks now and then. */
@Tag("mocked")
final class CopyWindowTest {
    private static final int SHARD = 0;
    private static final int OBJECTS = 150;
    private static final int JOINER = 1;
    /** Objects of which two shards' fit into the window. */
    private static final int SMALL = 50;

    /** Of the window, and of a message. */
    private static final int LENGTH = 64 << 10;

    private final LoggedServer logged = new LoggedServer(0);
    private final ScriptedServers servers = new ScriptedServers();
    private final ManualClock clock = new ManualClock();
    private final CopyListener holdingNothing = mock(CopyListener.class);

    private RecoveredServer started;
    private ShardPrimary primary;
    private CopyWindow window;

    private void open() {
        when(holdingNothing.ask(anyInt(), anyInt(), anyInt(), any())).thenReturn(Inquiry.over(new BitSet()));
        started = logged.start();
        primary = new ShardPrimary(started.replicas().get(SHARD), new VersionCounter(1));
        final CurrentRoles roles = RolesOfOne.current(List.of(primary), JOINER);
        RolesOfOne.replace(roles, RolesOfOne.changed(RolesOfOne.configuration(1, JOINER), Set.of(JOINER), JOINER));
        window = new CopyWindow(
                new BackupConnections(servers, roles.get(), clock, new ErrorLog(clock), server -> {}),
                roles,
                JOINER,
                LENGTH,
                LENGTH);
    }

    private ShardCopy copy() {
        return new ShardCopy(primary, JOINER, 2, started.segments(), holdingNothing);
    }

    /** Its place in the window is not reused before it has landed. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldSendEachEntryUntilItHasLanded(int seed) {
        final Random random = new Random(seed);
        final List<Long> written = new ArrayList<>();
        for (int i = 0; i < OBJECTS; i++) {
            written.add(Version.of(1, i + 1));
            logged.put(Version.of(1, i + 1), "k" + i, i % 10 == 0 ? random.nextInt(20_000) : random.nextInt(300));
        }
        open();
        final ShardCopy copy = copy();

        long landed = 0;
        boolean isOver = false;
        while (!isOver || landed < OBJECTS) {
            if (!isOver && !window.isFull()) {
                isOver = window.add(copy) == CopySource.END;
            }
            window.send();
            landed += window.advance();
            if (servers.isConnected(JOINER) && random.nextInt(4) == 0) {
                servers.to(JOINER).acknowledge(random.nextInt(8));
            }
            if (servers.isConnected(JOINER) && random.nextInt(50) == 0) {
                servers.to(JOINER).fence();
            }
        }

        assertThat(landed).isEqualTo(OBJECTS);
        final List<Long> received = new ArrayList<>();
        for (ScriptedServers.Pair pair : servers.all(JOINER)) {
            pair.messages().forEach(message -> requireWhole(message));
            pair.landed().forEach(message -> received.add(EntryDescriptor.version(message, 0)));
        }
        assertThat(received).containsAll(written);
    }

    /** Entries of two shards are under way at once: each is complete when its own have landed. */
    @Test
    void shouldCountWhatHasLandedForItsShard() {
        final List<ShardCopy> copies = twoInOneWindow();
        servers.to(JOINER).acknowledge(SMALL);
        window.advance();
        assertThat(copies.get(0).hasLanded()).isTrue();
        assertThat(copies.get(1).hasLanded()).isFalse();
        servers.to(JOINER).acknowledge(SMALL - 1);
        window.advance();
        assertThat(copies.get(1).hasLanded()).isFalse();
        servers.to(JOINER).acknowledge(1);
        window.advance();
        assertThat(copies.get(1).hasLanded()).isTrue();
    }

    /** The server has left one shard, and the copy of the other goes on. */
    @Test
    void shouldForgetOneShardOnly() {
        final List<ShardCopy> copies = twoInOneWindow();
        window.forget(copies.get(0));
        servers.to(JOINER).acknowledge(2 * SMALL);
        assertThat(window.advance()).isEqualTo(SMALL);
        assertThat(copies.get(0).hasLanded()).isFalse();
        assertThat(copies.get(1).hasLanded()).isTrue();
        assertThat(copies.get(1).progress().copiedBytes()).isPositive();
    }

    private List<ShardCopy> twoInOneWindow() {
        for (int i = 0; i < SMALL; i++) {
            logged.put(Version.of(1, i + 1), "k" + i, 100);
        }
        open();
        final List<ShardCopy> copies = List.of(copy(), copy());
        for (ShardCopy copy : copies) {
            while (window.add(copy) != CopySource.END) {
                assertThat(copy.hasLanded()).isFalse();
            }
            copy.ended();
        }
        window.send();
        return copies;
    }

    private static void requireWhole(ByteBuffer message) {
        final int body = EntryDescriptor.usedLength(message, 0) - EntryDescriptor.FRAME_LENGTH;
        assertThat(new FrameChecksum().body(message, EntryDescriptor.FRAME_LENGTH, body))
                .isEqualTo(FrameDescriptor.bodyCrc(message, 0));
    }
}
