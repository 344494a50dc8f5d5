package org.rowankv.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FormerReplicaTest {
    @Test
    void shouldReadWhatItWrites() {
        final List<FormerReplica> replicas =
                List.of(new FormerReplica(0, Long.MAX_VALUE, 0), new FormerReplica(511, 1, 7));
        assertThat(FormerReplica.parse(FormerReplica.text(replicas))).isEqualTo(replicas);
        assertThat(FormerReplica.parse("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 2", "1 2 3 4", "1 2 x", "no"})
    void shouldRefuseOtherLines(String line) {
        assertThatThrownBy(() -> FormerReplica.parse("1 2 3\n" + line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(line);
    }
}
