package org.rowankv.jdbc.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command on a store that an application has closed. */
final class SqlCommandTest {
    @TempDir
    Path directory;

    private String uri;
    private int code;

    @BeforeEach
    void fill() {
        uri = "rowan:embedded?servers=1&capacity=32m&dir=" + directory;
        try (CacheManager manager = Caching.getCachingProvider("org.rowankv.jcache.spi.RowanCachingProvider")
                .getCacheManager(URI.create(uri), null)) {
            final Cache<Integer, String> cache = manager.createCache(
                    "c", new MutableConfiguration<Integer, String>().setTypes(Integer.class, String.class));
            cache.put(1, "one, \"1\"");
            cache.put(2, "two\nlines");
        }
    }

    /** What the command prints, errors included. */
    private List<String> run(String input, String... arguments) {
        final PrintStream out = System.out;
        final PrintStream err = System.err;
        final InputStream in = System.in;
        final ByteArrayOutputStream printed = new ByteArrayOutputStream();
        final PrintStream all = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setOut(all);
        System.setErr(all);
        System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
        try {
            code = new CommandLine(new SqlCommand())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .execute(arguments);
        } finally {
            System.setOut(out);
            System.setErr(err);
            System.setIn(in);
        }
        return printed.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void shouldPrintRows() {
        final String select = "SELECT _key, _value, NULL AS n FROM c ORDER BY 1";

        assertThat(run("", "--url", "jdbc:" + uri, "-e", select))
                .containsExactly(
                        "_KEY | _VALUE    | n",
                        "-----+-----------+-----",
                        "1    | one, \"1\"  | null",
                        "2    | two lines | null",
                        "2 rows");
        assertThat(code).isZero();
        assertThat(run("", "--url", uri, "--format", "csv", "-e", select))
                .containsExactly("_KEY,_VALUE,n", "1,\"one, \"\"1\"\"\",", "2,\"two", "lines\",");
        assertThat(run("", "--url", uri, "--format", "json", "-e", select))
                .containsExactly(
                        "{\"_KEY\":1,\"_VALUE\":\"one, \\\"1\\\"\",\"n\":null}",
                        "{\"_KEY\":2,\"_VALUE\":\"two\\u000alines\",\"n\":null}");
    }

    @Test
    void shouldNeedOnlyTheDirectoryOfAStore() {
        assertThat(run("", "--url", "jdbc:rowan:embedded?dir=" + directory, "-e", "SELECT count(*) AS n FROM c"))
                .containsExactly("n", "-", "2", "1 row");
        assertThat(run("", "--url", "jdbc:rowan:embedded?servers=2&dir=" + directory, "-e", "SELECT 1")
                        .get(0))
                .contains("created with servers=1, not 2");
    }

    @Test
    void shouldReadStatementsFromTheInput() {
        assertThat(run(
                        "UPDATE c\nSET _value = 'x' WHERE _key = 1;\nDELETE FROM c WHERE _key = 2;\nSELECT * FROM c",
                        "--url",
                        uri))
                .containsExactly("1 changed", "1 changed", "_KEY | _VALUE", "-----+-------", "1    | x", "1 row");
        assertThat(code).isZero();
    }

    @Test
    void shouldShowTablesAndColumns() {
        assertThat(run("SHOW TABLES;\ntables;\ndescribe C;", "--url", uri, "--format", "csv"))
                .containsExactly(
                        "table",
                        "c",
                        "table",
                        "c",
                        "column,type,nullable",
                        "_KEY,INTEGER,NO",
                        "_VALUE,CHARACTER VARYING,NO",
                        "_EXPIRES,TIMESTAMP WITH TIME ZONE,YES",
                        "_VERSION,BIGINT,YES");
        assertThat(code).isZero();
    }

    @Test
    void shouldSayWhatFails() {
        assertThat(run("", "--url", uri, "-e", "SELECT * FROM nothing", "-e", "SELECT 1")
                        .get(0))
                .contains("Table \"nothing\" not found");
        assertThat(code).isEqualTo(1);
        assertThat(run("", "--url", "rowan:embedded?colour=red", "-e", "SELECT 1")
                        .get(0))
                .contains("unknown setting \"colour\"");
        assertThat(code).isEqualTo(1);
    }
}
