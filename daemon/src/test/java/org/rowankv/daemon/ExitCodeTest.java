package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.local.LocalPorts;
import picocli.CommandLine;

/** Exit codes of a server process that stopped itself. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ExitCodeTest {
    @TempDir
    private Path dir;

    @Test
    void shouldExitWithACodeOfItsOwnOnceAnAgentIsStopped() throws Exception {
        try (TestingServer zooKeeper = new TestingServer(true)) {
            final int port = LocalPorts.free(3);
            final Path log = dir.resolve("log");
            final Process process = new ProcessBuilder(
                            System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                            "-Xmx256m",
                            "-XX:TieredStopAtLevel=1",
                            "-Drowan.chaos=true",
                            "-cp",
                            System.getProperty("java.class.path"),
                            BreakingServer.class.getName(),
                            "--name=a",
                            "--data=" + dir.resolve("a"),
                            "--zookeeper=" + zooKeeper.getConnectString(),
                            "--expect=1",
                            "--capacity=32m",
                            "--listen=127.0.0.1:" + port)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
                final List<String> lines = Files.readAllLines(log);
                assertThat(process.exitValue())
                        .as(String.join("\n", lines))
                        .isEqualTo(ServerCommand.EXIT_STOPPED_ITSELF);
                assertThat(lines)
                        .anyMatch(line -> line.contains("server a stopped itself") && line.contains("planted"));
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void shouldListTheCodesInTheHelp() {
        final String help = new CommandLine(new ServerCommand()).getUsageMessage();
        assertThat(help.replaceAll("\\s+", " "))
                .contains(
                        "143 after SIGTERM",
                        "1 when it cannot run",
                        " " + ServerCommand.EXIT_STOPPED_ITSELF + " when it");
    }
}
