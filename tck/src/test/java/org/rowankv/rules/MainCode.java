package org.rowankv.rules;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;

/** Selects what the rules are about: everything we wrote but tests; what JMH generates is not ours. */
final class MainCode implements ImportOption {
    @Override
    public boolean includes(Location location) {
        return !location.contains("/test-classes/")
                && !location.contains("-tests.jar")
                && !location.contains("jmh_generated");
    }
}
