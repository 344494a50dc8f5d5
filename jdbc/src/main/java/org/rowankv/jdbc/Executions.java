package org.rowankv.jdbc;

import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.rowankv.jdbc.table.StatementScope;

/** Begins the executions of a connection's statements. Used by the thread that runs a statement. */
final class Executions {
    private static final Pattern SELECT = Pattern.compile("\\bselect\\b", Pattern.CASE_INSENSITIVE);

    private static final Pattern WITHOUT_EFFECT = Pattern.compile(
            "\\s*(ROLLBACK|SAVEPOINT|BEGIN|START\\s+TRANSACTION|PREPARE\\s+COMMIT"
                    + "|SET\\s+AUTOCOMMIT\\s+(?:OFF|FALSE)|GRANT|REVOKE|COMMENT\\s+ON)\\b",
            Pattern.CASE_INSENSITIVE);

    private final JdbcConnection connection;
    private final StatementScope scope;

    Executions(JdbcConnection connection, StatementScope scope) {
        this.connection = connection;
        this.scope = scope;
    }

    StatementScope scope() {
        return scope;
    }

    /** Whether the text has a query. */
    static boolean hasQuery(String sql) {
        return SELECT.matcher(sql).find();
    }

    /** Whether the text is one statement; perhaps not if it has a semicolon in quotes. */
    static boolean isSingle(String sql) {
        final int end = sql.indexOf(';');
        return end < 0 || sql.substring(end + 1).isBlank();
    }

    /** Throws for what H2 would do in the connection's private database, where it changes nothing of the store. */
    static void requireEffect(String sql) throws SQLException {
        final Matcher found = WITHOUT_EFFECT.matcher(sql);
        if (found.lookingAt()) {
            throw new SQLFeatureNotSupportedException(
                    found.group(1).toUpperCase(Locale.ROOT)
                            + " is not supported: caches have no transactions, rights or comments",
                    "0A000");
        }
    }

    /**
     * Begins an execution: nothing that earlier ones have read is used again. Rows of a single query are read as they are
     * asked for; with an inner query H2 would run that once for each row, so rows are collected.
     *
     * @param statement for {@link StatementScope#cancel}
     * @param canRunAgain whether it can be run again for rows that it loses
     */
    void begin(Object statement, String sql, boolean canRunAgain) {
        final SessionLocal session = (SessionLocal) connection.getSession();
        final Matcher first = SELECT.matcher(sql);
        session.setLazyQueryExecution(!first.find() || !first.find(first.end()));
        scope.begin(statement, sql, session.getDatabase().getNextModificationDataId(), canRunAgain);
    }
}
