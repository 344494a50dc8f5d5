package org.rowankv.jdbc;

import java.net.URI;
import java.net.URISyntaxException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * What a URL and properties say about a connection. Immutable.
 *
 * @param text the URL as it was given
 * @param store URI of the store
 * @param settings of the store, from the properties
 * @param ignoresAutocommit whether {@code setAutoCommit(false)} has no effect instead of being refused
 */
record ConnectionUrl(String text, URI store, Properties settings, boolean ignoresAutocommit) {
    static final String PREFIX = "jdbc:rowan:";
    static final String AUTOCOMMIT = "autocommit";
    static final String IGNORE = "ignore";
    private static final String SETTING = "rowan.";

    static ConnectionUrl of(String url, Properties info) throws SQLException {
        final String whole = url.substring("jdbc:".length());
        final int question = whole.indexOf('?');
        final List<String> kept = new ArrayList<>();
        String autocommit = info.getProperty(AUTOCOMMIT, "");
        if (question >= 0) {
            for (String part : whole.substring(question + 1).split("&", -1)) {
                if (part.startsWith(AUTOCOMMIT + '=')) {
                    autocommit = part.substring(AUTOCOMMIT.length() + 1);
                } else {
                    kept.add(part);
                }
            }
        }
        if (!autocommit.isEmpty() && !autocommit.equals(IGNORE)) {
            throw new SQLException("autocommit is \"ignore\" or not set, not \"" + autocommit + '"', "08001");
        }
        final String where = question < 0 ? whole : whole.substring(0, question);
        final Properties settings = new Properties();
        for (String name : info.stringPropertyNames()) {
            if (name.startsWith(SETTING)) {
                settings.setProperty(name, info.getProperty(name));
            }
        }
        try {
            return new ConnectionUrl(
                    url,
                    new URI(kept.isEmpty() ? where : where + '?' + String.join("&", kept)),
                    settings,
                    !autocommit.isEmpty());
        } catch (URISyntaxException e) {
            throw new SQLException("the URL " + url + " is malformed: " + e.getMessage(), "08001", e);
        }
    }
}
