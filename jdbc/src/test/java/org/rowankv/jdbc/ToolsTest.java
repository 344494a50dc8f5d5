package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.DSL.table;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.exception.IntegrityConstraintViolationException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sqlline.SqlLine;

/** Tools of others work with the driver: jOOQ, sqlline, and the calls that DBeaver makes. */
final class ToolsTest {
    private static final String URL = "jdbc:rowan:embedded?servers=1&capacity=32m&name=tools";

    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        connection = DriverManager.getConnection(URL);
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE goods(id INT PRIMARY KEY, name VARCHAR, price NUMERIC(8, 2))");
            statement.execute("INSERT INTO goods VALUES (1, 'pen', 1.50), (2, 'ink', 7.25)");
        }
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void shouldServeJooq() {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
        final DSLContext jooq = DSL.using(connection, SQLDialect.H2);
        final Table<Record> goods = table(name("goods"));
        final Field<Integer> id = field(name("id"), Integer.class);
        final Field<String> title = field(name("name"), String.class);
        final Field<BigDecimal> price = field(name("price"), BigDecimal.class);

        assertThat(jooq.insertInto(goods, id, title, price)
                        .values(3, "pad", new BigDecimal("2.00"))
                        .values(4, "bag", new BigDecimal("20.00"))
                        .execute())
                .isEqualTo(2);
        assertThat(jooq.batch(jooq.insertInto(goods, id, title, price).values((Integer) null, null, null))
                        .bind(5, "a", BigDecimal.ONE)
                        .bind(6, "b", BigDecimal.TEN)
                        .execute())
                .containsExactly(1, 1);
        assertThat(jooq.update(goods).set(price, price.plus(1)).where(id.le(2)).execute())
                .isEqualTo(2);
        assertThat(jooq.select(sum(price)).from(goods).fetchOne(0, BigDecimal.class))
                .isEqualByComparingTo("43.75");
        assertThat(jooq.select(title)
                        .from(goods)
                        .where(id.in(1, 4, 9))
                        .orderBy(price.desc())
                        .limit(5)
                        .fetch(title))
                .containsExactly("bag", "pen");
        assertThat(jooq.deleteFrom(goods).where(id.ge(5)).execute()).isEqualTo(2);
        assertThat(jooq.fetchCount(goods)).isEqualTo(4);
        assertThatThrownBy(() -> jooq.insertInto(goods, id).values(1).execute())
                .isInstanceOf(IntegrityConstraintViolationException.class);
        assertThat(jooq.meta().getTables("goods").get(0).fields())
                .extracting(Field::getName)
                .startsWith("id", "name", "price");
        assertThat(jooq.meta().getTables("goods").get(0).getPrimaryKey().getFields())
                .extracting(Field::getName)
                .containsExactly("id");
    }

    @Test
    void shouldServeSqlline() throws Exception {
        final ByteArrayOutputStream printed = new ByteArrayOutputStream();
        final SqlLine shell = new SqlLine();
        shell.setOutputStream(new PrintStream(printed, true, StandardCharsets.UTF_8));
        shell.setErrorStream(new PrintStream(printed, true, StandardCharsets.UTF_8));
        final String script = "!set outputformat csv\n!tables\n!columns goods\n!primarykeys goods\n"
                + "SELECT * FROM goods ORDER BY id;\nUPDATE goods SET price = 3 WHERE id = 1;\n"
                + "SELECT price FROM goods WHERE id = 1;\n!quit\n";

        shell.begin(
                new String[] {"-u", URL, "-n", "", "-p", ""},
                new ByteArrayInputStream(script.getBytes(StandardCharsets.UTF_8)),
                false);

        final String text = printed.toString(StandardCharsets.UTF_8);
        assertThat(text)
                .contains("'CACHES','goods','BASE TABLE'")
                .contains("'goods','price','2','NUMERIC'")
                .contains("'CACHES','goods','id','1'")
                .contains("'1','pen','1.50'", "'2','ink','7.25'")
                .contains("1 row affected")
                .contains("'3.00'")
                .doesNotContain("Exception");
    }

    private static List<String> first(ResultSet rows, String column) throws SQLException {
        final List<String> all = new ArrayList<>();
        try (rows) {
            while (rows.next()) {
                all.add(rows.getString(column));
            }
        }
        return all;
    }

    /** What its driver for any database asks when it connects, opens a table, and saves a changed cell. */
    @Test
    void shouldServeDBeaver() throws SQLException {
        final DatabaseMetaData asked = connection.getMetaData();
        assertThat(asked.getDatabaseProductName()).isEqualTo("Rowan-KV");
        assertThat(asked.getIdentifierQuoteString()).isEqualTo("\"");
        assertThat(asked.getSearchStringEscape()).isEqualTo("\\");
        assertThat(asked.getSQLKeywords()).isNotNull();
        assertThat(asked.getNumericFunctions()
                        + asked.getStringFunctions()
                        + asked.getSystemFunctions()
                        + asked.getTimeDateFunctions())
                .contains("ABS");
        assertThat(asked.getExtraNameCharacters()).isNotNull();
        assertThat(asked.supportsTransactions()).isFalse();
        assertThat(asked.supportsBatchUpdates()).isTrue();
        assertThat(asked.supportsMultipleResultSets()).isFalse();
        assertThat(asked.getSchemaTerm()).isNotBlank();
        assertThat(asked.getCatalogSeparator()).isEqualTo(".");
        assertThat(first(asked.getCatalogs(), "TABLE_CAT")).hasSize(1);
        assertThat(first(asked.getSchemas(), "TABLE_SCHEM")).contains("CACHES", "INFORMATION_SCHEMA");
        assertThat(first(asked.getTableTypes(), "TABLE_TYPE")).contains("BASE TABLE");
        assertThat(first(asked.getTypeInfo(), "TYPE_NAME")).contains("INTEGER", "NUMERIC");
        assertThat(connection.getSchema()).isEqualTo("CACHES");

        assertThat(first(asked.getTables(null, "CACHES", "%", null), "TABLE_NAME"))
                .containsExactly("goods");
        assertThat(first(asked.getColumns(null, "CACHES", "goods", "%"), "COLUMN_NAME"))
                .startsWith("id", "name", "price");
        assertThat(first(asked.getPrimaryKeys(null, "CACHES", "goods"), "COLUMN_NAME"))
                .containsExactly("id");
        assertThat(first(asked.getIndexInfo(null, "CACHES", "goods", false, true), "COLUMN_NAME"))
                .contains("id");
        assertThat(first(asked.getImportedKeys(null, "CACHES", "goods"), "FKCOLUMN_NAME"))
                .isEmpty();
        assertThat(first(asked.getExportedKeys(null, "CACHES", "goods"), "FKCOLUMN_NAME"))
                .isEmpty();
        assertThat(first(asked.getProcedures(null, "CACHES", "%"), "PROCEDURE_NAME"))
                .isEmpty();
        assertThat(first(asked.getFunctions(null, "CACHES", "%"), "FUNCTION_NAME"))
                .isEmpty();
        assertThat(first(asked.getUDTs(null, "CACHES", "%", null), "TYPE_NAME")).isEmpty();
        assertThat(first(
                        asked.getBestRowIdentifier(null, "CACHES", "goods", DatabaseMetaData.bestRowSession, true),
                        "COLUMN_NAME"))
                .containsExactly("id");

        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(200);
            statement.setMaxRows(200);
            assertThat(statement.execute("SELECT x.* FROM CACHES.goods x ORDER BY x.id"))
                    .isTrue();
            try (ResultSet rows = statement.getResultSet()) {
                final ResultSetMetaData columns = rows.getMetaData();
                assertThat(columns.getColumnCount()).isEqualTo(3);
                assertThat(columns.getTableName(1)).isEqualTo("goods");
                assertThat(columns.getSchemaName(1)).isEqualTo("CACHES");
                assertThat(columns.getColumnName(3)).isEqualTo("price");
                assertThat(rows.next()).isTrue();
            }
            assertThat(statement.getMoreResults()).isFalse();
            assertThat((Throwable) statement.getWarnings()).isNull();
        }
        try (PreparedStatement save = connection.prepareStatement("UPDATE CACHES.goods SET price=?\nWHERE id=?")) {
            save.setBigDecimal(1, new BigDecimal("9.99"));
            save.setInt(2, 2);
            assertThat(save.executeUpdate()).isEqualTo(1);
        }
    }
}
