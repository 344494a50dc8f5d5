package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;

/** Definitions of tables that cannot be: each is refused with its reason, and leaves no cache. */
final class RefusedTablesTest {
    private Connection connection;
    private Statement statement;

    @BeforeEach
    void open() throws SQLException {
        connection = DriverManager.getConnection("jdbc:rowan:embedded?servers=1&capacity=32m&name=refused");
        statement = connection.createStatement();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private int tables() throws SQLException {
        try (ResultSet rows = connection.getMetaData().getTables(null, "CACHES", "%", null)) {
            int count = 0;
            while (rows.next()) {
                count++;
            }
            return count;
        }
    }

    private SQLException refusal(String sql) {
        return catchThrowableOfType(SQLException.class, () -> statement.execute(sql));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "CREATE TABLE x(a INT, A INT) | 42S21 | Duplicate column",
                "CREATE TABLE x(a NOTATYPE) | HY004 | NOTATYPE",
                "CREATE TABLE x(a INT ARRAY PRIMARY KEY) | 0A000 | CREATE TABLE with a column",
                "CREATE TABLE x(a INTERVAL DAY PRIMARY KEY, b INT) | 0A000 | CREATE TABLE with a column",
                "CREATE TABLE x(a INT PRIMARY KEY, b GEOMETRY) | 0A000 | CREATE TABLE with a column",
                "CREATE TABLE x(a INT PRIMARY KEY, b INT DEFAULT 1) | 0A000 | CREATE TABLE with a column",
                "CREATE TABLE x(a INT, PRIMARY KEY(b)) | 42S22 | not found",
                "CREATE TABLE x(a INT PRIMARY KEY, b INT PRIMARY KEY) | 90017 | second primary key",
                "CREATE TABLE order(a INT) | 42001 | Syntax error",
                "DROP TABLE nothing | 42S02 | not found",
            })
    void shouldSayWhatCannotBe(String sql, String state, String reason) throws SQLException {
        final SQLException refusal = refusal(sql);
        assertThat((Throwable) refusal).as(sql).isNotNull().hasMessageContaining(reason);
        assertThat(refusal.getSQLState()).isEqualTo(state);
        assertThat(tables()).isZero();
    }

    @Test
    void shouldRefuseANameThatIsTooLong() throws SQLException {
        assertThat((Throwable) refusal("CREATE TABLE " + "x".repeat(300) + "(a INT)"))
                .hasMessageContaining("too long");
        assertThat(tables()).isZero();
    }

    @Test
    void shouldRefuseMoreColumnsThanADescriptorHolds() throws SQLException {
        final String columns = IntStream.range(0, 3_000)
                .mapToObj(i -> "c" + "x".repeat(100) + i + " INT")
                .collect(Collectors.joining(", ", "(", ")"));
        final SQLException refusal = refusal("CREATE TABLE broad" + columns);
        assertThat((Throwable) refusal).hasMessageContaining("longer than its descriptor holds");
        assertThat(refusal.getSQLState()).isEqualTo("54000");
        assertThat(tables()).isZero();
    }

    /** What the store answers reaches the caller, and the name can be used afterwards. */
    @Test
    void shouldSayWhyTheStoreMakesNoCache() throws SQLException {
        try (CountedStore store = new CountedStore();
                Connection own = store.connect();
                Statement create = own.createStatement()) {
            final Map<RowanException, String> states = Map.of(
                    new RowanException(Status.TOO_LARGE, "a store has used all of its 1048575 cache ids"), "54000",
                    new RowanException(Status.UNREACHABLE, "no server answers"), "08006",
                    new RowanException(Status.NO_REPLY, "no server answers"), "HYT00",
                    new RowanException(Status.FULL, "the store is full"), "53100");
            for (Map.Entry<RowanException, String> each : states.entrySet()) {
                store.refusal = each.getKey();
                final SQLException refusal = catchThrowableOfType(
                        SQLException.class, () -> create.execute("CREATE TABLE t(a INT PRIMARY KEY)"));
                assertThat((Throwable) refusal).isNotNull();
                assertThat(refusal.getSQLState()).isEqualTo(each.getValue());
                assertThat((Throwable) refusal)
                        .hasMessageContaining(each.getKey().getMessage());
            }
            store.refusal = null;
            create.execute("CREATE TABLE t(a INT PRIMARY KEY)");
            assertThat(create.executeUpdate("INSERT INTO t VALUES (1)")).isEqualTo(1);
        }
    }

    /** H2 would do these in the private database of the connection, and say that they are done. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ROLLBACK",
                "rollback to savepoint s",
                "SAVEPOINT s",
                "BEGIN",
                "START TRANSACTION",
                "SET AUTOCOMMIT OFF",
                "SET AUTOCOMMIT FALSE",
                "PREPARE COMMIT s",
                "GRANT SELECT ON t TO PUBLIC",
                "REVOKE SELECT ON t FROM PUBLIC",
                "COMMENT ON TABLE t IS 'x'",
                "COMMENT ON COLUMN t.a IS 'x'",
                "ALTER TABLE t RENAME TO u",
                "ALTER TABLE t ALTER COLUMN v RENAME TO w",
                "CREATE VIEW u AS SELECT * FROM t",
                "CREATE OR REPLACE FORCE VIEW u AS SELECT * FROM t",
                "CREATE GLOBAL TEMPORARY TABLE u(a INT)",
                "CREATE TEMP TABLE u(a INT)",
                "SELECT * FROM OLD TABLE (DELETE FROM t)"
            })
    void shouldRefuseWhatWouldHaveNoEffectOnTheStore(String sql) throws SQLException {
        statement.execute("CREATE TABLE t(a INT PRIMARY KEY, v INT)");
        statement.execute("INSERT INTO t VALUES (1, 1), (2, 2)");

        final SQLException refusal = refusal(sql);
        assertThat((Throwable) refusal).hasMessageContaining("not supported");
        assertThat(refusal.getSQLState()).isEqualTo("0A000");
        statement.addBatch(sql);
        assertThat((Throwable) catchThrowableOfType(SQLException.class, statement::executeBatch))
                .isNotNull();
        assertThat(tables()).isEqualTo(1);
        assertThat(statement.executeUpdate("TRUNCATE TABLE t")).as("its rows").isEqualTo(2);
        statement.execute("DROP TABLE t");
        assertThat(tables()).isZero();
    }

    @Test
    void shouldKeepATableThatExists() throws SQLException {
        statement.execute("CREATE TABLE t(a INT PRIMARY KEY)");
        statement.execute("INSERT INTO t VALUES (7)");

        assertThat((Throwable) refusal("CREATE TABLE T(b VARCHAR)")).hasMessageContaining("already exists");
        statement.execute("CREATE TABLE IF NOT EXISTS t(b VARCHAR)");
        try (ResultSet rows = statement.executeQuery("SELECT a FROM t")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getInt(1)).isEqualTo(7);
        }
        statement.execute("DROP TABLE t");
        statement.execute("DROP TABLE IF EXISTS t");
        assertThat(tables()).isZero();
    }
}
