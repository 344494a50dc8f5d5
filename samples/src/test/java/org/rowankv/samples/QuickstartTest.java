package org.rowankv.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The quickstart on a part of its data. */
class QuickstartTest {
    @TempDir
    Path directory;

    private String lastLine = "";

    private int run(String... arguments) throws IOException, InterruptedException {
        final String[] words = new String[4 + arguments.length];
        words[0] = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        words[1] = "-cp";
        words[2] = System.getProperty("java.class.path");
        words[3] = Quickstart.class.getName();
        System.arraycopy(arguments, 0, words, 4, arguments.length);
        final Process process =
                new ProcessBuilder(words).redirectErrorStream(true).start();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                System.out.println(line);
                lastLine = line;
            }
        }
        return process.waitFor();
    }

    @Test
    void shouldFindEverythingAgainInANewProcess() throws Exception {
        final int exitCode = run("--objects", "1500", "--dir", directory.toString());
        assertThat(lastLine)
                .isEqualTo("quickstart: objects=1500 verified=1500 reopened=1500 mismatches=0 replicas_agree=true");
        assertThat(exitCode).isZero();
    }

    @Test
    void shouldStartOverInADirectoryOfAnEarlierRun() throws Exception {
        run("--objects", "300", "--dir", directory.toString());
        final int exitCode = run("--objects", "300", "--dir", directory.toString());
        assertThat(lastLine)
                .isEqualTo("quickstart: objects=300 verified=300 reopened=300 mismatches=0 replicas_agree=true");
        assertThat(exitCode).isZero();
    }
}
