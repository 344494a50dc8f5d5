package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.leased.LeasedFabric;
import org.rowankv.server.membership.FabricKind;

/**
 * A server with {@code --fabric rdma} on a machine that lacks something for it says in one line what is missing and what
 * to do, and ends with code 1, or 2 for its options.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class RdmaStartTest {
    private static final String EXPORT = "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED";

    private static final String[] LEASED = {"--fabric=rdma", "--rdma-mode=leased", "--rdma-listen=127.0.0.1:7172"};

    @TempDir
    private Path dir;

    private record Ended(int code, List<String> lines) {
        void says(int expectedCode, String... words) {
            assertThat(code).as(String.join("\n", lines)).isEqualTo(expectedCode);
            assertThat(lines)
                    .as("what it prints")
                    .anySatisfy(line -> assertThat(line).contains(words))
                    .noneMatch(line -> line.startsWith("\tat "));
        }
    }

    private Ended start(List<String> jvm, String classPath, String... options) throws Exception {
        final List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java", "-Xmx128m"));
        command.addAll(jvm);
        command.addAll(List.of("-cp", classPath, ServerCommand.class.getName()));
        command.addAll(List.of("--name=a", "--data=" + dir.resolve("a"), "--zookeeper=127.0.0.1:1", "--expect=1"));
        command.addAll(List.of(options));
        final Path log = dir.resolve("log");
        final Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
            return new Ended(process.exitValue(), Files.readAllLines(log));
        } finally {
            process.destroyForcibly();
        }
    }

    private static String withDisni() {
        assertThat(System.getProperty("java.class.path")).contains("disni");
        return System.getProperty("java.class.path");
    }

    private static String withoutDisni() {
        return Arrays.stream(withDisni().split(File.pathSeparator))
                .filter(each -> !each.contains("disni"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    @Test
    void shouldNameTheJarThatIsMissing() throws Exception {
        start(List.of(), withoutDisni(), "--fabric=rdma", "--rdma-listen=127.0.0.1:7172")
                .says(1, "ROWAN-4006", "com.ibm.disni:disni:2.1", "class path", "--fabric tcp");
    }

    @Test
    void shouldNameTheOptionOfTheJvmThatIsMissing() throws Exception {
        start(List.of(), withDisni(), "--fabric=rdma", "--rdma-listen=127.0.0.1:7172")
                .says(1, "ROWAN-4006", "--add-exports java.base/sun.nio.ch=ALL-UNNAMED");
    }

    @Test
    void shouldNameTheLibraryThatIsMissing() throws Exception {
        start(List.of(EXPORT), withDisni(), "--fabric=rdma", "--rdma-listen=127.0.0.1:7172")
                .says(1, "ROWAN-4006", "libdisni.so", "libibverbs-dev and librdmacm-dev", "-Djava.library.path");
    }

    @Test
    void shouldSayWhichOptionsBelongTogether() throws Exception {
        start(List.of(), withDisni(), "--fabric=rdma").says(2, "--fabric rdma needs --rdma-listen");
        start(List.of(), withDisni(), "--rdma-listen=127.0.0.1:7172").says(2, "--rdma-listen needs --fabric rdma");
        start(List.of(), withDisni(), "--fabric=rdma", "--rdma-listen=10.0.0.1:1", "--peer-listen=127.0.0.1:7172")
                .says(2, "--peer-listen is for --fabric tcp");
        start(List.of(), withDisni(), "--rdma-mode=leased").says(2, "--rdma-mode needs --fabric rdma");
        start(List.of(), withDisni(), "--rdma-mode=landed").says(2, "--rdma-mode needs --fabric rdma");
        start(List.of(), withDisni(), LEASED[0], LEASED[1], LEASED[2], "--durability=power")
                .says(2, "durability power needs --rdma-mode landed or --fabric tcp");
    }

    @Test
    void shouldNeedTheSameForLeasedSegments() throws Exception {
        start(List.of(EXPORT), withDisni(), LEASED).says(1, "ROWAN-4006", "libdisni.so");
    }

    /** The formula of the least capacity knows what the fabric leases. */
    @Test
    void shouldReserveTheSegmentsThatAreLeased() {
        assertThat(FabricKind.RDMA_LEASED.leases()).isEqualTo(LeasedFabric.leasesPerServer());
        assertThat(VerbsSettings.usualOneSided().oneSided()).isGreaterThanOrEqualTo(LeasedFabric.oneSidedRequests());
    }
}
