package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.topology.Configuration;

/** Two threads have each stored a configuration, and report them in reverse order. */
final class NewestConfigurationTest {
    private final Configuration first = Configuration.initial(1, 2, 2, 2, 4, List.of(1L, 1L));
    private final Configuration second = first.renewed(List.of(0));
    private final Configuration third = second.renewed(List.of(1));

    @Test
    void shouldNeverGoBackToALowerTerm() {
        final NewestConfiguration newest = new NewestConfiguration(first);
        newest.adopt(second);
        assertThat(newest.get()).isSameAs(second);
        newest.adopt(third);
        newest.adopt(second);
        assertThat(newest.get()).isSameAs(third);
    }
}
