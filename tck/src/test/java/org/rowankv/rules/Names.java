package org.rowankv.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;

/** Naming rules for types, and the null-annotation rule for packages. */
final class Names {
    private static final Pattern SAYS_NOTHING = Pattern.compile(".*(Util|Utils|Helper|Helpers|Impl|Manager)");

    /** Names given by others: the JSR's CacheManager and the paper's ConfigurationManager. */
    private static final Pattern GIVEN = Pattern.compile(".*(CacheManager|ConfigurationManager)");

    @ArchTest
    static final ArchRule TYPES_ARE_CALLED_BY_THEIR_SUBJECT = noClasses()
            .that()
            .resideInAPackage("org.rowankv..")
            .should(haveANameThat("says nothing"))
            .as("no type is called Util, Helper, Impl or Manager")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule PACKAGES_ARE_NULL_MARKED = classes()
            .that()
            .resideInAPackage("org.rowankv..")
            .should(standInANullMarkedPackage())
            .allowEmptyShould(true);

    private Names() {}

    private static ArchCondition<JavaClass> haveANameThat(String description) {
        return ArchCondition.from(DescribedPredicate.describe("have a name that " + description, Names::saysNothing));
    }

    private static boolean saysNothing(JavaClass type) {
        final String name = type.getSimpleName();
        return SAYS_NOTHING.matcher(name).matches() && !GIVEN.matcher(name).matches();
    }

    private static ArchCondition<JavaClass> standInANullMarkedPackage() {
        return new ArchCondition<>("stand in a package that is @NullMarked") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                final boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
                events.add(new SimpleConditionEvent(
                        type,
                        marked,
                        type.getPackageName() + (marked ? " is" : " is not") + " @NullMarked: " + type.getName()));
            }
        };
    }
}
