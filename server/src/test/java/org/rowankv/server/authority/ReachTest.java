package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ReachTest {
    @Test
    void shouldActAtOnceOnTheLargerSideOnly() {
        assertThat(new Reach(3, 2).actsAtOnce()).isTrue();
        assertThat(new Reach(3, 1).actsAtOnce()).isFalse();
        assertThat(new Reach(4, 3).actsAtOnce()).isTrue();
        assertThat(new Reach(4, 2).actsAtOnce()).isFalse();
        assertThat(new Reach(5, 3).actsAtOnce()).isTrue();
        assertThat(new Reach(5, 2).actsAtOnce()).isFalse();
    }

    @Test
    void shouldActAtOnceInAPair() {
        assertThat(new Reach(2, 1).actsAtOnce()).isTrue();
        assertThat(new Reach(2, 2).actsAtOnce()).isTrue();
    }

    @Test
    void shouldActAtOnceAlone() {
        assertThat(new Reach(1, 1).actsAtOnce()).isTrue();
    }

    @Test
    void shouldRefuseImpossibleNumbers() {
        assertThatThrownBy(() -> new Reach(2, 3)).hasMessageContaining("3 heard of 2");
        assertThatThrownBy(() -> new Reach(2, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Reach(0, 0)).isInstanceOf(IllegalArgumentException.class);
    }
}
