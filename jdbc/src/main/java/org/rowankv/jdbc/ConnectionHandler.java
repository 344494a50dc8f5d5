package org.rowankv.jdbc;

import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.h2.jdbc.JdbcConnection;
import org.jspecify.annotations.Nullable;

/** A connection: without transactions, and says so. */
final class ConnectionHandler extends JdbcHandler {
    private final JdbcConnection connection;
    private final ConnectionUrl url;
    private final Executions executions;
    private final Runnable whenClosed;
    private final AtomicBoolean released = new AtomicBoolean();
    /** Of a handle that a pool has lent: what it must close when it is given back. */
    private final @Nullable List<Statement> lentStatements;

    private boolean autocommit = true;

    private ConnectionHandler(
            JdbcConnection connection, ConnectionUrl url, Executions executions, Runnable whenClosed, boolean isLent) {
        super(connection);
        this.lentStatements = isLent ? new ArrayList<>() : null;
        this.connection = connection;
        this.url = url;
        this.executions = executions;
        this.whenClosed = whenClosed;
    }

    static Connection wrap(JdbcConnection connection, ConnectionUrl url, Executions executions, Runnable whenClosed) {
        return proxy(
                Connection.class,
                new ConnectionHandler(connection, url, executions, whenClosed, false),
                EntriesRead.class);
    }

    /** A handle whose end leaves the connection open. */
    static Connection lend(JdbcConnection connection, ConnectionUrl url, Executions executions, Runnable whenClosed) {
        return proxy(
                Connection.class,
                new ConnectionHandler(connection, url, executions, whenClosed, true),
                EntriesRead.class);
    }

    @Override
    @Nullable
    Object handle(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable {
        if (released.get() && lentStatements != null) {
            return afterReturn(method.getName());
        }
        switch (method.getName()) {
            case "entriesRead" -> {
                return executions.scope().entriesRead();
            }
            case "createStatement" -> {
                return statement(Statement.class, proxy, method, arguments);
            }
            case "prepareStatement" -> {
                return statement(PreparedStatement.class, proxy, method, arguments);
            }
            case "prepareCall" -> {
                return statement(CallableStatement.class, proxy, method, arguments);
            }
            case "getMetaData" -> {
                final Object metaData = forward(method, arguments);
                return MetaDataHandler.wrap(
                        metaData == null ? connection.getMetaData() : (DatabaseMetaData) metaData,
                        (Connection) proxy,
                        url);
            }
            case "close", "abort" -> {
                try {
                    return lentStatements == null ? forward(method, arguments) : closeAll(lentStatements);
                } finally {
                    release();
                }
            }
            default -> {
                return transaction(method, arguments);
            }
        }
    }

    private static Object afterReturn(String method) throws SQLException {
        return switch (method) {
            case "close", "abort", "isClosed" -> true;
            case "isValid" -> false;
            case "setClientInfo" -> throw new SQLClientInfoException("the connection was given back", "08003", null);
            default -> throw new SQLException("the connection was given back to its pool", "08003");
        };
    }

    private static @Nullable Object closeAll(List<Statement> statements) throws SQLException {
        for (Statement statement : statements) {
            statement.close();
        }
        return null;
    }

    private void release() {
        if (released.compareAndSet(false, true)) {
            whenClosed.run();
        }
    }

    private <T extends Statement> T statement(Class<T> type, Object proxy, Method method, @Nullable Object[] arguments)
            throws Throwable {
        final Object statement = forward(method, arguments);
        if (statement == null) {
            throw new SQLException("no statement was made", "HY000");
        }
        if (lentStatements != null) {
            lentStatements.removeIf(StatementHandler::isClosed);
            lentStatements.add((Statement) statement);
        }
        return StatementHandler.wrap(
                type,
                type.cast(statement),
                (Connection) proxy,
                executions,
                arguments.length > 0 && arguments[0] instanceof String sql ? sql : "");
    }

    private @Nullable Object transaction(Method method, @Nullable Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "setAutoCommit" -> {
                requireOpen();
                final boolean wanted = Boolean.TRUE.equals(arguments[0]);
                if (!wanted && !url.ignoresAutocommit()) {
                    throw new SQLFeatureNotSupportedException(
                            "there are no transactions; with autocommit=ignore in the URL this call has no effect",
                            "0A000");
                }
                autocommit = wanted;
                return null;
            }
            case "getAutoCommit" -> {
                requireOpen();
                return autocommit;
            }
            case "commit" -> {
                requireOpen();
                if (autocommit) {
                    throw new SQLException("commit in auto-commit mode", "25000");
                }
                return null;
            }
            case "rollback", "setSavepoint", "releaseSavepoint" -> {
                requireOpen();
                throw new SQLFeatureNotSupportedException(
                        "there are no transactions: what was written stays written", "0A000");
            }
            case "getTransactionIsolation" -> {
                requireOpen();
                return Connection.TRANSACTION_NONE;
            }
            case "setTransactionIsolation" -> {
                requireOpen();
                throw new SQLFeatureNotSupportedException("there are no transactions", "0A000");
            }
            case "isClosed", "isValid", "setClientInfo" -> {
                return forward(method, arguments);
            }
            default -> {
                requireOpen();
                return forward(method, arguments);
            }
        }
    }

    private void requireOpen() throws SQLException {
        if (connection.isClosed()) {
            throw new SQLException("the connection is closed", "08003");
        }
    }
}
