package org.rowankv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The annotation part of the official TCK; without a bean provider it would pass without running. */
@Tag("jvm")
class TckAnnotationsTest {
    private static final String TOTALS = "tck-annotations: run=12 failures=0 errors=0 skipped=0";

    @TempDir
    Path directory;

    @Test
    void shouldPassTheAnnotationTestsWithOneServerWithThreeAndOverClientPorts() throws Exception {
        final TckProcess process = TckProcess.run(directory, "--annotations", "--verbose");
        process.show(TckPart.ANNOTATIONS);
        assertThat(process.linesOf(TckPart.ANNOTATIONS))
                .as(process.text())
                .containsExactly(
                        "tck-annotations: servers=1 replicas=1 java=" + Runtime.version(),
                        TOTALS,
                        "tck-annotations: servers=3 replicas=3 near=validated java=" + Runtime.version(),
                        TOTALS,
                        "tck-annotations: servers=3 replicas=3 over=client-ports java=" + Runtime.version(),
                        TOTALS);
        assertThat(process.lines()).as(process.text()).endsWith(TOTALS);
        assertThat(process.exitCode()).isZero();
    }
}
