package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RoleWordTest {
    private final RoleWord word = new RoleWord();

    @Test
    void shouldAdmitNoReadWhileClosed() {
        assertThat(word.take()).isEqualTo(RoleWord.CLOSED);
        assertThat(word.isUnchanged(word.take())).isFalse();
        word.close();
        assertThat(word.isOpen()).isFalse();
    }

    @Test
    void shouldAnswerReadsOfAnUnchangedRole() {
        word.open();
        final long taken = word.take();
        assertThat(word.isUnchanged(taken)).isTrue();
        word.open();
        assertThat(word.isUnchanged(taken))
                .as("opening what is open changes nothing")
                .isTrue();
    }

    @Test
    void shouldVoidReadsAcrossAClose() {
        word.open();
        final long taken = word.take();
        word.close();
        assertThat(word.isUnchanged(taken)).isFalse();
        word.open();
        assertThat(word.isUnchanged(taken))
                .as("open again, but not the same opening")
                .isFalse();
        assertThat(word.isUnchanged(word.take())).isTrue();
    }
}
