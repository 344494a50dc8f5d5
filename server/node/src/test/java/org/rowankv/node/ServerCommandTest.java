package org.rowankv.node;

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
import picocli.CommandLine;

/** Options of {@code rowan server} that cannot be: refused before anything is opened, wherever they stand. */
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
                .setDefaultValueProvider(new NodeDefaults(environment, all))
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
}
