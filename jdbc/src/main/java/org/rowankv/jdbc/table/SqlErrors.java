package org.rowankv.jdbc.table;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLTransientException;
import org.h2.message.DbException;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;

/** SQL exceptions of failures of the store. */
final class SqlErrors {
    /** Another writer was faster, and the statement cannot be evaluated again. */
    private static final String SERIALIZATION_FAILURE = "40001";

    private SqlErrors() {}

    static DbException of(RowanException failure) {
        final String message = failure.getMessage();
        final Status status = failure.status();
        final SQLException translated = switch (status) {
            case FULL -> new SQLTransientException(message, "53100", failure);
            case TOO_LARGE -> new SQLException(message, "54000", failure);
            case UNKNOWN_CACHE -> new SQLException(message, "42S02", failure);
            case UNREACHABLE, UNDER_REPLICATED, NO_VERSION ->
                new SQLTransientConnectionException(message, "08006", failure);
            case NO_REPLY -> new SQLTimeoutException(message, "HYT00", failure);
            case OUTCOME_UNKNOWN -> new SQLException(message, "08007", failure);
            case CLOSED -> new SQLNonTransientConnectionException(message, "08003", failure);
            default -> new SQLException(message, "HY000", failure);
        };
        return DbException.convert(translated);
    }

    static DbException lostRace(String table) {
        return DbException.fromUser(
                SERIALIZATION_FAILURE,
                "a row of " + table + " was changed by another writer during the statement; run it again");
    }

    static DbException of(IllegalArgumentException refusal) {
        return DbException.fromUser("22018", refusal.getMessage());
    }

    static DbException unsupported(String what) {
        return DbException.fromUser("0A000", what + " is not supported for caches");
    }
}
