package org.rowankv.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is true of the store rather than of H2. */
final class MetaDataHandler extends JdbcHandler {
    private static final Map<String, Object> ANSWERS = Map.ofEntries(
            Map.entry("getDatabaseProductName", "Rowan-KV"),
            Map.entry("getDatabaseProductVersion", "0.1"),
            Map.entry("getDatabaseMajorVersion", 0),
            Map.entry("getDatabaseMinorVersion", 1),
            Map.entry("getDriverName", "Rowan-KV JDBC"),
            Map.entry("getDriverVersion", "0.1"),
            Map.entry("getDriverMajorVersion", 0),
            Map.entry("getDriverMinorVersion", 1),
            Map.entry("supportsTransactions", false),
            Map.entry("getDefaultTransactionIsolation", Connection.TRANSACTION_NONE),
            Map.entry("supportsMultipleTransactions", false),
            Map.entry("supportsDataDefinitionAndDataManipulationTransactions", false),
            Map.entry("supportsDataManipulationTransactionsOnly", false),
            Map.entry("dataDefinitionCausesTransactionCommit", false),
            Map.entry("dataDefinitionIgnoredInTransactions", false),
            Map.entry("supportsSavepoints", false),
            Map.entry("supportsSelectForUpdate", false),
            Map.entry("supportsStoredProcedures", false),
            Map.entry("supportsIntegrityEnhancementFacility", false),
            Map.entry("supportsAlterTableWithAddColumn", false),
            Map.entry("supportsAlterTableWithDropColumn", false),
            Map.entry("usesLocalFiles", false),
            Map.entry("usesLocalFilePerTable", false));

    private final Connection connection;
    private final ConnectionUrl url;

    private MetaDataHandler(DatabaseMetaData metaData, Connection connection, ConnectionUrl url) {
        super(metaData);
        this.connection = connection;
        this.url = url;
    }

    static DatabaseMetaData wrap(DatabaseMetaData metaData, Connection connection, ConnectionUrl url) {
        return proxy(DatabaseMetaData.class, new MetaDataHandler(metaData, connection, url));
    }

    @Override
    @Nullable
    Object handle(Object proxy, Method method, @Nullable Object[] arguments) throws Throwable {
        final String name = method.getName();
        final Object answer = ANSWERS.get(name);
        if (answer != null) {
            return answer;
        }
        return switch (name) {
            case "getConnection" -> connection;
            case "getURL" -> url.text();
            case "supportsTransactionIsolationLevel" ->
                Integer.valueOf(Connection.TRANSACTION_NONE).equals(arguments[0]);
            default -> forward(method, arguments);
        };
    }
}
