package org.rowankv.driver.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Request;

/** Request numbers name their slot and are distinct, also past the ends of 63 and 64 bits. */
final class InFlightRequestNumberTest {
    private static final int SLOT = 0xfedc;
    private static final int USES = 8;

    private static void requireNumbers(long before) {
        final InFlightRequest exchange = new InFlightRequest(SLOT, before, null);
        final Set<Long> numbers = new HashSet<>();
        for (int use = 0; use < USES; use++) {
            exchange.begin(0, 1, 0, 0).prepare(new Request(), null, null);
            assertThat((int) exchange.number() & 0xffff).isEqualTo(SLOT);
            assertThat(numbers.add(exchange.number())).isTrue();
        }
    }

    @Test
    void shouldGoOnPastTheLargestNumber() {
        requireNumbers(SLOT);
        requireNumbers(Long.MAX_VALUE - 3 * 0x10000L & -0x10000L | SLOT);
        requireNumbers(-3 * 0x10000L | SLOT);
    }
}
