package org.rowankv.daemon.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.Launch;
import picocli.CommandLine;

/** {@code rowan cluster} as a process that ends: its processes continue, with the Java of its option. */
class ClusterCommandTest {
    @TempDir
    Path dir;

    /** A program that records its call, and executes Java. */
    private Path recording(Path notes) throws IOException {
        final Path program = Files.writeString(
                dir.resolve("java"),
                "#!/bin/sh\necho called >> '" + notes + "'\nexec '" + Launch.DEFAULT.java() + "' \"$@\"\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return program;
    }

    private static int run(Path output, String... arguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(
                Launch.DEFAULT.java().toString(),
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                ClusterCommand.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start()
                .waitFor();
    }

    @Test
    void shouldLeaveWhatItHasStartedByTheJavaItWasTold() throws Exception {
        final Path cluster = dir.resolve("cluster");
        final Path notes = dir.resolve("notes");
        final Path output = dir.resolve("output");
        try {
            assertThat(run(
                            output,
                            "start",
                            "--dir=" + cluster,
                            "--servers=1",
                            "--capacity=32m",
                            "--wait=120",
                            "--port=" + LocalPorts.free(4),
                            "--server-java=" + recording(notes)))
                    .as(() -> "see " + output)
                    .isZero();
            assertThat(notes).hasContent("called\ncalled"); // ZooKeeper, and a server
            final LocalCluster started = LocalCluster.open(cluster);
            assertThat(started.awaitServing(60_000)).isEmpty();
            assertThat(started.logOf(0)).content().doesNotContain("parent process ended");
        } finally {
            if (Files.exists(cluster)) {
                assertThat(LocalCluster.open(cluster).stop()).isEmpty();
            }
        }
    }

    @Test
    void shouldRefuseAJavaThatIsNoProgram() {
        final StringWriter err = new StringWriter();
        final int code = new CommandLine(new ClusterCommand())
                .setErr(new PrintWriter(err))
                .execute("start", "--dir=" + dir.resolve("none"), "--server-java=" + dir.resolve("nothing"));
        assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(err.toString()).contains("--server-java").contains("is no program");
        assertThat(dir.resolve("none")).doesNotExist();
    }
}
