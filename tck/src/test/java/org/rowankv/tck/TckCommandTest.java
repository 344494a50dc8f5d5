package org.rowankv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TckCommandTest {
    @TempDir
    Path directory;

    @Test
    void shouldRunWhatIsSelectedAndExpectNoNumberOfIt() throws Exception {
        final TckProcess process =
                TckProcess.run(directory, "--servers", "2", "--only", "tck.CachingTest", "--verbose");
        assertThat(process.linesOf(TckPart.CACHING))
                .as(process.text())
                .startsWith("tck: servers=2 replicas=2 java=" + Runtime.version())
                .contains("skipped: org.jsr107.tck.CachingTest#dummyTest")
                .last()
                .asString()
                .matches("tck: run=[1-9][0-9]* failures=0 errors=0 skipped=1");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRunAgainstServerProcesses() throws Exception {
        final TckProcess process = TckProcess.run(directory, "--cluster", "--only", "tck.PutTest");
        assertThat(process.linesOf(TckPart.CACHING))
                .as(process.text())
                .startsWith("tck: servers=3 replicas=3 over=server-processes java=" + Runtime.version())
                .last()
                .asString()
                .matches("tck: run=[1-9][0-9]* failures=0 errors=0 skipped=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRunOverDevices() throws Exception {
        for (String mode : List.of("landed", "leased")) {
            final TckProcess process = TckProcess.run(directory, "--fabric", mode, "--only", "tck.PutTest");
            assertThat(process.linesOf(TckPart.CACHING))
                    .as(process.text())
                    .startsWith("tck: servers=3 replicas=3 over=client-ports fabric=rdma-" + mode + " java="
                            + Runtime.version())
                    .last()
                    .asString()
                    .matches("tck: run=[1-9][0-9]* failures=0 errors=0 skipped=0");
            assertThat(process.exitCode()).isZero();
        }
    }

    @Test
    void shouldRefuseASelectionOfNothing() throws Exception {
        final TckProcess process = TckProcess.run(directory, "--annotations", "--only", "CacheTest");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.text()).contains("--only CacheTest leaves no test class of this part");
    }

    @Test
    void shouldRefuseAStoreThatCannotBe() throws Exception {
        final TckProcess process = TckProcess.run(directory, "--servers", "0");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.text()).contains("--servers 0 makes no store");
    }
}
