package org.rowankv.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.samples.CommandRun;
import org.rowankv.samples.quickstart.Quickstart;
import picocli.CommandLine;

/** The demonstrations with few objects; their measurements are not asserted. */
class DemoTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldFindEveryObjectAfterTheOldProcessHasClosed(String servers, String replicas) throws Exception {
        final CommandRun run = CommandRun.of(
                Demo.class, "redeploy", "--objects", "1000", "--servers", servers, "--replicas", replicas);
        assertThat(run.lastLine()).matches("redeploy: objects=1000 verified=1000 missing=0 first_get_ms=\\d+");
        assertThat(run.exitCode()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldFindEveryObjectAfterTheOldProcessWasKilled(String servers, String replicas) throws Exception {
        final CommandRun run = CommandRun.of(
                Demo.class, "redeploy", "--kill", "--objects", "1000", "--servers", servers, "--replicas", replicas);
        assertThat(run.lastLine()).matches("redeploy: objects=1000 verified=1000 missing=0 first_get_ms=\\d+");
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void shouldFindWhatIsMissingAndWhatIsWrong() {
        final DerivedObjects objects = new DerivedObjects(7);
        try (CacheManager manager =
                Caching.getCachingProvider().getCacheManager(URI.create("rowan:embedded?name=findings"), null)) {
            final Cache<String, byte[]> cache = manager.createCache(
                    "found", new MutableConfiguration<String, byte[]>().setTypes(String.class, byte[].class));
            for (int i = 0; i < 10; i++) {
                cache.put(DerivedObjects.key(i), objects.value(DerivedObjects.key(i)));
            }
            assertThat(check(cache)).isEqualTo(new NewApplication.Findings(10, 0, 10));
            final byte[] damaged = objects.value(DerivedObjects.key(3));
            damaged[damaged.length - 1] ^= 1;
            cache.put(DerivedObjects.key(3), damaged);
            cache.remove(DerivedObjects.key(4));
            assertThat(check(cache)).isEqualTo(new NewApplication.Findings(8, 1, 8));
        }
    }

    private NewApplication.Findings check(Cache<String, byte[]> cache) {
        return NewApplication.check(cache, new DeployedStore(directory, 1, 1, 0, 10, 7, false));
    }

    @Test
    void shouldSayWhatStartingCosts() throws Exception {
        final CommandRun run = CommandRun.of(Demo.class, "start", "--runs", "1");
        assertThat(run.lastLine()).matches("start: manager_ms=\\d+ put_ms=\\d+ resident_mib=-?\\d+ direct_mib=\\d+");
        assertThat(run.exitCode()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "redeploy --objects 0",
        "redeploy --servers 0",
        "redeploy --servers 2 --replicas 3",
        "start --runs 0",
        "stop"
    })
    void shouldRefuseWhatMakesNoSense(String words) throws Exception {
        final CommandRun run = CommandRun.of(Demo.class, words.split(" "));
        assertThat(run.exitCode()).isEqualTo(CommandLine.ExitCode.USAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"quickstart", "redeploy"})
    void shouldUseNoDirectoryOfSomebodyElse(String sample) throws Exception {
        Files.writeString(directory.resolve("manifest.txt"), "foreign");
        Files.createDirectory(directory.resolve("store"));
        final CommandRun run = sample.equals("quickstart")
                ? CommandRun.of(Quickstart.class, "--objects", "10", "--dir", directory.toString())
                : CommandRun.of(Demo.class, "redeploy", "--objects", "10", "--dir", directory.toString());
        assertThat(run.exitCode()).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(run.lines())
                .anyMatch(line -> line.contains("holds other files") && line.contains("nothing was changed"));
        assertThat(directory.resolve("manifest.txt")).hasContent("foreign");
        assertThat(directory.resolve("store")).isEmptyDirectory();
    }
}
