package org.rowankv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The official TCK: no test may fail or disappear, and only the listed ones may be excluded. The totals are repeated
 * here, so that a change of the command alone cannot move them.
 */
@Tag("jvm")
class TckTest {
    private static final String TOTALS = "tck: run=479 failures=0 errors=0 skipped=13";
    private static final List<String> LEFT_OUT = List.of(
            "org.jsr107.tck.CachingTest#dummyTest",
            "org.jsr107.tck.StoreByReferenceTest#getAndPut_Existing",
            "org.jsr107.tck.StoreByReferenceTest#getAndPut_Existing_NotSameKey",
            "org.jsr107.tck.StoreByReferenceTest#getAndPut_NotThere",
            "org.jsr107.tck.StoreByReferenceTest#getAndReplace",
            "org.jsr107.tck.StoreByReferenceTest#get_Existing",
            "org.jsr107.tck.StoreByReferenceTest#get_Existing_NotSameKey",
            "org.jsr107.tck.StoreByReferenceTest#putAll",
            "org.jsr107.tck.StoreByReferenceTest#putIfAbsent_Missing",
            "org.jsr107.tck.StoreByReferenceTest#putIfAbsent_There",
            "org.jsr107.tck.StoreByReferenceTest#put_Existing_NotSameKey",
            "org.jsr107.tck.StoreByReferenceTest#replace_3arg",
            "org.jsr107.tck.TypesTest#simpleAPINoGenericsAndNoTypeEnforcementStoreByReference");

    @TempDir
    Path directory;

    @Test
    void shouldPassTheTckWithThreeServersAndKeptValues() throws Exception {
        requireAllPassed(
                TckProcess.run(directory, "--servers", "3", "--near", "--verbose"),
                List.of("servers=3 replicas=3 near=validated"));
    }

    @Test
    @Tag("long")
    void shouldPassTheTckWithOneServerWithThreeAndOverClientPorts() throws Exception {
        requireAllPassed(
                TckProcess.run(directory, "--verbose"),
                List.of(
                        "servers=1 replicas=1",
                        "servers=3 replicas=3 near=validated",
                        "servers=3 replicas=3 over=client-ports"));
    }

    @Test
    @Tag("long")
    void shouldPassTheTckOverDevices() throws Exception {
        for (String mode : List.of("landed", "leased")) {
            requireAllPassed(
                    TckProcess.run(directory, "--fabric", mode, "--verbose"),
                    List.of("servers=3 replicas=3 over=client-ports fabric=rdma-" + mode));
        }
    }

    private static void requireAllPassed(TckProcess process, List<String> stores) {
        process.show(TckPart.CACHING);
        final List<String> expected = new ArrayList<>();
        for (String store : stores) {
            expected.add("tck: " + store + " java=" + Runtime.version());
            LEFT_OUT.forEach(name -> expected.add("skipped: " + name));
            expected.add(TOTALS);
        }
        assertThat(process.linesOf(TckPart.CACHING)).as(process.text()).isEqualTo(expected);
        assertThat(process.lines()).as(process.text()).endsWith(TOTALS);
        assertThat(process.exitCode()).isZero();
    }
}
