package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.options.OptionDefaults;
import org.rowankv.daemon.zookeeper.ZooKeeperAuth;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import picocli.CommandLine;

/** Invalid options of {@code rowan server}: refused before anything is opened, wherever they are set. */
@Tag("jvm")
class ServerCommandTest {
    private static final String REFUSAL = "--threading must be shared, dedicated or auto, not sideways";

    @TempDir
    Path dir;

    private String refusal(Map<String, String> environment, String... more) {
        final List<String> arguments = new ArrayList<>(
                List.of("--name=a", "--data=" + dir.resolve("data"), "--zookeeper=127.0.0.1:1", "--expect=1"));
        arguments.addAll(List.of(more));
        final StringWriter err = new StringWriter();
        final String[] all = arguments.toArray(new String[0]);
        final CommandLine line = new CommandLine(new ServerCommand())
                .setDefaultValueProvider(new OptionDefaults(environment, all))
                .setErr(new PrintWriter(err));
        assertThat(line.execute(all)).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(dir.resolve("data")).doesNotExist();
        return err.toString();
    }

    @Test
    void shouldRefuseAnUnknownThreadingModeWhereverItStands() throws IOException {
        assertThat(refusal(Map.of(), "--threading=sideways")).contains(REFUSAL);
        assertThat(refusal(Map.of("ROWAN_THREADING", "sideways"))).contains(REFUSAL);
        final Path file = Files.writeString(dir.resolve("options"), "threading=sideways\n");
        assertThat(refusal(Map.of(), "--options=" + file)).contains(REFUSAL);
    }

    @Test
    void shouldRefuseANumberOfWorkersThatCannotBe() {
        assertThat(refusal(Map.of(), "--workers=-1")).contains("--workers must be 1..1024, not -1");
        assertThat(refusal(Map.of("ROWAN_WORKERS", "1025"))).contains("--workers must be 1..1024, not 1025");
    }

    @Test
    void shouldSayHowEachOptionIsWritten() {
        assertThat(refusal(Map.of(), "--capacity=12q"))
                .contains("--capacity must be bytes, or with a unit k, m or g, not 12q");
        assertThat(refusal(Map.of(), "--replicas=two")).contains("--replicas must be a whole number from 0, not two");
        assertThat(refusal(Map.of("ROWAN_SESSION_LEASE", "5")))
                .contains("--session-lease must be 0 (for ever) or at least 20 seconds, not 5");
        assertThat(refusal(Map.of(), "--durability=NONE")).contains("--durability must be process or power, not NONE");
    }

    /** As from an unset variable in place of a file name: the server must not run without the file's content. */
    @Test
    void shouldNotTakeAnEmptyOptionForOneThatIsNotGiven() {
        assertThat(refusal(Map.of("ROWAN_CLUSTER_SECRET_FILE", ""), "--threading=sideways"))
                .contains("the secret file  cannot be read");
        assertThat(refusal(Map.of("ROWAN_ZOOKEEPER_AUTH_FILE", "")))
                .contains("the ZooKeeper credential file  cannot be read");
        assertThat(refusal(Map.of(), "--advertise=")).contains("'' is no address");
        assertThat(refusal(Map.of(), "--threading=")).contains("--threading must be shared, dedicated or auto, not ");
        assertThat(refusal(Map.of(), "--capacity=")).contains("--capacity must be bytes");
        assertThat(refusal(Map.of(), "--workers=")).contains("--workers must be 1..1024, not ");
    }

