package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.resync.Inquiry;
import org.rowankv.topology.Configuration;

/** Questions about what another server holds. */
@Tag("mocked")
final class CopyMessagesTest {
    private static final int ASKED = 1;
    private static final int OTHER = 2;
    private static final int SHARD = 3;
    private static final int EPOCH = 7;

    private final ManualClock clock = new ManualClock();
    private final Configuration present = mock(Configuration.class, RETURNS_DEEP_STUBS);
    private final PeerMessages messages = mock(PeerMessages.class);
    private final CopyMessages copies = new CopyMessages(() -> present, messages, mock(ReportMessages.class), clock);
    private long incarnation = 1;
    private int epoch = EPOCH;
    private final List<ByteBuffer> sent = new ArrayList<>();

    @BeforeEach
    void send() {
        when(present.incarnations()).thenAnswer(call -> List.of(1L, incarnation));
        when(present.shard(SHARD).epoch()).thenAnswer(call -> epoch);
        doAnswer(call -> sent.add(call.getArgument(1))).when(messages).send(eq(ASKED), any());
    }

    private Inquiry ask(int... bytes) {
        final ByteBuffer question = ByteBuffer.allocate(bytes.length);
        for (int each : bytes) {
            question.put((byte) each);
        }
        return copies.ask(ASKED, SHARD, EPOCH, question.flip());
    }

    private void answer(int from, int question, int bits) {
        final ByteBuffer message = sent.get(question);
        copies.answered(
                from,
                PeerMessageDescriptor.write(
                        PeerMessageDescriptor.question(message),
                        true,
                        PeerMessageDescriptor.shard(message),
                        PeerMessageDescriptor.term(message),
                        PeerMessageDescriptor.number(message),
                        0,
                        ByteBuffer.wrap(BitSet.valueOf(new long[] {bits}).toByteArray())));
    }

    @Test
    void shouldGiveEachQuestionItsAnswer() {
        final Inquiry first = ask(1, 2);
        final Inquiry second = ask(3);
        assertThat(sent).hasSize(2);
        assertThat(PeerMessageDescriptor.question(sent.get(0))).isEqualTo(PeerRequestType.PRESENT);
        assertThat(PeerMessageDescriptor.shard(sent.get(0))).isEqualTo(SHARD);
        assertThat(PeerMessageDescriptor.argument(sent.get(0))).isEqualTo(EPOCH);
        assertThat(PeerMessageDescriptor.payload(sent.get(0))).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2}));
        answer(ASKED, 1, 0b101);
        assertThat(first.isOver()).isFalse();
        assertThat(second.isOver()).isTrue();
        assertThat(second.answer()).isEqualTo(BitSet.valueOf(new long[] {0b101}));
        answer(ASKED, 0, 0);
        assertThat(first.answer()).isEqualTo(new BitSet());
    }

    @Test
    void shouldTakeNoAnswerOfAnotherServer() {
        final Inquiry inquiry = ask(1);
        answer(OTHER, 0, 1);
        assertThat(inquiry.isOver()).isFalse();
        answer(ASKED, 0, 1);
        answer(ASKED, 0, 2); // once more
        assertThat(inquiry.answer()).isEqualTo(BitSet.valueOf(new long[] {1}));
    }

    @Test
    void shouldAskAgainWhatMayBeLost() {
        final Inquiry inquiry = ask(1, 2);
        clock.advanceMs(249);
        assertThat(inquiry.isOver()).isFalse();
        assertThat(sent).hasSize(1);
        clock.advanceMs(1);
        assertThat(inquiry.isOver()).isFalse();
        assertThat(inquiry.isOver()).isFalse();
        assertThat(sent).hasSize(2);
        assertThat(sent.get(1)).isEqualTo(sent.get(0));
        answer(ASKED, 1, 0b10);
        assertThat(inquiry.answer()).isEqualTo(BitSet.valueOf(new long[] {0b10}));
    }

    @Test
    void shouldNotAwaitASilentServer() {
        final Inquiry inquiry = ask(1);
        clock.advanceNs(Inquiry.PATIENCE_NS - 1);
        assertThat(inquiry.isOver()).isFalse();
        clock.advanceNs(1);
        assertThat(inquiry.isOver()).isTrue();
        assertThat(inquiry.answer()).isNull();
        answer(ASKED, 0, 1); // too late
        assertThat(inquiry.answer()).isNull();
    }

    /** Each question to it would keep a copy waiting. */
    @Test
    void shouldNotAskAServerThatWasSilentLately() {
        final Inquiry first = ask(1);
        clock.advanceNs(Inquiry.PATIENCE_NS);
        assertThat(first.isOver()).isTrue();
        final Inquiry second = ask(2);
        assertThat(second.isOver()).isTrue();
        assertThat(second.answer()).isNull();
        assertThat(sent).hasSize(1);
        clock.advanceMs(60_000);
        final Inquiry third = ask(3);
        assertThat(sent).hasSize(2);
        answer(ASKED, 1, 1);
        assertThat(third.answer()).isEqualTo(BitSet.valueOf(new long[] {1}));
    }

    /** Nothing is answered that was asked in an epoch that is over. */
    @Test
    void shouldNotTakeAServerForSilentOverAQuestionOfAnEpochThatIsOver() {
        final Inquiry first = ask(1);
        epoch++;
        clock.advanceNs(Inquiry.PATIENCE_NS);
        assertThat(first.isOver()).isTrue();
        assertThat(first.answer()).isNull();
        assertThat(ask(2).isOver()).isFalse();
        assertThat(sent).hasSize(2);
    }

    @Test
    void shouldAskTheNextProcessOfASilentServer() {
        final Inquiry first = ask(1);
        clock.advanceNs(Inquiry.PATIENCE_NS);
        assertThat(first.isOver()).isTrue();
        incarnation = 2;
        assertThat(ask(2).isOver()).isFalse();
        assertThat(sent).hasSize(2);
    }
}
