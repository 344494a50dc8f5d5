package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Help of commands. Its texts are formats, and a percent sign alone makes picocli print a warning above them. */
final class HelpTextsTest {
    @Command(name = "specimen", description = "in 1 % of all runs")
    private static final class PercentAlone {}

    private static String complaintsAbout(Class<?> command) {
        final PrintStream before = System.err;
        final ByteArrayOutputStream complaints = new ByteArrayOutputStream();
        System.setErr(new PrintStream(complaints, true, StandardCharsets.UTF_8));
        try {
            assertThat(new CommandLine(command).getUsageMessage()).isNotBlank();
        } finally {
            System.setErr(before);
        }
        return complaints.toString(StandardCharsets.UTF_8);
    }

    /** The commands that a main source declares: its type, and those inside. */
    private static Stream<Class<?>> commandsIn(Path source) {
        final String path = source.toString().replace(source.getFileSystem().getSeparator(), "/");
        final String name = path.substring(path.indexOf("/src/main/java/") + "/src/main/java/".length());
        try {
            if (!Files.readString(source).contains("@Command(")) {
                return Stream.empty();
            }
            final Class<?> type = Class.forName(name.replace(".java", "").replace('/', '.'));
            return Stream.concat(Stream.of(type), Arrays.stream(type.getDeclaredClasses()))
                    .filter(each -> each.isAnnotationPresent(Command.class));
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("cannot read the command in " + name, e);
        }
    }

    @Test
    void shouldPrintWithoutAComplaint() {
        final List<Class<?>> commands =
                SourceFiles.all().stream().flatMap(HelpTextsTest::commandsIn).toList();
        assertThat(commands).hasSizeGreaterThan(30);
        assertThat(commands)
                .allSatisfy(command -> assertThat(complaintsAbout(command)).isEmpty());
    }

    @Test
    void shouldNoticeAComplaint() {
        assertThat(complaintsAbout(PercentAlone.class)).contains("Could not format");
    }
}