    @Test
    void shouldRefuseServersOfOtherMachinesWithoutASecret() {
        final String refusal = "the cluster has no secret: give every server the same --cluster-secret-file";
        assertThat(refusal(Map.of(), "--listen=127.0.0.1:7171", "--peer-listen=0.0.0.0:7172"))
                .contains("0.0.0.0:7172")
                .contains(refusal)
                .contains("--insecure");
        assertThat(refusal(Map.of(), "--listen=0.0.0.0:7171", "--advertise=127.0.0.1:7171"))
                .contains(refusal);
        // Beyond the secret: the next mistake is reported.
        final String[] beyond = {"--listen=0.0.0.0:7171", "--advertise=127.0.0.1:7171", "--threading=sideways"};
        assertThat(refusal(Map.of("ROWAN_INSECURE", "true"), beyond)).contains(REFUSAL);
        assertThat(refusal(Map.of("ROWAN_CLUSTER_SECRET", "0123456789abcdef"), beyond))
                .contains(REFUSAL);
    }

    private String secretRefusal(String text) throws IOException {
        final Path file = Files.writeString(dir.resolve("secret"), text);
        final String refusal = refusal(Map.of(), "--cluster-secret-file=" + file, "--threading=sideways");
        assertThat(refusal(Map.of("ROWAN_CLUSTER_SECRET_FILE", file.toString()), "--threading=sideways"))
                .isEqualTo(refusal);
        return refusal;
    }

    @Test
    void shouldRefuseSecretsThatAreNone() throws IOException {
        assertThat(secretRefusal("")).contains("is empty").contains("openssl rand -hex 16");
        assertThat(secretRefusal(" \n\t ")).contains("is empty");
        assertThat(secretRefusal("  fifteen-letters \n"))
                .contains("has 15 bytes: a secret has at least 16")
                .doesNotContain("fifteen");
        assertThat(secretRefusal("sixteen-letters-or-more\nand a second line"))
                .contains("more than one line")
                .doesNotContain("sixteen-letters");
        assertThat(secretRefusal("x".repeat(5000))).contains("more than 4096 bytes");
        assertThat(secretRefusal("sixteen-letters!\n")).contains(REFUSAL);
        assertThat(refusal(Map.of(), "--cluster-secret-file=" + dir.resolve("nowhere")))
                .contains("nowhere cannot be read: there is no such file");
        assertThat(refusal(Map.of(), "--cluster-secret-file=" + dir)).contains("cannot be read");
        assertThat(refusal(Map.of("ROWAN_CLUSTER_SECRET", "short")))
                .contains("ROWAN_CLUSTER_SECRET in the environment has 5");
        assertThat(refusal(
                        Map.of("ROWAN_CLUSTER_SECRET", "0123456789abcdef"),
                        "--cluster-secret-file=" + Files.writeString(dir.resolve("secret"), "0123456789abcdef")))
                .contains("given twice");
    }

    @Test
    void shouldRefuseCredentialsForZooKeeperThatAreNone() throws IOException {
        for (String text : List.of("", "digest", ":", "digest:", "digest:user", "digest:user:password\nmore")) {
            final Path file = Files.writeString(dir.resolve("credential"), text);
            assertThat(refusal(Map.of(), "--zookeeper-auth-file=" + file))
                    .as(text)
                    .contains("the ZooKeeper credential file " + file)
                    .contains("digest:user:password");
        }
        assertThat(ZooKeeperAuth.read(Files.writeString(dir.resolve("credential"), " digest:user:pass:word\n")))
                .isEqualTo(new ZooKeeperAuth("digest", "user:pass:word"))
                .hasToString("ZooKeeperAuth[digest]");
    }

    @Test
    void shouldKnowWhichZooKeeperIsOnThisMachine() {
        assertThat(ZooKeeperConfigurationStore.isOnThisMachine("127.0.0.1:2181,localhost:2182/path"))
                .isTrue();
        assertThat(ZooKeeperConfigurationStore.isOnThisMachine("[::1]:2181")).isTrue();
        assertThat(ZooKeeperConfigurationStore.isOnThisMachine("127.0.0.1:2181,192.0.2.1:2181"))
                .isFalse();
        assertThat(ZooKeeperConfigurationStore.isOnThisMachine("no-such-host.invalid:2181"))
                .isFalse();
    }
}
