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

/** Layering rules of the packages inside the server, and the absence of package cycles everywhere. */
final class Rooms {
    private static final String DURABILITY = "org.rowankv.server.durability..";
    private static final String AREA = "org.rowankv.server.area..";
    private static final String LOG = "org.rowankv.server.log..";
    private static final String INDEX = "org.rowankv.server.index..";
    private static final String SESSION = "org.rowankv.server.session..";
    private static final String SHARD = "org.rowankv.server.shard..";

    @ArchTest
    static final ArchRule DURABILITY_IS_THE_GROUND = onlyEnters(DURABILITY, DURABILITY);

    @ArchTest
    static final ArchRule AREA_STANDS_ON_DURABILITY = onlyEnters(AREA, AREA, DURABILITY);

    @ArchTest
    static final ArchRule LOG_STANDS_ON_AREA = onlyEnters(LOG, LOG, AREA, DURABILITY);

    @ArchTest
    static final ArchRule INDEX_STANDS_ON_LOG = onlyEnters(INDEX, INDEX, LOG);

    @ArchTest
    static final ArchRule SESSION_STANDS_ALONE = onlyEnters(SESSION, SESSION);

    @ArchTest
    static final ArchRule SHARD_STANDS_ON_LOG_INDEX_AND_SESSION = onlyEnters(SHARD, SHARD, INDEX, LOG, SESSION);

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

    /** Makes each package a slice. */
    private static final class ByPackage implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            final String name = javaClass.getPackageName();
            return name.startsWith("org.rowankv.") ? SliceIdentifier.of(name) : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "packages of org.rowankv";
        }
    }
}
