package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.server.membership.TransferRequest;
import org.rowankv.topology.Configuration;

final class DueChangesTest {
    /** Server 2 has lost its data. */
    private final Configuration copying =
            Configuration.initial(1, 2, 3, 3, 3, List.of(1L, 1L, 1L)).coldStart(List.of(2L, 2L, 2L), Set.of(2));

    private final List<String> answered = new ArrayList<>();
    private final TransferAnswers answers = new TransferAnswers() {
        @Override
        public void done(TransferRequest request) {
            answered.add("done");
        }

        @Override
        public void refused(TransferRequest request, String why) {
            answered.add(why);
        }
    };

    private static List<TransferRequest> asked(int shard, int to) {
        return new ArrayList<>(List.of(new TransferRequest(shard, to, "", 0)));
    }

    /** Its primary sends the copy. */
    @Test
    void shouldKeepAShardThatIsBeingCopied() {
        final List<TransferRequest> asked = asked(0, 1);
        assertThat(DueChanges.handedOver(copying, asked, Set.of(), answers)).isNull();
        assertThat(asked).hasSize(1);
        final Configuration complete = copying.completed(Map.of(2, Set.of(0, 1, 2)));
        final Configuration next = DueChanges.handedOver(complete, asked, Set.of(), answers);
        assertThat(next).isNotNull();
        assertThat(next.shard(0).primary()).isOne();
        assertThat(answered).isEmpty();
        assertThat(DueChanges.handedOver(next, asked, Set.of(), answers)).isNull();
        assertThat(asked).isEmpty();
        assertThat(answered).containsExactly("done");
    }

    @Test
    void shouldRefuseWhatCannotBeDone() {
        assertThat(DueChanges.handedOver(copying, asked(0, 2), Set.of(), answers))
                .isNull();
        assertThat(DueChanges.handedOver(copying, asked(77, 1), Set.of(), answers))
                .isNull();
        assertThat(DueChanges.handedOver(copying, asked(0, 1), Set.of(1), answers))
                .isNull();
        assertThat(answered)
                .containsExactly(
                        "server 2 is no complete backup",
                        "server 1 is no complete backup",
                        "server 1 is about to stop");
    }
}
