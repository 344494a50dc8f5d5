package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.check.soak.SoakCommand;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.tools.ToolStore;

/** Commands that create their own stores create none among foreign files, and remove nothing there. */
class ForeignDirectoryTest {
    @TempDir
    Path temporary;

    @ParameterizedTest
    @ValueSource(classes = {CrashCommand.class, SoakCommand.class, VerifyCommand.class})
    void shouldMakeNoStoreAmongOtherFiles(Class<?> command) throws Exception {
        final Path foreign = Files.createDirectories(temporary.resolve("foreign"));
        Files.writeString(foreign.resolve("notes.txt"), "text");
        Files.createDirectory(foreign.resolve("store-0"));
        final Map<String, String> before = ToolStore.image(foreign);
        final CommandProcess run = CommandProcess.run(command, "--dir", foreign.toString());
        assertThat(run.lastLine())
                .matches("(crash|soak|verify): .*")
                .contains("nothing was changed in it")
                .contains("Give a");
        assertThat(run.lines()).noneMatch(line -> line.startsWith("\tat "));
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(ToolStore.image(foreign)).isEqualTo(before);
        final CommandProcess onFile = CommandProcess.run(
                command, "--dir", foreign.resolve("notes.txt").toString());
        assertThat(onFile.lastLine()).contains("is a file, not a directory");
        assertThat(onFile.exitCode()).isEqualTo(2);
    }
}
