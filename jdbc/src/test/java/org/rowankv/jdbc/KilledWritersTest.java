package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process is killed within UPDATEs: each row is as before or as after, and none is gone. */
final class KilledWritersTest {
    private static final int ROWS = 2_000;
    private static final int KILLS = "all".equals(System.getProperty("rowan.test.scale")) ? 20 : 3;

    @TempDir
    Path directory;

    /** The process: says which of its UPDATEs have returned. */
    static final class Writer {
        public static void main(String[] args) throws SQLException {
            try (Connection connection = DriverManager.getConnection(args[0]);
                    Statement statement = connection.createStatement()) {
                System.out.println("open");
                while (statement.executeUpdate("UPDATE pairs SET a = a + 1, b = b - 1") == ROWS) {
                    System.out.println("updated");
                }
            }
        }
    }

    /** Kills the process some time after its first UPDATEs; returns how many have returned. */
    private int updateAndKill(String url, int after, int pauseMs) throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Writer.class.getName(),
                        url)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int updated = 0;
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            assertThat(said.readLine()).isEqualTo("open");
            while (updated < after && said.readLine() != null) {
                updated++;
            }
            process.waitFor(pauseMs, TimeUnit.MILLISECONDS);
            process.toHandle().destroyForcibly(); // which leaves what it has said readable
            process.waitFor();
            while (said.readLine() != null) {
                updated++;
            }
        }
        assertThat(process.exitValue()).as("killed").isEqualTo(128 + 9);
        return updated;
    }

    @Test
    void shouldLeaveEachRowOldOrNew() throws Exception {
        final String url = "jdbc:rowan:embedded?servers=1&capacity=64m&dir=" + directory;
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE pairs(id INT PRIMARY KEY, a BIGINT, b BIGINT, text VARCHAR)");
            statement.execute("INSERT INTO pairs SELECT x, 0, 1000000, 'row ' || x FROM system_range(1, " + ROWS + ")");
        }
        final Random random = new Random(9);
        int rowsLost = 0;
        int torn = 0;
        int between = 0;
        long updated = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            final long atLeast = updated + updateAndKill(url, 1 + random.nextInt(3), random.nextInt(30));
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(
                            "SELECT count(*), sum(CASE WHEN a + b <> 1000000 OR text <> 'row ' || id THEN 1 ELSE 0 END),"
                                    + " min(a), max(a) FROM pairs")) {
                assertThat(rows.next()).isTrue();
                rowsLost += ROWS - rows.getInt(1);
                torn += rows.getInt(2);
                between += rows.getLong(3) < rows.getLong(4) ? 1 : 0;
                assertThat(rows.getLong(3)).isGreaterThanOrEqualTo(atLeast);
                assertThat(rows.getLong(4)).isLessThanOrEqualTo(atLeast + 1);
                updated = rows.getLong(4);
            }
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate("UPDATE pairs SET a = a + 1, b = b - 1 WHERE a < " + updated);
            }
        }
        System.out.println("jdbc-killed: kills=" + KILLS + " within_an_update=" + between + " rows_lost=" + rowsLost
                + " torn=" + torn);
        assertThat(rowsLost + torn).isZero();
    }
}
