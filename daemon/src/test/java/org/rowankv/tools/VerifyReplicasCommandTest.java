package org.rowankv.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.inspect.StoredEntry;

class VerifyReplicasCommandTest {
    private static final int OBJECTS = ToolStore.OBJECTS + 1;

    @TempDir
    Path temporary;

    private static ToolStore.Run verifyReplicas(Object... arguments) {
        return ToolStore.run(new VerifyReplicasCommand(), arguments);
    }

    @Test
    void shouldFindReplicasThatAgree() throws IOException {
        final Path dir = new ToolStore(temporary.resolve("store")).filled().dir;
        final Map<String, String> before = ToolStore.image(dir);
        final ToolStore.Run run = verifyReplicas(dir, "--digests");
        assertThat(ToolStore.image(dir)).isEqualTo(before);
        assertThat(run.exitCode()).isZero();
        assertThat(run.lastLine()).isEqualTo("verify-replicas: shards=6 objects=" + OBJECTS + " differing=0");
        assertThat(run.out()
                        .lines()
                        .filter(line -> line.matches("shard [0-5] server [0-2]: objects .* digest [0-9a-f]{16}")))
                .hasSize(12);
    }

    @Test
    void shouldFindReplicasOfAKilledProcessThatAgree() throws Exception {
        final ToolStore.Run run = verifyReplicas(ToolStore.killed(temporary.resolve("killed")));
        assertThat(run.lastLine()).isEqualTo("verify-replicas: shards=6 objects=" + OBJECTS + " differing=0");
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void shouldNameTheKeyThatADamageHasTaken() throws IOException {
        final Path dir = new ToolStore(temporary.resolve("store")).filled().dir;
        final Map.Entry<Integer, StoredEntry> found = ToolStore.find(dir, "key-7");
        ToolStore.flip(
                ToolStore.area(dir, found.getKey()), found.getValue().place().fileOffset() + 70, 1);
        final ToolStore.Run run = verifyReplicas(dir);
        assertThat(run.exitCode()).isOne();
        assertThat(run.out())
                .contains("differs: shard " + found.getValue().shard() + " cache 1 key \"key-7\": server ")
                .contains("server " + found.getKey() + " holds nothing", "1 damaged places were left out");
        assertThat(run.lastLine()).endsWith(" differing=1");
    }

    /** After a kill, a difference is not unsettled if any server's CommitVer covers it. */
    @Test
    void shouldExcuseNothingThatAServerKnowsToBeCommitted() throws Exception {
        final int damaged = 12;
        final Path dir = ToolStore.killedAtRest(temporary.resolve("killed"));
        for (int i = 1; i <= damaged; i++) { // key-0 is a key of another cache too
            final Map.Entry<Integer, StoredEntry> found = ToolStore.find(dir, "key-" + i);
            ToolStore.flip(
                    ToolStore.area(dir, found.getKey()),
                    found.getValue().place().fileOffset() + 70,
                    1);
        }
        final ToolStore.Run run = verifyReplicas(dir);
        assertThat(run.exitCode()).isOne();
        assertThat(run.lastLine()).endsWith(" differing=" + damaged);
    }

    @Test
    void shouldNameWhatAnOldAreaLacksAndStillHolds() throws IOException {
        final Path dir = new ToolStore(temporary.resolve("store")).filled().dir;
        final Path old = Files.copy(ToolStore.area(dir, 1), temporary.resolve("old"));
        ToolStore.use(dir, (client, cache) -> {
            for (int i = 0; i < 60; i++) {
                client.put(cache, ToolStore.bytes("key-" + i), ToolStore.bytes("VALUE OF " + i));
                client.put(cache, ToolStore.bytes("new-" + i), ToolStore.bytes("v"));
                client.remove(cache, ToolStore.bytes("key-" + (100 + i)));
            }
        });
        assertThat(verifyReplicas(dir).exitCode()).isZero();
        Files.copy(old, ToolStore.area(dir, 1), StandardCopyOption.REPLACE_EXISTING);

        final ToolStore.Run run = verifyReplicas(dir);

        assertThat(run.exitCode()).isOne();
        // Two of three servers hold each key, so server 1 holds about two thirds of the 180 changed keys.
        final String differing = run.lastLine().replaceAll(".*differing=", "");
        assertThat(Integer.parseInt(differing)).isBetween(60, 179);
        assertThat(run.out().lines().filter(line -> line.startsWith("differs: ")))
                .hasSize(Integer.parseInt(differing))
                .allMatch(line -> line.contains("server 1 holds"))
                .anyMatch(line -> line.contains("key \"new-") && line.contains("server 1 holds nothing"))
                .anyMatch(line -> line.matches(".*key \"key-1[0-5][0-9]\".* server 1 holds version .*"))
                .anyMatch(line -> line.matches(".*key \"key-[0-5]?[0-9]\".*version 3\\..*version 2\\..*"
                        + "|.*key \"key-[0-5]?[0-9]\".*version 2\\..*version 3\\..*"));
    }
}
