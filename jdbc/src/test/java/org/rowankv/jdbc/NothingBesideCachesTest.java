package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A statement reads and changes caches, and reaches no file, no class, no other database and no setting of the JVM. */
final class NothingBesideCachesTest {
    /** An instance shows that stored bytes became an object. */
    public static final class Gadget implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    @TempDir
    Path directory;

    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        connection = DriverManager.getConnection("jdbc:rowan:embedded?servers=1&capacity=32m&name=closed");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (statement.execute(sql.replace("DIR", directory.toString()))) {
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows.next()) {
                        final Object unused = rows.getObject(1);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE ALIAS EXEC AS 'void exec() { System.exit(1); }'",
                "CREATE ALIAS EXEC FOR 'java.lang.System.exit'",
                "CREATE AGGREGATE A FOR 'org.rowankv.jdbc.RowanDriver'",
                "CREATE TRIGGER T BEFORE INSERT ON INFORMATION_SCHEMA.TABLES CALL 'org.rowankv.jdbc.RowanDriver'",
                "CREATE TRIGGER T BEFORE SELECT ON C AS '//javascript\njava.lang.System.exit(1)'",
                "CALL \"java.lang.System.exit\"(1)",
                "RUNSCRIPT FROM 'DIR/a.sql'",
                "SCRIPT TO 'DIR/a.sql'",
                "SCRIPT",
                "BACKUP TO 'DIR/a.zip'",
                "CREATE LINKED TABLE L('org.h2.Driver', 'jdbc:h2:mem:other', 'sa', '', 'T')",
                "CREATE LINKED TABLE L('javax.naming.InitialContext', 'ldap://localhost/x', 'sa', '', 'T')",
                "SELECT * FROM LINK_SCHEMA('S', '', 'jdbc:h2:mem:other', 'sa', '', 'PUBLIC')",
                "SELECT * FROM CSVREAD('/etc/passwd')",
                "CALL CSVWRITE('DIR/a.csv', 'SELECT 1')",
                "CALL FILE_READ('/etc/passwd')",
                "CALL FILE_READ('http://127.0.0.1:1/')",
                "CALL FILE_WRITE('x', 'DIR/a.txt')",
                "CREATE TABLE T(X INT) ENGINE \"org.rowankv.jdbc.RowanDriver\"",
                "CREATE TABLE PUBLIC.T(X INT)",
                "CREATE USER U PASSWORD 'x' ADMIN",
                "ALTER USER \"rowan\" ADMIN TRUE",
                "CREATE ROLE R",
                "GRANT ALTER ANY SCHEMA TO \"rowan\"",
                "CREATE SCHEMA S",
                "DROP SCHEMA CACHES CASCADE",
                "DROP ALL OBJECTS",
                "DROP ALL OBJECTS DELETE FILES",
                "CREATE VIEW V AS SELECT 1",
                "CREATE SEQUENCE S",
                "CREATE DOMAIN D AS INT",
                "CREATE CONSTANT K VALUE 1",
                "CREATE SYNONYM S FOR INFORMATION_SCHEMA.TABLES",
                "SHUTDOWN",
                "SHUTDOWN IMMEDIATELY",
                "CHECKPOINT",
                "SET DATABASE_EVENT_LISTENER 'org.rowankv.jdbc.RowanDriver'",
                "SET JAVA_OBJECT_SERIALIZER 'org.rowankv.jdbc.RowanDriver'",
                "SET AUTHENTICATOR TRUE",
                "SET MODE MySQL",
                "SET BUILTIN_ALIAS_OVERRIDE TRUE",
                "SET TRACE_LEVEL_FILE 4",
                "SET TRACE_LEVEL_SYSTEM_OUT 3",
                "SET TRACE_MAX_FILE_SIZE 1",
                "SET CACHE_SIZE 1",
                "SET EXCLUSIVE 1",
                "SET MAX_OPERATION_MEMORY 1",
                "SET ALLOW_LITERALS NONE",
                "CALL ABORT_SESSION(1)",
                "CALL CANCEL_SESSION(1)",
                "CALL MEMORY_FREE()",
                "SELECT CAST(X'aced0005' AS JAVA_OBJECT)",
                "INSERT INTO INFORMATION_SCHEMA.TABLES(TABLE_NAME) VALUES ('x')",
                "UPDATE INFORMATION_SCHEMA.SETTINGS SET SETTING_VALUE = 'x'",
                "DELETE FROM INFORMATION_SCHEMA.TABLES",
                "TRUNCATE TABLE INFORMATION_SCHEMA.TABLES",
                "CREATE LOCAL TEMPORARY TABLE T(X INT) ENGINE \"org.rowankv.jdbc.RowanDriver\"",
                "CREATE TEMPORARY LINKED TABLE L('org.h2.Driver', 'jdbc:h2:mem:other', 'sa', '', 'T')",
                "EXECUTE IMMEDIATE 'CREATE ALIAS E FOR ''java.lang.System.exit'''",
                "SET REFERENTIAL_INTEGRITY FALSE",
                "SET IGNORECASE TRUE",
                "DROP USER \"rowan\"",
                "ANALYZE",
                "CALL MEMORY_USED()",
            })
    void shouldRefuse(String sql) throws Exception {
        assertThatThrownBy(() -> execute(sql)).as(sql).isInstanceOf(SQLException.class);
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).isEmpty();
        }
        execute("SELECT 1"); // the connection goes on
    }

    @Test
    void shouldMakeNoObjectOfBytesOrBytesOfObjects() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT ?")) {
            assertThatThrownBy(() -> statement.setObject(1, new Gadget())).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void shouldHaveNoAdministrator() {
        assertThatThrownBy(() -> execute("CREATE ALIAS E FOR 'java.lang.System.exit'"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("Admin rights");
    }

    /** H2 takes such settings from its URL and its properties, and runs them as its administrator. */
    @Test
    void shouldPassNothingToH2() throws SQLException {
        final Properties properties = new Properties();
        properties.setProperty("INIT", "CREATE ALIAS E FOR 'java.lang.System.exit'");
        properties.setProperty("user", "sa");
        try (Connection other = DriverManager.getConnection(
                        "jdbc:rowan:embedded?servers=1&capacity=32m&name=closed", properties);
                Statement statement = other.createStatement()) {
            assertThatThrownBy(() -> statement.execute("CALL E(1)")).isInstanceOf(SQLException.class);
        }
        assertThatThrownBy(() -> DriverManager.getConnection(
                        "jdbc:rowan:embedded?servers=1&capacity=32m&name=closed;INIT=CREATE ALIAS E FOR 'x'"))
                .isInstanceOf(SQLException.class);
    }

    @Test
    void shouldKeepTemporaryTablesToItself() throws SQLException {
        execute("CREATE LOCAL TEMPORARY TABLE own(x INT)");
        execute("INSERT INTO own VALUES (1)");
        execute("SELECT * FROM own");
        try (Connection other = DriverManager.getConnection("jdbc:rowan:embedded?servers=1&capacity=32m&name=closed");
                Statement statement = other.createStatement()) {
            assertThatThrownBy(() -> statement.execute("SELECT * FROM own")).isInstanceOf(SQLException.class);
        }
    }
}
