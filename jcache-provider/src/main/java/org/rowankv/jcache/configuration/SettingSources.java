package org.rowankv.jcache.configuration;

import java.util.Map;
import java.util.Properties;

/**
 * Where the settings of a manager come from besides its URI. The properties and the map are read, and not kept.
 *
 * @param manager given for the manager; a name that starts with "rowan." must be a setting, of a template or of a store
 * @param system of the system; other names are ignored
 * @param environment the variables of the process; others than settings are ignored
 * @param loader of the manager, for a file on the class path
 */
public record SettingSources(
        Properties manager, Properties system, Map<String, String> environment, ClassLoader loader) {
    /** Those of this process. */
    public static SettingSources ofProcess(Properties manager, ClassLoader loader) {
        return new SettingSources(manager, System.getProperties(), System.getenv(), loader);
    }
}
