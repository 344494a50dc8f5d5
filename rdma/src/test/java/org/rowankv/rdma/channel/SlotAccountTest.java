package org.rowankv.rdma.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.verbs.VerbsException;

/** Two ends never send without a slot, and never wait for one another for ever. */
final class SlotAccountTest {
    /** One SEND: whether it has bytes, and its report. */
    private record Sent(boolean hasBytes, int report) {}

    /** One end: it may read or not, and has so many SENDs of bytes left. */
    private static final class End {
        private final SlotAccount account;
        private final int slots;
        private final ArrayDeque<Sent> way = new ArrayDeque<>();
        private final ArrayDeque<Sent> unread = new ArrayDeque<>();
        private int left;

        End(int slots, int left) {
            this.account = new SlotAccount(slots);
            this.slots = slots;
            this.left = left;
        }

        boolean sendBytes() {
            if (left == 0 || !account.maySendBytes()) {
                return false;
            }
            left--;
            way.add(new Sent(true, account.send()));
            return true;
        }

        boolean report() {
            if (!account.owesReport() || !account.maySendReport()) {
                return false;
            }
            way.add(new Sent(false, account.send()));
            return true;
        }

        /** Receives one SEND of the other end. */
        boolean receive(End other) throws VerbsException {
            final Sent sent = other.way.poll();
            if (sent == null) {
                return false;
            }
            account.onReport(sent.report);
            if (sent.hasBytes) {
                unread.add(sent);
            } else {
                account.freed();
            }
            assertThat(unread.size() + other.way.size())
                    .as("messages for %s slots", slots)
                    .isLessThanOrEqualTo(slots);
            return true;
        }

        boolean read() {
            final boolean some = unread.poll() != null;
            if (some) {
                account.freed();
            }
            return some;
        }
    }

    @Property(tries = 400)
    void shouldNeverStopWithSomethingToSend(
            @ForAll long seed,
            @ForAll @IntRange(min = 2, max = 5) int power,
            @ForAll @IntRange(max = 200) int mine,
            @ForAll @IntRange(max = 200) int yours)
            throws VerbsException {
        final Random random = new Random(seed);
        final End one = new End(1 << power, mine);
        final End two = new End(1 << power, yours);
        final boolean[] reads = {random.nextBoolean(), random.nextBoolean()};
        for (int i = 0; i < 5000; i++) {
            act(random.nextInt(8), one, two, reads);
            if (random.nextInt(50) == 0) {
                reads[random.nextInt(2)] = random.nextBoolean();
            }
        }
        // Once both read, all of it arrives.
        reads[0] = true;
        reads[1] = true;
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int action = 0; action < 8; action++) {
                moved |= act(action, one, two, reads);
            }
        }
        assertThat(one.left).isZero();
        assertThat(two.left).isZero();
        assertThat(one.unread).isEmpty();
        assertThat(two.unread).isEmpty();
    }

    private static boolean act(int action, End one, End two, boolean[] reads) throws VerbsException {
        return switch (action) {
            case 0 -> one.sendBytes();
            case 1 -> two.sendBytes();
            case 2 -> one.report();
            case 3 -> two.report();
            case 4 -> one.receive(two);
            case 5 -> two.receive(one);
            case 6 -> reads[0] && one.read();
            default -> reads[1] && two.read();
        };
    }

    @Test
    void shouldRefuseAReportOfMoreThanWasSent() throws VerbsException {
        final SlotAccount account = new SlotAccount(8);
        account.send();
        account.send();
        account.onReport(1);
        assertThatThrownBy(() -> account.onReport(3)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> account.onReport(0)).isInstanceOf(VerbsException.class);
    }

    @Test
    void shouldReadNoReportOfAnotherProtocol() throws VerbsException {
        final ByteBuffer sent = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        SlotDescriptor.header(sent, 0, 7);
        assertThat(SlotDescriptor.freed(sent, 0, 8)).isEqualTo(7);
        assertThatThrownBy(() -> SlotDescriptor.freed(sent, 0, 7)).isInstanceOf(VerbsException.class);
        sent.putInt(SlotDescriptor.MAGIC_OFFSET, SlotDescriptor.MAGIC + 1);
        assertThatThrownBy(() -> SlotDescriptor.freed(sent, 0, 8)).isInstanceOf(VerbsException.class);
    }
}
