package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** Which server gets an answer about what is present here. */
@Tag("mocked")
final class ControlMessagesTest {
    private static final int FROM = 1;
    private static final int SHARD = 0;
    private static final int EPOCH = 7;
    private static final int TERM = 9;
    private static final long VERSION = Version.of(1, 1);

    private final PeerMessages messages = mock(PeerMessages.class);
    private final CopyMessages copies = mock(CopyMessages.class);
    private final Adoption adoption = mock(Adoption.class, RETURNS_DEEP_STUBS);
    private final Server server = mock(Server.class, RETURNS_DEEP_STUBS);
    private final ErrorLog errors = new ErrorLog(new ManualClock());
    private final ControlMessages control = new ControlMessages(
            messages,
            mock(LeaseAgent.class),
            mock(ReportMessages.class),
            mock(ReportMessages.class),
            copies,
            new Departures(),
            Runnable::run,
            () -> {},
            errors);
    private final LoggedServer logged = new LoggedServer(0);
    private final List<BitSet> answers = new ArrayList<>();
    private ByteBuffer question;
    private boolean isJoining;

    @BeforeEach
    void start() {
        final long address = logged.put(VERSION, "key", 10);
        final RecoveredServer read = logged.start();
        final ShardReplica replica = mock(ShardReplica.class);
        final ShardReplica real = read.replicas().get(SHARD);
        when(replica.shardId()).thenReturn(SHARD);
        when(replica.index()).thenReturn(real.index());
        when(replica.isVisible(anyInt(), anyInt(), anyLong())).thenReturn(true);
        when(server.segments()).thenReturn(read.segments());
        when(server.replicas()).thenReturn(new Replicas(new ShardReplica[] {replica}));
        when(adoption.prepared().shard(SHARD).primary()).thenReturn(2);
        when(adoption.prepared().shard(SHARD).epoch()).thenReturn(EPOCH);
        when(adoption.prepared().shard(SHARD).isJoining(0)).thenAnswer(call -> isJoining);
        final ByteBuffer entry = read.segments().region().buffer(address);
        final int at = read.segments().region().offset(address);
        question = ByteBuffer.allocate(40)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(real.positionOf(entry, at, new byte[256]))
                .putLong(VERSION + 1)
                .putInt(FrameDescriptor.bodyCrc(entry, at))
                .putLong(real.positionOf(entry, at, new byte[256]))
                .putLong(VERSION)
                .putInt(FrameDescriptor.bodyCrc(entry, at))
                .flip();
        doAnswer(call -> answers.add(BitSet.valueOf((ByteBuffer) call.getArgument(3))))
                .when(messages)
                .answer(eq(FROM), any(), anyLong(), any());
        control.use(adoption, server);
    }

    private void ask(int shard, int epoch, ByteBuffer entries) {
        control.onMessage(
                FROM, 1, PeerMessageDescriptor.write(PeerRequestType.PRESENT, false, shard, TERM, 1, epoch, entries));
    }

    @Test
    void shouldAnswerTheServerThatItCopiesTo() {
        ask(SHARD, EPOCH, question);
        assertThat(answers).as("it has announced nothing, whatever is prepared").isEmpty();
        when(server.copies().hasBegun(SHARD, EPOCH, FROM)).thenReturn(true);
        ask(SHARD, EPOCH + 1, question);
        assertThat(answers).isEmpty();
        ask(SHARD, EPOCH, question);
        assertThat(answers).containsExactly(BitSet.valueOf(new long[] {0b10}));
    }

    @Test
    void shouldAnswerThePrimaryThatCopiesHere() {
        isJoining = true;
        ask(SHARD, EPOCH, question);
        assertThat(answers).as("another server is the primary").isEmpty();
        when(adoption.prepared().shard(SHARD).primary()).thenReturn(FROM);
        ask(SHARD, EPOCH - 1, question);
        assertThat(answers).isEmpty();
        isJoining = false;
        ask(SHARD, EPOCH, question);
        assertThat(answers).isEmpty();
        isJoining = true;
        ask(SHARD, EPOCH, question);
        assertThat(answers).containsExactly(BitSet.valueOf(new long[] {0b10}));
    }

    @Test
    void shouldRefuseWhatIsNoQuestion() {
        ask(SHARD, EPOCH, ByteBuffer.allocate(41));
        ask(77, EPOCH, question);
        ask(-1, EPOCH, question);
        assertThat(answers).isEmpty();
        assertThat(errors.distinct()).hasSize(1);
    }

    @Test
    void shouldPassAnswersOn() {
        control.onMessage(
                FROM,
                1,
                PeerMessageDescriptor.write(PeerRequestType.PRESENT, true, SHARD, TERM, 1, 0, ByteBuffer.allocate(0)));
        verify(copies).answered(eq(FROM), any());
        verify(server).wakeUp();
    }
}
