package org.rowankv.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import java.util.Set;
import java.util.stream.Collectors;

/** All rules, applied to the main code of all modules. */
@AnalyzeClasses(packages = "org.rowankv", importOptions = MainCode.class)
final class HouseRulesTest {
    @ArchTest
    static final ArchTests ARROWS = ArchTests.in(Arrows.class);

    @ArchTest
    static final ArchTests ROOMS = ArchTests.in(Rooms.class);

    @ArchTest
    static final ArchTests SEAMS = ArchTests.in(Seams.class);

    @ArchTest
    static final ArchTests WAITS = ArchTests.in(Waits.class);

    @ArchTest
    static final ArchTests NAMES = ArchTests.in(Names.class);

    private HouseRulesTest() {}

    /** A rule about an unscanned package always holds: every package with sources must be scanned. */
    @ArchTest
    static void shouldSeeEveryPackage(JavaClasses house) {
        final Set<String> seen = house.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());

        assertThat(seen).containsAll(SourceFiles.packages());
    }

    /** No rule names a place that is not entered in the plan. */
    @ArchTest
    static void shouldKnowEveryPlace(JavaClasses house) {
        classes().should().resideInAnyPackage(Arrows.PLACES).check(house);
    }
}
