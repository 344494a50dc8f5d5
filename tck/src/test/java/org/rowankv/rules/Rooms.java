package org.rowankv.rules;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

/** The order of the rooms inside the server, and that no two packages anywhere need each other. */
final class Rooms {
    private static final String PM = "org.rowankv.server.pm..";
    private static final String LOG = "org.rowankv.server.log..";
    private static final String INDEX = "org.rowankv.server.index..";

    @ArchTest
    static final ArchRule PM_IS_THE_GROUND_FLOOR = onlyEnters(PM, PM);

    @ArchTest
    static final ArchRule LOG_STANDS_ON_PM = onlyEnters(LOG, LOG, PM);

    @ArchTest
    static final ArchRule INDEX_STANDS_ON_LOG = onlyEnters(INDEX, INDEX, LOG, PM);

    @ArchTest
    static final ArchRule NO_PACKAGE_CYCLES =
            slices().assignedFrom(new ByPackage()).should().beFreeOfCycles().allowEmptyShould(true);

    private Rooms() {}

    private static ArchRule onlyEnters(String room, String... visible) {
        return noClasses()
                .that(resideInAnyPackage(room))
                .should()
                .dependOnClassesThat(resideInAnyPackage("org.rowankv.server..").and(resideOutsideOfPackages(visible)))
                .as("classes in " + room + " enter inside the server only " + String.join(", ", visible))
                .allowEmptyShould(true);
    }

    /**
     * Each package is a slice of its own. One exception: the client in {@code driver} is the door to the retries in
     * {@code driver.session}, which work on the request and the seam that stand beside the client; the two count as one.
     */
    private static final class ByPackage implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            final String name = javaClass.getPackageName();
            if (!name.startsWith("org.rowankv.")) {
                return SliceIdentifier.ignore();
            }
            return SliceIdentifier.of(name.equals("org.rowankv.driver.session") ? "org.rowankv.driver" : name);
        }

        @Override
        public String getDescription() {
            return "packages of org.rowankv";
        }
    }
}
